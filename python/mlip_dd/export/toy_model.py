"""The toy model's mathematics: scalar and 3-vector features, passed along edges under a smooth cutoff.

The energy is invariant under rotation, reflection and permutation, and three times continuously
differentiable in the positions, also where an edge enters the cutoff. It is untrained: its weights
are drawn from a seed.
"""

import math
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor

RADIAL = 6                # functions of distance per edge
RADIAL_SCALE = 20.0       # makes messages of order 1, so that each layer is heard
ENERGY_SCALE = 0.05       # eV; what the layers add per atom, roughly
NUMBER_DENSITY = 0.045    # atoms per cubic Angstrom, rock salt; normalises sums over neighbours
# A pair energy between charges of alternating sign makes rock salt a stable crystal near its real
# spacing, so that dynamics with random weights stays tame: two Gaussians of the distance, in eV and A.
CHARGE_ENERGY, CHARGE_WIDTH = 2.0, 2.5
CORE_ENERGY, CORE_WIDTH = 180.0, 0.8


@dataclass
class Size:
    """What fixes the shapes of the weights, and the cutoff (Angstrom)."""

    types: int
    layers: int
    channels: int
    cutoff: float


class Layer(torch.nn.Module):
    """One round: receivers sum messages from their senders, then mix them into their own features."""

    def __init__(self, channels: int, neighbors: float, draw):
        super().__init__()
        self.scale = 1.0 / math.sqrt(neighbors)
        self.radial_weight = draw(RADIAL, 4 * channels)
        self.scalar_mix = draw(3 * channels, channels)
        self.vector_mix = draw(channels, channels)
        self.gate_mix = draw(channels, channels)

    def forward(self, scalars: Tensor, vectors: Tensor, radial: Tensor, directions: Tensor,
                receivers: Tensor, senders: Tensor) -> tuple[Tensor, Tensor]:
        weights = (radial @ self.radial_weight).unflatten(1, [4, -1])
        direction = directions.unsqueeze(1)
        # Two ways of writing a gather and of writing a sum, as models in the wild have both.
        sent_scalars = scalars.index_select(0, senders)
        sent_vectors = vectors[senders]
        inward = (sent_vectors * direction).sum(2)
        scalar_messages = weights[:, 0] * sent_scalars + weights[:, 1] * inward
        vector_messages = ((weights[:, 2] * sent_scalars).unsqueeze(2) * direction
                           + weights[:, 3].unsqueeze(2) * sent_vectors)
        scalar_sums = self.scale * torch.zeros_like(scalars).index_add(0, receivers, scalar_messages)
        where = receivers.view(-1, 1, 1).expand_as(vector_messages)
        vector_sums = self.scale * torch.zeros_like(vectors).scatter_add(0, where, vector_messages)

        mixed = torch.einsum("ncx,cd->ndx", vector_sums, self.vector_mix)
        lengths = (vector_sums * vector_sums).sum(2)
        update = torch.tanh(torch.cat([scalars, scalar_sums, lengths], 1) @ self.scalar_mix)
        gate = torch.sigmoid(scalar_sums @ self.gate_mix).unsqueeze(2)
        return scalars + update, vectors + gate * mixed


class ToyModel(torch.nn.Module):
    def __init__(self, size: Size, seed: int, dtype: torch.dtype):
        super().__init__()
        generator = torch.Generator().manual_seed(seed)

        def draw(*shape: int) -> torch.nn.Parameter:
            # Drawn in double whatever the dtype, so that the float32 model is the rounded float64 one.
            weight = torch.randn(shape, generator=generator, dtype=torch.float64) / math.sqrt(shape[0])
            return torch.nn.Parameter(weight.to(dtype), requires_grad=False)

        # TorchScript sees numbers as members only, not as the module's globals.
        self.cutoff = size.cutoff
        self.radial, self.radial_scale, self.energy_scale = RADIAL, RADIAL_SCALE, ENERGY_SCALE
        self.charge_energy, self.charge_decay = CHARGE_ENERGY, 0.5 / CHARGE_WIDTH**2
        self.core_energy, self.core_decay = CORE_ENERGY, 0.5 / CORE_WIDTH**2
        charges = torch.tensor([1.0 if index % 2 == 0 else -1.0 for index in range(size.types)], dtype=dtype)
        self.charges = torch.nn.Parameter(charges, requires_grad=False)
        neighbors = max(1.0, 4.0 / 3.0 * math.pi * size.cutoff**3 * NUMBER_DENSITY)
        embedding = torch.randn((size.types, size.channels), generator=generator, dtype=torch.float64)
        self.embedding = torch.nn.Parameter(embedding.to(dtype), requires_grad=False)
        self.layers = torch.nn.ModuleList([Layer(size.channels, neighbors, draw) for _ in range(size.layers)])
        self.readout_hidden = draw(2 * size.channels, size.channels)
        self.readout = draw(size.channels, 1)

    def forward(self, types: Tensor, edge_index: Tensor, edge_vectors: Tensor) -> Tensor:
        """Energies [n] in eV of the n atoms of `types` (int64 [n]).

        edge_index int64 [2, E]: receiver, sender. edge_vectors [E, 3]: sender minus receiver, Angstrom.
        """
        receivers, senders = edge_index[0], edge_index[1]
        # Functions of the squared distance alone are smooth everywhere, at no distance too.
        squared = (edge_vectors * edge_vectors).sum(1)
        closeness = (1.0 - squared / (self.cutoff * self.cutoff)).clamp(min=0.0)
        envelope = closeness**4
        centers = torch.linspace(0.1, 0.9, self.radial, dtype=squared.dtype, device=squared.device)
        radial = envelope.unsqueeze(1) * self.radial_scale * torch.exp(-8.0 * (closeness.unsqueeze(1) - centers) ** 2)
        directions = edge_vectors * (2.0 / self.cutoff)

        scalars = torch.nn.functional.embedding(types, self.embedding)
        vectors = torch.zeros_like(scalars).unsqueeze(2).repeat(1, 1, 3)
        for layer in self.layers:
            scalars, vectors = layer(scalars, vectors, radial, directions, receivers, senders)

        invariants = torch.cat([scalars, (vectors * vectors).sum(2)], 1)
        energies = self.energy_scale * (torch.tanh(invariants @ self.readout_hidden) @ self.readout).squeeze(1)
        charges = self.charges[types]
        pairs = (self.charge_energy * charges[receivers] * charges[senders] * torch.exp(-self.charge_decay * squared)
                 + self.core_energy * torch.exp(-self.core_decay * squared))
        return energies.index_add(0, receivers, 0.5 * envelope * pairs)



def save(file: Path, size: Size, seed: int, dtype: str) -> None:
    """Writes the scripted and frozen model, on the CPU."""
    model = ToyModel(size, seed, getattr(torch, dtype)).eval()
    torch.jit.save(torch.jit.freeze(torch.jit.script(model)), str(file))
