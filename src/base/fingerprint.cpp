#include "base/fingerprint.h"

#include <cstdint>
#include <fstream>
#include <iomanip>
#include <sstream>

namespace mlip_dd {

std::string fingerprint_of(const std::vector<std::string> &files)
{
  std::uint64_t hash = 0xcbf29ce484222325U;
  std::vector<char> block(std::size_t{1} << 20);
  for (const std::string &path : files) {
    std::ifstream file(path, std::ios::binary);
    while (file) {
      file.read(block.data(), static_cast<std::streamsize>(block.size()));
      for (std::streamsize k = 0; k < file.gcount(); ++k) {
        hash ^= static_cast<unsigned char>(block[static_cast<std::size_t>(k)]);
        hash *= 0x100000001b3U;
      }
    }
  }
  std::ostringstream text;
  text << std::hex << std::setfill('0') << std::setw(kFingerprintLength) << hash;
  return text.str();
}

}    // namespace mlip_dd
