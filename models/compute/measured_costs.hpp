// Costs measured on the very device (rehearse calibrate run), by kernel, product and collective. Where a profile has
// them they stand in for the models of cost.hpp: a CPU core, for one, has no tiles and no launches, and its kernels no
// common share of the memory's rate.
//
//     kernels      seconds over the bytes that the workload counts for a kernel (Operator::bytes), by its name; the
//                  "residual" stands for those without a curve of their own: two arrays read, one written
//     attention    seconds over FLOPs and bytes (attention_fit.hpp)
//     products     seconds of a matrix product over its shape: "gemm", and those of its gradients "gemm dgrad", "gemm
//                  wgrad"; of experts, one after the other: "grouped gemm", "grouped gemm dgrad", "grouped gemm wgrad"
//     collectives  seconds over bytes as collectives/collective.hpp counts them, by name and number of ranks. Dispatch
//                  and combine are "all_to_all"; through a token stream, "streamed_dispatch"
//     policies     seconds of a decision over the size of what is decided: "balancer_slow" and "balancer_fast" over
//                  experts, "pager" over pages, "placement" over GPUs
//
// Fitted on the samples of a calibration file (kernels/calibration): kernels {bytes}, attention {flops, bytes},
// products {batch, m, n, k}, collectives {bytes, ranks}, each by its median.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/calibration/calibration_file.hpp"
#include "models/calibration/curve_fit.hpp"
#include "models/compute/attention_fit.hpp"
#include "models/compute/gemm_surface.hpp"

namespace rehearse {

// Seconds of the two pieces of work that say how fast the device was ("compute probe", "memory probe";
// runtime/live/pace); 0: not said.
struct MeasuredPace {
    double compute = 0, memory = 0;
};

struct MeasuredCosts {
    MeasuredPace pace;
    std::map<std::string, PiecewiseCurve, std::less<>> kernels;
    std::map<std::string, AttentionFit, std::less<>> attentions;
    std::map<std::string, GemmTable, std::less<>> products;
    std::map<std::pair<std::string, std::int64_t>, PiecewiseCurve> collectives;

    std::map<std::string, PiecewiseCurve, std::less<>> policies;

    bool empty() const { return kernels.empty() && products.empty() && collectives.empty() && policies.empty(); }
    // Products, attention, kernels and exchanges of a mixture of experts that a full calibration would have.
    std::vector<std::string> missing() const;
    // nullptr: not measured.
    const PiecewiseCurve* kernel(std::string_view name) const;     // or "residual"
    const AttentionFit* attention(std::string_view name) const;
    const GemmTable* product(std::string_view name) const;
    const PiecewiseCurve* collective(std::string_view name, std::int64_t ranks) const;
    double policy_seconds(std::string_view name, double size) const;  // 0: not measured
};

// Of the samples that have these shapes; a kernel or collective of one size only is left out.
MeasuredCosts measured_costs(const CalibrationFile& calibration);

}  // namespace rehearse
