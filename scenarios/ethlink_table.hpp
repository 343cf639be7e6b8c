// EthLink's two semantics side by side, as `rehearse topo --ethlink` shows them.
#pragma once

#include <string>

#include "models/network/ethlink.hpp"

namespace rehearse {

// Times and compute cost over message size, the choice, both cross-overs, and where each number comes from.
std::string ethlink_table(const EthLinkSpec& spec);

}  // namespace rehearse
