// Timeline: what happened in the simulated step. Per rank the time of each part, for sampled ranks every span, per link
// the traffic. Times are picoseconds from the start of the step.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "models/network/network_model.hpp"
#include "models/workload/program.hpp"
#include "sim/base/units.hpp"

namespace rehearse {

using PartTimes = std::array<SimDuration, part_count>;

// What a rank was busy with or waited for. One span never covers two parts: a pass of a tensor group is compute spans
// with the waiting for its members (straggler_wait) and its exposed communication (tp_exposed) on `tensor` between.
enum class SpanStream : std::uint8_t { compute, tensor, pipeline, data };

struct Span {
    RankId rank;
    SpanStream stream = SpanStream::compute;
    Part part = Part::compute;
    Phase phase = Phase::forward;
    std::uint16_t chunk = 0;
    std::uint32_t micro_batch = 0;
    SimTime begin, end;
    std::uint32_t work = UINT32_MAX;  // index into Workload::works, for what a work took or waited for
};

struct Timeline {
    SimTime end;                       // the last rank has finished: step time
    std::vector<PartTimes> parts;      // per rank; each adds up to `end`
    // Of sampled ranks, each rank's in order. Per rank and part they add up to `parts`, less the waiting for the last
    // rank of the step (straggler_wait).
    std::vector<Span> spans;
    std::vector<std::uint32_t> last_arrivals;  // per rank: group collectives for which it came last
    LinkTraffic traffic;
    PacketShare packets;               // packet fidelity
    std::uint64_t events = 0;          // instructions run and network events
    std::uint64_t fingerprint = 0;     // order-dependent hash of every completion and every rank's end
};

}  // namespace rehearse
