#include "pair_options.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <string_view>

#include "base/error.h"
#include "base/nearest.h"

namespace mlip_dd {

namespace {

constexpr const char *kSyntax =
    "Syntax: pair_style mlip/dd spec.json [device auto|cpu|cuda[:N]] [threads N] "
    "[halo auto|exchange|padded|all|wide] [mpi auto|host|device] [charges keep|to_q] "
    "[committee every N] [log yes|no]";
constexpr std::array<std::string_view, 7> kKeywords{"device",  "threads",   "halo", "mpi",
                                                    "charges", "committee", "log"};

[[noreturn]] void refuse(const std::string &cause, std::string_view found)
{
  throw Error({cause, std::string(found), "pair_style mlip/dd", kSyntax});
}

std::string choice(std::string_view keyword, std::string_view value,
                   std::span<const std::string_view> legal)
{
  if (std::find(legal.begin(), legal.end(), value) == legal.end())
    refuse("illegal value of the keyword " + std::string(keyword), value);
  return std::string(value);
}

int whole_number(std::string_view keyword, std::string_view value, int most)
{
  int number = 0;
  const auto [end, status] = std::from_chars(value.data(), value.data() + value.size(), number);
  if (status != std::errc() || end != value.data() + value.size() || number < 1 || number > most)
    refuse("the keyword " + std::string(keyword) + " takes a whole number from 1 to " +
               std::to_string(most),
           value);
  return number;
}

bool is_device(std::string_view value)
{
  if (value == "auto" || value == "cpu" || value == "cuda") return true;
  return value.starts_with("cuda:") && value.size() > 5 &&
         value.find_first_not_of("0123456789", 5) == std::string_view::npos;
}

}    // namespace

PairOptions read_pair_options(std::span<const std::string> arguments)
{
  if (arguments.empty()) refuse("pair_style mlip/dd needs a spec file", "no argument");
  PairOptions options;
  options.spec_file = arguments[0];
  for (std::size_t k = 1; k < arguments.size(); k += 2) {
    const std::string_view keyword = arguments[k];
    if (std::find(kKeywords.begin(), kKeywords.end(), keyword) == kKeywords.end()) {
      const std::string nearest = nearest_name(keyword, kKeywords);
      refuse("unknown keyword" + (nearest.empty() ? "" : ", did you mean " + nearest + "?"),
             keyword);
    }
    if (k + 1 == arguments.size()) refuse("a keyword has no value", keyword);
    const std::string_view value = arguments[k + 1];
    if (keyword == "device") {
      if (!is_device(value)) refuse("illegal value of the keyword device", value);
      options.device = value;
    } else if (keyword == "threads") {
      constexpr int kMostThreads = 1024;
      options.threads = whole_number(keyword, value, kMostThreads);
    } else if (keyword == "committee") {
      if (value != "every")
        refuse("the keyword committee is followed by `every` and a number", value);
      if (++k + 1 == arguments.size()) refuse("a keyword has no value", "committee every");
      options.committee_every =
          whole_number("committee every", arguments[k + 1], std::numeric_limits<int>::max());
    } else if (keyword == "halo") {
      constexpr std::array<std::string_view, 5> kModes{"auto", "exchange", "padded", "all", "wide"};
      options.halo = choice(keyword, value, kModes);
    } else if (keyword == "mpi") {
      constexpr std::array<std::string_view, 3> kPaths{"auto", "host", "device"};
      options.mpi = choice(keyword, value, kPaths);
    } else if (keyword == "charges") {
      constexpr std::array<std::string_view, 2> kWhere{"keep", "to_q"};
      options.charges_to_q = choice(keyword, value, kWhere) == "to_q";
    } else {
      constexpr std::array<std::string_view, 2> kAnswers{"yes", "no"};
      options.log = choice(keyword, value, kAnswers) == "yes";
    }
  }
  return options;
}

}    // namespace mlip_dd
