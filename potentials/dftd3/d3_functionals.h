// Published parameters of DFT-D3's damping for density functionals.
#pragma once

#include <span>
#include <string_view>
#include <vector>

namespace mlip_dd {

// Becke-Johnson (rational) damping; a2 in Bohr.
struct D3BeckeJohnson {
  double s6, s8, a1, a2;
};

// Zero damping: damping radii are sr6 and sr8 times the pair's cut-off radius.
struct D3Zero {
  double s6, s8, sr6, sr8;
};

// nullptr when the functional has no parameters for this damping. Names are in lower case without
// hyphens.
const D3BeckeJohnson *find_d3_bj(std::string_view functional);
const D3Zero *find_d3_zero(std::string_view functional);

// For messages: the functionals with parameters for the damping.
std::vector<std::string_view> d3_bj_functionals();
std::vector<std::string_view> d3_zero_functionals();

}    // namespace mlip_dd
