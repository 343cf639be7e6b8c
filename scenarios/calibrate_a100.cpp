// The A100 calibration: measured training steps of the vTrain data set, one node and many.
#include <fmt/format.h>

#include <cmath>
#include <fstream>
#include <map>
#include <memory>
#include <sstream>

#include "runtime/parallel_for.hpp"
#include "scenarios/calibration.hpp"
#include "scenarios/installation.hpp"
#include "sim/base/fault.hpp"
#include "scenarios/measured_steps.hpp"
#include "scenarios/predict.hpp"

namespace rehearse {

namespace {

struct StepRow {
    double seconds;
    Predictor predictor;
};

class StepRows {
public:
    explicit StepRows(const std::vector<MeasuredStep>& steps) {
        const std::string template_path = data_path("scenarios/library/a100_step.yaml").string();
        for (const MeasuredStep& step : steps) {
            rows_.push_back({step.seconds, Predictor(scenario_of(step, template_path))});
        }
    }

    std::vector<double> errors(const DeviceProfile& profile) const {
        std::vector<double> values(rows_.size());
        parallel_for(rows_.size(), 0, [&](std::size_t i) {
            const StepRow& row = rows_[i];
            values[i] = row.predictor.step_seconds(profile, {1}, Fidelity::flow) / row.seconds - 1;
        });
        return values;
    }

private:
    std::vector<StepRow> rows_;
};

}  // namespace

A100Data default_a100_data() {
    const std::string folder = data_folder();
    return {{folder + "/vtrain_a100_single_node_train.csv", folder + "/vtrain_a100_multi_node_train.csv"},
            folder + "/a100_nvlink_allreduce_train.csv"};
}

Calibration a100_calibration(const std::vector<MeasuredStep>& steps) {
    const auto rows = std::make_shared<StepRows>(steps);
    Calibration calibration;
    calibration.profile = "a100-sxm-80g";
    calibration.data = "vTrain (MICRO'24) measured A100 steps, train halves";
    calibration.parameters = {
        // At most 0.92: what the vendor library is known to reach at its best size.
        {"gemm.efficiency", 0.85, 0.3, 0.92, "share of peak in full waves of tiles"},
        {"gemm.tail", 0.1, 0.0, 1.0, "share of the last wave that split-K does not recover"},
        {"gemm.misaligned_efficiency", 0.3, 0.1, 1.0, "rate of an unpadded product, relative"},
        {"kernel.memory_efficiency", 0.65, 0.25, 1.0, "share of memory bandwidth in element-wise kernels"},
        {"kernel.overhead", 10e-6, 1e-6, 60e-6, "fixed device time per kernel, s"},
        {"host.layer_forward", 1.2e-3, 0.2e-3, 3e-3, "host time to issue a layer forward, s"},
        {"host.micro_batch", 2.2e-3, 0.0, 8e-3, "host time outside the layers per micro-batch, s"},
        {"host.exchange", 20e-6, 0.0, 2e-3, "synchronisation after a blocking exchange, s"},
        {"nvlink.slowdown", 1.4, 0.8, 3.0, "of a collective between kernels of a real step"},
        {"network.efficiency", 0.9, 0.2, 0.95, "share of the framed network rate, messages and tensor rings"},
        {"network.group_efficiency", 0.4, 0.1, 0.95, "the same for gradient collectives over the data group"},
        {"variation.host_tail_slowdown", 0.1, 0.0, 0.5, "slow-down of the slowest host of the tail"},
    };
    calibration.options.iterations = 8;
    calibration.options.cost_tolerance = 5e-4;
    calibration.residuals = [rows](const DeviceProfile& profile) { return rows->errors(profile); };
    calibration.derivatives = calibration.residuals;
    return calibration;
}

std::vector<LocalLink> fit_local_links(const std::string& all_reduce_file) {
    std::ifstream file(all_reduce_file);
    if (!file) throw InputError({{{all_reduce_file, 0, 0}, "", "the file cannot be read", "", "set REHEARSE_DATA"}});
    struct Sums {
        double xx = 0, xz = 0, zz = 0, x = 0, z = 0;
    };
    std::map<std::int64_t, Sums> groups;  // time = 2 latency + z / bus: linear in (latency, 1 / bus), relative errors
    std::string line;
    std::getline(file, line);
    while (std::getline(file, line)) {
        std::int64_t gpus = 0;
        double size = 0, time_ns = 0;
        if (std::sscanf(line.c_str(), "%ld,%lf,%lf", &gpus, &size, &time_ns) != 3 || gpus < 2 || time_ns <= 0) continue;
        const double t = time_ns * 1e-9, x = 2 / t,
                     z = 2.0 * static_cast<double>(gpus - 1) / static_cast<double>(gpus) * size / t;
        Sums& s = groups[gpus];
        s.xx += x * x;
        s.xz += x * z;
        s.zz += z * z;
        s.x += x;
        s.z += z;
    }
    std::vector<LocalLink> links;
    for (const auto& [gpus, s] : groups) {
        const double determinant = s.xx * s.zz - s.xz * s.xz;
        const double latency = (s.x * s.zz - s.z * s.xz) / determinant;
        const double inverse = (s.z * s.xx - s.x * s.xz) / determinant;
        links.push_back({gpus, seconds(std::max(latency, 0.0)), Bandwidth{std::llround(8 / inverse)}});
    }
    if (links.empty())
        throw InputError({{{all_reduce_file, 0, 0}, "", "no usable row", "gpus,size_bytes,time_ns", ""}});
    return links;
}

}  // namespace rehearse
