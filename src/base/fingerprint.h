// A short name for what is in some files, to tell whether they changed. Not a safeguard against
// anyone who means harm.
#pragma once

#include <string>
#include <vector>

namespace mlip_dd {

inline constexpr std::size_t kFingerprintLength = 16;

// Of all bytes of the files, one after the other: hexadecimal digits. The 64-bit FNV-1a hash of
// Fowler, Noll and Vo (RFC 9923). What can't be read adds nothing: who needs it will say so.
std::string fingerprint_of(const std::vector<std::string> &files);

}    // namespace mlip_dd
