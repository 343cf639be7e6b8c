// Which policies act on the experts of a training step, and how. All are off by default: experts in order, nothing
// moves, all of them resident.
#pragma once

#include "runtime/balancer/load_balancer.hpp"
#include "runtime/gate_calibrator/gate_calibrator.hpp"
#include "runtime/pager/page_manager.hpp"
#include "sim/base/switch.hpp"

namespace rehearse {

enum class CalibratorKind : std::uint8_t {
    none,
    load_aware,  // log(1 + history) of the gate's mass (gate_calibrator.hpp)
    sign_bias,   // DeepSeek-V3's bias without auxiliary loss
};

struct CalibratorSpec {
    CalibratorKind kind = CalibratorKind::none;
    GateCalibratorSpec load_aware{};
    double rate = 0.001;  // of the sign bias, in units of a logit
};

struct BalancerPolicy {
    Switch active = Switch::off;
    std::int64_t slots_per_gpu = 0;  // 0 = the experts of a rank and spare_slots
    BalancerSpec spec{};
};

// Rows go to the experts as they arrive (comm_pipe/token_stream.hpp), in a ring that a dispatch fills `refills` times.
struct StreamPolicy {
    std::int64_t refills = 0;  // 0: no stream, experts wait for the whole dispatch
    double threshold = 0.6;    // of the ring
};

// Weights of the experts in host memory, a part of them in GPU memory.
struct PagerPolicy {
    Switch active = Switch::off;
    double resident = 1;       // share of the rank's experts that the budget holds
    PagerSpec spec{};          // pages and budget are worked out
    // Of a PCIe link, one direction: the other idle, and both at work. PCIe 4 x16, measured: 24.8 and 11 GB/s.
    Bandwidth pcie_alone = gigabits_per_second(198), pcie_duplex = gigabits_per_second(88);
    std::uint32_t gpus_per_switch = 2;  // that page over one link at the same time; a DGX A100 has two to a switch
};

struct PolicySpec {
    SimDuration decision;           // host time of all policies in a step; tests/bench/policy_bench measures it
    std::int64_t warmup_steps = 0;  // steps that the policies have seen before the simulated one
    BalancerPolicy balancer;
    CalibratorSpec calibrator;
    StreamPolicy stream;
    PagerPolicy pager;
};

}  // namespace rehearse
