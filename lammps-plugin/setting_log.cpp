// What a bug report should hold: versions, model, types, units and ranks; and the account at a
// run's end.
#include <atom.h>
#include <comm.h>
#include <error.h>
#include <lammps.h>
#include <mpi.h>
#include <torch/headeronly/version.h>
#include <update.h>
#include <utils.h>

#include <array>
#include <cstdint>
#include <sstream>

#include "pair_state.h"
#include "place.h"
#include "run_log.h"

namespace LAMMPS_NS {

namespace {

std::string mpi_library()
{
  std::string text(MPI_MAX_LIBRARY_VERSION_STRING, '\0');
  int length = 0;
  MPI_Get_library_version(text.data(), &length);
  text.resize(static_cast<std::size_t>(length));
  text = text.substr(0, text.find('\n'));
  for (char &letter : text)
    if (letter == '\t') letter = ' ';
  return text;
}

}    // namespace

// Says nothing that differs between ranks.
std::vector<std::string> PairMlipDD::describe_setting() const
{
  std::vector<std::string> lines;
  std::ostringstream text;
  text << "mlip/dd: mlip-dd " MLIP_DD_VERSION ", torch " TORCH_VERSION ", LAMMPS " << lmp->version
       << ", " << mpi_library();
  lines.push_back(text.str());
  text.str("");
  text << "mlip/dd: spec " << state_->options.spec_file << ", fingerprint with its models "
       << state_->fingerprint;
  lines.push_back(text.str());
  text.str("");
  text << "mlip/dd: types";
  for (std::size_t k = 0; k < state_->element_names.size(); ++k)
    text << (k ? ", " : " ") << k + 1 << " " << state_->element_names[k];
  text << "; " << comm->nprocs << " ranks, " << state_->options.threads
       << " threads on each; device " << state_->options.device;
  lines.push_back(text.str());
  text.str("");
  text << "mlip/dd: units " << update->unit_style << ": length " << state_->units.length
       << " A, energy " << state_->units.energy << " eV, charge " << state_->units.charge << " e";
  lines.push_back(text.str());
  return lines;
}

void PairMlipDD::log_lines(const std::vector<std::string> &lines)
{
  if (comm->me != 0) return;
  for (const std::string &line : lines) utils::logmesg(lmp, line + "\n");
}

// Collective: models warn on ranks that run them, and rank 0 alone can tell.
void PairMlipDD::pass_warnings_on()
{
  std::string text;
  for (const std::string &warning : state_->pipeline->take_warnings()) text += warning + "\n";
  std::array<std::int64_t, 1> teller{text.empty() ? -comm->nprocs : -comm->me};
  state_->communicator->max(teller);
  const int rank = static_cast<int>(-teller[0]);
  if (rank == comm->nprocs) return;
  std::uint64_t length = text.size();
  state_->communicator->broadcast(&length, sizeof(length), rank);
  text.resize(length);
  state_->communicator->broadcast(text.data(), length, rank);
  if (comm->me != 0) return;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);)
    error->warning(MLIP_DD_PLACE, "mlip/dd: " + line);
}

void PairMlipDD::finish()
{
  if (!state_ || !state_->options.log || state_->evaluations == 0) return;
  log_lines(mlip_dd::describe_run(*state_->communicator, *state_->pipeline, state_->evaluations));
}

}    // namespace LAMMPS_NS
