// Choice of experts for one token, and its backward form.
#pragma once

#include "kernels/block.hpp"
#include "kernels/math.hpp"

namespace rehearse::kernels {

// Block `index` is one token. It chooses the top_k experts with the largest logit + bias, in that order, equal ones by
// number; their weights are the softmax of the logits alone over the chosen ones. A NaN is chosen last.
struct SelectExperts {
    const float* logits;  // tokens x experts
    const float* bias;    // experts, or null
    std::int32_t* chosen;  // tokens x top_k
    float* weights;        // tokens x top_k
    std::int64_t experts;
    int top_k;

    REHEARSE_SCALAR std::size_t shared_bytes() const {
        return shared_size<std::int64_t>(experts) + shared_size<float>(top_k);
    }

    template <class Block>
    REHEARSE_BODY void operator()(Block& block, std::int64_t index) const {
        const float* const logit = logits + index * experts;
        std::int64_t* const key = block.template shared<std::int64_t>(experts);
        float* const power = block.template shared<float>(top_k);
        block.for_each(experts, [&](std::int64_t e) {
            const std::int64_t order = order_key(bias ? logit[e] + bias[e] : logit[e]);
            key[e] = order * (std::int64_t{1} << 32) + (0xffffffff - e);
        });
        block.sync();
        float most = 0;
        for (int k = 0; k < top_k; ++k) {
            const std::int64_t best = block.max(experts, [&](std::int64_t e) { return key[e]; });
            const std::int64_t expert = 0xffffffff - (best & 0xffffffff);
            most = k == 0 || logit[expert] > most ? logit[expert] : most;
            block.for_each(1, [&](std::int64_t) {
                chosen[index * top_k + k] = static_cast<std::int32_t>(expert);
                power[k] = logit[expert];
                key[expert] = lowest;
            });
            block.sync();
        }
        const float total = block.template sum<float>(top_k, [&](auto width, std::int64_t k) {
            return exponential(load<decltype(width)::value>(power + k) - most);
        });
        block.for_each(top_k, [&](std::int64_t k) {
            weights[index * top_k + k] = exponential(power[k] - most) / total;
        });
    }
};

// Block `index` is one token: gradient of the logits, dl_j = w_j (dw_j - sum_m w_m dw_m) for the chosen, 0 for the
// rest.
struct SelectExpertsBackward {
    const std::int32_t* chosen;
    const float* weights;
    const float* d_weights;
    float* d_logits;  // tokens x experts
    std::int64_t experts;
    int top_k;

    REHEARSE_SCALAR std::size_t shared_bytes() const { return 0; }

    template <class Block>
    REHEARSE_BODY void operator()(Block& block, std::int64_t index) const {
        const float* const w = weights + index * top_k;
        const float* const dw = d_weights + index * top_k;
        const float mean = block.template sum<float>(top_k, [&](auto width, std::int64_t k) {
            constexpr int lanes = decltype(width)::value;
            return load<lanes>(w + k) * load<lanes>(dw + k);
        });
        block.for_each(experts, [&](std::int64_t e) { d_logits[index * experts + e] = 0; });
        block.sync();
        block.for_each(top_k, [&](std::int64_t k) {
            d_logits[index * experts + chosen[index * top_k + k]] = w[k] * (dw[k] - mean);
        });
    }
};

}  // namespace rehearse::kernels
