#include "runtime/pager/access_predictor.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "sim/base/checks.hpp"
#include "sim/base/rng.hpp"

namespace rehearse {

AccessPredictor::AccessPredictor(std::uint32_t pages, std::uint64_t seed, const PredictorSpec& spec)
    : spec_(spec), history_(pages), seen_(pages), probability_(pages, 0.0f) {
    const Stream draw(seed, "pager.predictor");
    for (std::size_t i = 0; i < hidden; ++i) {
        for (std::size_t j = 0; j < inputs; ++j) w_[i][j] = draw.normal(i, j) / std::sqrt(double{inputs});
        v_[i] = draw.normal(i, inputs) / std::sqrt(double{hidden});
    }
}

double AccessPredictor::forward(const Inputs& x, std::array<double, hidden>& h) const {
    double z = c_;
    for (std::size_t i = 0; i < hidden; ++i) {
        h[i] = std::tanh(std::inner_product(x.begin(), x.end(), w_[i].begin(), b_[i]));
        z += v_[i] * h[i];
    }
    return 1 / (1 + std::exp(-z));
}

std::span<const float> AccessPredictor::predict(double free_share) {
    std::array<double, hidden> h{};
    for (std::size_t page = 0; page < history_.size(); ++page) {
        const History& past = history_[page];
        seen_[page] = {past.last, past.smooth, past.age / 8, free_share};
        probability_[page] = static_cast<float>(forward(seen_[page], h));
    }
    return probability_;
}

void AccessPredictor::train(const Inputs& x, double wanted) {
    std::array<double, hidden> h{};
    const double p = forward(x, h);
    loss_ -= std::log(std::max(1e-12, wanted > 0 ? p : 1 - p));
    const double step = spec_.rate * (wanted - p);  // minus the gradient of the loss by z
    for (std::size_t i = 0; i < hidden; ++i) {
        const double back = step * v_[i] * (1 - h[i] * h[i]);
        v_[i] += step * h[i];
        b_[i] += back;
        for (std::size_t j = 0; j < inputs; ++j) w_[i][j] += back * x[j];
    }
    c_ += step;
}

void AccessPredictor::learn(std::span<const std::uint64_t> tokens) {
    REHEARSE_CHECK(tokens.size() == history_.size(), "one count of tokens per page");
    double sum = 0;
    for (const std::uint64_t count : tokens) sum += static_cast<double>(count);
    const double even = sum / static_cast<double>(tokens.size());
    loss_ = 0;
    for (std::size_t page = 0; page < history_.size(); ++page) {
        train(seen_[page], tokens[page] > 0 ? 1 : 0);
        History& past = history_[page];
        past.last = even > 0 ? std::min(4.0, static_cast<double>(tokens[page]) / even) : 0;
        past.smooth = spec_.keep * past.smooth + (1 - spec_.keep) * past.last;
        past.age = tokens[page] > 0 ? 0 : std::min(8.0, past.age + 1);
    }
    loss_ /= static_cast<double>(history_.size());
}

}  // namespace rehearse
