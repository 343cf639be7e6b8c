// What the fabric counted: per port, and in all. A transmission is one packet that crosses one link.
#pragma once

#include <cstdint>
#include <vector>

namespace rehearse {

struct PortCounters {
    std::uint64_t data = 0, control = 0;  // transmissions
    std::uint64_t bytes = 0;              // on the wire, gaps included
    std::int64_t queue_peak = 0;          // bytes
    std::uint64_t marks = 0;              // packets that left with ECN congestion experienced for the first time
    std::uint64_t drops = 0;              // no room
    std::uint64_t discards = 0;           // by the PFC watchdog, of the class that it struck
    std::uint64_t watchdogs = 0;          // times that it struck
    std::uint64_t losses = 0;             // on the wire, or into a dead link
    std::uint64_t replays = 0;            // LLR
    std::uint64_t given_up = 0;           // frames that LLR could not bring over
    std::int64_t paused = 0;              // ps during which at least one class could not send
    std::uint64_t pauses = 0;             // pause frames sent from here

    friend bool operator==(const PortCounters&, const PortCounters&) = default;
};

// Sums, and the highest of the queue peaks.
inline void add_to(PortCounters& sum, const PortCounters& port) {
    sum.data += port.data;
    sum.control += port.control;
    sum.bytes += port.bytes;
    sum.marks += port.marks;
    sum.drops += port.drops;
    sum.discards += port.discards;
    sum.watchdogs += port.watchdogs;
    sum.losses += port.losses;
    sum.replays += port.replays;
    sum.given_up += port.given_up;
    sum.paused += port.paused;
    sum.pauses += port.pauses;
    if (port.queue_peak > sum.queue_peak) sum.queue_peak = port.queue_peak;
}

inline PortCounters total_of(const std::vector<PortCounters>& ports) {
    PortCounters sum;
    for (const PortCounters& port : ports) add_to(sum, port);
    return sum;
}

}  // namespace rehearse
