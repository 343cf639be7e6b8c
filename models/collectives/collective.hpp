// Collective operations: what each algorithm sends, how long it takes on an idle fabric, and how nccl-tests rates it.
//
// `size` S is the size that nccl-tests prints: the whole buffer of a rank (all-gather: what it ends with;
// reduce-scatter and all-to-all: what it starts with). n members, alpha = latency of one hop, B = rate of one member in
// one direction:
//
//   kind            algorithm  sent per member   steps          time
//   all_reduce      ring       2 (n-1)/n S       2 (n-1)        steps alpha + sent / B
//   all_gather      ring       (n-1)/n S         n-1            same
//   reduce_scatter  ring       (n-1)/n S         n-1            same
//   broadcast       ring       S                 n-1            same (chunks follow each other down the chain)
//   all_to_all      direct     (n-1)/n S         1              same
//   all_reduce      tree       2 S               2 ceil(log2 n) same
//   broadcast       tree       S                 ceil(log2 n)   same
//
// Trees are the two complementary binary trees of Sanders, Speck and Traff (Parallel Computing 35, 2009), which NCCL
// uses: an inner node of one tree is a leaf of the other, each tree carries half of the data in small chunks. Rings:
// Patarasuk and Yuan (JPDC 69, 2009). The closed forms leave out the filling of the pipeline, S/chunks per hop.
//
// Example: ring all-reduce of 1 MiB over 4 members sends 1.5 MiB per member in 6 steps.
#pragma once

#include <cstdint>
#include <string_view>

#include "sim/base/units.hpp"

namespace rehearse {

enum class CollectiveKind : std::uint8_t { all_reduce, all_gather, reduce_scatter, broadcast, all_to_all };
enum class CollectiveAlgorithm : std::uint8_t { ring, tree, direct };
std::string_view name(CollectiveKind kind);
std::string_view name(CollectiveAlgorithm algorithm);

// Whether the table above has a row for the pair.
enum class Availability : std::uint8_t { missing, present };
Availability availability(CollectiveKind kind, CollectiveAlgorithm algorithm);

struct CollectiveVolume {
    Bytes sent_per_member;    // rounded up
    std::uint32_t steps = 0;  // serial messages on the critical path
};

// InvariantBroken when the pair is missing, members < 1 or size < 0. One member sends nothing in no steps.
CollectiveVolume collective_volume(CollectiveKind kind, CollectiveAlgorithm algorithm, std::int64_t members,
                                   Bytes size);

// steps alpha + sent / B.
SimDuration collective_time(CollectiveKind kind, CollectiveAlgorithm algorithm, std::int64_t members, Bytes size,
                            SimDuration alpha, Bandwidth rate);

// nccl-tests (doc/PERFORMANCE.md): algbw = S / t; busbw = algbw x factor, the rate that the links must have had.
//   all_reduce 2 (n-1)/n; all_gather, reduce_scatter, all_to_all (n-1)/n; broadcast 1
Ratio bus_factor(CollectiveKind kind, std::int64_t members);
double algorithm_bandwidth(Bytes size, SimDuration time);  // bytes per second; InvariantBroken when time <= 0
double bus_bandwidth(CollectiveKind kind, std::int64_t members, Bytes size, SimDuration time);  // bytes per second

}  // namespace rehearse
