#include <fmt/format.h>

#include <algorithm>

#include "scenarios/read_parts.hpp"
#include "scenarios/words.hpp"

namespace rehearse {

namespace {

// Upper ends far above any machine; they keep products of the counts inside their types.
constexpr IntegerRange count{1, std::int64_t{1} << 20};
constexpr IntegerRange long_count{1, std::int64_t{1} << 30};

void read_rank_order(Reader& job, ParallelSpec& parallel) {
    std::vector<Dimension> order;
    job.read_enum("rank_order", order, dimension_words);
    if (order.empty()) return;
    if (std::find(order.begin(), order.end(), Dimension::context) == order.end()) {
        // Left out as most jobs have none: its place does not matter then; beside tensor it stays inside the node.
        const auto tensor = std::find(order.begin(), order.end(), Dimension::tensor);
        order.insert(tensor == order.end() ? tensor : tensor + 1, Dimension::context);
    }
    std::vector<Dimension> sorted = order;
    std::sort(sorted.begin(), sorted.end());
    if (sorted.size() != 4 || std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end())
        return job.fault("rank_order", "it does not name each dimension once",
                         "tensor, data, pipeline (and context), fastest-varying first", "");
    std::copy(order.begin(), order.end(), parallel.rank_order.begin());
}

void read_model(Reader model, ModelSpec& spec) {
    std::int64_t kind = 0;
    model.read_enum("kind", kind, {{"gpt", std::int64_t{0}}});
    for (const char* key : {"layers", "hidden", "heads", "vocab", "sequence"}) model.require(key, "a model needs it");
    model.read("layers", spec.layers, {1, 65'535});
    model.read("hidden", spec.hidden, count);
    model.read("heads", spec.heads, count);
    model.read("ffn", spec.ffn, {0, 1 << 22});
    model.read("vocab", spec.vocab, {1, 1 << 24});
    model.read("sequence", spec.sequence, {1, 1 << 24});
    model.finish();
}

void read_parallel(Reader parallel, ParallelSpec& spec) {
    parallel.read("tensor", spec.tensor, count);
    parallel.read("pipeline", spec.pipeline, count);
    parallel.read("virtual", spec.virtual_stages, {1, 65'535});
    spec.data = 0;
    parallel.read("data", spec.data, count);
    parallel.read("context", spec.context, count);
    std::int64_t expert = 1;
    parallel.read("expert", expert, count);
    if (expert != 1) parallel.fault("expert", "expert parallelism is not in this version", "1", "train a dense model");
    parallel.read("sequence", spec.sequence);
    parallel.read("zero", spec.zero, {0, 2});
    parallel.finish();
}

// A window is a number of tokens; "off" reads better than 0 in a file.
void read_window(Reader& technique, std::int64_t& window) {
    const ConfigNode* node = technique.node().find("window");
    if (node != nullptr && node->kind == ConfigNode::Kind::scalar && node->text == "off") {
        technique.allow("window");
        window = 0;
        return;
    }
    technique.read("window", window, {0, 1 << 24});
}

void read_technique(Reader technique, TechniqueSpec& spec) {
    technique.read("parallel_block", spec.parallel_block);
    read_window(technique, spec.window);
    technique.read("overlap_tensor", spec.overlap_tensor);
    technique.read("overlap_pipeline", spec.overlap_pipeline);
    technique.read("overlap_data", spec.overlap_data);
    technique.read_enum("operators", spec.operators, operator_set_words);
    technique.read("overlap_input", spec.overlap_input);
    technique.read("batch_factor", spec.batch_factor, {1, 1024});
    technique.finish();
}

}  // namespace

void read_job(Reader job, JobSpec& spec, ParallelSpec& parallel) {
    job.require("gpus", "the job needs a size");
    job.read("gpus", spec.gpus, count);
    job.read_enum("placement", spec.placement, placement_words);
    read_rank_order(job, parallel);
    job.finish();
}

void read_training(Reader training, TrainingSpec& spec) {
    training.require("model", "what is trained");
    if (training.has("model")) read_model(training.child("model"), spec.model);
    training.require("batch_global", "sequences per step");
    training.read("batch_global", spec.batch_global, long_count);
    training.read("micro_batch", spec.micro_batch, count);
    training.read_enum("recompute", spec.recompute, recompute_words);
    training.read("gradient_bytes", spec.gradient_bytes, {2, 4});
    if (spec.gradient_bytes == 3) training.fault("gradient_bytes", "no number format has 3 bytes", "2 or 4");
    training.read("dropout", spec.dropout);
    read_parallel(training.child("parallel"), spec.parallel);
    read_technique(training.child("technique"), spec.technique);
    training.finish();
}

}  // namespace rehearse
