#include "models/workload/transformer.hpp"

#include <cmath>

#include "models/workload/layer_builder.hpp"

namespace rehearse {

namespace {

void build_forward(LayerBuilder& builder, std::int64_t layers, ChunkEnds ends) {
    if (ends.embedding) {
        builder.add_region({});
        builder.embedding_forward();
    }
    builder.add_region({static_cast<double>(layers), 0, 0});
    for (std::int64_t i = 0; i < layers; ++i) builder.forward();
    if (ends.head) {
        builder.add_region({0, 0, 0.5});
        builder.head_forward();
    }
}

void build_backward(LayerBuilder& builder, const TrainingSpec& training, std::int64_t layers, ChunkEnds ends) {
    if (ends.head) {
        builder.add_region({0, 0, 0.5});
        builder.head_backward();
    }
    const bool full = training.recompute == Recompute::full;
    builder.add_region({full ? static_cast<double>(layers) : 0, static_cast<double>(layers), 0});
    for (std::int64_t i = 0; i < layers; ++i) {
        if (full) builder.forward();
        if (training.recompute == Recompute::selective && training.technique.operators != OperatorSet::efficient) {
            builder.recompute_attention();
        }
        builder.backward();
    }
    if (ends.embedding) {
        builder.add_region({});
        builder.embedding_backward();
    }
}

}  // namespace

Work chunk_work(const TrainingSpec& training, Phase phase, std::int64_t layers, ChunkEnds ends) {
    Work work;
    work.name = phase == Phase::forward ? "forward" : "backward";
    LayerBuilder builder(training, work);
    if (phase == Phase::forward) {
        build_forward(builder, layers, ends);
    } else {
        build_backward(builder, training, layers, ends);
    }
    return work;
}

Work optimizer_work(const TrainingSpec& training, double parameters_on_rank) {
    const double shards =
        training.parallel.zero > 0 ? static_cast<double>(training.parallel.data * training.parallel.context) : 1.0;
    Work work;
    work.name = "optimizer";
    Operator op;
    op.name = "optimizer";
    // Norm and cast of every local gradient (read 4 B, write 2 B, clear 2 B), then Adam on the shard: gradient 4,
    // master weight, two moments read and written 24, half-precision weight 2.
    op.bytes = parameters_on_rank * (8 + 30 / shards);
    op.kernels = 16;
    work.segments.emplace_back().operators.push_back(op);
    return work;
}

Work host_work(HostCost cost) {
    Work work;
    work.name = "host";
    if (cost == HostCost::none) return work;
    Operator op;
    op.kind = OperatorKind::host;
    op.name = "host";
    op.host = cost;
    work.segments.emplace_back().operators.push_back(op);
    return work;
}

double padded_vocab(const TrainingSpec& training) {
    const double t = static_cast<double>(training.parallel.tensor);
    const double v = static_cast<double>(training.model.vocab);
    return t > 1 ? std::ceil(v / (128 * t)) * 128 * t : v;
}

double layer_parameters_per_rank(const TrainingSpec& training) {
    const double h = static_cast<double>(training.model.hidden), f = static_cast<double>(training.model.ffn_size());
    const double t = static_cast<double>(training.parallel.tensor);
    // Matrices and column biases are cut by t; row biases (2 h) and layer norms (4 h) are whole on each rank.
    return (4 * h * h + 3 * h + 2 * h * f + f) / t + 2 * h + 4 * h;
}

double embedding_parameters_per_rank(const TrainingSpec& training) {
    return padded_vocab(training) * static_cast<double>(training.model.hidden) /
           static_cast<double>(training.parallel.tensor);
}

}  // namespace rehearse
