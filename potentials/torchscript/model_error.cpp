#include "potentials/torchscript/model_error.h"

#include <string_view>

namespace mlip_dd {

namespace {

std::string trimmed(const std::string &text)
{
  const std::size_t first = text.find_first_not_of(" \t\n"), last = text.find_last_not_of(" \t\n");
  return first == std::string::npos ? "" : text.substr(first, last - first + 1);
}

// What torch says, and where: its messages may carry a C++ stack, and those of the interpreter
// begin with the model's code around each call. LAMMPS cuts long messages.
std::string essence(const std::string &message)
{
  constexpr std::size_t kLongest = 300;
  std::string text = message.substr(0, message.find("\nException raised from"));
  text = trimmed(text.substr(0, text.find("\nframe #")));
  std::string source;
  constexpr std::string_view kHere = "<--- HERE";
  if (const std::size_t here = text.rfind(kHere); here != std::string::npos) {
    const std::size_t marks = text.rfind('\n', here);
    if (marks != std::string::npos && marks > 0) {
      const std::size_t line = text.rfind('\n', marks - 1);
      const std::size_t begin = line == std::string::npos ? 0 : line + 1;
      source = trimmed(text.substr(begin, marks - begin));
    }
    // After the code around the place comes what was wrong.
    const std::size_t error = text.find("Error: ", here);
    text = error == std::string::npos
               ? trimmed(text.substr(here + kHere.size()))
               : trimmed(text.substr(error + std::string_view("Error: ").size()));
  }
  text = text.substr(0, kLongest);
  return source.empty() ? text : text + ", at `" + source.substr(0, kLongest) + "`";
}

}    // namespace

Error model_error(const std::string &message, const std::string &file)
{
  const std::string text = essence(message);
  // What torch and CUDA call it.
  if (text.find("allocate memory") != std::string::npos ||
      text.find("out of memory") != std::string::npos)
    return Error({"the model ran out of memory", text, file,
                  "Use more ranks, so that each owns fewer atoms"});
  return Error(
      {"the model failed", text, file, "If it indexes rows in a way of its own, use `halo wide`"});
}

}    // namespace mlip_dd
