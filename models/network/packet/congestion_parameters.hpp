// The constants of the congestion-control laws and of ECN marking, by named set. Every number stands in one table, in
// congestion_parameters.cpp, with its source.
#pragma once

#include <cstdint>

#include "models/network/packet/spec.hpp"
#include "sim/base/units.hpp"

namespace rehearse {

// Switch marking profiles in circulation; they differ by two orders of magnitude, so a result names its set.
enum class EcnSet : std::uint8_t { sonic, simai, dcqcn_paper, hpcc_repository };

// Marking on, thresholds for ports of `rate`. A set that is tabulated per rate is scaled in proportion
// (hpcc_repository), or read at the next tabulated rate, above the last in proportion to it (simai).
EcnSpec ecn_profile(EcnSet set, Bandwidth rate);

struct DcqcnParameters {
    double g = 0;                   // weight of a period in the share of marked periods, alpha
    double alpha_first = 1;         // alpha at the first CNP
    SimDuration alpha_period;       // alpha decays once per period without CNP
    SimDuration cut_gap;            // between two cuts, at least
    SimDuration increase_period;    // timer of the recovery stages
    Bytes byte_counter{0};          // bytes sent per recovery stage; 0 = the timer alone counts
    std::uint32_t fast_stages = 1;  // F: halvings of the way back to the target before it is raised
    double increase = 0, increase_hyper = 0;  // Rai, Rhai: bit/s per stage
    double rate_min = 0;            // bit/s
    SimDuration cnp_gap;            // of one queue pair's CNPs at the receiving NIC, at least
    Switch echo = Switch::off;      // marks come back in ACKs instead of CNPs
    Switch clamp_target = Switch::on;  // off: cuts in a row, with no timer expired between, keep the first one's target
};
DcqcnParameters dcqcn_parameters(DcqcnSet set, Bandwidth line_rate);

struct SwiftParameters {
    double increase = 1.0;         // ai: packets per round trip
    double decrease = 0.8;         // beta
    double cut_max = 0.5;          // max_mdf
    SimDuration base_target = microseconds(20);
    SimDuration hop_target = picoseconds(3'053'435);  // base / 6.55 per switch
    SimDuration range = microseconds(100);            // of flow scaling: 5 x base
    double window_min = 0.1, window_max = 100;        // packets
};

struct MegascaleParameters {  // our reading; MegaScale publishes no constants
    SwiftParameters swift;         // increase, decrease and cut_max are used
    DcqcnParameters dcqcn;         // alpha is used
    SimDuration queue_target = microseconds(10);  // on top of the round trip of an empty fabric [A]
};

struct HpccParameters {
    double utilisation = 0.95;     // eta
    std::uint32_t stages_max = 5;  // additive steps between two multiplicative ones
    double increase = 0.01;        // W_AI in packets: one MTU / 100 [A]
    std::int64_t hop_bytes = 8;    // telemetry per switch, in the data packet and in its ACK
};

}  // namespace rehearse
