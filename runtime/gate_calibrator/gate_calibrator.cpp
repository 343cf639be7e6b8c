#include "runtime/gate_calibrator/gate_calibrator.hpp"

#include <algorithm>
#include <cmath>

#include "sim/base/checks.hpp"

namespace rehearse {

GateCalibrator::GateCalibrator(std::uint32_t experts, const GateCalibratorSpec& spec)
    : spec_(spec), history_(experts, 1.0), penalty_(experts, 0.0f) {
    REHEARSE_CHECK(experts > 0 && spec.keep >= 0 && spec.keep < 1, "a history over experts that forgets");
}

void GateCalibrator::update(std::span<const double> gate_mass, std::uint64_t tokens) {
    REHEARSE_CHECK(gate_mass.size() == history_.size(), "one sum of probabilities per expert");
    if (tokens == 0) return;
    const double per_token = static_cast<double>(history_.size()) / static_cast<double>(tokens);
    for (std::size_t e = 0; e < history_.size(); ++e)
        history_[e] = spec_.keep * history_[e] + (1 - spec_.keep) * gate_mass[e] * per_token;
    renew_penalty();
}

void GateCalibrator::restore(std::span<const double> history) {
    REHEARSE_CHECK(history.size() == history_.size(), "the saved history has one value per expert");
    history_.assign(history.begin(), history.end());
    renew_penalty();
}

void GateCalibrator::renew_penalty() {
    const auto [least, most] = std::ranges::minmax(history_);
    const double scale = spec_.weight * (1 + spec_.lag * (most - least));
    for (std::size_t e = 0; e < history_.size(); ++e)
        penalty_[e] = static_cast<float>(scale * (std::log1p(history_[e]) - std::log1p(least)));
}

}  // namespace rehearse
