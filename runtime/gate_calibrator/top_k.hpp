// Selection of k experts for one token.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "sim/base/checks.hpp"

namespace rehearse {

struct ExpertChoice {
    std::uint32_t expert = 0;
    float weight = 0;
};

// The k experts with the largest logit + correction, in that order, equal ones by number; weights are the softmax of
// the uncorrected logits over the chosen ones. `correction` is empty or has one value per expert: minus the penalty of
// a GateCalibrator, or the bias of a SignBias.
inline void choose_experts(std::span<const float> logits, std::span<const float> correction, std::uint32_t k,
                           std::vector<ExpertChoice>& chosen) {
    REHEARSE_CHECK(k > 0 && k <= logits.size(), "k experts of those there are");
    chosen.clear();
    const auto score = [&](std::uint32_t e) { return logits[e] + (correction.empty() ? 0.0f : correction[e]); };
    for (std::uint32_t e = 0; e < logits.size(); ++e) {
        if (chosen.size() == k && !(score(e) > chosen.back().weight)) continue;
        if (chosen.size() == k) chosen.pop_back();
        const auto at = std::find_if(chosen.begin(), chosen.end(),
                                     [&](const ExpertChoice& other) { return score(e) > other.weight; });
        chosen.insert(at, {e, score(e)});  // `weight` holds the score while choosing
    }
    float most = -INFINITY, sum = 0;
    for (const ExpertChoice& choice : chosen) most = std::max(most, logits[choice.expert]);
    for (ExpertChoice& choice : chosen) sum += choice.weight = std::exp(logits[choice.expert] - most);
    for (ExpertChoice& choice : chosen) choice.weight /= sum;
}

}  // namespace rehearse
