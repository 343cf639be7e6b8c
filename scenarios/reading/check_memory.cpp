#include <fmt/format.h>

#include "models/workload/memory.hpp"
#include "runtime/moe/replicas.hpp"
#include "scenarios/reading/check_parts.hpp"

namespace rehearse {

namespace {

double gigabytes(Bytes bytes) { return static_cast<double>(bytes.value) / 1e9; }

// The first remedy, in order of how little it costs, that makes the job fit; "" when none alone does.
std::string remedy(const TrainingSpec& training, ExpertMemory experts, Bytes room) {
    const auto fits = [&](TrainingSpec changed) { return estimate_memory(changed, experts).total() <= room; };
    TrainingSpec changed = training;
    changed.parallel.sequence = Switch::on;
    const bool can_cut = training.model.sequence % (training.parallel.context * training.parallel.tensor) == 0;
    if (training.parallel.tensor > 1 && can_cut && fits(changed)) return "set training.parallel.sequence: on";
    changed = training;
    if (changed.parallel.zero == 0) changed.parallel.zero = 1;
    if (fits(changed)) return "set training.parallel.zero: 1";
    changed = training;
    changed.technique.operators = OperatorSet::efficient;
    if (fits(changed)) return "set training.technique.operators: efficient";
    changed = training;
    changed.recompute = Recompute::selective;
    if (fits(changed)) return "set training.recompute: selective";
    changed.recompute = Recompute::full;
    if (fits(changed)) return "set training.recompute: full";
    changed.parallel.zero = std::max<std::int64_t>(changed.parallel.zero, 1);
    if (fits(changed)) return "set training.recompute: full and training.parallel.zero: 1";
    return "use more tensor or pipeline stages, so that each GPU holds fewer parameters";
}

}  // namespace

void check_memory(const TrainingSpec& training, const PolicySpec& policies, const DeviceProfile& profile,
                  Findings& findings) {
    const ExpertMemory experts = expert_memory(training, policies);
    const Bytes room = profile.memory_size - profile.memory_reserve;
    const MemoryReport report = estimate_memory(training, experts);
    if (report.total() <= room) return;
    findings.fault(
        "training",
        fmt::format(
            "a GPU needs {:.1f} GB of {:.1f} GB on pipeline stage {}: weights {:.1f}, gradients {:.1f}, optimizer "
            "{:.1f}, activations {:.1f}, workspace {:.1f}",
            gigabytes(report.total()), gigabytes(room), report.stage, gigabytes(report.weights),
            gigabytes(report.gradients), gigabytes(report.optimizer), gigabytes(report.activations),
            gigabytes(report.workspace)),
        fmt::format("at most {:.1f} GB: {:.1f} GB less {:.1f} GB reserve", gigabytes(room),
                    gigabytes(profile.memory_size), gigabytes(profile.memory_reserve)),
        remedy(training, experts, room));
}

}  // namespace rehearse
