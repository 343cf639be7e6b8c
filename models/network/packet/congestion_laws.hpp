// The congestion-control laws as state machines: plain state, and functions of (state, event, parameters). They know
// neither engine nor clock; every call names its time, in ps, and time never goes back. Rates are bit/s, windows count
// packets, delays are ps.
//
//   dcqcn      Zhu et al., SIGCOMM'15: the receiver reports marks, the sender's rate falls and recovers in stages
//   swift      Kumar et al., SIGCOMM'20, constants of Broadcom/csg-htsim: the window follows the round-trip time
//   megascale  our reading of "Swift's delay and DCQCN's ECN" (MegaScale, NSDI'24, which publishes no constants):
//              the rate grows by Swift's ai per round trip and is cut, once per round trip, by the larger of both cuts
//              (the round trip measured at the cut: a later one would grow with the queue and defer the next cut)
//   hpcc       Li et al., SIGCOMM'19: the window follows the utilisation of the busiest hop, told by telemetry
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "models/network/packet/congestion_parameters.hpp"

namespace rehearse {

struct PathFacts {  // of an empty fabric
    double line_rate = 0;       // of the sending NIC
    std::int64_t base_rtt = 0;  // a full packet out, its ACK back
    double packet_bits = 0;     // of a full packet on the wire
    std::uint32_t switches = 0;
};

struct HopRecord {  // what a switch port tells as the packet leaves it
    std::int64_t time = 0;
    std::int64_t sent = 0;      // bytes that ever left the port
    std::int64_t queue = 0;     // bytes behind the packet
    double rate = 0;
    std::uint32_t port = UINT32_MAX;
};

struct AckEvent {
    std::int64_t now = 0;
    std::int64_t delay = 0;            // round-trip time of the packet that it answers
    bool is_marked = false;            // ECN echo
    std::uint32_t newly = 0;           // packets acknowledged for the first time
    std::uint32_t acked = 0;           // all below are acknowledged
    std::uint32_t next = 0;            // to be sent
    std::span<const HopRecord> hops;   // telemetry, from the sender on; empty when none was taken
};

struct Allowance {
    double rate = 0;                   // packets leave no faster
    std::uint32_t window = UINT32_MAX; // packets in flight at most, >= 1
};

// DCQCN. Cut: Rt = Rc (see clamp_target), Rc (1 - alpha / 2), alpha = (1 - g) alpha + g. A period without CNP: alpha =
// (1 - g) alpha.
// Increase, per expired timer or byte counter: F times Rc = (Rc + Rt) / 2; then Rt += Rai first; then, both counters
// being past F, Rt += Rhai. At line rate, recovery is over. CNPs closer than the gap between cuts only keep alpha up.
struct MarkShare {  // alpha
    double alpha = 1;
    std::int64_t raised = INT64_MIN / 2;
    std::int64_t decay_due = INT64_MAX;
};
void advance(MarkShare& share, std::int64_t now, const DcqcnParameters& parameters);
void raise(MarkShare& share, std::int64_t now, const DcqcnParameters& parameters);

struct DcqcnState {
    double rate = 0, target = 0;  // Rc, Rt
    double rate_max = 0;
    MarkShare share;
    std::int64_t cut = INT64_MIN / 2;
    std::int64_t increase_due = INT64_MAX;  // INT64_MAX: nothing to recover
    std::int64_t bytes = 0;                 // since the byte counter last expired
    std::uint32_t timer_stage = 0, byte_stage = 0;
};
DcqcnState begin_dcqcn(const PathFacts& path, const DcqcnParameters& parameters);
void advance(DcqcnState& state, std::int64_t now, const DcqcnParameters& parameters);
void notify(DcqcnState& state, std::int64_t now, const DcqcnParameters& parameters);  // a CNP, or an echo
void sent(DcqcnState& state, std::int64_t now, std::int64_t bytes, const DcqcnParameters& parameters);

// Swift. Target delay = base + switches x hop + flow scaling, which falls from `range` at window_min to 0 at window_max
// with 1 / sqrt(window). Below it the window w grows by ai / w per packet (by ai under one packet); above it, at most
// once per round trip, w max(1 - beta (delay - target) / delay, 1 - max_mdf). Under one packet, packets are paced.
// It begins with the packets that fill an empty path [A].
struct SwiftState {
    double window = 0;
    std::int64_t delay = 0;  // last measured
    std::int64_t cut = INT64_MIN / 2;
};
SwiftState begin_swift(const PathFacts& path, const SwiftParameters& parameters);
double swift_target(double window, std::uint32_t switches, const SwiftParameters& parameters);  // ps
double swift_cut(double delay, double target, const SwiftParameters& parameters);  // share to take off, >= 0
void acknowledge(SwiftState& state, const AckEvent& event, const PathFacts& path, const SwiftParameters& parameters);
Allowance allowance(const SwiftState& state, const PathFacts& path);

struct MegascaleState {
    double rate = 0;
    MarkShare share;
    std::int64_t next_cut = INT64_MIN / 2, changed = 0;
};
MegascaleState begin_megascale(const PathFacts& path, const MegascaleParameters& parameters);
void acknowledge(MegascaleState& state, const AckEvent& event, const PathFacts& path,
                 const MegascaleParameters& parameters);

// HPCC, algorithm 1 of the paper with the base round trip of the connection as T. Telemetry is exact here; the real
// one's counters are short.
struct HpccState {
    double window = 0, window_reference = 0;  // W, Wc in packets
    double utilisation = 0;                   // U
    std::uint32_t stage = 0;                  // incStage
    std::uint32_t reference_until = 0;        // lastUpdateSeq
    std::vector<HopRecord> last;              // L
};
HpccState begin_hpcc(const PathFacts& path);
void acknowledge(HpccState& state, const AckEvent& event, const PathFacts& path, const HpccParameters& parameters);
Allowance allowance(const HpccState& state, const PathFacts& path);

}  // namespace rehearse
