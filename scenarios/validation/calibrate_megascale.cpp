// The MegaScale calibration: step times of the rows marked `fit`, and the MFU gain of each ablation step.
#include <algorithm>

#include "models/workload/flops.hpp"
#include "runtime/parallel_for.hpp"
#include "scenarios/installation.hpp"
#include "scenarios/predict.hpp"
#include "scenarios/reading/read_scenario.hpp"
#include "scenarios/reading/validate_scenario.hpp"
#include "scenarios/validation/calibration.hpp"
#include "scenarios/validation/published.hpp"

namespace rehearse {

namespace {

struct FitRow {
    PublishedRow published;
    Predictor predictor;
};

// MFU of a step time under the paper's conventions.
double mfu_of(const FitRow& row, double step_s) {
    const TrainingSpec& training = row.predictor.workload().training;
    const double tokens = static_cast<double>(training.batch() * training.model.sequence);
    const double gpus = static_cast<double>(row.predictor.workload().layout.rank_count());
    const double peak = row.predictor.scenario().models().profile.peak.value;
    return tokens * row.predictor.workload().flops_per_token / (step_s * gpus * peak);
}

double error_in_bands(const FitRow& row, double step_s) {
    const PublishedRow& published = row.published;
    if (published.mfu_band) return (mfu_of(row, step_s) - *published.mfu) / *published.mfu_band;
    return (step_s / *published.step_s - 1) / *published.band;
}

class MegascaleRows {
public:
    MegascaleRows() {
        for (PublishedRow& row : read_published(data_path("tests/validation/megascale.yaml").string()).rows) {
            if (row.use != PublishedUse::fit) continue;
            const std::string path = data_path("scenarios/library/" + row.scenario + ".yaml").string();
            rows_.push_back({row, Predictor(validate(read_scenario(path)))});
        }
    }

    // Errors in units of the band that a row must keep (of its MFU where it has one, else of its step time), then the
    // errors of the MFU gain between neighbouring rows of the ablation: the gains say what a single technique is worth,
    // which the absolute times alone leave open.
    std::vector<double> residuals(const DeviceProfile& profile, const std::vector<std::uint64_t>& seeds,
                                  Fidelity fidelity) const {
        std::vector<double> steps(rows_.size());
        parallel_for(rows_.size(), 0, [&](std::size_t i) {
            const std::size_t k = rows_.size() - 1 - i;  // the large ones stand last: begin with them
            steps[k] = rows_[k].predictor.step_seconds(profile, seeds, fidelity);
        });
        std::vector<double> residuals;
        for (std::size_t i = 0; i < rows_.size(); ++i) residuals.push_back(error_in_bands(rows_[i], steps[i]));
        for (std::size_t i = 1; i < rows_.size(); ++i) {
            if (!is_ablation(i) || !is_ablation(i - 1)) continue;
            const double gain = mfu_of(rows_[i], steps[i]) - mfu_of(rows_[i - 1], steps[i - 1]);
            const double published = *rows_[i].published.mfu - *rows_[i - 1].published.mfu;
            residuals.push_back((gain - published) / *rows_[i].published.mfu_band);
        }
        return residuals;
    }

    std::vector<std::size_t> residuals_of(const std::string& scenario) const {
        std::vector<std::size_t> positions;
        std::size_t gain = rows_.size();
        for (std::size_t i = 0; i < rows_.size(); ++i) {
            if (rows_[i].published.scenario == scenario) positions.push_back(i);
            if (i == 0 || !is_ablation(i) || !is_ablation(i - 1)) continue;
            const bool takes_part =
                rows_[i].published.scenario == scenario || rows_[i - 1].published.scenario == scenario;
            if (takes_part) positions.push_back(gain);
            ++gain;
        }
        return positions;
    }

private:
    bool is_ablation(std::size_t i) const { return rows_[i].published.scenario.starts_with("megascale_ablation_"); }
    std::vector<FitRow> rows_;
};

}  // namespace

Calibration megascale_calibration() {
    const auto rows = std::make_shared<MegascaleRows>();
    Calibration calibration;
    calibration.profile = "megascale-ampere";
    calibration.data = "MegaScale (NSDI'24), rows marked fit of tables 2 and 3";
    calibration.parameters = {
        {"gemm.efficiency", 0.85, 0.55, 0.98, "share of peak in full waves of tiles"},
        {"nvlink.groups.8.bus", 130e9 * 8, 80e9 * 8, 235e9 * 8, "bus rate of tensor collectives, bit/s"},
        {"host.step", 0.5, 0.05, 1.0, "fixed host time of a step, s"},
        {"variation.host_tail_slowdown", 0.13, 0.0, 0.2, "slow-down of the slowest host of the tail"},
        {"variation.jitter", 0.015, 0.0, 0.1, "mean of a work's exponential delay, relative"},
    };
    calibration.options.loss_scale = 1;  // one band
    calibration.options.iterations = 5;
    calibration.options.step = 0.03;
    calibration.options.cost_tolerance = 2e-3;
    calibration.residuals = [rows](const DeviceProfile& profile) {
        return rows->residuals(profile, {1, 2, 3, 4, 5}, Fidelity::flow);
    };
    calibration.derivatives = [rows](const DeviceProfile& profile) {
        return rows->residuals(profile, {1, 2}, Fidelity::ideal);
    };
    calibration.residuals_of = [rows](const std::string& scenario) { return rows->residuals_of(scenario); };
    return calibration;
}

}  // namespace rehearse
