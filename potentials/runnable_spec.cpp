#include "potentials/runnable_spec.h"

#include <algorithm>

#include "base/error.h"
#include "consolidate/output_rules.h"
#include "potentials/make_potential.h"
#include "spec/potentials.h"
#include "spec/spec_file.h"

namespace mlip_dd {

namespace {

struct Step {
  std::string name;
  SpecFile file;    // of this model alone
  PipelineStep how;
};

// Each member gives its share of the mean.
std::vector<Step> committee_of(const SpecFile &file)
{
  std::vector<std::string> members = file.model->committee;
  members.insert(members.begin(), file.model->file);
  std::vector<Step> steps;
  for (const std::string &member : members) {
    Step step{member, file, {}};
    step.file.model->file = member;
    step.how.weight = 1.0 / static_cast<double>(members.size());
    steps.push_back(std::move(step));
  }
  return steps;
}

// A file with one model is a pipeline of one step.
std::vector<Step> steps_of(const SpecFile &file)
{
  if (!file.pipeline) {
    const ModelSpec &model = *file.model;
    if (!model.committee.empty()) return committee_of(file);
    return {{model.file.empty() ? model.potential : model.file, file, {}}};
  }
  std::vector<Step> steps;
  for (const PipelineGroup &group : file.pipeline->groups)
    for (const PipelineStep &step : group.steps) {
      const PipelineModel &model = file.pipeline->models.at(step.model);
      if (!model.model.committee.empty())
        throw Error({"a committee stands alone and not in a pipeline", "model " + step.model,
                     model.path + ", /model/file",
                     "Name one file, or make each member a step with its weight"});
      SpecFile own;
      own.path = model.path;
      own.spec = model.spec;
      own.model = model.model;
      steps.push_back({step.model, std::move(own), step});
    }
  return steps;
}

bool has(const std::vector<std::string> &names, const std::string &name)
{
  return std::find(names.begin(), names.end(), name) != names.end();
}

// In the order of the first model.
std::vector<std::string> common_elements(const std::vector<Step> &steps, const std::string &path)
{
  std::vector<std::string> common;
  for (const std::string &element : steps.front().file.model->elements)
    if (std::all_of(steps.begin(), steps.end(),
                    [&](const Step &step) { return has(step.file.model->elements, element); }))
      common.push_back(element);
  if (common.empty())
    throw Error({"the models of the pipeline have no element in common", "", path,
                 "Each model's \"elements\" must hold those that the atoms are made of"});
  return common;
}

bool all_dimensionless(const std::vector<Step> &steps, const std::string &path)
{
  const auto reduced = [](const Step &step) { return step.file.model->units == "lj"; };
  const auto count = std::count_if(steps.begin(), steps.end(), reduced);
  if (count != 0 && count != static_cast<std::ptrdiff_t>(steps.size()))
    throw Error({"some models of the pipeline are dimensionless and others are not",
                 "dimensionless: " + std::find_if(steps.begin(), steps.end(), reduced)->name, path,
                 "Give all of them \"units\": \"lj\", or none"});
  return count != 0;
}

std::vector<std::int32_t> types_in(const ModelSpec &model, const std::vector<std::string> &elements)
{
  std::vector<std::int32_t> types;
  for (const std::string &element : elements)
    types.push_back(static_cast<std::int32_t>(
        std::find(model.elements.begin(), model.elements.end(), element) - model.elements.begin()));
  return types;
}

void warn_of_what_means_nothing(const SpecFile &file, std::vector<std::string> &warnings)
{
  const DistributionSpec &distribution = file.spec.distribution;
  if (!distribution.third_party_helpers.empty())
    warnings.push_back(file.path +
                       ": the adapters of Python objects in /core/third_party_helpers mean nothing "
                       "here and are passed over.");
  if (!distribution.custom_ops.empty() && !find_potential(file.model->potential)->has_file)
    warnings.push_back(file.path + ": the potential " + file.model->potential +
                       " has no operators, and the adapters in /core/custom_ops are passed over.");
}

// Steps without wires, for files without a pipeline.
PipelineSpec plain_steps(const std::vector<Step> &steps)
{
  PipelineSpec pipeline;
  PipelineGroup &group = pipeline.groups.emplace_back();
  for (const Step &step : steps) {
    group.steps.push_back(step.how);
    group.steps.back().model = step.name;
  }
  return pipeline;
}

}    // namespace

struct RunnableSpec::Content {
  SpecFile file;
  std::vector<Step> steps;
  std::vector<std::string> elements;
  bool dimensionless = false;
  std::vector<Realisation> realisations;    // by step
};

RunnableSpec::RunnableSpec(const std::string &path) : content_(std::make_unique<Content>())
{
  SpecFile &file = content_->file = read_spec_file(path);
  if (!file.model && !file.pipeline)
    throw Error({"the spec file has no model", "", path, "Add a \"model\" or a \"pipeline\""});
  content_->steps = steps_of(file);
  for (const Step &step : content_->steps) warn_of_what_means_nothing(step.file, file.warnings);
  content_->dimensionless = all_dimensionless(content_->steps, path);
  content_->elements = common_elements(content_->steps, path);
}

RunnableSpec::~RunnableSpec() = default;

const std::vector<std::string> &RunnableSpec::elements() const { return content_->elements; }
const std::vector<std::string> &RunnableSpec::warnings() const { return content_->file.warnings; }
bool RunnableSpec::dimensionless() const { return content_->dimensionless; }
std::size_t RunnableSpec::steps() const { return content_->steps.size(); }

bool RunnableSpec::committee() const
{
  return content_->file.model && !content_->file.model->committee.empty();
}

std::vector<std::string> RunnableSpec::files() const
{
  std::vector<std::string> files{content_->file.path};
  const auto add = [&files](const std::string &path) {
    if (!path.empty() && std::find(files.begin(), files.end(), path) == files.end())
      files.push_back(path);
  };
  for (const Step &step : content_->steps) {
    add(step.file.path);
    add(step.file.model->file);
    for (const std::string &library : step.file.model->libraries) add(library);
  }
  return files;
}

std::vector<std::string> RunnableSpec::citations() const
{
  std::vector<std::string> all;
  for (const Step &step : content_->steps)
    for (const std::string &citation : step.file.model->citations)
      if (!has(all, citation)) all.push_back(citation);
  return all;
}

void RunnableSpec::realise(const std::string &halo, int ranks)
{
  content_->realisations.clear();
  for (const Step &step : content_->steps) {
    // Native potentials have no layers to hold; beside other models the option is meant for those.
    const bool native = !find_potential(step.file.model->potential)->has_file;
    if (native) require_native_output_keys(step.file.spec, step.file.path);
    const bool own = content_->steps.size() > 1 && native && halo == "wide";
    content_->realisations.push_back(choose_realisation(step.file, own ? "auto" : halo, ranks));
  }
}

std::unique_ptr<Pipeline> RunnableSpec::make(const PotentialOptions &options,
                                             Communicator &communicator, int local_rank) const
{
  std::vector<PipelineMember> members;
  std::vector<StepFields> fields;
  for (std::size_t s = 0; s < content_->steps.size(); ++s) {
    const Step &step = content_->steps[s];
    PotentialOptions own = options;
    own.spec = step.file.spec;
    auto potential = make_potential(*step.file.model, own, communicator, local_rank);
    fields.push_back({potential->input_fields(), potential->output_fields()});
    members.push_back({step.name, std::move(potential), content_->realisations.at(s),
                       types_in(*step.file.model, content_->elements), step.how.weight,
                       step.how.neutralize, step.how.total_charge});
  }
  const auto &pipeline = content_->file.pipeline;
  Wiring wiring = resolve_wiring(pipeline ? *pipeline : plain_steps(content_->steps), fields,
                                 content_->file.path);
  return std::make_unique<Pipeline>(communicator, std::move(members), std::move(wiring),
                                    pipeline ? pipeline->additive : PipelineSpec().additive,
                                    committee() ? OtherOutputs::mean : OtherOutputs::first);
}

}    // namespace mlip_dd
