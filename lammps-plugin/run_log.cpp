#include "run_log.h"

#include <array>
#include <iomanip>
#include <sstream>

namespace mlip_dd {

namespace {

struct Spread {
  double minimum, average, maximum;
};

Spread spread_of(Communicator &communicator, std::int64_t value)
{
  std::array<std::int64_t, 2> extremes{value, -value};
  communicator.max(extremes);
  std::array<std::int64_t, 1> total{value};
  communicator.sum(total);
  return {static_cast<double>(-extremes[1]), static_cast<double>(total[0]) / communicator.size(),
          static_cast<double>(extremes[0])};
}

std::string line(const std::string &name, const Spread &spread)
{
  std::ostringstream text;
  text << "mlip/dd:   " << std::left << std::setw(26) << name << std::right << std::setw(12)
       << spread.minimum << std::setw(12) << spread.average << std::setw(12) << spread.maximum;
  return text.str();
}

std::string heading(const std::string &title)
{
  std::ostringstream text;
  text << "mlip/dd: " << std::left << std::setw(28) << title << std::right << std::setw(12) << "min"
       << std::setw(12) << "average" << std::setw(12) << "max";
  return text.str();
}

void add_title(std::vector<std::string> &lines, const Pipeline &pipeline, std::size_t step)
{
  if (pipeline.size() > 1)
    lines.push_back("mlip/dd: step " + std::to_string(step + 1) + ", " + pipeline.name(step));
}

void describe_graph(Communicator &communicator, const ModelRunner &runner, double skin,
                    const Traffic &before, std::vector<std::string> &lines)
{
  for (const std::string &text : runner.potential().description())
    lines.push_back("mlip/dd: " + text);
  const bool edges = runner.potential().uses_edges();
  std::ostringstream how;
  how << "mlip/dd: halo: " << runner.realisation().text << "; " << (edges ? "edges" : "pairs")
      << " within " << runner.potential().cutoff() << " A, kept up to a skin of " << skin << " A";
  lines.push_back(how.str());
  const GraphCounts counts = runner.counts();
  lines.push_back(heading("graph, per rank"));
  lines.push_back(line("owned rows", spread_of(communicator, counts.owned)));
  lines.push_back(line("halo rows", spread_of(communicator, counts.halo)));
  lines.push_back(line("rows the model sees", spread_of(communicator, counts.model_rows)));
  // Without edges a potential goes over all pairs that are kept, each from both its ends.
  lines.push_back(edges ? line("edges", spread_of(communicator, runner.graph().n_edges()))
                        : line("pairs with the skin", spread_of(communicator, counts.candidates)));
  lines.push_back(line("neighbour ranks", spread_of(communicator, counts.neighbour_ranks)));
  const Traffic now = runner.traffic();
  const std::int64_t exchanges = now.gathers + now.scatters + now.system_sums - before.gathers -
                                 before.scatters - before.system_sums;
  lines.push_back(line("exchanges in this step", spread_of(communicator, exchanges)));
  lines.push_back(
      line("bytes sent in this step", spread_of(communicator, now.bytes_sent - before.bytes_sent)));
}

void describe_times(Communicator &communicator, const ModelRunner &runner,
                    std::vector<std::string> &lines)
{
  const Traffic traffic = runner.traffic();
  const RunnerTimes &times = runner.times();
  const auto micro = [](double seconds) { return static_cast<std::int64_t>(1e6 * seconds); };
  const auto seconds = [&](double value) {
    Spread spread = spread_of(communicator, micro(value));
    return Spread{1e-6 * spread.minimum, 1e-6 * spread.average, 1e-6 * spread.maximum};
  };
  lines.push_back(line("gathers", spread_of(communicator, traffic.gathers)));
  lines.push_back(line("scatters", spread_of(communicator, traffic.scatters)));
  lines.push_back(line("sums over the system", spread_of(communicator, traffic.system_sums)));
  lines.push_back(line("messages sent", spread_of(communicator, traffic.messages_sent)));
  lines.push_back(line("bytes sent", spread_of(communicator, traffic.bytes_sent)));
  lines.push_back(line("s building graphs", seconds(times.build)));
  lines.push_back(line("s choosing edges", seconds(times.select)));
  const double backward = runner.potential().backward_seconds();
  lines.push_back(line("s forward", seconds(times.model - backward)));
  lines.push_back(line("s backward", seconds(backward)));
  lines.push_back(line("s bringing forces home", seconds(times.home)));
  lines.push_back(line("s consolidating outputs", seconds(times.outputs)));
  lines.push_back(line("s of these in exchanges", seconds(traffic.seconds)));
  lines.push_back(line("s of these, packing", seconds(traffic.packing)));
}

}    // namespace

std::vector<Traffic> traffic_of(const Pipeline &pipeline)
{
  std::vector<Traffic> traffic;
  for (std::size_t step = 0; step < pipeline.size(); ++step)
    traffic.push_back(pipeline.runner(step).traffic());
  return traffic;
}

std::vector<std::string> describe_graphs(Communicator &communicator, const Pipeline &pipeline,
                                         double skin, const std::vector<Traffic> &before)
{
  std::vector<std::string> lines;
  for (const std::string &wire : pipeline.wiring().found) lines.push_back("mlip/dd: " + wire);
  for (std::size_t step = 0; step < pipeline.size(); ++step) {
    add_title(lines, pipeline, step);
    describe_graph(communicator, pipeline.runner(step), skin, before[step], lines);
  }
  return lines;
}

std::vector<std::string> describe_run(Communicator &communicator, const Pipeline &pipeline,
                                      std::int64_t evaluations)
{
  std::vector<std::string> lines{heading("after " + std::to_string(evaluations) + " evaluations")};
  for (std::size_t step = 0; step < pipeline.size(); ++step) {
    add_title(lines, pipeline, step);
    describe_times(communicator, pipeline.runner(step), lines);
  }
  return lines;
}

std::vector<std::string> describe_counts(
    Communicator &communicator, const std::string &title,
    const std::vector<std::pair<std::string, std::int64_t>> &counts)
{
  std::vector<std::string> lines{heading(title)};
  for (const auto &[name, count] : counts)
    lines.push_back(line(name, spread_of(communicator, count)));
  return lines;
}

}    // namespace mlip_dd
