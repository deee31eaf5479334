#include "potentials/dftd3/d3_functionals.h"

#include <algorithm>
#include <utility>

namespace mlip_dd {

namespace {

template <class Values>
using Row = std::pair<std::string_view, Values>;

// Becke-Johnson: Grimme, Ehrlich, Goerigk, J. Comput. Chem. 32, 1456 (2011) and its supporting
// tables; pbesol, rpbe, b97d-family entries from the same authors' list of parameters; scan:
// Brandenburg, Bates, Sun, Perdew, Phys. Rev. B 94, 115144 (2016); rscan and r2scan: Ehlert et
// al., J. Chem. Phys. 154, 061101 (2021).
constexpr Row<D3BeckeJohnson> kBeckeJohnson[] = {
    {"b2plyp", {0.64, 0.9147, 0.3065, 5.0570}},
    {"b3lyp", {1.0, 1.9889, 0.3981, 4.4211}},
    {"b97d", {1.0, 2.2609, 0.5545, 3.2297}},
    {"bhlyp", {1.0, 1.0354, 0.2793, 4.9615}},
    {"blyp", {1.0, 2.6996, 0.4298, 4.2359}},
    {"bp86", {1.0, 3.2822, 0.3946, 4.8516}},
    {"camb3lyp", {1.0, 2.0674, 0.3708, 5.4743}},
    {"hf", {1.0, 0.9171, 0.3385, 2.8830}},
    {"hse06", {1.0, 2.3100, 0.3830, 5.6850}},
    {"lcwpbe", {1.0, 1.8541, 0.3919, 5.0897}},
    {"pbe", {1.0, 0.7875, 0.4289, 4.4407}},
    {"pbe0", {1.0, 1.2177, 0.4145, 4.8593}},
    {"pbesol", {1.0, 2.9491, 0.4466, 6.1742}},
    {"pw6b95", {1.0, 0.7257, 0.2076, 6.3750}},
    {"r2scan", {1.0, 0.78981345, 0.49484001, 5.73083694}},
    {"revpbe", {1.0, 2.3550, 0.5238, 3.5016}},
    {"rpbe", {1.0, 0.8318, 0.1820, 4.0094}},
    {"rscan", {1.0, 1.08859014, 0.47023427, 5.73408312}},
    {"scan", {1.0, 0.0, 0.5380, 5.4200}},
    {"tpss", {1.0, 1.9435, 0.4535, 4.4752}},
    {"tpss0", {1.0, 1.2576, 0.3768, 4.5865}},
};

// Zero damping: Grimme, Antony, Ehrlich, Krieg, J. Chem. Phys. 132, 154104 (2010) and its later
// additions; scan as above.
constexpr Row<D3Zero> kZero[] = {
    {"b2plyp", {0.64, 1.022, 1.427, 1.0}},  {"b3lyp", {1.0, 1.703, 1.261, 1.0}},
    {"b97d", {1.0, 0.909, 0.892, 1.0}},     {"bhlyp", {1.0, 1.442, 1.370, 1.0}},
    {"blyp", {1.0, 1.682, 1.094, 1.0}},     {"bp86", {1.0, 1.683, 1.139, 1.0}},
    {"camb3lyp", {1.0, 1.217, 1.378, 1.0}}, {"hf", {1.0, 1.746, 1.158, 1.0}},
    {"hse06", {1.0, 0.109, 1.129, 1.0}},    {"lcwpbe", {1.0, 1.279, 1.355, 1.0}},
    {"pbe", {1.0, 0.722, 1.217, 1.0}},      {"pbe0", {1.0, 0.928, 1.287, 1.0}},
    {"pbesol", {1.0, 0.612, 1.345, 1.0}},   {"pw6b95", {1.0, 0.862, 1.532, 1.0}},
    {"revpbe", {1.0, 1.010, 0.923, 1.0}},   {"rpbe", {1.0, 0.514, 0.872, 1.0}},
    {"scan", {1.0, 0.0, 1.324, 1.0}},       {"tpss", {1.0, 1.105, 1.166, 1.0}},
    {"tpss0", {1.0, 1.242, 1.252, 1.0}},
};

template <class Values>
const Values *find(std::span<const Row<Values>> table, std::string_view name)
{
  const auto row = std::find_if(table.begin(), table.end(),
                                [&](const Row<Values> &entry) { return entry.first == name; });
  return row == table.end() ? nullptr : &row->second;
}

template <class Values>
std::vector<std::string_view> names(std::span<const Row<Values>> table)
{
  std::vector<std::string_view> list;
  for (const auto &entry : table) list.push_back(entry.first);
  return list;
}

}    // namespace

const D3BeckeJohnson *find_d3_bj(std::string_view functional)
{
  return find<D3BeckeJohnson>(kBeckeJohnson, functional);
}

const D3Zero *find_d3_zero(std::string_view functional) { return find<D3Zero>(kZero, functional); }

std::vector<std::string_view> d3_bj_functionals() { return names<D3BeckeJohnson>(kBeckeJohnson); }

std::vector<std::string_view> d3_zero_functionals() { return names<D3Zero>(kZero); }

}    // namespace mlip_dd
