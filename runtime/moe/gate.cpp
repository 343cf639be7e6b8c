#include "runtime/moe/gate.hpp"

#include <cmath>
#include <numeric>

namespace rehearse {

CalibratedGate::CalibratedGate(const CalibratorSpec& spec, std::uint32_t experts) {
    if (spec.kind == CalibratorKind::load_aware) load_aware_.emplace(experts, spec.load_aware);
    if (spec.kind == CalibratorKind::sign_bias) sign_bias_.emplace(experts, static_cast<float>(spec.rate));
}

std::vector<double> CalibratedGate::choose(std::span<const double> shares) const {
    std::vector<double> chosen(shares.begin(), shares.end());
    if (!load_aware_ && !sign_bias_) return chosen;
    double sum = 0;
    for (std::size_t e = 0; e < chosen.size(); ++e) {
        const double correction = load_aware_ ? -static_cast<double>(load_aware_->penalty()[e])
                                              : static_cast<double>(sign_bias_->bias()[e]);
        sum += chosen[e] *= std::exp(correction);
    }
    for (double& share : chosen) share /= sum;
    return chosen;
}

void CalibratedGate::after_step(std::span<const double> shares, std::span<const std::uint64_t> tokens) {
    if (sign_bias_) sign_bias_->update(tokens);
    if (!load_aware_) return;
    const std::uint64_t all = std::accumulate(tokens.begin(), tokens.end(), std::uint64_t{0});
    std::vector<double> mass(shares.begin(), shares.end());
    for (double& share : mass) share *= static_cast<double>(all);
    load_aware_->update(mass, all);
}

}  // namespace rehearse
