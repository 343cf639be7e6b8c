#include "models/workload/workload.hpp"

#include <algorithm>
#include <cmath>

#include "models/workload/flops.hpp"
#include "models/workload/lower.hpp"
#include "models/workload/moe/dual_work.hpp"
#include "models/workload/transformer.hpp"

namespace rehearse {

namespace {

constexpr double weight_bytes = 2;  // gathered weights travel in half precision

class Builder {
public:
    Builder(const TrainingSpec& training, ExpertStep experts)
        : workload_{training, RankLayout(training.parallel), {}, {}, {}, {}, {}, 0, 0, std::move(experts)} {}

    Workload build() {
        const TrainingSpec& training = workload_.training;
        const auto stages = static_cast<std::uint32_t>(training.parallel.pipeline);
        for (std::uint32_t stage = 0; stage < stages; ++stage) {
            workload_.programs.push_back(lower_stage(training, stage, index_stage(stage, stages)));
        }
        const double tokens =
            static_cast<double>(training.micro_batch * (training.model.sequence / training.parallel.context));
        double message = 2 * tokens * static_cast<double>(training.model.hidden);
        // Megatron-LM scatters the activation over the tensor group before it leaves the node and gathers it behind.
        message /= static_cast<double>(training.parallel.tensor);
        workload_.stage_message = Bytes{std::llround(message)};
        workload_.memory = estimate_memory(training, workload_.experts.memory);
        workload_.flops_per_token = model_flops_per_token(training, AttentionCount::windowed);
        workload_.hardware_flops_per_token = hardware_flops_per_token(training);
        return std::move(workload_);
    }

private:
    std::uint32_t add(Work work) {
        workload_.works.push_back(std::move(work));
        return static_cast<std::uint32_t>(workload_.works.size() - 1);
    }
    std::uint32_t add(CollectiveVerb verb, GroupFamily family, double bytes) {
        workload_.collectives.push_back({verb, family, Bytes{std::llround(bytes)}});
        return static_cast<std::uint32_t>(workload_.collectives.size() - 1);
    }

    StageIndex index_stage(std::uint32_t stage, std::uint32_t stages) {
        const TrainingSpec& training = workload_.training;
        const auto chunks = static_cast<std::uint32_t>(training.parallel.chunks());
        const std::int64_t blocks = training.parallel.pipeline * training.parallel.virtual_stages;
        const double embedding = embedding_parameters_per_rank(training);
        StageIndex index;
        std::vector<ParameterShare> parameters;
        std::vector<ChunkPart> parts;
        for (std::uint32_t chunk = 0; chunk < chunks; ++chunk) {
            const std::int64_t block =
                training.parallel.is_dual() ? model_stage_of(stage, stages, chunk) : chunk * stages + stage;
            const ChunkEnds ends{block == 0, block + 1 == blocks};
            const LayerRange layers = chunk_layers(training, block);
            ParameterShare& share = parameters.emplace_back(parameters_per_rank(training, layers));
            if (ends.embedding) share.dense += embedding;
            if (ends.head && (stages > 1 || training.model.kind == ModelKind::moe)) share.dense += embedding;
            if (training.parallel.is_dual()) {
                parts.push_back({layers, ends});
                continue;
            }
            index.forward.push_back(add(chunk_work(training, Phase::forward, layers, ends)));
            index.backward.push_back(add(chunk_work(training, Phase::backward, layers, ends)));
        }
        if (training.parallel.is_dual()) add_dual_works(index, parts);
        add_synchronisation(index, parameters);
        index.optimizer = add(optimizer_work(training, sum(parameters)));
        index.exchange = add(host_work(HostCost::exchange));
        index.input = add(host_work(is_on(training.technique.overlap_input) ? HostCost::none : HostCost::input));
        index.step = add(host_work(HostCost::step));
        const ExpertStep& experts = workload_.experts;
        const auto wait = [&](double seconds, Part part) {
            if (seconds > 0) index.policies.push_back({add(fixed_work(seconds)), part});
        };
        wait(experts.decision_s, Part::optimizer);
        wait(experts.migration_s + experts.replica_s, Part::ep_exposed);
        wait(experts.page_wait_s, Part::data);
        return index;
    }

    void add_dual_works(StageIndex& index, const std::vector<ChunkPart>& parts) {
        for (std::size_t chunk = 0; chunk < 2; ++chunk) {
            const auto work = [&](DualWork kind, std::size_t backward) {
                return add(dual_work(workload_.training, kind, parts[chunk], parts[backward]));
            };
            index.forward.push_back(work(DualWork::forward, chunk));
            index.backward.push_back(work(DualWork::backward, chunk));
            index.backward_input.push_back(work(DualWork::backward_input, chunk));
            index.weights.push_back(work(DualWork::weights, chunk));
            index.pair.push_back(work(DualWork::pair, 1 - chunk));
        }
    }

    static ParameterShare sum(const std::vector<ParameterShare>& parameters) {
        ParameterShare total;
        for (const ParameterShare& share : parameters) {
            total.dense += share.dense;
            total.experts += share.experts;
        }
        return total;
    }

    void add_synchronisation(StageIndex& index, const std::vector<ParameterShare>& parameters) {
        const TrainingSpec& training = workload_.training;
        const CollectiveVerb reduce =
            training.parallel.zero > 0 ? CollectiveVerb::reduce_scatter : CollectiveVerb::all_reduce;
        const double gradient_bytes = static_cast<double>(training.gradient_bytes);
        const bool experts = sum(parameters).experts > 0 && expert_shards(training.parallel) > 1;
        const auto add_pair = [&](const ParameterShare& n) {
            index.gather.push_back(add(CollectiveVerb::all_gather, GroupFamily::data, weight_bytes * n.dense));
            index.scatter.push_back(add(reduce, GroupFamily::data, gradient_bytes * n.dense));
            if (!experts) return;
            const GroupFamily family = GroupFamily::expert_data;
            index.expert_gather.push_back(add(CollectiveVerb::all_gather, family, weight_bytes * n.experts));
            index.expert_scatter.push_back(add(reduce, family, gradient_bytes * n.experts));
        };
        if (is_on(training.technique.overlap_data)) {
            for (const ParameterShare& share : parameters) add_pair(share);
        } else {
            add_pair(sum(parameters));
        }
        index.norm = add(CollectiveVerb::sync, GroupFamily::model, 0);
        index.embedding_reduce = add(CollectiveVerb::all_reduce, GroupFamily::embedding,
                                     gradient_bytes * embedding_parameters_per_rank(training));
    }

    Workload workload_;
};

}  // namespace

Workload build_workload(const TrainingSpec& training, ExpertStep experts) {
    return Builder(training, std::move(experts)).build();
}

}  // namespace rehearse
