#include "scenarios/validation/dual_step.hpp"

#include "models/workload/moe/dual_work.hpp"
#include "runtime/local_fabric.hpp"
#include "runtime/simulate.hpp"
#include "scenarios/job_traffic.hpp"

namespace rehearse {

namespace {

double length(const PricedWork& work) { return (work.compute() + work.communication()).seconds(); }

constexpr std::int64_t traced_layers = 4;

}  // namespace

DualStep dual_step(const Workload& workload, const std::vector<PricedWork>& prices, const Timeline& timeline) {
    DualStep step;
    step.step = timeline.end.seconds();
    struct Sum {
        double time = 0, count = 0;
    };
    std::array<Sum, 5> sums;  // by DualWork
    for (std::uint32_t stage = 0; stage < workload.programs.size(); ++stage) {
        std::vector<double> lengths;
        for (const Instruction& instruction : workload.programs[stage].instructions) {
            if (instruction.op == Op::work && instruction.part == Part::compute)
                lengths.push_back(length(prices[instruction.index]));
        }
        const std::vector<DualPass> passes = build_dual_pipe(
            stage, static_cast<std::uint32_t>(workload.programs.size()),
            static_cast<std::uint32_t>(workload.training.micro_batches()));
        for (std::size_t i = 0; i < passes.size(); ++i) {
            Sum& sum = sums[static_cast<std::size_t>(passes[i].work)];
            sum.time += lengths[i];
            ++sum.count;
        }
    }
    const auto stages = static_cast<double>(workload.programs.size());
    const auto of = [&](DualWork work) { return sums[static_cast<std::size_t>(work)]; };
    const auto mean = [&](DualWork work) { return of(work).time / of(work).count; };
    step.forward = of(DualWork::forward).time / stages;
    step.backward = (of(DualWork::backward).time + of(DualWork::backward_input).time) / stages;
    step.weights = of(DualWork::weights).time / stages;
    step.pair = of(DualWork::pair).time / stages;
    for (const PartTimes& parts : timeline.parts)
        step.optimizer += parts[static_cast<std::size_t>(Part::optimizer)].seconds() /
                          static_cast<double>(timeline.parts.size());
    step.bubble = step.step - step.forward - step.backward - step.weights - step.pair - step.optimizer;
    step.closed_form = dual_pipe_bubble(static_cast<std::uint32_t>(workload.programs.size()), mean(DualWork::pair),
                                        mean(DualWork::backward), mean(DualWork::weights));
    return step;
}

PairedChunk paired_chunk(const Workload& workload, const DeviceProfile& profile, const LocalFabric& fabric) {
    Workload alone = workload;
    const ChunkPart chunk{{workload.training.model.experts.dense_layers, traced_layers}, {}};
    alone.works = {dual_work(alone.training, DualWork::pair, chunk, chunk)};
    const PricedWork priced = price(alone, profile, fabric).front();
    PairedChunk result;
    result.span = length(priced);
    for (const PricedSegment& segment : priced.segments) {
        result.exchange += segment.collective.seconds();
        result.exposed += segment.communication.seconds();
    }
    return result;
}

DualFigures dual_figures(const ValidScenario& scenario, std::uint64_t seed) {
    const Cluster cluster = build_cluster(scenario.cluster());
    const Workload workload = build_workload(scenario.training());
    const DeviceProfile profile =
        limited_by(scenario.models().profile, cluster.spec().node.nvlink);
    const Placement placement = place_job(scenario, workload, cluster, seed);
    const LocalFabric fabric = local_fabric(workload.training.parallel, workload.layout, placement, cluster);
    const Timeline timeline = simulate({cluster, placement, workload, scenario.models().profile,
                                        scenario.models().network, seed, {}});
    const double tokens = static_cast<double>(workload.training.batch() * workload.training.model.sequence);
    const double peak = static_cast<double>(workload.layout.rank_count()) * profile.peak.value;
    return {dual_step(workload, price(workload, profile, fabric), timeline), paired_chunk(workload, profile, fabric),
            tokens * workload.flops_per_token / (timeline.end.seconds() * peak)};
}

}  // namespace rehearse
