// A connection between two GPUs: one queue pair that sends messages of one size, one after the other. Its two ends live
// at two NICs and share nothing but packets.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "models/network/packet/fabric_graph.hpp"
#include "sim/base/ids.hpp"
#include "sim/base/units.hpp"

namespace rehearse {

inline constexpr std::uint32_t no_connection = UINT32_MAX;

// What the user asks for. A ring of n members is n connections of 2 (n - 1) messages; member i may send its message
// k + 1 once it holds message k of its predecessor: the predecessor's successor is i, and `granted` is 1.
struct ConnectionRequest {
    GpuId source, destination;
    Bytes message;                            // payload of each message
    std::int64_t messages = 1;
    SimTime start;
    std::int64_t granted = INT64_MAX;         // messages that may go without waiting for a predecessor
    // They get one more message granted for each that arrives here whole, and whole from the sibling too; they begin,
    // and the sibling ends, at this connection's destination. A tree has siblings and two successors, a ring one.
    std::array<std::uint32_t, 2> successors{no_connection, no_connection};
    std::uint32_t sibling = no_connection;
    SimDuration successor_delay{};  // between arrival and grant: hops inside a node. Where it is not zero, at least the
                                    // least link latency, successors may begin at another NIC of the node
    std::uint32_t queue_pair = 0;             // entropy of the ECMP hash
    std::uint8_t traffic_class = 1;

    FlowKey forth() const { return {source, destination, queue_pair}; }  // of its data
    FlowKey back() const { return {destination, source, queue_pair}; }   // of its ACKs
};

enum class ConnectionState : std::uint8_t { waiting, active, done, failed };

struct ConnectionResult {
    SimTime start, delivered, finished;  // first packet may go; last packet arrived; sender holds the last ACK
    ConnectionState state = ConnectionState::waiting;
    std::uint32_t retransmissions = 0;
    std::uint32_t timeouts = 0;
    SimDuration stalled;  // from the last progress to a timeout or a switch event that made it begin again, summed up
};

struct SendEnd {
    // Packets are numbered through all messages of the connection.
    std::uint32_t packets = 0;   // of all messages
    std::uint32_t granted = 0;   // packets that may go
    std::uint32_t next = 0;      // to be sent
    std::uint32_t acked = 0;     // all below are acknowledged
    std::uint32_t sent = 0;      // highest ever sent + 1: below it every packet is a retransmission
    std::uint32_t per_message = 1;
    std::uint32_t window = UINT32_MAX;
    std::uint16_t full_wire = 0, last_wire = 0, first_extra = 0;  // of a packet; of a message's last; RETH
    std::uint16_t full_payload = 0;
    bool is_queued = false;      // stands in the NIC's ready ring
    bool has_timer = false;
    bool is_paced = false;       // a `pace` timer is pending
    std::uint8_t traffic_class = 1;
    std::uint8_t tries = 0;
    std::uint32_t node = 0;
    std::int64_t deadline = INT64_MAX;  // of the oldest packet's ACK
    std::int64_t pace = 0;              // not before
    std::int64_t last_sent = INT64_MIN / 2;
    std::uint64_t path_draw = 0;        // flowlets and spraying
    std::uint64_t resend = 0;           // selective repeat: bit i = packet resend_base + i must go again
    std::uint32_t resend_base = 0;
    std::uint32_t route_epoch = 0;      // route changes that `route` knows of
    PacketRoute route;
};

struct ReceiveEnd {
    std::uint32_t expected = 0;   // all below have arrived
    std::uint32_t unacked = 0;    // in-order packets since the last ACK
    std::uint32_t per_message = 1;
    std::uint32_t packets = 0;
    bool has_complained = false;  // a NACK for `expected` is under way
    std::uint8_t marked = 0;      // PacketFlag::congestion: a packet since the last ACK was marked
    std::uint8_t traffic_class = 1;
    std::uint32_t node = 0;
    std::array<std::uint32_t, 2> successors{no_connection, no_connection};
    std::uint32_t sibling = no_connection;
    std::int64_t successor_delay = 0;
    std::int64_t whole_at = 0;    // the last message arrived whole
    std::int64_t last_cnp = INT64_MIN / 2;
    std::uint32_t route_epoch = 0;      // as of SendEnd
    PacketRoute route;                  // of its ACKs
    std::vector<std::uint64_t> early;   // selective repeat: bit i = packet expected + i has arrived
};

}  // namespace rehearse
