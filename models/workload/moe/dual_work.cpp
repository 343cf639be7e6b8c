#include "models/workload/moe/dual_work.hpp"

#include <algorithm>

#include "models/workload/layer_builder.hpp"
#include "models/workload/moe/moe_layer_builder.hpp"

namespace rehearse {

std::string_view name(DualWork kind) {
    constexpr std::string_view names[] = {"forward", "backward", "backward input", "weights", "pair"};
    return names[static_cast<std::size_t>(kind)];
}

Work dual_work(const TrainingSpec& training, DualWork kind, const ChunkPart& forward, const ChunkPart& backward) {
    const bool goes_forward = kind == DualWork::forward || kind == DualWork::pair;
    const bool goes_back = kind != DualWork::forward && kind != DualWork::weights;
    const Switch weights = kind == DualWork::backward_input ? Switch::off : Switch::on;
    Work work;
    work.name = name(kind);
    LayerBuilder outside(training, work);
    MoeLayerBuilder layers(training, work);
    const auto at_end = [&](bool stands_there, std::int64_t times, void (LayerBuilder::*build)()) {
        for (std::int64_t i = 0; stands_there && i < times; ++i) {
            outside.add_region({0, 0, 0.5});
            (outside.*build)();
        }
    };
    const std::int64_t heads = 1 + training.model.extra_tokens;
    at_end(goes_forward && forward.ends.embedding, 1, &LayerBuilder::embedding_forward);
    at_end(goes_back && backward.ends.head, heads, &LayerBuilder::head_backward);
    const std::int64_t ahead = goes_forward ? forward.layers.count : 0, back = goes_back ? backward.layers.count : 0;
    layers.add_region({static_cast<double>(ahead), static_cast<double>(back), 0});
    for (std::int64_t i = 0; i < std::max(ahead, back); ++i) {
        const std::optional<std::int64_t> up = i < ahead ? std::optional(forward.layers.first + i) : std::nullopt;
        const std::optional<std::int64_t> down =
            i < back ? std::optional(backward.layers.first + backward.layers.count - 1 - i) : std::nullopt;
        layers.unit(up, down, weights);
    }
    for (std::int64_t i = backward.layers.count; kind == DualWork::weights && i-- > 0;)
        layers.weights(backward.layers.first + i);
    at_end(goes_forward && forward.ends.head, heads, &LayerBuilder::head_forward);
    at_end(goes_back && backward.ends.embedding, 1, &LayerBuilder::embedding_backward);
    return work;
}

}  // namespace rehearse
