// Which atoms of an edge get its virial.
#pragma once

namespace mlip_dd {

enum class VirialShare {
  ends,     // half to each
  sender    // all to the sender, whose motion changes the receiver's energy
};

// The receiver's part; the sender's is the rest.
constexpr double receivers_part(VirialShare share)
{
  return share == VirialShare::ends ? 0.5 : 0.0;
}

}    // namespace mlip_dd
