#include "citations.h"

#include <citeme.h>
#include <lammps.h>

#include <regex>

namespace mlip_dd {

namespace {

constexpr const char *kOurs =
    "pair_style mlip/dd: mlip-dd " MLIP_DD_VERSION
    "\n\n"
    "@Misc{mlip-dd,\n"
    " author = {{The mlip-dd developers}},\n"
    " title = {mlip-dd: domain decomposition for machine-learned potentials in {LAMMPS}},\n"
    " note = {Version " MLIP_DD_VERSION
    "}\n"
    "}\n\n";

// LAMMPS's short lists show the first line alone.
std::string first_line(const std::string &entry)
{
  static const std::regex doi(R"(doi\s*=\s*[{"]([^}"]+))", std::regex::icase);
  std::smatch found;
  return std::string("model of pair_style mlip/dd") +
         (std::regex_search(entry, found, doi) ? ": doi:" + found[1].str() : "");
}

}    // namespace

void cite(LAMMPS_NS::LAMMPS &lammps, const std::vector<std::string> &models)
{
  if (!lammps.citeme) return;
  lammps.citeme->add(kOurs);
  for (const std::string &entry : models)
    lammps.citeme->add(first_line(entry) + "\n\n" + entry + "\n\n");
}

}    // namespace mlip_dd
