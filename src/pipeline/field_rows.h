// Per-atom fields as tensors, on the host or on the device of a model's DeviceGraph.
#pragma once

#include <ATen/core/Tensor.h>

#include <string>
#include <vector>

#include "pipeline/atom_fields.h"

namespace mlip_dd {

class DeviceGraph;

struct FieldTensor {
  at::Tensor rows;    // [rows, width] float64
};

// [rows, width] float64, on the device where the field is. No copy: what is written to it is
// written to the field, and to others that share its tensor.
at::Tensor rows_of(const AtomField &field);

// A field with these rows, as a tensor.
AtomField field_of(const at::Tensor &rows);

// The same field on the host, in `values`; or as a tensor on `device`.
AtomField on_host(const AtomField &field);
AtomField on_device(const AtomField &field, const at::Device &device);

// Where the field is, in storage of its own.
AtomField multiplied(const AtomField &field, double factor);
AtomField zeros_like(const AtomField &field);

// As owned_host_fields, read on the device.
AtomFields owned_device_fields(const DeviceGraph &graph, const std::vector<std::string> &names,
                               const std::string &model);

}    // namespace mlip_dd
