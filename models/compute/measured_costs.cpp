#include "models/compute/measured_costs.hpp"

#include <algorithm>
#include <optional>
#include <vector>

namespace rehearse {

namespace {

template <class Map, class Key>
const typename Map::mapped_type* find(const Map& map, const Key& key) {
    const auto at = map.find(key);
    return at == map.end() ? nullptr : &at->second;
}

std::optional<std::int64_t> entry(const SampleShape& shape, std::string_view name) {
    for (const auto& [key, value] : shape) {
        if (key == name) return value;
    }
    return std::nullopt;
}

bool has_two_sizes(const std::vector<CurvePoint>& points) {
    for (const CurvePoint& point : points) {
        if (point.bytes != points.front().bytes) return true;
    }
    return false;
}

}  // namespace

const PiecewiseCurve* MeasuredCosts::kernel(std::string_view name) const {
    constexpr std::string_view repeated = " again";  // by recomputation
    if (name.ends_with(repeated)) name.remove_suffix(repeated.size());
    const PiecewiseCurve* own = find(kernels, name);
    return own != nullptr ? own : find(kernels, std::string_view("residual"));
}

const AttentionFit* MeasuredCosts::attention(std::string_view name) const { return find(attentions, name); }

const GemmTable* MeasuredCosts::product(std::string_view name) const { return find(products, name); }

const PiecewiseCurve* MeasuredCosts::collective(std::string_view name, std::int64_t ranks) const {
    return find(collectives, std::pair{std::string(name), ranks});
}

double MeasuredCosts::policy_seconds(std::string_view name, double size) const {
    const PiecewiseCurve* curve = find(policies, name);
    return curve == nullptr ? 0 : seconds_at(*curve, size);
}

std::vector<std::string> MeasuredCosts::missing() const {
    std::vector<std::string> names;
    const auto need = [&](std::string_view name, bool is_there) {
        if (!is_there) names.emplace_back(name);
    };
    for (const char* name : {"gemm", "gemm dgrad", "gemm wgrad", "grouped gemm", "grouped gemm dgrad",
                             "grouped gemm wgrad"})
        need(name, product(name) != nullptr);
    for (const char* name : {"flash attention", "flash attention backward"}) need(name, attention(name) != nullptr);
    for (const char* name : {"residual", "optimizer", "swiglu", "permute", "unpermute"})
        need(name, kernels.contains(std::string_view(name)));
    for (const char* name : {"all_to_all", "all_reduce"}) {
        need(name, std::any_of(collectives.begin(), collectives.end(),
                               [&](const auto& entry) { return entry.first.first == name; }));
    }
    return names;
}

MeasuredCosts measured_costs(const CalibrationFile& calibration) {
    std::map<std::string, std::vector<CurvePoint>> kernels, policies;
    std::map<std::string, std::vector<GemmPoint>> products;
    std::map<std::pair<std::string, std::int64_t>, std::vector<CurvePoint>> collectives;
    std::map<std::string, std::vector<AttentionPoint>> attentions;
    MeasuredCosts costs;
    for (const CalibrationSample& sample : calibration.samples) {
        const auto bytes = entry(sample.shape, "bytes"), flops = entry(sample.shape, "flops");
        const auto ranks = entry(sample.shape, "ranks");
        const auto m = entry(sample.shape, "m"), n = entry(sample.shape, "n"), k = entry(sample.shape, "k");
        const double time = median_seconds(sample);
        if (sample.what == "compute probe") costs.pace.compute = time;
        if (sample.what == "memory probe") costs.pace.memory = time;
        if (sample.kind == SampleKind::policy && !sample.shape.empty()) {
            policies[sample.what].push_back({static_cast<double>(sample.shape.front().second), time});
        } else if (m && n && k) {
            const std::int64_t calls = entry(sample.shape, "batch").value_or(1);  // one after the other on a processor
            products[sample.what].push_back({1, *m, *n, *k, time / static_cast<double>(calls)});
        } else if (bytes && flops) {
            attentions[sample.what].push_back({static_cast<double>(*flops), static_cast<double>(*bytes), time});
        } else if (bytes && *bytes > 0) {
            const CurvePoint point{static_cast<double>(*bytes), time};
            if (sample.kind == SampleKind::collective && ranks) collectives[{sample.what, *ranks}].push_back(point);
            else kernels[sample.what].push_back(point);
        }
    }
    for (const auto& [name, points] : kernels) {
        if (has_two_sizes(points)) costs.kernels.emplace(name, fit_piecewise(points, {}));
    }
    for (const auto& [name, points] : attentions) costs.attentions.emplace(name, fit_attention(points));
    for (const auto& [name, points] : policies) {
        if (has_two_sizes(points)) costs.policies.emplace(name, fit_piecewise(points, {}));
    }
    for (const auto& [name, points] : products) costs.products.emplace(name, GemmTable(points));
    for (const auto& [key, points] : collectives) {
        if (has_two_sizes(points)) costs.collectives.emplace(key, fit_piecewise(points, {}));
    }
    return costs;
}

}  // namespace rehearse
