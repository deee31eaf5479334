#include "spec/wire.h"

namespace mlip_dd {

namespace {

using Json = nlohmann::ordered_json;

Json nullable(const std::optional<std::string> &text) { return text ? Json(*text) : Json(nullptr); }

Json to_wire(const OutputTransform &transform)
{
  Json object{{"type", to_name(transform.kind)}};
  if (transform.kind == OutputTransformKind::AllReduceSum)
    object["replicated_consumer"] = transform.replicated_consumer;
  return object;
}

Json to_wire(const CompilePolicy &policy)
{
  return {{"static_shapes", policy.static_shapes},
          {"force_strategy", to_name(policy.force_strategy)},
          {"stress_via_strain", policy.stress_via_strain}};
}

struct HelperWriter {
  Json operator()(const PythonHelper &helper) const
  {
    return {{"kind", "python"},
            {"module_path", helper.module_path},
            {"attr_name", helper.attr_name},
            {"replacement", nullable(helper.replacement)}};
  }
  Json operator()(const JitHelper &helper) const
  {
    return {{"kind", "jit"},
            {"module_path", helper.module_path},
            {"attr_name", helper.attr_name},
            {"replacement", nullable(helper.replacement)},
            {"mode", helper.mode}};
  }
  Json operator()(const MethodHelper &helper) const
  {
    return {{"kind", "method"},
            {"module_path", helper.module_path},
            {"class_name", helper.class_name},
            {"method_name", helper.method_name},
            {"replacement", nullable(helper.replacement)},
            {"mode", helper.mode}};
  }
  Json operator()(const ModuleForwardHelper &helper) const
  {
    return {{"kind", "module_forward"}, {"target", helper.target}, {"label", helper.label}};
  }
};

template <class Range>
Json array_of(const Range &range)
{
  Json array = Json::array();
  for (const auto &item : range) array.push_back(item);
  return array;
}

}    // namespace

Json to_wire(const StoragePolicy &policy)
{
  Json object{{"kind", to_name(policy.kind)}};
  if (has_halo_modes(policy.kind)) {
    object["scatter_mode"] = to_name(policy.scatter_mode);
    object["gather_mode"] = to_name(policy.gather_mode);
  }
  return object;
}

Json to_wire(const OpAdapter &adapter)
{
  Json arguments = Json::object(), outputs = Json::object();
  for (const auto &[position, transform] : adapter.arg_transforms)
    arguments[std::to_string(position)] = Json{{"type", to_name(transform)}};
  for (const auto &[position, transform] : adapter.output_transforms)
    outputs[std::to_string(position)] = to_wire(transform);
  return {{"op", adapter.op}, {"arg_transforms", arguments}, {"output_transforms", outputs}};
}

Json to_wire(const HelperAdapter &helper) { return std::visit(HelperWriter{}, helper); }

Json to_wire(const MLIPSpec &spec)
{
  const DistributionSpec &distribution = spec.distribution;
  Json core{{"policy", to_wire(distribution.policy)},
            {"custom_ops", Json::array()},
            {"third_party_helpers", Json::array()}};
  for (const OpAdapter &adapter : distribution.custom_ops)
    core["custom_ops"].push_back(to_wire(adapter));
  for (const HelperAdapter &helper : distribution.third_party_helpers)
    core["third_party_helpers"].push_back(to_wire(helper));
  if (distribution.shard_fields != default_shard_fields())
    core["shard_fields"] = array_of(distribution.shard_fields);

  Json kinds = Json::array();
  for (const auto &[output, kind] : spec.output_kinds)
    kinds.push_back(Json::array({output, to_name(kind)}));

  Json object;
  object["version"] = 2;
  object["core"] = std::move(core);
  object["system_reductions"] = spec.system_reductions;
  object["node_energy_key"] = nullable(spec.node_energy_key);
  object["node_virial_key"] = nullable(spec.node_virial_key);
  object["gp_replicate_geometry"] = spec.gp_replicate_geometry;
  object["owned_only_outputs"] = array_of(spec.owned_only_outputs);
  object["all_reduce_outputs"] = array_of(spec.all_reduce_outputs);
  object["output_kinds"] = std::move(kinds);
  object["compile"] = spec.compile ? to_wire(*spec.compile) : Json(nullptr);
  return object;
}

std::string write_wire_text(const MLIPSpec &spec)
{
  return to_wire(spec).dump(2, ' ', true, Json::error_handler_t::strict);
}

}    // namespace mlip_dd
