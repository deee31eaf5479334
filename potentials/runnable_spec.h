// A spec file, read, checked and ready to be run, for hosts that need not know what is in it. Its
// header keeps JSON and torch away from the host's own headers.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "comm/communicator.h"
#include "pipeline/pipeline.h"

namespace mlip_dd {

class RunnableSpec {
 public:
  // Reads `path`; not collective. Throws Error, also when the file holds nothing that can be run.
  explicit RunnableSpec(const std::string &path);
  ~RunnableSpec();
  RunnableSpec(const RunnableSpec &) = delete;
  RunnableSpec &operator=(const RunnableSpec &) = delete;

  // Chemical symbols that every model knows, in the order of type indices.
  const std::vector<std::string> &elements() const;
  const std::vector<std::string> &warnings() const;    // whole sentences, worth showing once
  bool dimensionless() const;    // works in reduced Lennard-Jones units, not in eV and Angstrom
  std::size_t steps() const;     // 1 for a single model
  bool committee() const;        // the steps are models trained alike, whose mean is taken
  std::vector<std::string> files() const;        // the spec, and all that it names
  std::vector<std::string> citations() const;    // of all models, in BibTeX

  // Decides how each model's policy is carried out, with `halo` and `ranks` as in
  // choose_realisation. Throws Error.
  void realise(const std::string &halo, int ranks);

  // After realise(). Collective: loads every model on every rank. Throws Error.
  std::unique_ptr<Pipeline> make(const PotentialOptions &options, Communicator &communicator,
                                 int local_rank) const;

 private:
  struct Content;
  std::unique_ptr<Content> content_;
};

}    // namespace mlip_dd
