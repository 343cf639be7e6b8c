// Patterns as flows between GPUs: what both fidelities run.
//
// A flow is `messages` messages of one size, one behind the other. Flows of a collective wait for each other: a flow
// may send `granted` messages at once and gets one more for each message that all flows in front of it have delivered.
//
//   ring   n members, n flows; flow i is granted by flow i - 1. Message size S / n, 2 (n - 1) messages: reduce-scatter,
//          then all-gather (Patarasuk and Yuan, JPDC 2009).
//   tree   member i > 0 has parent (i - 1) / 2. Up-flow i is granted by the up-flows of its children, down-flow i by
//          the down-flow of its parent, at the root by the up-flows of both children.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "models/network/study/pattern.hpp"
#include "sim/base/ids.hpp"

namespace rehearse {

inline constexpr std::uint32_t no_flow = UINT32_MAX;

struct StudyFlow {
    GpuId source, destination;
    Bytes message;
    std::int64_t messages = 1;
    SimTime start;
    std::int64_t granted = INT64_MAX;
    std::vector<std::uint32_t> grants;  // flows that get one more message for each that arrives here
    std::uint32_t sibling = no_flow;    // grants only what this flow has delivered as well
    std::uint32_t ring = 0;             // flows with one number > 0, side by side, are one ring
    std::uint32_t lap = 1;              // messages in a row that depend on each other: of one all-reduce
    std::uint8_t traffic_class = 1;
};

// Needs patterns that fit the cluster: members known and inside it, groups that divide them.
std::vector<StudyFlow> flows_of(std::span<const PatternSpec> patterns);

}  // namespace rehearse
