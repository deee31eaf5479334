#include "potentials/pair/device_pairs.h"

#include <ATen/ATen.h>

namespace mlip_dd {

namespace {

static_assert(sizeof(Packed4) == 4 * sizeof(double));
static_assert(sizeof(NeighbourRun) == 2 * sizeof(std::int64_t));

// [n, width] of `type`, or [n], in the memory of `values`.
template <class Value>
at::Tensor tensor_of(const std::vector<Value> &values, std::vector<std::int64_t> width,
                     at::ScalarType type)
{
  width.insert(width.begin(), static_cast<std::int64_t>(values.size()));
  return at::from_blob(const_cast<Value *>(values.data()), width, type);
}

at::Tensor atoms_of(const PairRows &rows) { return tensor_of(rows.atoms, {4}, at::kDouble); }

}    // namespace

PairView view_of(const DevicePairs &pairs)
{
  return {pairs.n_types,
          pairs.owned_atoms.size(0),
          pairs.types.const_data_ptr<std::int32_t>(),
          pairs.owned_atoms.const_data_ptr<std::int32_t>(),
          reinterpret_cast<const NeighbourRun *>(pairs.runs.const_data_ptr<std::int64_t>()),
          pairs.neighbours.const_data_ptr<std::int32_t>(),
          reinterpret_cast<const Packed4 *>(pairs.atoms.const_data_ptr<double>())};
}

void upload_pairs(const PairRows &rows, const at::Device &device, DevicePairs &pairs)
{
  const auto upload = [&](const at::Tensor &tensor) {
    return tensor.to(device, tensor.scalar_type(), /*non_blocking=*/false, /*copy=*/true);
  };
  pairs.n_types = rows.n_types;
  pairs.types = upload(tensor_of(rows.types, {}, at::kInt));
  pairs.owned_atoms = upload(tensor_of(rows.owned_atoms, {}, at::kInt));
  pairs.runs = upload(tensor_of(rows.runs, {2}, at::kLong));
  pairs.neighbours = upload(tensor_of(rows.neighbours, {}, at::kInt));
  pairs.atoms = upload(atoms_of(rows));
}

void upload_positions(const PairRows &rows, DevicePairs &pairs)
{
  pairs.atoms.copy_(atoms_of(rows));
}

}    // namespace mlip_dd
