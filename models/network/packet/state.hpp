// What the engine keeps of nodes, ports and queues: plain data. Each record belongs to one node, and only the partition
// that sweeps this node touches it.
#pragma once

#include <cstdint>
#include <vector>

#include "models/network/packet/link_faults.hpp"
#include "models/network/packet/packet_pool.hpp"
#include "models/network/packet/ring.hpp"

namespace rehearse {

struct PortQueue {                  // of one port and class, waiting to leave
    PacketQueue packets;
    std::int64_t bytes = 0;
};

struct alignas(64) Egress {         // of one port; what every packet needs comes first, on one cache line
    std::int64_t free_at = 0;       // the last packet's last bit has left
    std::uint64_t byte_time = 0;    // as GraphPort
    std::int64_t latency = 0;
    std::uint32_t node = 0, peer = 0, peer_node = 0;
    std::uint32_t waiting = 0;      // bit per class with packets
    std::uint32_t paused = 0;       // bit per class that may not send: PFC, or no credits
    std::uint32_t discarding = 0;   // bit per class: the PFC watchdog has struck
    std::uint16_t to_partition = 0; // that sweeps the peer
    std::uint8_t peer_local = 0;
    bool has_timer = false;         // a `port_free` timer is pending
    bool has_urgent = false;        // link-local frames wait
    std::uint16_t there_at = UINT16_MAX;  // bytes of a packet with which it counts as arrived at the peer: cut-through
    std::uint8_t last_class = 0;    // served last, for round robin among data classes
    std::int64_t paused_since = 0;
    std::uint64_t loss_counter = 0;
    std::uint64_t mark_counter = 0;
};

struct PauseState {                 // of one port and class, as its sender keeps it
    std::int64_t begins = INT64_MAX, ends = INT64_MIN;
    std::int64_t since = 0;         // it holds, or held last
    bool is_watched = false;
};

enum class TimerKind : std::uint32_t {  // at one instant in this order
    fault,
    host_event,
    port_free,
    start,
    grant,
    ack_timeout,
    pace,
    cnp,
    pause_begins,
    pause_ends,
    pause_refresh,
    credit_check,
    replay_begins,
    replay_timeout,
    watchdog,
    storm_begins,
    storm_ends
};

struct NodeTimer {
    std::int64_t time;
    std::uint32_t kind_and_class;   // TimerKind in the low byte, traffic class above
    std::uint32_t id;               // port or connection
    friend bool operator>(const NodeTimer& a, const NodeTimer& b) {
        if (a.time != b.time) return a.time > b.time;
        if (a.kind_and_class != b.kind_and_class) return a.kind_and_class > b.kind_and_class;
        return a.id > b.id;
    }
};

struct FabricNode {
    std::vector<NodeTimer> timers;             // heap, earliest first
    std::uint64_t arriving[4] = {0, 0, 0, 0};  // bit per port whose incoming wire is not empty
    Ring<std::uint32_t> ready;                 // NIC: connections that may send, in turn
    std::uint64_t fingerprint = 0;
};

struct PortFault {
    LinkFault fault;
    std::vector<std::uint32_t> ports;  // whose state it changes
};

}  // namespace rehearse
