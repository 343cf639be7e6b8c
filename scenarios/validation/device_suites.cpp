// Matrix products and NVLink all-reduces of one node, fitted on every other row.
#include "models/collectives/nccl_fit.hpp"
#include "models/compute/cost.hpp"
#include "models/compute/gemm_surface.hpp"
#include "scenarios/installation.hpp"
#include "scenarios/validation/device_rows.hpp"
#include "scenarios/validation/measured_suite.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/format.h>

namespace rehearse {

namespace {

double mean_size(const std::vector<double>& errors) {
    double sum = 0;
    for (const double error : errors) sum += std::abs(error);
    return sum / static_cast<double>(errors.size());
}

std::vector<double> profile_errors(const char* profile, const std::vector<GemmPoint>& points) {
    const DeviceProfile device =
        read_profile(data_path(fmt::format("models/compute/profiles/{}.yaml", profile)).string());
    std::vector<double> errors;
    for (const GemmPoint& p : points) {
        GemmShape shape;
        shape.batch = p.batch, shape.m = p.m, shape.n = p.n, shape.k = p.k;
        errors.push_back(gemm_seconds(device, shape) / p.seconds - 1);
    }
    return errors;
}

FigurePredictions predict_gemm(const PublishedTable&) {
    const std::vector<GemmPoint> points = h100_gemm_points();
    const std::vector<GemmPoint> even = every_other(points, Parity::even), odd = every_other(points, Parity::odd);
    const GemmSurface surface = fit_gemm_surface(even);
    std::vector<double> errors = gemm_errors(surface, odd);
    for (double& error : errors) error = std::abs(error);
    return {{"surface, even rows", 100 * mean_size(gemm_errors(surface, even))},
            {"surface, odd rows", 100 * mean_size(errors)},
            {"surface, odd rows, largest", 100 * std::ranges::max(errors)},
            {"profile h100-sxm, odd rows", 100 * mean_size(profile_errors("h100-sxm", odd))},
            {"profile h800-sxm, odd rows", 100 * mean_size(profile_errors("h800-sxm", odd))}};
}

FigurePredictions predict_nvlink(const PublishedTable&) {
    const std::vector<NcclSample> samples = a100_all_reduces();
    const std::vector<NcclSample> odd = every_other(samples, Parity::odd);
    const NcclCosts costs = fit_a100_ring(every_other(samples, Parity::even));
    const auto error = [&](const std::vector<NcclSample>& rows) {
        return 100 * mean_error(nccl_ratios({&costs, 1}, rows));
    };
    FigurePredictions errors{{"2, 4 and 8 GPUs, even rows", error(every_other(samples, Parity::even))},
                             {"2, 4 and 8 GPUs, odd rows", error(odd)}};
    for (const std::int64_t gpus : {2, 4, 8}) {
        std::vector<NcclSample> group;
        std::ranges::copy_if(odd, std::back_inserter(group),
                             [&](const NcclSample& s) { return s.group.gpus_per_node == gpus; });
        errors[fmt::format("{} GPUs, odd rows", gpus)] = error(group);
    }
    return errors;
}

}  // namespace

std::vector<GemmPoint> h100_gemm_points() {
    FaultList faults;
    const CsvReader csv(data_file(h100_gemm_file), {"batch", "m", "n", "k", "flops_per_s"}, faults);
    std::vector<GemmPoint> points;
    for (const CsvRow& row : csv.rows()) {
        GemmPoint p{csv.whole(row, 0), csv.whole(row, 1), csv.whole(row, 2), csv.whole(row, 3), 0};
        const double flops = 2.0 * static_cast<double>(p.batch * p.m) * static_cast<double>(p.n * p.k);
        p.seconds = flops / csv.positive(row, 4, 1e18);
        points.push_back(p);
    }
    faults.throw_if_any();
    return points;
}

std::vector<NcclSample> a100_all_reduces() {
    FaultList faults;
    const CsvReader csv(data_file(a100_all_reduce_file), {"gpus", "size_bytes", "time_ns"}, faults);
    std::vector<NcclSample> samples;
    for (const CsvRow& row : csv.rows())
        samples.push_back({CollectiveKind::all_reduce, {1, csv.whole(row, 0)}, Bytes{csv.whole(row, 1, 1e15)},
                           csv.positive(row, 2, 1e15) * 1e-9});
    faults.throw_if_any();
    return samples;
}

NcclCosts fit_a100_ring(const std::vector<NcclSample>& samples) {
    NcclCosts start;
    start.launch = microseconds(20);
    start.nvlink = {microseconds(3), gigabytes_per_second(250)};
    start.pass = gigabytes_per_second(1000);
    using enum NcclParameter;
    return fit_nccl(start, std::array{launch, hop_nvlink, rate_nvlink, pass}, samples);
}

SuiteEntry gemm_h100_suite() {
    return measured_suite("gemm-h100", "bf16 matrix products on H100, rows of odd index predicted", h100_gemm_file,
                          predict_gemm);
}

SuiteEntry nvlink_a100_suite() {
    return measured_suite("nvlink-a100", "all-reduce on 2, 4 and 8 A100, rows of odd index predicted",
                          a100_all_reduce_file, predict_nvlink);
}

}  // namespace rehearse
