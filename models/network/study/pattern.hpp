// What a study of the fabric alone sends: traffic patterns as the user writes them. Plain data.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/base/units.hpp"

namespace rehearse {

enum class Pattern : std::uint8_t {
    permutation,      // each member sends to one other: Sattolo's cycle over splitmix64(matrix_seed)
    incast,           // members 1 .. senders each send to member 0
    all_to_all,       // each member of a group sends to every other one of it
    ring_all_reduce,  // 2 (n - 1) messages of message / n from each member of a group to the next one
    tree_all_reduce,  // a binary tree per group: chunks are summed up towards member 0 and come back
    trace,            // the flows of a file
};

enum class FastForwardMode : std::uint8_t {  // fast_forward.hpp
    off,
    on,
    check,  // the whole run, and the same with skips: how far their ends lie apart
};

struct TraceFlow {
    std::uint32_t source = 0, destination = 0;  // GPUs
    Bytes bytes;
    SimTime start;
};

// Member i is GPU first + i x stride. Groups interleave as in traffic_matrix.hpp: member j of group g is member
// g + j x (members / group).
struct PatternSpec {
    Pattern pattern = Pattern::permutation;
    Bytes message{1'000'000};      // payload of a flow; of an all-reduce: the buffer that each member holds
    std::int64_t members = 0;      // 0 = as many as the cluster has; incast: senders + 1 are used
    std::int64_t first = 0, stride = 1;
    std::int64_t group = 0;        // 0 = all members; divides them
    std::int64_t senders = 0;      // incast; 0 = all members but the receiver
    std::int64_t chunks = 16;      // tree: pieces in which the buffer travels
    std::int64_t matrix_seed = 1;  // of the permutation; apart from the scenario's, so that seeds keep the matrix
    std::int64_t repetitions = 1;  // messages, or all-reduces, one behind the other
    std::int64_t traffic_class = 1;
    SimDuration start;
    std::string trace;             // file: source, destination, bytes, start in ps
    std::vector<TraceFlow> flows;  // what it holds
};

}  // namespace rehearse
