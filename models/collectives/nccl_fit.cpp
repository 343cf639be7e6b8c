#include "models/collectives/nccl_fit.hpp"

#include <cmath>
#include <functional>

#include "models/compute/fit.hpp"
#include "sim/base/checks.hpp"

namespace rehearse {

namespace {

constexpr double widest = 30;  // times the start, up or down
constexpr FitOptions fit_options{.loss_scale = 0.05, .iterations = 200, .step = 1e-4, .cost_tolerance = 1e-9};

void scale(SimDuration& time, double factor) { time = seconds(time.seconds() * factor); }
void scale(Bandwidth& rate, double factor) {
    rate = Bandwidth{std::llround(static_cast<double>(rate.value) * factor)};
}
void scale(Bytes& bytes, double factor) {
    bytes = Bytes{std::llround(static_cast<double>(bytes.value) * factor)};
}

// Factors by which a set of costs is scaled, one for each number that is free.
struct FreeNumber {
    const char* key;
    std::function<void(NcclCosts&, double factor)> scale;
};

std::vector<FreeNumber> numbers_of(NcclParameter parameter) {
    switch (parameter) {
        case NcclParameter::launch:
            return {{"launch", [](NcclCosts& c, double f) { scale(c.launch, f); }}};
        case NcclParameter::hop:
            return {{"hop", [](NcclCosts& c, double f) { scale(c.nvlink.hop, f), scale(c.network.hop, f); }}};
        case NcclParameter::hop_nvlink:
            return {{"nvlink.hop", [](NcclCosts& c, double f) { scale(c.nvlink.hop, f); }}};
        case NcclParameter::hop_network:
            return {{"network.hop", [](NcclCosts& c, double f) { scale(c.network.hop, f); }}};
        case NcclParameter::rate_nvlink:
            return {{"nvlink.rate", [](NcclCosts& c, double f) { scale(c.nvlink.rate, f); }}};
        case NcclParameter::rate_network:
            return {{"network.rate", [](NcclCosts& c, double f) { scale(c.network.rate, f); }}};
        case NcclParameter::pass:
            return {{"pass", [](NcclCosts& c, double f) { scale(c.pass, f); }}};
        case NcclParameter::chunk:
            break;
    }
    return {{"chunk_max", [](NcclCosts& c, double f) { scale(c.chunk_max, f); }},
            {"chunk_cost", [](NcclCosts& c, double f) { scale(c.chunk_cost, f); }}};
}

NcclCosts scaled(NcclCosts costs, const std::vector<FreeNumber>& numbers, const std::vector<double>& logarithms) {
    for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i].scale(costs, std::exp(logarithms[i]));
    return costs;
}

}  // namespace

std::string_view name(NcclParameter parameter) {
    switch (parameter) {
        case NcclParameter::launch: return "launch";
        case NcclParameter::hop: return "hop";
        case NcclParameter::hop_nvlink: return "NVLink hop";
        case NcclParameter::hop_network: return "network hop";
        case NcclParameter::rate_nvlink: return "NVLink rate";
        case NcclParameter::rate_network: return "network rate";
        case NcclParameter::pass: return "pass";
        case NcclParameter::chunk: break;
    }
    return "chunk";
}

NcclCosts fit_nccl(const NcclCosts& start, std::span<const NcclParameter> free, std::span<const NcclSample> samples) {
    REHEARSE_CHECK(!samples.empty(), "a fit needs samples");
    std::vector<FreeNumber> numbers;
    for (const NcclParameter parameter : free)
        for (FreeNumber& number : numbers_of(parameter)) numbers.push_back(std::move(number));
    std::vector<FitParameter> parameters;
    for (const FreeNumber& number : numbers)
        parameters.push_back({number.key, 0, -std::log(widest), std::log(widest), "log of the factor on its start"});
    const auto residuals = [&](const std::vector<double>& logarithms) {
        const NcclCosts costs = scaled(start, numbers, logarithms);
        std::vector<double> ratios = nccl_ratios({&costs, 1}, samples);
        for (double& ratio : ratios) ratio = std::log(ratio);
        return ratios;
    };
    return scaled(start, numbers, fit_bounded(parameters, residuals, residuals, fit_options).values);
}

std::vector<double> nccl_ratios(std::span<const NcclCosts> sets, std::span<const NcclSample> samples,
                                std::optional<NcclAlgorithm> forced) {
    std::vector<double> ratios;
    for (const NcclSample& sample : samples) {
        REHEARSE_CHECK(sample.seconds > 0, "a measured collective took time");
        ratios.push_back(nccl_fastest(sets, sample.kind, sample.group, sample.size, forced).seconds / sample.seconds);
    }
    return ratios;
}

double geometric_mean_error(std::span<const double> ratios) {
    double sum = 0;
    for (const double ratio : ratios) sum += std::abs(std::log(ratio));
    return ratios.empty() ? 0 : std::expm1(sum / static_cast<double>(ratios.size()));
}

double mean_error(std::span<const double> ratios) {
    double sum = 0;
    for (const double ratio : ratios) sum += std::abs(ratio - 1);
    return ratios.empty() ? 0 : sum / static_cast<double>(ratios.size());
}

}  // namespace rehearse
