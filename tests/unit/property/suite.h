// What the property suite calls equal.
#pragma once

namespace mlip_dd::test {

// Float64 sums of up to some ten thousand terms of order one, through up to four layers.
inline constexpr double kSame = 1e-10;
// eV/Angstrom: forces that are surely not rounding.
inline constexpr double kSignal = 1e-3;

}    // namespace mlip_dd::test
