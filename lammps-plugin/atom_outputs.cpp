#include "atom_outputs.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "base/error.h"
#include "committee.h"
#include "pipeline/field_rows.h"

namespace mlip_dd {

namespace {

constexpr std::string_view kGradient = "d_energy_d_";
constexpr std::string_view kFlag = "_flag";
constexpr const char *kCharges = "charges";

bool has(const std::vector<std::string> &names, const std::string &name)
{
  return std::find(names.begin(), names.end(), name) != names.end();
}

void add_once(std::vector<std::string> &names, const std::string &name)
{
  if (!has(names, name)) names.push_back(name);
}

// Charges are in the host's unit; of anything else the models' unit is kept, since it is not known.
double to_host(const std::string &field, const HostUnits &units)
{
  if (field == kCharges) return 1.0 / units.charge;
  if (field == kForceDeviation) return units.force_to_host();
  if (!field.starts_with(kGradient)) return 1.0;
  const bool by_charge = field == std::string(kGradient) + kCharges;
  return units.energy_to_host() * (by_charge ? units.charge : 1.0);
}

}    // namespace

void AtomOutputs::set_source(const Pipeline &pipeline, int deviation_every)
{
  known_.clear();
  deviation_every_ = deviation_every;
  for (std::size_t step = 0; step < pipeline.size(); ++step)
    for (const std::string &name : pipeline.runner(step).potential().output_fields())
      add_once(known_, name);
  for (const auto &fields : pipeline.wiring().host_fields)
    for (const std::string &name : fields) add_once(known_, std::string(kGradient) + name);
  if (deviation_every > 0) known_.push_back(kForceDeviation);
  std::sort(known_.begin(), known_.end());
}

AtomOutputs::Output &AtomOutputs::find(const std::string &name)
{
  const auto [found, fresh] = outputs_.try_emplace(name);
  Output &output = found->second;
  if (!fresh) return output;
  output.field = name;
  const std::size_t bracket = name.find('[');
  if (bracket == std::string::npos || name.back() != ']') return output;
  std::size_t column = 0;
  const char *first = name.data() + bracket + 1, *last = name.data() + name.size() - 1;
  if (const auto [end, status] = std::from_chars(first, last, column);
      status != std::errc() || end != last || column == 0)
    return output;
  output.field = name.substr(0, bracket);
  output.column = column - 1;
  output.whole = false;
  return output;
}

bool AtomOutputs::knows(const std::string &name) const
{
  return has(known_, name.substr(0, name.find('[')));
}

bool AtomOutputs::left_out(const Output &output, std::int64_t step) const
{
  return output.field == kForceDeviation && step % deviation_every_ != 0;
}

double *AtomOutputs::values(const std::string &name, std::int64_t step)
{
  if (!knows(name)) return nullptr;
  Output &output = find(name);
  just_always_ = output.always || output.flag != 0 ? nullptr : &output;
  if (just_always_) output.always = true;
  // Atoms may have changed places since the last step that has values.
  if (!output.values.empty() && left_out(output, step))
    throw Error({name + " is asked for in a step that has none", "step " + std::to_string(step),
                 "`committee every " + std::to_string(deviation_every_) + "`",
                 "Let fix pair ask every " + std::to_string(deviation_every_) +
                     " steps or a multiple of it"});
  return output.values.empty() ? nullptr : output.values.data();
}

int *AtomOutputs::flag(const std::string &name)
{
  if (!name.ends_with(kFlag)) return nullptr;
  const std::string output_name = name.substr(0, name.size() - kFlag.size());
  if (!knows(output_name)) return nullptr;
  Output &output = find(output_name);
  if (just_always_ == &output) output.always = false;
  just_always_ = nullptr;
  return &output.flag;
}

void AtomOutputs::add_wanted(PipelineRequest &request, bool all)
{
  for (auto &[name, output] : outputs_) {
    output.now = (all || output.always || output.flag != 0) && knows(name);
    if (!output.now || output.field == kForceDeviation) continue;
    if (output.field.starts_with(kGradient) && has(known_, output.field))
      add_once(request.gradients, output.field.substr(kGradient.size()));
    else
      add_once(request.output_fields, output.field);
  }
}

void AtomOutputs::take(const Pipeline &pipeline, const HostGraph &host, const HostUnits &units,
                       int n_local, int n_all, std::int64_t step)
{
  taken_.clear();
  for (auto &[name, output] : outputs_) {
    if (!output.now || left_out(output, step)) continue;
    AtomField deviation;
    const AtomField *field = &deviation;
    if (output.field == kForceDeviation)
      deviation = force_deviation(pipeline);
    else if (output.field.starts_with(kGradient) && has(known_, output.field))
      field = &pipeline.output().gradients.at(output.field.substr(kGradient.size()));
    else
      field = &pipeline.output().fields.at(output.field);
    const at::Tensor rows = rows_of(*field);
    const auto width = static_cast<std::size_t>(field->width);
    // Ranks without atoms may not know the width.
    if (rows.size(0) > 0 && (output.whole ? width != 1 : output.column >= width))
      throw Error({"the per-atom output has " + std::to_string(width) + " columns", name, "",
                   "Name one of them: " + output.field + "[1] to " + output.field + "[" +
                       std::to_string(width) + "]"});
    const double factor = to_host(output.field, units);
    // Never empty, so that LAMMPS sees that there are values on a rank without atoms.
    output.values.assign(static_cast<std::size_t>(std::max(1, n_all)), 0.0);
    if (rows.size(0) > 0) {
      const at::Tensor column =
          rows.select(1, static_cast<std::int64_t>(output.column)).cpu().contiguous();
      const double *values = column.const_data_ptr<double>();
      for (int i = 0; i < n_local; ++i)
        if (const std::int64_t row = host.row(i); row != kNotInModel)
          output.values[static_cast<std::size_t>(i)] = factor * values[row];
    }
    taken_.push_back(output.values.data());
  }
}

}    // namespace mlip_dd
