// Keys of models.network.packet that say something else than their default where nothing looks at them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "models/network/packet/spec.hpp"
#include "models/network/spec.hpp"

namespace rehearse {

struct IdleKey {
    std::string key;               // "pfc.headroom"
    std::string_view why, needs;   // why it has no effect; what would let it act
    bool is_contradiction = false; // it speaks of the flow control that was not chosen
};

// In the order of packet_keys.hpp. A resolved scenario, where every key is written, has none that its original has not.
std::vector<IdleKey> idle_keys(const PacketSpec& packet, const NetworkSpec& network);

}  // namespace rehearse
