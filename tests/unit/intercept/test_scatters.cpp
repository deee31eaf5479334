// If these fail, what a model adds to atoms from their edges is lost, counted twice, or left on the
// wrong rank.
#include <random>
#include <string>

#include "catch.h"
#include "intercept/forward_run.h"

using namespace mlip_dd;
using namespace mlip_dd::test;

namespace {

// Two layers in which messages go to `index`; ADD is how they are added to z, [n, 3], from m, [E,
// 3].
std::string adding(const std::string &add, const std::string &index)
{
  return R"(
    def forward(self, types, edge_index, edge_vectors):
        receivers, senders = edge_index[0], edge_index[1]
        target = )" +
         index + R"(
        w = torch.exp(-0.3 * (edge_vectors * edge_vectors).sum(1)).unsqueeze(1)
        x = (types.to(edge_vectors.dtype).unsqueeze(1) + 1.0) * torch.tensor([[0.3, -0.2, 0.5]], dtype=torch.float64)
        for layer in range(2):
            m = w * x[receivers] * x[senders] + 0.1 * edge_vectors
            z = torch.full_like(x, 0.25)
            )" +
         add + R"(
            x = x + torch.tanh(z)
        return (x * x).sum(1)
)";
}

}    // namespace

TEST_CASE("each way of adding rows of edges, into receivers and into senders")
{
  const std::vector<const char *> ways{
      "z = z.index_add(0, target, m)",
      "z = z.index_add(0, target, m, alpha=0.5)",
      "z.index_add_(0, target, m)",
      "z = z.scatter_add(0, target.unsqueeze(1).expand(-1, 3), m)",
      "z.scatter_add_(0, target.unsqueeze(1).expand(-1, 3), m)",
      "z.t().scatter_add_(1, target.unsqueeze(0).expand(3, -1), m.t())",
      "z = z.scatter_reduce(0, target.unsqueeze(1).expand(-1, 3), m, 'sum')",
      "z.scatter_reduce_(0, target.unsqueeze(1).expand(-1, 3), m, 'sum')",
      "z = z.index_put([target], m, accumulate=True)",
      "z.index_put_([target], m, accumulate=True)",
      "z = z.index_put([target, torch.zeros_like(target)], m[:, 0], accumulate=True)",
      "z = torch.stack([z[:, 0].index_add(0, target, m[:, 0]), z[:, 1], z[:, 2].index_add(0, "
      "target, "
      "m[:, 2])], 1)",
  };
  const PeriodicSystem system = forward_bulk(34);
  std::mt19937_64 random(10);
  const auto owners = random_owners(random, system.size(), 4, {1});
  for (const char *way : ways)
    for (const char *index :
         {"receivers", "senders", "edge_index.clone()[1].to(torch.int32).to(torch.int64)"}) {
      INFO(way << " by " << index);
      check_forward(adding(way, index), system, owners, 4);
      CHECK(largest(run_decomposed(adding(way, index), system, owners, 4).gradient_sum) > 0.01);
    }
  // Into both ends at once.
  const std::string both = "z = z.index_add(0, edge_index.reshape(-1), torch.cat([m, -0.5 * m]))";
  check_forward(adding(both, "senders"), system, owners, 4);
  // Segments follow the order of edges, which is by receiver.
  check_forward(adding("z = z + torch.segment_reduce(m, 'sum', lengths=torch.bincount(receivers, "
                       "minlength=x.size(0)))",
                       "receivers"),
                system, random_owners(random, system.size(), 4), 4);
  for (const char *reduce : {"amax", "mean", "prod"}) {
    INFO(reduce);
    const std::string way = "z = z.scatter_reduce(0, target.unsqueeze(1).expand(-1, 3), m, '" +
                            std::string(reduce) + "', include_self=False)";
    check_forward(adding(way, "receivers"), system, owners, 4);
    CHECK_THROWS_WITH(run_decomposed(adding(way, "senders"), system, owners, 4),
                      contains("senders") && contains("aten::scatter_reduce") &&
                          contains("z.scatter_reduce(0, target"));
  }
}
