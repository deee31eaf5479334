"""AIMNet2 over a list of edges: the layers and weights of the package's model, its equations on edges.

The package works on matrices of neighbours. Here receivers sum over their edges instead, charges are
balanced by sums over `batch`, and energies stay per atom, so that atoms may be dealt out to ranks.
Equations: Anstine, Zubatyuk, Isayev, Chem. Sci. 16, 10228 (2025).
"""

import math

import torch
from torch import Tensor

CHARGE_BALANCE_FLOOR = 1e-6    # the package's, keeps weights of charge finite


class Convolution(torch.nn.Module):
    """Sums over neighbours of features times functions of the edge: a scalar and a vector, of which lengths stay."""

    def __init__(self, layer: torch.nn.Module):
        super().__init__()
        self.mix = torch.nn.Parameter(layer.agh.detach().clone(), requires_grad=False)

    def forward(self, features: Tensor, basis: Tensor, directions: Tensor, receivers: Tensor, senders: Tensor) -> Tensor:
        """features [n, a, g or 1], basis [E, g], directions [E, 3] -> [n, a * (g + h)]."""
        messages = features[senders] * basis.unsqueeze(1)
        sums = torch.zeros([features.size(0), features.size(1), basis.size(1)], dtype=basis.dtype, device=basis.device)
        scalars = sums.index_add(0, receivers, messages)
        lengths = torch.zeros([1], dtype=basis.dtype, device=basis.device)
        # One component at a time: the messages are the largest tensors of the model.
        for axis in range(3):
            component = sums.index_add(0, receivers, messages * directions[:, axis].view(-1, 1, 1))
            lengths = lengths + torch.einsum("agh,nag->nah", self.mix, component).pow(2)
        return torch.cat([scalars.flatten(1), lengths.flatten(1)], 1)


class AIMNet2Edges(torch.nn.Module):
    """`model` is the package's; `shortrange_charges` its SRCoulomb module, if it has one."""

    def __init__(self, model: torch.nn.Module, energy: torch.nn.Module, shift: torch.nn.Module | None,
                 shortrange_charges: torch.nn.Module | None):
        super().__init__()
        self.cutoff = float(model.aev.rc_s)
        self.decay = float(model.aev.eta_s)
        self.centers = torch.nn.Parameter(model.aev.shifts_s.detach().clone(), requires_grad=False)
        self.channels = int(model.num_charge_channels)
        self.width = int(model.nfeature)
        self.two_dimensional = bool(model.d2features)
        self.embedding = torch.nn.Parameter(model.afv.weight.detach().clone(), requires_grad=False)
        self.convolve_features = Convolution(model.conv_a)
        self.convolve_charges = Convolution(model.conv_q)
        self.passes = torch.nn.ModuleList(list(model.mlps))
        self.energy = energy
        weights = torch.zeros(64, dtype=torch.float64) if shift is None else shift.shifts.weight.detach().squeeze(1)
        # Energies of free atoms are large: they stay float64.
        self.shifts = torch.nn.Parameter(weights.to(torch.float64), requires_grad=False)
        self.coulomb = 0.0 if shortrange_charges is None else float(shortrange_charges._factor)
        self.coulomb_cutoff = 1.0 if shortrange_charges is None else float(shortrange_charges.rc)
        self.coulomb_bump = shortrange_charges is None or shortrange_charges.envelope == "exp"
        self.floor = CHARGE_BALANCE_FLOOR
        self.bump_at_zero = 0.36787944117144233    # exp(-1)

    def balanced(self, charges: Tensor, weights: Tensor, total: Tensor, batch: Tensor) -> Tensor:
        """`charges` [n, c] moved, by squares of `weights`, so that they sum to `total` [1, c]."""
        shares = weights.pow(2)
        nothing = torch.zeros_like(total)
        all_shares = nothing.index_add(0, batch, shares) + self.floor
        missing = total - nothing.index_add(0, batch, charges)
        return charges + shares / all_shares.index_select(0, batch) * missing.index_select(0, batch)

    def envelope(self, distances: Tensor, cutoff: float) -> Tensor:
        return 0.5 * (torch.cos(distances.clamp(min=1e-6, max=cutoff) * (math.pi / cutoff)) + 1.0)

    def shortrange(self, charges: Tensor, distances: Tensor, receivers: Tensor, senders: Tensor) -> Tensor:
        """Energy [n] of the screened charges, which the network has learned and a Coulomb sum counts again."""
        if self.coulomb_bump:
            scaled = (distances / self.coulomb_cutoff).clamp(0.0, 1.0 - 1e-6).pow(2)
            weight = torch.exp(-1.0 / (1.0 - scaled)) / self.bump_at_zero
        else:
            weight = self.envelope(distances, self.coulomb_cutoff)
        pairs = (weight * charges[receivers] * charges[senders] / distances).to(torch.float64)
        nothing = torch.zeros([charges.size(0)], dtype=torch.float64, device=charges.device)
        return self.coulomb * nothing.index_add(0, receivers, pairs)

    def forward(self, atomic_numbers: Tensor, edge_index: Tensor, edge_vectors: Tensor, batch: Tensor,
                total_charge: Tensor, total_spin: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Energies [n] float64, charges [n], spin charges [n] (zero in models of closed shells).

        total_spin is S, half the number of electrons without a partner.
        """
        receivers, senders = edge_index[0], edge_index[1]
        distances = torch.linalg.vector_norm(edge_vectors, dim=1)
        basis = torch.exp(-self.decay * (distances.unsqueeze(1) - self.centers) ** 2)
        basis = basis * self.envelope(distances, self.cutoff).unsqueeze(1)
        directions = edge_vectors / distances.unsqueeze(1)

        features = torch.nn.functional.embedding(atomic_numbers, self.embedding)
        features = features.unflatten(1, [self.width, -1]) if self.two_dimensional else features.unsqueeze(2)
        total = total_charge.view(1, 1)
        if self.channels == 2:
            total = torch.cat([0.5 * total + total_spin.view(1, 1), 0.5 * total - total_spin.view(1, 1)], 1)
        charges = torch.zeros([features.size(0), self.channels], dtype=basis.dtype, device=basis.device)

        rounds = len(self.passes)
        for k, network in enumerate(self.passes):
            known = [features.flatten(1), self.convolve_features(features, basis, directions, receivers, senders)]
            if k > 0:
                known.append(charges)
                known.append(self.convolve_charges(charges.unsqueeze(2), basis, directions, receivers, senders))
            found = network(torch.cat(known, 1))
            if k < rounds - 1:
                moved = found[:, :self.channels]
                if k > 0:
                    moved = moved + charges
                charges = self.balanced(moved, found[:, self.channels:2 * self.channels], total, batch)
                features = features + found[:, 2 * self.channels:].view_as(features)
            else:
                features = found

        energies = self.energy(features).squeeze(1).to(torch.float64)
        energies = energies + torch.nn.functional.embedding(atomic_numbers, self.shifts.unsqueeze(1)).squeeze(1)
        spins = charges[:, 0] - charges[:, self.channels - 1]
        charge = charges.sum(1)
        if self.coulomb != 0.0:
            energies = energies - self.shortrange(charge, distances, receivers, senders)
        return energies, charge, spins
