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

// What adds up; paused and the peak are the rest.
inline constexpr std::uint64_t PortCounters::* counted[] = {
    &PortCounters::data,      &PortCounters::control, &PortCounters::bytes,   &PortCounters::marks,
    &PortCounters::drops,     &PortCounters::discards, &PortCounters::watchdogs, &PortCounters::losses,
    &PortCounters::replays,   &PortCounters::given_up, &PortCounters::pauses};

// Sums, and the highest of the queue peaks.
inline void add_to(PortCounters& sum, const PortCounters& port) {
    for (const auto count : counted) sum.*count += port.*count;
    sum.paused += port.paused;
    if (port.queue_peak > sum.queue_peak) sum.queue_peak = port.queue_peak;
}

// `now` as it will be when what came since `before` has come `times` times more.
inline void repeat_since(PortCounters& now, const PortCounters& before, std::uint64_t times) {
    for (const auto count : counted) now.*count += times * (now.*count - before.*count);
    now.paused += static_cast<std::int64_t>(times) * (now.paused - before.paused);
}

inline PortCounters total_of(const std::vector<PortCounters>& ports) {
    PortCounters sum;
    for (const PortCounters& port : ports) add_to(sum, port);
    return sum;
}

}  // namespace rehearse
