// A spec file, read, checked and ready to be run, for hosts that need not know what is in it. Its
// header keeps JSON and torch away from the host's own headers.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "comm/communicator.h"
#include "pipeline/potential.h"
#include "pipeline/realisation.h"

namespace mlip_dd {

class RunnableSpec {
 public:
  // Reads `path`; not collective. Throws Error, also when the file holds nothing that can be run.
  explicit RunnableSpec(const std::string &path);
  ~RunnableSpec();
  RunnableSpec(const RunnableSpec &) = delete;
  RunnableSpec &operator=(const RunnableSpec &) = delete;

  const std::vector<std::string> &elements()
      const;                          // chemical symbols in the order of type indices
  const std::string &name() const;    // of the model, for messages
  const std::vector<std::string> &warnings() const;    // whole sentences, worth showing once

  // As choose_realisation and make_potential.
  Realisation realise(const std::string &halo, int ranks) const;
  std::unique_ptr<Potential> make(const PotentialOptions &options, Communicator &communicator,
                                  int local_rank) const;

 private:
  struct Content;
  std::unique_ptr<Content> content_;
};

}    // namespace mlip_dd
