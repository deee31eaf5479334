"""ANI over a list of edges: the networks and constants of package torchani, its symmetry functions on edges.

Equations: Smith, Isayev, Roitberg, Chem. Sci. 8, 3192 (2017), with the prefactors of the package. Atoms see
their neighbours alone: nothing is passed on.
"""

import math

import torch
from torch import Tensor

HARTREE = 27.211386245988    # eV, CODATA 2018


class ANIEdges(torch.nn.Module):
    """`ani` is one of the package's ensembles."""

    def __init__(self, ani: torch.nn.Module):
        super().__init__()
        computer = ani.aev_computer
        for name in ("EtaR", "ShfR", "EtaA", "Zeta", "ShfA", "ShfZ"):
            self.register_buffer(name, getattr(computer, name).detach().clone())
        self.register_buffer("pair_of", computer.triu_index.to(torch.int64).clone())
        self.register_buffer("self_energies", ani.energy_shifter.self_energies.detach().to(torch.float64).clone())
        self.cutoff, self.near_cutoff = float(computer.Rcr), float(computer.Rca)
        self.kinds, self.kind_pairs = int(computer.num_species), int(computer.num_species) * (int(computer.num_species) + 1) // 2
        self.hartree = HARTREE
        self.networks = torch.nn.ModuleList([torch.nn.ModuleList(list(member.values())) for member in ani.neural_networks])

    def fade(self, distances: Tensor, cutoff: float) -> Tensor:
        return torch.where(distances < cutoff, 0.5 * torch.cos(distances * (math.pi / cutoff)) + 0.5,
                           torch.zeros_like(distances))

    def radial(self, types: Tensor, edge_index: Tensor, edge_vectors: Tensor) -> Tensor:
        """[n, kinds * functions]"""
        distances = torch.linalg.vector_norm(edge_vectors, dim=1)
        terms = torch.exp(-self.EtaR * (distances.view(-1, 1, 1) - self.ShfR) ** 2).flatten(1)
        terms = 0.25 * terms * self.fade(distances, self.cutoff).unsqueeze(1)
        nothing = torch.zeros([types.size(0), self.kinds, terms.size(1)], dtype=terms.dtype, device=terms.device)
        return nothing.index_put([edge_index[0], types[edge_index[1]]], terms, accumulate=True).flatten(1)

    def pairs(self, receivers: Tensor, atoms: int) -> tuple[Tensor, Tensor]:
        """Each two edges of one receiver, once: their places in the list [P]."""
        order = torch.argsort(receivers, stable=True)
        degrees = torch.zeros([atoms], dtype=torch.int64, device=receivers.device)
        degrees = degrees.index_add(0, receivers, torch.ones_like(receivers))
        last = torch.cumsum(degrees, 0)[receivers[order]]
        place = torch.arange(order.size(0), device=order.device)
        later = last - place - 1    # how many edges of the same receiver follow in `order`
        first = torch.repeat_interleave(place, later)
        begins = torch.repeat_interleave(torch.cumsum(later, 0) - later, later)
        second = first + 1 + torch.arange(first.size(0), device=order.device) - begins
        return order[first], order[second]

    def angular(self, types: Tensor, edge_index: Tensor, edge_vectors: Tensor) -> Tensor:
        """[n, pairs of kinds * functions]"""
        receivers = edge_index[0]
        distances = torch.linalg.vector_norm(edge_vectors, dim=1)
        fade = self.fade(distances, self.near_cutoff)
        kinds = types[edge_index[1]]
        one, two = self.pairs(receivers, types.size(0))
        product = distances[one] * distances[two]
        cosines = (edge_vectors[one] * edge_vectors[two]).sum(1) / torch.clamp(product, min=1e-10)
        # The package's factor keeps the arc cosine differentiable.
        angles = torch.acos(0.95 * cosines).view(-1, 1, 1, 1, 1)
        mean = (0.5 * (distances[one] + distances[two])).view(-1, 1, 1, 1, 1)
        terms = 2.0 * ((1.0 + torch.cos(angles - self.ShfZ)) / 2.0) ** self.Zeta * torch.exp(-self.EtaA * (mean - self.ShfA) ** 2)
        terms = terms.flatten(1) * (fade[one] * fade[two]).unsqueeze(1)
        nothing = torch.zeros([types.size(0), self.kind_pairs, terms.size(1)], dtype=terms.dtype, device=terms.device)
        return nothing.index_put([receivers[one], self.pair_of[kinds[one], kinds[two]]], terms, accumulate=True).flatten(1)

    def forward(self, types: Tensor, edge_index: Tensor, edge_vectors: Tensor) -> Tensor:
        """Energies [n] in eV, float64: those of free atoms are far larger than those of bonds."""
        near = torch.nonzero(torch.linalg.vector_norm(edge_vectors, dim=1) < self.near_cutoff).squeeze(1)
        near_index, near_vectors = edge_index.index_select(1, near), edge_vectors.index_select(0, near)
        features = torch.cat([self.radial(types, edge_index, edge_vectors),
                              self.angular(types, near_index, near_vectors)], 1)
        energies = torch.zeros([types.size(0)], dtype=features.dtype, device=features.device)
        members = len(self.networks)
        for member in self.networks:
            for kind, network in enumerate(member):
                rows = torch.nonzero(types == kind).squeeze(1)
                energies = energies.index_add(0, rows, network(features[rows]).squeeze(1))
        return self.hartree * (energies.to(torch.float64) / members + self.self_energies[types])
