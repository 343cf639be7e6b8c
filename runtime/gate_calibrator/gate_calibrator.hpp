// The load-aware gate calibrator. With p_e the sum of gate probabilities of expert e over the tokens of a step, T
// tokens and E experts:
//     load     x_e = p_e E / T                       mean over experts: 1
//     history  h_e = keep h_e + (1 - keep) x_e       from 1
//     penalty  q_e = weight log(1 + h_e) (1 + lag (max h - min h)),   less the least of them
// The choice of experts is made by logit - penalty. Corrects a prior: an expert that the gate prefers by ln(1 + h) is
// preferred no more. `lag` answers for the step between measuring and acting.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace rehearse {

struct GateCalibratorSpec {
    double keep = 0.95;   // of the history per step
    double weight = 1.0;  // frozen: no gradient
    double lag = 0.1;     // per unit of spread of the normalised history
};

class GateCalibrator {
public:
    GateCalibrator(std::uint32_t experts, const GateCalibratorSpec& spec = {});

    // After a step: sums of gate probabilities, reduced over all ranks, and the tokens that they come from. A step
    // without tokens changes nothing.
    void update(std::span<const double> gate_mass, std::uint64_t tokens);
    std::span<const float> penalty() const { return penalty_; }  // to subtract from logits, one per expert

    std::span<const double> history() const { return history_; }  // what a checkpoint keeps
    void restore(std::span<const double> history);

private:
    void renew_penalty();

    GateCalibratorSpec spec_;
    std::vector<double> history_;
    std::vector<float> penalty_;
};

}  // namespace rehearse
