"""MACE over edge vectors: the package's own blocks, called in the order of its forward, up to the atomic energies.

The package's model makes edge vectors from positions and differentiates inside; given edge vectors instead, it needs
rows of owned atoms only, and its gradient by them gives forces and virials, per atom too.
"""

import torch
from e3nn.util.jit import compile_mode
from torch import Tensor

UNSUPPORTED = {"joint_embedding": "features of atoms or systems beside their elements",
               "fidelity_readout": "several fidelities"}


@compile_mode("script")
class EdgeMace(torch.nn.Module):
    """`model`: a MACE or ScaleShiftMACE. `head`: index of the readout to speak for."""

    def __init__(self, model: torch.nn.Module, head: int):
        super().__init__()
        self.head = head
        self.register_buffer("atomic_numbers", model.atomic_numbers)
        self.atomic_energies = model.atomic_energies_fn
        self.node_embedding = model.node_embedding
        self.spherical_harmonics = model.spherical_harmonics
        self.radial_embedding = model.radial_embedding
        if hasattr(model, "pair_repulsion"):
            self.repulsion = model.pair_repulsion_fn
        if hasattr(model, "scale_shift"):
            self.scale_shift = model.scale_shift
        self.interactions, self.products = model.interactions, model.products
        self.readouts = model.readouts
        for parameter in self.parameters():
            parameter.requires_grad = False

    def forward(self, node_attributes: Tensor, edge_index: Tensor, edge_vectors: Tensor) -> Tensor:
        """Energies [n] in eV. edge_index int64 [2, E]: sender, receiver. edge_vectors [E, 3]: receiver minus sender,
        Angstrom."""
        rows = torch.arange(node_attributes.shape[0], device=node_attributes.device)
        heads = torch.full_like(rows, self.head)
        lengths = torch.linalg.vector_norm(edge_vectors, dim=1, keepdim=True)
        alone = self.atomic_energies(node_attributes)[rows, heads]
        features = self.node_embedding(node_attributes)
        angular = self.spherical_harmonics(edge_vectors)
        radial, cutoff = self.radial_embedding(lengths, node_attributes, edge_index, self.atomic_numbers)
        energy = torch.zeros_like(alone)
        if hasattr(self, "repulsion"):
            energy = energy + self.repulsion(lengths, node_attributes, edge_index, self.atomic_numbers)
        of_layers: list[Tensor] = []
        for layer, (interaction, product) in enumerate(zip(self.interactions, self.products)):
            features, residual = interaction(
                node_attrs=node_attributes, node_feats=features, edge_attrs=angular, edge_feats=radial,
                edge_index=edge_index, cutoff=cutoff, first_layer=layer == 0, lammps_class=None, lammps_natoms=(0, 0))
            features = product(node_feats=features, sc=residual, node_attrs=node_attributes)
            of_layers.append(features)
        for layer, readout in enumerate(self.readouts):
            source = of_layers[-1] if len(self.readouts) == 1 else of_layers[layer]
            energy = energy + readout(source, heads)[rows, heads]
        if hasattr(self, "scale_shift"):
            energy = self.scale_shift(energy, heads)
        return alone.to(torch.float64) + energy.to(torch.float64)
