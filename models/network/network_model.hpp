// NetworkModel: one of the two interfaces in the program that are crossed by virtual call. Three fidelities stand
// behind it (ideal, flow, packet). It owns the active transfers; the caller owns the clock.
//
// Protocol: start() hands in a transfer that begins at `at` (never before a time already advanced to). The caller
// repeats: t = next_event_time(); advance(t, done). `done` receives the transfers that ended at or before t, ordered by
// (time, id). Equal inputs give equal outputs, also for ties: transfers that end together end in order of FlowId, and
// all transfers that begin at one instant are taken together before any rate is computed.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "sim/base/ids.hpp"
#include "sim/base/units.hpp"

namespace rehearse {

enum class TransferPattern : std::uint8_t {
    point_to_point,  // gpus = {source, destination}; size = payload bytes
    ring,            // gpus in ring order; size = payload bytes that EACH member sends to its successor over all steps
    all_to_all,      // gpus = members; size = payload bytes that EACH member sends in all, split evenly over the others
};

// What a transfer belongs to: pipeline messages, gradients and weights of data groups, embedding gradients.
enum class TrafficKind : std::uint8_t { other, pipeline, data, embedding };
inline constexpr std::size_t traffic_kind_count = 4;
// As in scenario files: "other", "pp", "dp", "embedding".
std::string_view name(TrafficKind kind);

struct TransferRequest {
    TransferPattern pattern = TransferPattern::point_to_point;
    std::span<const GpuId> gpus;     // must stay valid only during the call
    Bytes size;
    double efficiency = 1;  // of the library: the transfer takes the time of size / efficiency, and counts size
    std::int64_t messages = 1;       // point_to_point: in which the size goes, one behind the other; each has its own
                                     // headers and rounds up to whole packets
    std::uint32_t steps = 1;         // serial messages on the critical path (ring all-gather: n - 1): each pays the
                                     // latency of a hop, in a ring of the mean hop; 0: right behind a transfer on the
                                     // same way, no latency
    std::uint64_t group_key =
        0;  // equal keys promise equal (pattern, gpus): lets a model reuse the expanded links; 0 = none
    std::uint64_t token = 0;         // handed back on completion
    TrafficKind kind = TrafficKind::other;
};

struct Completion {
    SimTime at;
    FlowId flow;
    std::uint64_t token;
};

struct LinkTraffic {
    std::vector<double> bytes;       // per LinkId: wire bytes carried (payload plus framing)
    std::vector<double> busy_seconds;  // per LinkId: time integral of utilisation (1 = at line rate)
};

// What of the traffic went as packets, and what became of them. All zero at the other fidelities.
struct PacketShare {
    double payload = 0, payload_all = 0;        // bytes that all members send to other nodes: as packets, and in all
    std::uint64_t transfers = 0, transfers_all = 0;
    std::uint64_t transmissions = 0;            // of packets over links, data and control
    std::uint64_t retransmissions = 0, pauses = 0, marks = 0, drops = 0;
    double shared = 0;  // 0 to 1, of the packets' wire bytes: on links that flow traffic used too, unseen by them
};

class NetworkModel {
public:
    virtual ~NetworkModel() = default;
    virtual FlowId start(SimTime at, const TransferRequest& request) = 0;
    // Earliest time at which something happens inside the model; SimTime{INT64_MAX} when nothing is active.
    virtual SimTime next_event_time() = 0;
    virtual void advance(SimTime to, std::vector<Completion>& done) = 0;
    // Hints, for fetching ahead of time what will be touched: tokens of a few transfers that may complete next, the
    // first two in order, valid until the next call; and the other way round, a transfer with this group_key may start
    // soon.
    virtual std::span<const std::uint64_t> upcoming() { return {}; }
    virtual void expect(std::uint64_t /*group_key*/) {}
    virtual const LinkTraffic& traffic() const = 0;
    virtual std::uint64_t events() const = 0;  // rate changes, starts and completions so far
    virtual PacketShare packet_share() const { return {}; }
};

}  // namespace rehearse
