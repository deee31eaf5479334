// What users should cite, handed to LAMMPS's own list.
#pragma once

#include <string>
#include <vector>

namespace LAMMPS_NS {
class LAMMPS;
}

namespace mlip_dd {

// mlip-dd itself, and `models`: BibTeX entries as the spec files give them. LAMMPS writes each
// once.
void cite(LAMMPS_NS::LAMMPS &lammps, const std::vector<std::string> &models);

}    // namespace mlip_dd
