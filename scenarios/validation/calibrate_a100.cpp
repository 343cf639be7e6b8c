// The A100 calibration: measured training steps of the vTrain data set, one node and many.
#include <fmt/format.h>

#include <cmath>
#include <map>
#include <memory>
#include <set>

#include "runtime/parallel_for.hpp"
#include "scenarios/predict.hpp"
#include "scenarios/validation/calibration.hpp"
#include "scenarios/validation/csv_reader.hpp"
#include "scenarios/validation/measured_steps.hpp"
#include "sim/base/fault.hpp"

namespace rehearse {

namespace {

struct StepRow {
    double seconds;
    Predictor predictor;
};

class StepRows {
public:
    explicit StepRows(const std::vector<MeasuredStep>& steps) {
        for (const MeasuredStep& step : steps) rows_.push_back({step.seconds, Predictor(scenario_of(step))});
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
        // At least 0.6, assumed: few rows tell it, and no tuned network moves large messages slower.
        {"network.efficiency", 0.9, 0.6, 0.95, "share of the framed network rate, messages and tensor rings"},
        {"network.group_efficiency", 0.4, 0.1, 0.95, "the same for gradient collectives over the data group"},
        {"variation.host_tail_slowdown", 0.1, 0.0, 0.5, "slow-down of the slowest host of the tail"},
    };
    calibration.options.iterations = 8;
    calibration.options.cost_tolerance = 5e-4;
    calibration.residuals = [rows](const DeviceProfile& profile) { return rows->errors(profile); };
    calibration.derivatives = calibration.residuals;
    return calibration;
}

namespace {

// Sums of the least squares of time = 2 latency + z / bus, which is linear in (latency, 1 / bus), in relative errors.
struct LinkSums {
    double xx = 0, xz = 0, zz = 0, x = 0, z = 0;
    int line = 0;  // of the group's first row
    std::set<std::int64_t> sizes;

    void add(std::int64_t gpus, std::int64_t size, double time_s) {
        const double share = static_cast<double>(gpus - 1) / static_cast<double>(gpus);
        const double of_latency = 2 / time_s, of_rate = 2 * share * static_cast<double>(size) / time_s;
        xx += of_latency * of_latency;
        xz += of_latency * of_rate;
        zz += of_rate * of_rate;
        x += of_latency;
        z += of_rate;
        sizes.insert(size);
    }
    double latency() const { return (x * zz - z * xz) / (xx * zz - xz * xz); }
    double seconds_per_byte() const { return (z * xx - x * xz) / (xx * zz - xz * xz); }
};

// One size leaves open what is latency and what is rate; times that do not grow with the size give no rate.
std::string undetermined(const LinkSums& sums) {
    if (sums.sizes.size() < 2) return "one size alone does not tell latency from rate";
    const double rate = 8 / sums.seconds_per_byte();
    return rate > 0 && rate < 1e18 ? "" : "the times do not grow with the size, so they give no positive rate";
}

}  // namespace

std::vector<LocalLink> fit_local_links(const std::string& all_reduce_file) {
    FaultList faults;
    const CsvReader csv(all_reduce_file, {"gpus", "size_bytes", "time_ns"}, faults);
    std::map<std::int64_t, LinkSums> groups;
    for (const CsvRow& row : csv.rows()) {
        const std::size_t before = faults.size();
        const std::int64_t gpus = csv.whole(row, 0), size = csv.whole(row, 1, 1e15);
        const double time_s = csv.positive(row, 2, 1e15) * 1e-9;
        if (faults.size() == before && gpus < 2) csv.fault(row, 0, "an all-reduce of one GPU", "at least 2", "");
        if (faults.size() > before) continue;
        LinkSums& sums = groups[gpus];
        if (sums.line == 0) sums.line = row.line;
        sums.add(gpus, size, time_s);
    }
    if (faults.empty() && groups.empty()) csv.fault("no measured row", "at least two sizes of one group");
    faults.throw_if_any();
    std::vector<LocalLink> links;
    for (const auto& [gpus, sums] : groups) {
        const std::string why = undetermined(sums);
        if (why.empty()) {
            const Bandwidth bus{std::llround(8 / sums.seconds_per_byte())};
            links.push_back({gpus, seconds(std::max(sums.latency(), 0.0)), bus});
        } else {
            faults.add({{all_reduce_file, sums.line, 1}, fmt::format("group of {} GPUs", gpus), why,
                        "rows of two sizes or more, larger ones slower", "measure the group again"});
        }
    }
    faults.throw_if_any();
    return links;
}

}  // namespace rehearse
