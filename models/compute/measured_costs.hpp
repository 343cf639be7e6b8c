// Costs measured on the very device (rehearse calibrate run), by kernel, product and collective. Where a profile has
// them they stand in for the models of cost.hpp: a CPU core, for one, has no tiles and no launches, and its kernels no
// common share of the memory's rate.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "models/collectives/collective.hpp"
#include "models/compute/gemm_surface.hpp"

namespace rehearse {

struct CurvePoint {
    double size = 0;     // bytes
    double seconds = 0;
};

// Seconds over size: straight lines between the points; beyond the ends the line through the last two goes on, never
// below half the time of the first point.
class MeasuredCurve {
public:
    // In any order, of distinct sizes; at least one.
    explicit MeasuredCurve(std::vector<CurvePoint> points);
    double seconds(double size) const;
    const std::vector<CurvePoint>& points() const { return points_; }

private:
    std::vector<CurvePoint> points_;  // by size
};

struct MeasuredCollective {
    CollectiveKind kind;
    std::int64_t ranks = 0;
    friend auto operator<=>(const MeasuredCollective&, const MeasuredCollective&) = default;
};

struct MeasuredCosts {
    // Over the bytes that the workload counts for the kernel. "stream" stands for those without a curve of their own.
    std::map<std::string, MeasuredCurve, std::less<>> kernels;
    // Products of matrices: "gemm" and, where the result is added up in single precision, "gemm wgrad".
    std::map<std::string, GemmSurface, std::less<>> products;
    // Over the size that collective.hpp defines. All-to-alls also serve dispatch and combine.
    std::map<MeasuredCollective, MeasuredCurve> collectives;

    const MeasuredCurve* kernel(std::string_view name) const;  // nullptr: not measured
    const MeasuredCurve* collective(CollectiveKind kind, std::int64_t ranks) const;
    const GemmSurface* product(bool accumulates) const;
};

}  // namespace rehearse
