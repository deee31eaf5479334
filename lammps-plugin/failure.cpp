#include "failure.h"

#include <error.h>
#include <lammps.h>
#include <mpi.h>
#include <update.h>

#include <string>

#include "base/error.h"
#include "comm/mpi_communicator.h"
#include "place.h"

namespace mlip_dd {

namespace {

// Without line breaks, which the messages of interpreters and compilers have.
std::string on_one_line(const std::string &text)
{
  std::string line;
  for (const char letter : text) {
    const bool blank = letter == '\n' || letter == '\t' || letter == '\r' || letter == ' ';
    if (!blank)
      line += letter;
    else if (!line.empty() && line.back() != ' ')
      line += ' ';
  }
  return line;
}

// Runs `body`; the message of what it threw, with `when` added to its place, or nothing.
std::string caught_message(const std::function<void()> &body, const std::string &when = {})
{
  ErrorParts parts;
  try {
    body();
    return {};
  } catch (const std::bad_alloc &) {
    parts = {"out of memory", "", "", "Use more ranks, so that each owns fewer atoms"};
  } catch (const Error &error) {
    parts = error.parts();
  } catch (const std::exception &error) {
    parts = {"unexpected error", error.what(), "", "Report it with the lines of `log yes`"};
  }
  if (!when.empty()) parts.where = when + (parts.where.empty() ? "" : ", ") + parts.where;
  return "mlip/dd: " + on_one_line(describe(parts));
}

// Collective. `mine` of the lowest rank where it is not empty; nothing where it is on all.
std::string lowest_message(LAMMPS_NS::LAMMPS *lammps, std::string mine)
{
  int rank = 0, size = 1;
  MPI_Comm_rank(lammps->world, &rank);
  MPI_Comm_size(lammps->world, &size);
  const int speaks = mine.empty() ? size : rank;
  int first = size;
  MPI_Allreduce(&speaks, &first, 1, MPI_INT, MPI_MIN, lammps->world);
  if (first == size) return {};
  int length = static_cast<int>(mine.size());
  MPI_Bcast(&length, 1, MPI_INT, first, lammps->world);
  mine.resize(static_cast<std::size_t>(length));
  MPI_Bcast(mine.data(), length, MPI_CHAR, first, lammps->world);
  return mine;
}

}    // namespace

std::string problem_together(LAMMPS_NS::LAMMPS *lammps, const std::function<void()> &body)
{
  return lowest_message(lammps, caught_message(body));
}

void run_together(LAMMPS_NS::LAMMPS *lammps, const std::function<void()> &body)
{
  if (const std::string message = problem_together(lammps, body); !message.empty())
    lammps->error->all(MLIP_DD_PLACE, message);
}

void run_communicating(LAMMPS_NS::LAMMPS *lammps, InterruptibleCommunicator &communicator,
                       const std::function<void()> &body)
{
  const int rank = communicator.rank();
  std::string message = caught_message(
      body, "step " + std::to_string(lammps->update->ntimestep) + ", rank " + std::to_string(rank));
  // What an interrupted rank throws tells of another's failure.
  if (communicator.interrupted())
    message.clear();
  else if (!message.empty())
    communicator.give_up();
  message = lowest_message(lammps, message);
  if (message.empty()) return;
  communicator.start_afresh();
  lammps->error->all(MLIP_DD_PLACE, message);
}

void run_with_warning(LAMMPS_NS::LAMMPS *lammps, const std::function<void()> &body)
{
  if (const std::string message = caught_message(body); !message.empty())
    lammps->error->warning(MLIP_DD_PLACE, message);
}

}    // namespace mlip_dd
