// The Axilrod-Teller-Muto energy of triples of atoms, DFT-D3's optional three-body term. No torch.
#pragma once

#include <cstdint>

#include "potentials/dftd3/d3_kernel.h"

namespace mlip_dd {

// Adds the energies of all triples that rows [begin, end) belong to, a third to each atom, the
// forces on these rows at fixed coordination numbers, and to energy_slope[row] the derivative of
// the whole system's energy by the coordination number of the row. `weights` has all rows, owned
// and halo. A triple counts when its three sides are shorter than the three-body cutoff:
//   E = scale sqrt(C6_ij C6_jk C6_ki) (3 cos cos cos + 1) / (r_ij r_jk r_ki)^3 / (1 + 6 p),
//   p = (R_ij R_jk R_ki / (r_ij r_jk r_ki))^(16/3), R = 4/3 of the pair's cut-off radius
// (Grimme, Antony, Ehrlich, Krieg, J. Chem. Phys. 132, 154104 (2010), eqs. 11 to 14).
//
// Each atom's owner works out the triples around it from the atom's own neighbours: both ends of
// the third side are among them. So ghosts need reach no further than for pairs and nothing is
// added across ranks, for three times the work on energies that are shared by three owners.
BlockTotals add_three_body(const PairView &rows, const D3Model &model, const D3Weights *weights,
                           std::int64_t begin, std::int64_t end, double *energy_slope,
                           const RowResults &results);

}    // namespace mlip_dd
