#include "models/workload/transformer.hpp"

#include <algorithm>
#include <cmath>
#include <type_traits>

#include "models/workload/layer_builder.hpp"
#include "models/workload/moe/moe_layer_builder.hpp"

namespace rehearse {

namespace {

// Layers by a LayerBuilder or a MoeLayerBuilder; what stands at the ends of a chunk is the same for both.
template <class Layers>
class ChunkBuilder {
public:
    ChunkBuilder(const TrainingSpec& training, LayerRange layers, ChunkEnds ends, Work& work)
        : training_(training), range_(layers), ends_(ends), outside_(training, work), layers_(training, work) {}

    void forward() {
        if (ends_.embedding) {
            outside_.add_region({});
            outside_.embedding_forward();
        }
        layers_.add_region({static_cast<double>(range_.count), 0, 0});
        for (std::int64_t i = 0; i < range_.count; ++i) layer_forward(range_.first + i);
        for (std::int64_t i = 0; ends_.head && i <= training_.model.extra_tokens; ++i) {
            outside_.add_region({0, 0, 0.5});
            outside_.head_forward();
        }
    }

    void backward() {
        for (std::int64_t i = 0; ends_.head && i <= training_.model.extra_tokens; ++i) {
            outside_.add_region({0, 0, 0.5});
            outside_.head_backward();
        }
        const bool full = training_.recompute == Recompute::full;
        const double count = static_cast<double>(range_.count);
        layers_.add_region({full ? count : 0, count, 0});
        for (std::int64_t i = range_.count; i-- > 0;) {
            if (full) layer_forward(range_.first + i);
            layer_backward(range_.first + i);
        }
        if (!ends_.embedding) return;
        outside_.add_region({});
        outside_.embedding_backward();
    }

private:
    void layer_forward(std::int64_t layer) {
        if constexpr (std::is_same_v<Layers, MoeLayerBuilder>) layers_.forward(layer);
        else layers_.forward();
    }
    void layer_backward(std::int64_t layer) {
        if constexpr (std::is_same_v<Layers, MoeLayerBuilder>) return layers_.backward(layer);
        else {
            const bool keeps_scores = training_.technique.operators != OperatorSet::efficient;
            if (training_.recompute == Recompute::selective && keeps_scores) layers_.recompute_attention();
            layers_.backward();
        }
    }

    const TrainingSpec& training_;
    LayerRange range_;
    ChunkEnds ends_;
    LayerBuilder outside_;
    Layers layers_;
};

Work host_operator(const char* name, HostCost cost, double seconds) {
    Work work;
    work.name = name;
    Operator op;
    op.kind = OperatorKind::host;
    op.name = name;
    op.host = cost;
    op.seconds = seconds;
    work.segments.emplace_back().operators.push_back(op);
    return work;
}

template <class Layers>
Work build_chunk(const TrainingSpec& training, Phase phase, LayerRange layers, ChunkEnds ends) {
    Work work;
    work.name = phase == Phase::forward ? "forward" : "backward";
    ChunkBuilder<Layers> builder(training, layers, ends, work);
    if (phase == Phase::forward) builder.forward();
    else builder.backward();
    return work;
}

}  // namespace

LayerRange chunk_layers(const TrainingSpec& training, std::int64_t block) {
    const std::int64_t blocks = training.parallel.pipeline * training.parallel.virtual_stages;
    const std::int64_t own = training.parallel.last_stage_layers, extra = training.model.extra_tokens;
    if (own > 0 && block + 1 == blocks) return {training.model.layers - own, own + extra};
    const std::int64_t layers = training.model.layers - own, others = blocks - (own > 0 ? 1 : 0);
    const std::int64_t each = layers / others, longer = layers % others;
    return {block * each + std::min(block, longer),
            each + (block < longer ? 1 : 0) + (block + 1 == blocks ? extra : 0)};
}

Work chunk_work(const TrainingSpec& training, Phase phase, LayerRange layers, ChunkEnds ends) {
    return training.model.kind == ModelKind::moe ? build_chunk<MoeLayerBuilder>(training, phase, layers, ends)
                                                 : build_chunk<LayerBuilder>(training, phase, layers, ends);
}

Work optimizer_work(const TrainingSpec& training, const ParameterShare& parameters) {
    const auto shards = [&](std::int64_t ranks) {
        return training.parallel.zero > 0 ? static_cast<double>(ranks) : 1.0;
    };
    Work work;
    work.name = "optimizer";
    Operator op;
    op.name = "optimizer";
    // Norm and cast of every local gradient (read 4 B, write 2 B, clear 2 B), then Adam on the shard: gradient 4,
    // master weight, two moments read and written 24, half-precision weight 2.
    op.bytes = parameters.dense * (8 + 30 / shards(data_shards(training.parallel))) +
               parameters.experts * (8 + 30 / shards(expert_shards(training.parallel)));
    op.kernels = 16;
    work.segments.emplace_back().operators.push_back(op);
    return work;
}

Work host_work(HostCost cost) {
    if (cost == HostCost::none) return {.name = "host", .segments = {}};
    return host_operator("host", cost, 0);
}

Work fixed_work(double seconds) { return host_operator("policies", HostCost::none, seconds); }

double padded_vocab(const TrainingSpec& training) {
    const double t = static_cast<double>(training.parallel.tensor);
    const double v = static_cast<double>(training.model.vocab);
    return t > 1 ? std::ceil(v / (128 * t)) * 128 * t : v;
}

ParameterShare parameters_per_rank(const TrainingSpec& training, LayerRange layers) {
    const ModelSpec& model = training.model;
    const double h = static_cast<double>(model.hidden), f = static_cast<double>(model.ffn_size());
    const double t = static_cast<double>(training.parallel.tensor);
    // Matrices and column biases are cut by t; row biases (2 h) and layer norms (4 h) are whole on each rank.
    if (model.kind == ModelKind::gpt)
        return {static_cast<double>(layers.count) * ((4 * h * h + 3 * h + 2 * h * f + f) / t + 2 * h + 4 * h), 0};
    ParameterShare share;
    for (std::int64_t layer = layers.first; layer < layers.first + layers.count; ++layer) {
        share.dense += dense_layer_parameters(model, layer) /
                       (training.parallel.attention == AttentionCut::heads ? t : 1);
        if (has_experts(model, layer))
            share.experts += static_cast<double>(model.experts.routed) * expert_parameters(model) /
                             static_cast<double>(training.parallel.expert_span());
    }
    return share;
}

double embedding_parameters_per_rank(const TrainingSpec& training) {
    return padded_vocab(training) * static_cast<double>(training.model.hidden) /
           static_cast<double>(training.parallel.tensor);
}

}  // namespace rehearse
