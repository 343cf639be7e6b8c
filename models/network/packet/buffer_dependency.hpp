// Cyclic buffer dependency: the condition for a lossless fabric to deadlock.
//
// A packet that came by link a and leaves by link b makes the buffer behind a wait for the buffer behind b. When such
// waits close a cycle, every one of its buffers may be full and wait for the next one for ever (Dally and Seitz, 1987;
// for PFC: Hu et al., HotNets'16). Routes that only climb and then descend never close one; a route that turns up again
// after a descent may.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "models/network/packet/fabric_graph.hpp"

namespace rehearse {

struct RoutedFlow {
    GpuId source;
    PacketRoute route;
};

// The ports by which the links of one cycle leave their switches, in the order in which they wait for each other; empty
// when these routes, all of one class, can't deadlock.
std::vector<std::uint32_t> find_buffer_cycle(const FabricGraph& graph, std::span<const RoutedFlow> flows);

// "pod0.set0.tor0 -> pod0.agg1 -> pod0.set1.tor0 -> pod0.set0.tor0" of such a cycle.
std::string describe_buffer_cycle(const FabricGraph& graph, std::span<const std::uint32_t> cycle);

}  // namespace rehearse
