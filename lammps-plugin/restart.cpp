// Restart files name the spec file, the elements, and a fingerprint of the models, so that a run
// goes on with the models it was begun with, or says that it does not.
#include <atom.h>
#include <comm.h>
#include <error.h>
#include <utils.h>

#include <cstdint>

#include "base/error.h"
#include "element_map.h"
#include "failure.h"
#include "pair_state.h"
#include "place.h"

namespace LAMMPS_NS {

namespace {

constexpr std::uint32_t kLongestText = 1U << 20;    // beyond, a file is no restart file of ours

void write_text(FILE *file, const std::string &text)
{
  const auto length = static_cast<std::uint32_t>(text.size());
  fwrite(&length, sizeof(length), 1, file);
  fwrite(text.data(), 1, text.size(), file);
}

void write_texts(FILE *file, const std::vector<std::string> &texts)
{
  const auto count = static_cast<std::uint32_t>(texts.size());
  fwrite(&count, sizeof(count), 1, file);
  for (const std::string &text : texts) write_text(file, text);
}

// Collective; rank 0 reads.
class Reader {
 public:
  Reader(FILE *file, int rank, MPI_Comm world, Error *error)
      : file_(file), rank_(rank), world_(world), error_(error)
  {}

  std::string text()
  {
    std::string text(number(), '\0');
    bytes(text.data(), text.size());
    return text;
  }

  std::vector<std::string> texts()
  {
    std::vector<std::string> texts(number());
    for (std::string &one : texts) one = text();
    return texts;
  }

 private:
  std::uint32_t number()
  {
    std::uint32_t value = 0;
    bytes(&value, sizeof(value));
    if (value > kLongestText)
      error_->all(MLIP_DD_PLACE,
                  "mlip/dd: the restart file does not hold what this pair style "
                  "writes. Read it with the version that wrote it");
    return value;
  }

  void bytes(void *to, std::size_t count)
  {
    if (count == 0) return;
    if (rank_ == 0) utils::sfread(MLIP_DD_PLACE, to, 1, count, file_, nullptr, error_);
    MPI_Bcast(to, static_cast<int>(count), MPI_BYTE, 0, world_);
  }

  FILE *file_;
  int rank_;
  MPI_Comm world_;
  Error *error_;
};

bool same_elements(const std::vector<std::string> &a, const std::vector<std::string> &b)
{
  return a.empty() || b.empty() || a == b;
}

}    // namespace

void PairMlipDD::write_restart(FILE *file)
{
  write_restart_settings(file);
  write_texts(file, passes_on() ? restored_->element_names : state_->element_names);
}

// Called on rank 0 alone.
void PairMlipDD::write_restart_settings(FILE *file)
{
  write_texts(file, passes_on() ? restored_->arguments : state_->arguments);
  write_text(file, passes_on() ? restored_->fingerprint : state_->fingerprint);
}

// A style that read a restart file, and was neither given anew nor used, passes it on.
bool PairMlipDD::passes_on() const
{
  return restored_ && !restored_->given_anew && !(state_ && state_->pipeline);
}

void PairMlipDD::read_restart_settings(FILE *file)
{
  Reader reader(file, comm->me, world, error);
  restored_ = std::make_unique<Restored>();
  restored_->arguments = reader.texts();
  restored_->fingerprint = reader.text();
  // Where the spec file is gone the user may still give another: that is told when a run begins.
  std::unique_ptr<State> fresh;
  restored_->problem =
      mlip_dd::problem_together(lmp, [&] { fresh = make_state(restored_->arguments); });
  if (restored_->problem.empty()) adopt(std::move(fresh));
}

void PairMlipDD::read_restart(FILE *file)
{
  read_restart_settings(file);
  Reader reader(file, comm->me, world, error);
  restored_->element_names = reader.texts();
  // LAMMPS asks for these before init_style().
  if (!allocated) allocate();
  for (int i = 1; i <= atom->ntypes; ++i)
    for (int j = 1; j <= atom->ntypes; ++j) setflag[i][j] = 1;
}

// Before a run: loads the models if nobody has given the coefficients anew, and compares.
void PairMlipDD::make_from_restart()
{
  if (!state_)
    error->all(MLIP_DD_PLACE,
               "{}. The restart file names this pair style so. Give `pair_style mlip/dd` and "
               "`pair_coeff` after read_restart",
               restored_->problem);
  const bool anew = restored_->given_anew;
  if (!state_->pipeline && !anew && !restored_->element_names.empty()) {
    std::vector<const char *> arguments{"*", "*"};
    for (const std::string &name : restored_->element_names) arguments.push_back(name.c_str());
    mlip_dd::run_together(lmp, [&] {
      state_->element_of_type =
          mlip_dd::read_element_map(arguments, atom->ntypes, state_->spec->elements());
    });
    load_models(restored_->element_names);
  }
  if (!state_->pipeline) return;
  const bool same_model = state_->fingerprint == restored_->fingerprint;
  if (!same_model && !anew)
    error->all(MLIP_DD_PLACE,
               "mlip/dd: the model is not the one that the restart file was written with (found: "
               "fingerprint {}, written with {}) in {}. Put the old files back, or give "
               "`pair_style mlip/dd` and `pair_coeff` after read_restart to go on with the new "
               "ones",
               state_->fingerprint, restored_->fingerprint, state_->options.spec_file);
  if (comm->me == 0 && !same_model)
    error->warning(MLIP_DD_PLACE,
                   "mlip/dd: the run goes on with another model: fingerprint {}, and {} in the "
                   "restart file",
                   state_->fingerprint, restored_->fingerprint);
  if (comm->me == 0 && !same_elements(state_->element_names, restored_->element_names))
    error->warning(MLIP_DD_PLACE,
                   "mlip/dd: the run goes on with other elements than those of the "
                   "restart file");
  restored_.reset();
}

}    // namespace LAMMPS_NS
