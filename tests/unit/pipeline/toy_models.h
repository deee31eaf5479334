// Scripted models that make per-atom fields from positions and from one another's fields.
#pragma once

namespace mlip_dd::test {

// Charges from the surroundings (cutoff 5 A), with an energy of their own; the producer of the
// golden pipelines: q_i = s_i + sum_j 0.02 (1 - (r/5)^2)^3 (1 + 0.3 r) s_j, E = 0.3 sum dq^2.
inline constexpr const char *kChargesSource = R"(
    def forward(self, types, edge_index, edge_vectors):
        receivers, senders = edge_index[0], edge_index[1]
        s = 1.0 - 2.0 * types.to(torch.float64)
        squared = (edge_vectors * edge_vectors).sum(1)
        w = 0.02 * (1.0 - squared / 25.0) ** 3 * (1.0 + 0.3 * torch.sqrt(squared))
        dq = torch.zeros_like(s).index_add(0, receivers, w * s[senders])
        return 0.3 * dq * dq, s + dq
)";

// The same charges and no energy.
inline constexpr const char *kChargesAloneSource = R"(
    def forward(self, types, edge_index, edge_vectors):
        receivers, senders = edge_index[0], edge_index[1]
        s = 1.0 - 2.0 * types.to(torch.float64)
        squared = (edge_vectors * edge_vectors).sum(1)
        w = 0.02 * (1.0 - squared / 25.0) ** 3 * (1.0 + 0.3 * torch.sqrt(squared))
        return s + torch.zeros_like(s).index_add(0, receivers, w * s[senders])
)";

// The same charges, balanced by a sum over the system in the middle of the model.
inline constexpr const char *kBalancedSource = R"(
    def forward(self, types, edge_index, edge_vectors, batch):
        receivers, senders = edge_index[0], edge_index[1]
        s = 1.0 - 2.0 * types.to(torch.float64)
        squared = (edge_vectors * edge_vectors).sum(1)
        w = 0.02 * (1.0 - squared / 25.0) ** 3 * (1.0 + 0.3 * torch.sqrt(squared))
        q = s + torch.zeros_like(s).index_add(0, receivers, w * s[senders])
        total = torch.zeros([1], dtype=torch.float64).index_add(0, batch, q)
        atoms = torch.zeros([1], dtype=torch.float64).index_add(0, batch, torch.ones_like(q))
        q = q - (total / atoms)[batch]
        return 0.3 * q * q * torch.tanh(s + q), q
)";

// Two numbers per atom from charges of its neighbours (cutoff 4 A), and an energy of both.
inline constexpr const char *kPolarSource = R"(
    def forward(self, edge_index, edge_vectors, charges):
        receivers, senders = edge_index[0], edge_index[1]
        squared = (edge_vectors * edge_vectors).sum(1)
        w = (1.0 - squared / 16.0) ** 3
        field = torch.zeros_like(charges).index_add(0, receivers, w * charges[senders])
        alpha = torch.stack([torch.tanh(field), 1.0 + 0.2 * field * charges], 1)
        return 0.05 * (alpha * alpha).sum(1) * charges, alpha
)";

// An energy of pairs (cutoff 4.5 A) from the two numbers and the charges.
inline constexpr const char *kPairsSource = R"(
    def forward(self, edge_index, edge_vectors, alpha, charges):
        receivers, senders = edge_index[0], edge_index[1]
        squared = (edge_vectors * edge_vectors).sum(1)
        w = (1.0 - squared / 20.25) ** 3 * charges[senders]
        pair = w.unsqueeze(1) * alpha[receivers] * alpha[senders]
        return torch.zeros_like(alpha).index_add(0, receivers, pair).sum(1)
)";

}    // namespace mlip_dd::test
