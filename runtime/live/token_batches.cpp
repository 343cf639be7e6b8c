#include "runtime/live/token_batches.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "models/workload/moe/moe_model.hpp"
#include "sim/base/checks.hpp"
#include "sim/base/rng.hpp"

namespace rehearse {

namespace {

constexpr float chosen = 8, noise = 0.05f;

// k different experts, expert e with probability inclusion[e].
void draw_experts(std::span<const double> inclusion, std::int64_t top_k, const Stream& random, std::uint64_t token,
                  std::uint64_t batch, std::vector<std::uint32_t>& experts) {
    std::vector<std::uint32_t> order(inclusion.size());
    std::iota(order.begin(), order.end(), 0u);
    std::uint64_t draws = batch << 32;
    for (std::size_t i = order.size(); i > 1; --i) {
        const auto other = static_cast<std::size_t>(random.uniform(token, ++draws) * static_cast<double>(i));
        std::swap(order[i - 1], order[other]);
    }
    const double start = random.uniform(token, ++draws);
    double sum = 0;
    experts.clear();
    for (const std::uint32_t expert : order) {
        const double before = sum;
        sum += inclusion[expert];
        if (std::floor(sum - start) > std::floor(before - start)) experts.push_back(expert);
    }
    for (std::size_t i = 0; static_cast<std::int64_t>(experts.size()) < top_k; ++i) {  // lost to rounding
        if (std::find(experts.begin(), experts.end(), order[i]) == experts.end()) experts.push_back(order[i]);
    }
    experts.resize(static_cast<std::size_t>(top_k));
}

}  // namespace

TokenBatches::TokenBatches(const TrainingSpec& training, std::int64_t tokens, std::uint32_t rank, std::uint64_t seed)
    : size_(static_cast<std::size_t>(tokens * training.model.hidden)), values_(size_ * count) {
    const ModelSpec& model = training.model;
    const std::int64_t experts = model.experts.routed, hidden = model.hidden;
    REHEARSE_CHECK(model.layers * experts <= hidden, "too few features for the gates of all layers");
    const Stream small(seed, "live.features"), random(seed, "live.routing");
    kernels::Array<LiveElement> drawn(4099);  // go round
    for (std::size_t i = 0; i < drawn.size(); ++i)
        drawn[i] = kernels::from_float<LiveElement>(noise * static_cast<float>(small.normal(i, 0)));
    for (std::size_t i = 0; i < values_.size(); ++i) values_[i] = drawn[i % drawn.size()];
    std::vector<std::uint32_t> mine;
    for (std::int64_t layer = 0; layer < model.layers; ++layer) {
        if (!has_experts(model, layer)) continue;
        const auto e = static_cast<std::uint32_t>(experts), l = static_cast<std::uint32_t>(layer);
        const std::vector<double> inclusion = inclusion_probabilities(
            expert_shares(training.routing, e, l, 0, seed), static_cast<std::uint32_t>(model.experts.top_k));
        for (std::uint32_t b = 0; b < count; ++b) {
            for (std::int64_t token = 0; token < tokens; ++token) {
                if (training.routing.kind == RoutingKind::balanced) {
                    mine.clear();
                    for (std::int64_t k = 0; k < model.experts.top_k; ++k)
                        mine.push_back(static_cast<std::uint32_t>((token * model.experts.top_k + k + layer) % experts));
                } else {
                    const auto entity = (std::uint64_t{rank} << 40) + (std::uint64_t{l} << 24) +
                                        static_cast<std::uint64_t>(token);
                    draw_experts(inclusion, model.experts.top_k, random, entity, b, mine);
                }
                LiveElement* features =
                    values_.data() + b * size_ + static_cast<std::size_t>(token * hidden + layer * experts);
                float value = chosen;
                for (const std::uint32_t expert : mine) {
                    features[expert] = kernels::from_float<LiveElement>(value);
                    value -= 0.25f;
                }
            }
        }
    }
}

std::span<const LiveElement> TokenBatches::batch(std::uint32_t number) const {
    return std::span(values_).subspan(number % count * size_, size_);
}

void TokenBatches::fill_gate(std::span<LiveElement> weights, std::int64_t experts, std::int64_t layer) {
    std::fill(weights.begin(), weights.end(), LiveElement{});
    for (std::int64_t e = 0; e < experts; ++e)
        weights[static_cast<std::size_t>((layer * experts + e) * experts + e)] = kernels::from_float<LiveElement>(1.0f);
}

}  // namespace rehearse
