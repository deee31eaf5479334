"""CHGNet over lists of edges: the package's layers and weights, its bonds split into their two directions.

In the package a bond has one feature, to which the angles at both of its ends add. Here each direction of a
bond holds that feature, in the care of its receiver; what the angles at the other end add is asked of the sender.
For that each atom offers its sums in numbered places, one per near edge, so that they travel as features of
atoms do. Equations: Deng et al., Nat. Mach. Intell. 5, 1031 (2023).
"""

import math

import torch
from torch import Tensor


class CHGNetEdges(torch.nn.Module):
    """`model` is the package's; `places` the most near edges that an atom may have."""

    def __init__(self, model: torch.nn.Module, places: int):
        super().__init__()
        self.places = places
        arguments = model.model_args
        self.cutoff, self.near_cutoff = float(arguments["atom_graph_cutoff"]), float(arguments["bond_graph_cutoff"])
        self.power = float(arguments["cutoff_coeff"])
        expansions = model.bond_basis_expansion
        self.frequencies = torch.nn.Parameter(expansions.rbf_expansion_ag.frequencies.detach().clone(), False)
        self.near_frequencies = torch.nn.Parameter(expansions.rbf_expansion_bg.frequencies.detach().clone(), False)
        self.orders = torch.nn.Parameter(model.angle_basis_expansion.fourier_expansion.frequencies.detach().clone(), False)
        self.embed_atoms = model.atom_embedding.embedding
        self.embed_bonds, self.embed_angles = model.bond_embedding, model.angle_embedding
        self.weigh_bonds, self.weigh_near_bonds = model.bond_weights_ag, model.bond_weights_bg
        self.atom_layers = torch.nn.ModuleList([layer.twoBody_atom for layer in model.atom_conv_layers])
        self.atom_outputs = torch.nn.ModuleList([layer.mlp_out for layer in model.atom_conv_layers])
        self.bond_layers = torch.nn.ModuleList([layer.twoBody_bond for layer in model.bond_conv_layers])
        self.bond_outputs = torch.nn.ModuleList([layer.mlp_out for layer in model.bond_conv_layers])
        self.angle_layers = torch.nn.ModuleList([layer.twoBody_bond for layer in model.angle_layers])
        self.moment = model.site_wise
        self.readout_norm, self.readout = model.readout_norm, model.mlp
        # As the package rounds it.
        self.constant = float(1.0 / torch.sqrt(torch.tensor(2.0, dtype=torch.float32)))
        references = model.composition_model.fc.weight.detach().view(-1)
        self.references = torch.nn.Parameter(references.to(torch.float64), False)

    def radial(self, distances: Tensor, frequencies: Tensor, cutoff: float) -> Tensor:
        """Bessel functions [E, b], faded out at the cutoff by a polynomial."""
        p = self.power
        scaled = (distances / cutoff).unsqueeze(1)
        fade = (1.0 - 0.5 * (p + 1.0) * (p + 2.0) * scaled**p + p * (p + 2.0) * scaled ** (p + 1.0)
                - 0.5 * p * (p + 1.0) * scaled ** (p + 2.0))
        fade = torch.where(scaled < 1.0, fade, torch.zeros_like(fade))
        return fade * math.sqrt(2.0 / cutoff) * torch.sin(frequencies * scaled) / distances.unsqueeze(1)

    def angular(self, cosines: Tensor) -> Tensor:
        """Fourier terms [A, 1 + 2 orders] of the angles."""
        phases = torch.acos(cosines * (1.0 - 1e-6)).unsqueeze(1) * self.orders
        constant = torch.full_like(cosines, self.constant).unsqueeze(1)
        return torch.cat([constant, torch.sin(phases), torch.cos(phases)], 1) / math.sqrt(math.pi)

    def places_of(self, receivers: Tensor, atoms: int) -> Tensor:
        """The place of each near edge among those of its receiver, [E'], from 0."""
        order = torch.argsort(receivers, stable=True)
        degrees = torch.zeros([atoms], dtype=torch.int64, device=receivers.device)
        degrees = degrees.index_add(0, receivers, torch.ones_like(receivers))
        if int(degrees.max()) > self.places:
            raise RuntimeError("an atom has more bonds than the exported model has places for; export it with more --places")
        begins = (torch.cumsum(degrees, 0) - degrees)[receivers[order]]
        place = torch.arange(order.size(0), device=order.device) - begins
        return torch.zeros_like(place).index_copy(0, order, place)

    def angles(self, receivers: Tensor, places: Tensor, atoms: int) -> tuple[Tensor, Tensor]:
        """Near edges (a, b) of one receiver, a not b: their numbers, [A] each."""
        table = torch.full([atoms, self.places], -1, dtype=torch.int64, device=receivers.device)
        table = table.index_put([receivers, places], torch.arange(receivers.size(0), device=receivers.device))
        others = table[receivers]    # [E', places]
        itself = torch.arange(receivers.size(0), device=receivers.device).unsqueeze(1)
        found = torch.nonzero((others >= 0) & (others != itself))
        return found[:, 0], others[found[:, 0], found[:, 1]]

    def offered(self, values: Tensor, receivers: Tensor, places: Tensor, atoms: int, empty: float) -> Tensor:
        """[E', w] -> [n, places, w]: each atom's near edges, in their places."""
        table = torch.full([atoms, self.places, values.size(1)], empty, dtype=values.dtype, device=values.device)
        return table.index_put([receivers, places], values)

    def forward(self, atomic_numbers: Tensor, edge_index: Tensor, edge_vectors: Tensor) -> tuple[Tensor, Tensor]:
        """Energies [n] in eV, float64, and magnetic moments [n] in Bohr magnetons."""
        receivers, senders = edge_index[0], edge_index[1]
        n = atomic_numbers.size(0)
        distances = torch.linalg.vector_norm(edge_vectors, dim=1)
        near = torch.nonzero(distances < self.near_cutoff).squeeze(1)
        near_edge_index, near_edge_vectors = edge_index.index_select(1, near), edge_vectors.index_select(0, near)
        near_receivers, near_senders, near_distances = near_edge_index[0], near_edge_index[1], distances[near]
        places = self.places_of(near_receivers, n)

        # Which of the sender's places holds the same bond seen from there: the one whose vector is the opposite.
        vectors = near_edge_vectors.detach()
        seen = self.offered(vectors, near_receivers, places, n, 1e3)[near_senders]    # [E', places, 3]
        partner = (seen + vectors.unsqueeze(1)).pow(2).sum(2).argmin(1)

        one, two = self.angles(near_receivers, places, n)
        directions = near_edge_vectors / near_distances.unsqueeze(1)
        basis = self.radial(distances, self.frequencies, self.cutoff)
        near_basis = self.radial(near_distances, self.near_frequencies, self.near_cutoff)
        atoms = self.embed_atoms(atomic_numbers - 1)
        bonds, weights = self.embed_bonds(basis), self.weigh_bonds(basis)
        near_weights = self.weigh_near_bonds(near_basis)
        angle_weights = near_weights[one] * near_weights[two]
        angles = self.embed_angles(self.angular((directions[one] * directions[two]).sum(1)))
        centers = near_receivers[one]
        near_bonds = bonds[near]
        moments = torch.zeros([n], dtype=atoms.dtype, device=atoms.device)

        last = len(self.atom_layers) - 1
        for layer, (mix, output) in enumerate(zip(self.atom_layers, self.atom_outputs)):
            messages = weights * mix(torch.cat([atoms[receivers], bonds, atoms[senders]], 1))
            atoms = atoms + output(torch.zeros_like(atoms).index_add(0, receivers, messages))
            if layer == last - 1:
                moments = self.moment(atoms).squeeze(1).abs()
            if layer < last:
                for k, (bond_mix, bond_output, angle_mix) in enumerate(
                        zip(self.bond_layers, self.bond_outputs, self.angle_layers)):
                    if k == layer:
                        parts = angle_weights * bond_mix(torch.cat([near_bonds[one], near_bonds[two], angles, atoms[centers]], 1))
                        here = torch.zeros_like(near_bonds).index_add(0, one, parts)
                        there = self.offered(here, near_receivers, places, n, 0.0)[near_senders]
                        which = partner.view(-1, 1, 1).expand(-1, 1, here.size(1))
                        near_bonds = near_bonds + bond_output(here + there.gather(1, which).squeeze(1))
                        angles = angles + angle_mix(torch.cat([near_bonds[one], near_bonds[two], angles, atoms[centers]], 1))
                bonds = bonds.index_copy(0, near, near_bonds)
        energies = self.readout(self.readout_norm(atoms)).squeeze(1).to(torch.float64)
        return energies + self.references[atomic_numbers - 1], moments
