// DeepEP's dispatch and combine kernels on H800 nodes, as expert exchanges with fitted rates.
//
// Both kernels move T tokens of hidden h to k = 8 of 256 experts, at most 4 nodes a token; dispatch in FP8 with a scale
// of 4 bytes per 128 elements, combine in BF16. DeepEP rates them by logical bytes, the sender's own included:
//     normal       T = 4,096: rate = T D b / time,  D = distinct nodes of a token (distinct ranks on one node)
//     low latency  T = 128:   rate = T k b / time
// which is why rates above the line rate of a NIC appear.
//
// Mechanisms, each with physical parameters (expert_exchange.hpp has the equations):
//   normal       the hierarchical form: one copy to each node, then NVLink, two stages pipelined in `rounds` rounds.
//                Two parameters: NVLink rate under the kernel's multiprocessors, and the rounds. The NIC runs at its
//                line rate; fixed time is nothing against milliseconds. On two nodes NVLink is the slower stage,
//                beyond them the NIC is.
//   low latency  the direct form: a message for each (token, expert), the network and NVLink side by side. Where NVLink
//                is not used (first release), everything but the rank's own part goes through the NIC. Four parameters:
//                fixed time of a call, NVLink rate, and the NIC's rate for each of the two kernels.
#pragma once

#include <cstdint>
#include <vector>

#include "models/collectives/expert_exchange.hpp"
#include "sim/base/switch.hpp"

namespace rehearse {

enum class DeepEpMode : std::uint8_t { normal, low_latency };
enum class DeepEpPhase : std::uint8_t { dispatch, combine };

struct DeepEpRow {
    DeepEpMode mode = DeepEpMode::normal;
    DeepEpPhase phase = DeepEpPhase::dispatch;
    std::int64_t ranks = 8;      // EP8 and so on; 8 GPUs a node
    Switch nvlink = Switch::on;  // off: low-latency kernels of the first release
    double rate = 0;             // bytes per second as DeepEP counts them; 0 = not known
};

struct DeepEpParameters {
    Bandwidth nic = gigabytes_per_second(50);  // 400 Gb/s ConnectX-7 (DeepEP, docs/legacy.md)
    Bandwidth nvlink_normal;
    double rounds = 1;
    SimDuration fixed;                         // low latency from here on
    Bandwidth nvlink_low_latency;
    Bandwidth nic_dispatch, nic_combine;
};

// What the row's benchmark moves, and the rates under which it does.
ExpertExchange deepep_exchange(const DeepEpRow& row);
ExchangeRates deepep_rates(const DeepEpRow& row, const DeepEpParameters& parameters);

double deepep_logical_bytes(const DeepEpRow& row);  // of one rank
double deepep_rate(const DeepEpRow& row, const DeepEpParameters& parameters);  // predicted, bytes per second

// Fits the parameters on these rows, which have a rate: least squares of log(predicted / published). The low-latency
// rows are taken with NVLink. InvariantBroken when a mode has no row.
DeepEpParameters fit_deepep(const std::vector<DeepEpRow>& rows);

}  // namespace rehearse
