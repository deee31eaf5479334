#include "spec/elements.h"

#include <algorithm>
#include <array>
#include <string>

#include "base/error.h"

namespace mlip_dd {

namespace {

constexpr std::array<std::string_view, 118> kSymbols{
    "H",  "He", "Li", "Be", "B",  "C",  "N",  "O",  "F",  "Ne", "Na", "Mg", "Al", "Si", "P",
    "S",  "Cl", "Ar", "K",  "Ca", "Sc", "Ti", "V",  "Cr", "Mn", "Fe", "Co", "Ni", "Cu", "Zn",
    "Ga", "Ge", "As", "Se", "Br", "Kr", "Rb", "Sr", "Y",  "Zr", "Nb", "Mo", "Tc", "Ru", "Rh",
    "Pd", "Ag", "Cd", "In", "Sn", "Sb", "Te", "I",  "Xe", "Cs", "Ba", "La", "Ce", "Pr", "Nd",
    "Pm", "Sm", "Eu", "Gd", "Tb", "Dy", "Ho", "Er", "Tm", "Yb", "Lu", "Hf", "Ta", "W",  "Re",
    "Os", "Ir", "Pt", "Au", "Hg", "Tl", "Pb", "Bi", "Po", "At", "Rn", "Fr", "Ra", "Ac", "Th",
    "Pa", "U",  "Np", "Pu", "Am", "Cm", "Bk", "Cf", "Es", "Fm", "Md", "No", "Lr", "Rf", "Db",
    "Sg", "Bh", "Hs", "Mt", "Ds", "Rg", "Cn", "Nh", "Fl", "Mc", "Lv", "Ts", "Og"};

}    // namespace

std::span<const std::string_view> element_symbols() { return kSymbols; }

int find_atomic_number(std::string_view symbol)
{
  const auto found = std::find(kSymbols.begin(), kSymbols.end(), symbol);
  return found == kSymbols.end() ? 0 : static_cast<int>(found - kSymbols.begin()) + 1;
}

int atomic_number(std::string_view symbol)
{
  const int number = find_atomic_number(symbol);
  if (number == 0)
    throw Error({"no element has this symbol", "\"" + std::string(symbol) + "\"", "",
                 "Write symbols as in the periodic table: H, He, Li, ..."});
  return number;
}

}    // namespace mlip_dd
