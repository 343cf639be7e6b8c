#include "scenarios/validation/dual_step.hpp"

#include <array>
#include <string_view>

#include "models/compute/cost.hpp"
#include "models/workload/moe/dual_work.hpp"
#include "runtime/local_fabric.hpp"
#include "runtime/simulate.hpp"
#include "scenarios/job_traffic.hpp"

namespace rehearse {

namespace {

constexpr std::int64_t traced_layers = 4;

std::vector<RankId> first_of_each_stage(const Workload& workload) {
    std::vector<RankId> ranks;
    Coordinate at;
    for (at.pipeline = 0; at.pipeline < workload.layout.size(Dimension::pipeline); ++at.pipeline)
        ranks.push_back(workload.layout.rank(at));
    return ranks;
}

// Time and number of the passes with one name.
struct Passes {
    double time = 0, count = 0;
    double mean() const { return time / count; }
};

Passes passes_named(std::string_view name, const Workload& workload, const Timeline& timeline) {
    Passes passes;
    const auto is_named = [&](std::uint32_t work) { return workload.works[work].name == name; };
    for (const Span& span : timeline.spans)
        if (span.work < workload.works.size() && is_named(span.work)) passes.time += (span.end - span.begin).seconds();
    for (const Program& program : workload.programs)
        for (const Instruction& instruction : program.instructions)
            passes.count += instruction.op == Op::work && is_named(instruction.index) ? 1 : 0;
    return passes;
}

}  // namespace

DualStep dual_step(const Workload& workload, const Timeline& timeline) {
    const auto stages = static_cast<std::uint32_t>(workload.programs.size());
    const auto passes = [&](DualWork kind) { return passes_named(name(kind), workload, timeline); };
    const Passes forward = passes(DualWork::forward), pair = passes(DualWork::pair);
    const Passes backward = passes(DualWork::backward), input = passes(DualWork::backward_input);
    const Passes weights = passes(DualWork::weights);
    DualStep step;
    step.step = timeline.end.seconds();
    step.forward = forward.time / stages;
    step.backward = (backward.time + input.time) / stages;
    step.weights = weights.time / stages;
    step.pair = pair.time / stages;
    for (const PartTimes& parts : timeline.parts)
        step.optimizer += parts[static_cast<std::size_t>(Part::optimizer)].seconds() /
                          static_cast<double>(timeline.parts.size());
    step.bubble = step.step - step.forward - step.backward - step.weights - step.pair - step.optimizer;
    step.closed_form = dual_pipe_bubble(stages, pair.mean(), backward.mean(), weights.mean());
    return step;
}

PairedChunk paired_chunk(const Workload& workload, const DeviceProfile& profile, const LocalFabric& fabric) {
    Workload alone = workload;
    const ChunkPart chunk{{workload.training.model.experts.dense_layers, traced_layers}, {}};
    alone.works = {dual_work(alone.training, DualWork::pair, chunk, chunk)};
    const PricedWork priced = price(alone, profile, fabric).front();
    PairedChunk result;
    const double compute = priced.compute().seconds() * (1 + profile.variation.jitter.value);
    result.span = compute + priced.communication().seconds();
    result.exposed = priced.communication().seconds();
    for (const PricedSegment& segment : priced.segments) result.exchange += segment.collective.seconds();
    return result;
}

DualFigures dual_figures(const ValidScenario& scenario, std::uint64_t seed) {
    const Cluster cluster = build_cluster(scenario.cluster());
    const Workload workload = build_workload(scenario.training());
    const ModelsSpec& models = scenario.models();
    const Placement placement = place_job(scenario, workload, cluster, seed);
    const Timeline timeline = simulate(
        {cluster, placement, workload, models.profile, models.network, seed, first_of_each_stage(workload)});
    const LocalFabric fabric = local_fabric(workload.training.parallel, workload.layout, placement, cluster);
    const double tokens = static_cast<double>(workload.training.batch() * workload.training.model.sequence);
    const double peak = static_cast<double>(workload.layout.rank_count()) * models.profile.peak.value;
    return {dual_step(workload, timeline),
            paired_chunk(workload, limited_by(models.profile, cluster.spec().node.nvlink), fabric),
            tokens * workload.flops_per_token / (timeline.end.seconds() * peak), fabric.expert.nodes};
}

}  // namespace rehearse
