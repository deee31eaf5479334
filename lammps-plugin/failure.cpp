#include "failure.h"

#include <error.h>
#include <lammps.h>
#include <mpi.h>
#include <update.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <thread>

#include "base/error.h"
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
    parts = {error.what(), "", "", ""};
  }
  if (!when.empty()) parts.where = when + (parts.where.empty() ? "" : ", ") + parts.where;
  return "mlip/dd: " + on_one_line(describe(parts));
}

}    // namespace

std::string problem_together(LAMMPS_NS::LAMMPS *lammps, const std::function<void()> &body)
{
  std::string message = caught_message(body);
  int rank = 0, size = 1;
  MPI_Comm_rank(lammps->world, &rank);
  MPI_Comm_size(lammps->world, &size);
  const int mine = message.empty() ? size : rank;
  int first = size;
  MPI_Allreduce(&mine, &first, 1, MPI_INT, MPI_MIN, lammps->world);
  if (first == size) return {};
  int length = static_cast<int>(message.size());
  MPI_Bcast(&length, 1, MPI_INT, first, lammps->world);
  message.resize(static_cast<std::size_t>(length));
  MPI_Bcast(message.data(), length, MPI_CHAR, first, lammps->world);
  return message;
}

void run_together(LAMMPS_NS::LAMMPS *lammps, const std::function<void()> &body)
{
  if (const std::string message = problem_together(lammps, body); !message.empty())
    lammps->error->all(MLIP_DD_PLACE, message);
}

void run_exposed(LAMMPS_NS::LAMMPS *lammps, const std::function<void()> &body)
{
  int rank = 0;
  MPI_Comm_rank(lammps->world, &rank);
  const std::string message = caught_message(
      body, "step " + std::to_string(lammps->update->ntimestep) + ", rank " + std::to_string(rank));
  if (message.empty()) return;
  // A fault that several ranks share is told once: each leaves those before it the time to end the
  // run.
  constexpr auto kPatience = std::chrono::milliseconds(700);
  constexpr int kMostTurns = 20;
  std::this_thread::sleep_for(kPatience * std::min(rank, kMostTurns));
  lammps->error->one(MLIP_DD_PLACE, message);
}

}    // namespace mlip_dd
