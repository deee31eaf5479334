#include "potentials/runnable_spec.h"

#include "base/error.h"
#include "potentials/make_potential.h"
#include "spec/spec_file.h"

namespace mlip_dd {

struct RunnableSpec::Content {
  SpecFile file;
  std::string name;
};

RunnableSpec::RunnableSpec(const std::string &path) : content_(std::make_unique<Content>())
{
  content_->file = read_spec_file(path);
  if (!content_->file.model)
    throw Error({"the spec file has no model", "", path,
                 "Add a \"model\" object; pipelines are not run by this version"});
  const ModelSpec &model = *content_->file.model;
  if (!content_->file.spec.distribution.third_party_helpers.empty())
    content_->file.warnings.push_back(
        path +
        ": the adapters of Python objects in /core/third_party_helpers "
        "mean nothing here and are passed over.");
  content_->name = model.file.empty() ? model.potential : model.file;
}

RunnableSpec::~RunnableSpec() = default;

const std::vector<std::string> &RunnableSpec::elements() const
{
  return content_->file.model->elements;
}
const std::string &RunnableSpec::name() const { return content_->name; }
const std::vector<std::string> &RunnableSpec::warnings() const { return content_->file.warnings; }

Realisation RunnableSpec::realise(const std::string &halo, int ranks) const
{
  return choose_realisation(content_->file, halo, ranks);
}

std::unique_ptr<Potential> RunnableSpec::make(const PotentialOptions &options,
                                              Communicator &communicator, int local_rank) const
{
  PotentialOptions all = options;
  all.system_reductions = content_->file.spec.system_reductions;
  return make_potential(*content_->file.model, all, communicator, local_rank);
}

}    // namespace mlip_dd
