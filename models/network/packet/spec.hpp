// What the user says about the packet-level fabric. Plain data; defaults and their sources stand beside each number.
//
// Sources: [N] standards (IEEE 802.1Qbb, 802.3; InfiniBand annex A17), [UEC] Ultra Ethernet 1.0 link layer as the SAI
// documents describe it, [SONiC] dynamic headroom calculation, [HPCC] alibaba-edu ns-3 code, [A] our assumption.
#pragma once

#include <cstdint>
#include <vector>

#include "models/network/packet/failure_detection.hpp"
#include "models/network/packet/fault_spec.hpp"
#include "models/network/spec.hpp"
#include "sim/base/switch.hpp"
#include "sim/base/units.hpp"

namespace rehearse {

enum class LossRecovery : std::uint8_t { go_back_n, selective_repeat };
enum class PathChoice : std::uint8_t { ecmp, spray, flowlet };
enum class QueueDiscipline : std::uint8_t { fifo, fair };  // fair: one packet of each flow in turn
// Cut-through: a switch passes a packet on when its first 64 bytes are there, unless one of its ports is faster than
// the link that it comes by. NICs, and frames under link-level retry, wait for the last byte.
enum class Switching : std::uint8_t { store_and_forward, cut_through };
enum class HeadroomSet : std::uint8_t { formula, sonic_th5, sonic_th6 };  // headroom_sets.hpp
enum class CongestionControl : std::uint8_t { none, dcqcn, swift, megascale, hpcc };
enum class DcqcnSet : std::uint8_t { paper, hpcc_repository, connectx };

struct TransportSpec {
    LossRecovery recovery = LossRecovery::go_back_n;
    PathChoice paths = PathChoice::ecmp;
    SimDuration flowlet_gap = microseconds(256);  // a pause this long lets a flow change its path
    std::int64_t ack_every = 1;                   // in-order data packets per ACK; the last packet is always acked
    std::int64_t reorder_packets = 1 << 20;       // spraying: a gap this many packets old counts as a loss
    Switch pad_last = Switch::off;                // the last packet of a message is as long as the others
    std::int64_t window_packets = 0;              // packets in flight at most; 0 = as many as the message has
    std::int64_t timeout_exponent = 18;           // ACK timeout 4.096 us x 2^n, 1 .. 31 [N]
    std::int64_t retries = 7;                     // tries after the first before the QP fails
    Switch adaptive_retransmission = Switch::off; // first timeout `adaptive_base`, doubling per try up to the fixed one
    SimDuration adaptive_base = microseconds(16);
};

struct BufferSpec {                 // of one switch
    Switch bounded = Switch::on;    // off: every queue is unlimited
    Bytes pool{113'660'000};        // Tomahawk 4: one fully shared memory
    Bytes cell{254};                // a packet occupies whole cells [SONiC TH5 profile; TH4's size is not public]
    std::int64_t slices = 1;        // ports are dealt to as many pools of pool / slices
    Ratio alpha{0.125};             // ingress limit = alpha x free shared memory [HPCC]; data classes
    Bytes reserve{4096};            // per ingress port and class, before shared memory is touched [HPCC]
    QueueDiscipline discipline = QueueDiscipline::fifo;
};

struct PfcSpec {
    Bytes headroom{0};              // per ingress port and class; 0 = of headroom_set
    HeadroomSet headroom_set = HeadroomSet::formula;  // formula: pfc_headroom()
    Bytes resume_offset{3584};      // XON this far below XOFF [A: 3.5 KB gap]
    std::int64_t response_quanta = 0;  // 512-bit times from pause frame to silence; 0 = by rate, IEEE 802.3 annex 31B
    std::int64_t pause_quanta = 65535;    // of a pause frame; it is repeated at half its life while the queue is full
    SimDuration watchdog = milliseconds(200);          // a class paused this long is discarded ... 0 = no watchdog
    SimDuration watchdog_restore = milliseconds(400);  // ... until this much later
};

struct CbfcSpec {
    Bytes credit{128};              // [UEC]
    Bytes buffer{0};                // credit bytes per link and class; 0 = rate x loop + spacing
    Bytes update_spacing{6400};     // freed bytes between two CF_Updates [UEC]
    SimDuration repair = microseconds(256);  // CC_Update interval [UEC]
    Ratio update_loss{0.0};         // share of CF_Updates lost
};

enum class LlrFlush : std::uint8_t {
    discard,     // a frame given up takes all that wait behind it in the replay buffer with it
    best_effort  // it goes alone
};

struct LlrSpec {
    Switch enabled = Switch::off;
    Bytes ack_spacing{2048};        // received bytes per LLR ACK [UEC]
    SimDuration response = nanoseconds(500);      // from a NACK's arrival to the replay [A]
    SimDuration replay_timer = microseconds(5);   // [SONiC sample profile]; two link loops at least
    std::int64_t replays_max = 3;   // of one frame, 1 .. 255; then it is given up [SONiC sample: 3]
    LlrFlush flush = LlrFlush::discard;
    Bytes replay_buffer{0};         // 0 = as large as the loop needs
};

struct EcnSpec {
    Switch enabled = Switch::off;
    Bytes mark_min{1 << 20}, mark_max{2 << 20};  // queue at which marking begins, and reaches mark_probability [SONiC]
    Ratio mark_probability{0.05};
};

struct PacketSpec {
    TransportSpec transport;
    BufferSpec buffer;
    PfcSpec pfc;
    CbfcSpec cbfc;
    LlrSpec llr;
    EcnSpec ecn;
    LossSpec loss;                  // on every Ethernet link, both ways; of one link: faults
    std::vector<FabricFault> faults;
    DetectionSpec detection;
    Switching switching = Switching::store_and_forward;
    CongestionControl congestion = CongestionControl::none;
    DcqcnSet dcqcn = DcqcnSet::paper;
    SimDuration cnp_delay = microseconds(1);  // from a marked packet's arrival to the NIC's CNP [A]
    SimDuration cnp_gap{0};         // between the CNPs of a queue pair; 0 = as the DCQCN set says
    std::int64_t classes = 2;       // traffic classes or virtual channels, 2 .. 32; class 0 carries control, 1 data
};

}  // namespace rehearse
