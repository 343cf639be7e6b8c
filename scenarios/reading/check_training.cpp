#include <fmt/format.h>

#include "scenarios/reading/check_parts.hpp"
#include "sim/base/units.hpp"

namespace rehearse {

namespace {

// Passes of all stages together: the programs hold a few instructions for each, so this bounds memory.
constexpr std::int64_t passes_max = std::int64_t{1} << 22;

std::int64_t nearest_multiple(std::int64_t value, std::int64_t unit) { return (value + unit - 1) / unit * unit; }

// t p d c = GPUs.
void check_product(ParallelSpec& parallel, std::int64_t gpus, Findings& findings) {
    const detail::Wide others = detail::Wide{parallel.tensor} * parallel.pipeline * parallel.context;
    if (parallel.data == 0) {
        if (gpus % others != 0 || others > gpus)
            return findings.fault("training.parallel",
                                  fmt::format("tensor {} x pipeline {} x context {} does not divide the "
                                              "{} GPUs of the job",
                                              parallel.tensor, parallel.pipeline, parallel.context, gpus),
                                  "a product that divides job.gpus", "change a degree or job.gpus");
        parallel.data = static_cast<std::int64_t>(gpus / others);
        return;
    }
    const detail::Wide product = others * parallel.data;
    if (product == gpus) return;
    const std::string shown =
        product > INT64_MAX ? "more than 2^63" : fmt::format("{}", static_cast<std::int64_t>(product));
    const bool can_fix = others <= gpus && gpus % others == 0;
    findings.fault("training.parallel",
                   fmt::format("tensor {} x pipeline {} x data {} x context {} = {} GPUs, the job has {}",
                               parallel.tensor, parallel.pipeline, parallel.data, parallel.context, shown, gpus),
                   "a product equal to job.gpus",
                   can_fix ? fmt::format("set data: {}", static_cast<std::int64_t>(gpus / others))
                           : "change a degree or job.gpus");
}

void check_divides(std::string_view key, std::int64_t value, std::string_view divisor_name, std::int64_t divisor,
                   Findings& findings) {
    if (value % divisor == 0) return;
    findings.fault(key, fmt::format("{} is not divisible by {} {}", value, divisor_name, divisor),
                   fmt::format("a multiple of {}", divisor),
                   fmt::format("for example {}", nearest_multiple(value, divisor)));
}

// A mixture of experts: its heads, its experts and the grid that they lie on.
void check_experts(const TrainingSpec& training, Findings& findings) {
    const ModelSpec& model = training.model;
    const ParallelSpec& parallel = training.parallel;
    const ExpertSpec& experts = model.experts;
    if (experts.top_k > experts.routed)
        findings.fault("training.model.experts.top_k",
                       fmt::format("{} experts per token, there are {}", experts.top_k, experts.routed),
                       fmt::format("at most {}", experts.routed));
    if (experts.dense_layers > model.layers)
        findings.fault("training.model.experts.dense_layers",
                       fmt::format("{} dense layers of {}", experts.dense_layers, model.layers),
                       fmt::format("at most {}", model.layers));
    const detail::Wide held = detail::Wide{experts.node_limit} * experts.routed;
    if (experts.node_limit > 0 && held < detail::Wide{experts.top_k} * parallel.expert)
        findings.fault("training.model.experts.node_limit",
                       fmt::format("{} nodes of one rank each hold {} experts, a token goes to {}", experts.node_limit,
                                   experts.node_limit * experts.routed / parallel.expert, experts.top_k),
                       "enough nodes for the experts of a token");
    const LatentSpec& latent = model.latent;
    if ((latent.query_rank > 0) != (latent.key_rank > 0) || (latent.query_rank == 0 && latent.rope > 0))
        findings.fault("training.model.latent", "latent attention has a rank of queries and one of keys",
                       "query_rank and key_rank above 0, or no latent attention");
    check_divides("training.model.experts.routed", experts.routed, "expert", parallel.expert, findings);
    check_divides("training.model.experts.ffn", model.expert_ffn(), "expert_tensor", parallel.expert_width(), findings);
    check_divides("training.model.heads", model.heads, "kv_heads", model.key_heads(), findings);
    if (model.key_heads() % parallel.tensor != 0 && parallel.tensor % model.key_heads() != 0)
        findings.fault("training.model.kv_heads",
                       fmt::format("{} key heads cannot be spread over tensor {} ranks", model.key_heads(),
                                   parallel.tensor),
                       "a multiple or a divisor of training.parallel.tensor");
    if (parallel.tensor > 1 && !is_on(parallel.sequence))
        findings.fault("training.parallel.sequence",
                       "kind moe cuts the tokens between its blocks over the tensor group", "on",
                       "set training.parallel.sequence: on");
    const std::int64_t whole = parallel.tensor * parallel.context, span = parallel.expert_span();
    if (span != parallel.tensor && (span % whole != 0 || (parallel.data > 0 && parallel.data % (span / whole) != 0)))
        findings.fault("training.parallel.expert",
                       fmt::format("expert {} x expert_tensor {} = {} ranks do not fold onto tensor {} x context {} x "
                                   "data {}", parallel.expert, parallel.expert_width(), span, parallel.tensor,
                                   parallel.context, parallel.data),
                       "a multiple of tensor x context that divides the ranks of a stage");
}

// models/workload/dual_pipe.hpp says which pipelines fold, moe/moe_layer_builder.hpp what is priced.
void check_dual_pipe(const TrainingSpec& training, Findings& findings) {
    const ParallelSpec& parallel = training.parallel;
    const std::string_view key = "training.parallel.schedule";
    if (training.model.kind == ModelKind::gpt)
        findings.fault(key, "dual_pipe pairs the layers of a mixture of experts, the model is of kind gpt",
                       "one_f_one_b");
    if (parallel.pipeline % 2 != 0)
        findings.fault("training.parallel.pipeline",
                       fmt::format("dual_pipe folds the stages onto each other, pipeline {} is odd", parallel.pipeline),
                       "an even number of stages");
    if (parallel.virtual_stages > 1)
        findings.fault(key, "under dual_pipe a rank holds two chunks, virtual stages are another schedule",
                       "virtual: 1, or schedule: one_f_one_b");
    if (parallel.tensor * parallel.context > 1)
        findings.fault(key, fmt::format("dual_pipe pairs layers that are not cut: tensor {}, context {}",
                                        parallel.tensor, parallel.context),
                       "tensor: 1 and context: 1, or schedule: one_f_one_b");
    if (training.recompute == Recompute::full)
        findings.fault("training.recompute", "dual_pipe computes parts of a layer again, not all of it",
                       "none or selective");
    if (!is_on(training.technique.overlap_pipeline))
        findings.fault("training.technique.overlap_pipeline", "the messages of dual_pipe are asynchronous", "on");
}

void check_model(const TrainingSpec& training, Findings& findings) {
    const ModelSpec& model = training.model;
    const ParallelSpec& parallel = training.parallel;
    if (model.kind == ModelKind::moe) check_experts(training, findings);
    if (model.head_size == 0) check_divides("training.model.hidden", model.hidden, "heads", model.heads, findings);
    check_divides("training.model.heads", model.heads, "tensor", parallel.tensor, findings);
    check_divides("training.model.hidden", model.hidden, "tensor", parallel.tensor, findings);
    if (model.ffn > 0) check_divides("training.model.ffn", model.ffn, "tensor", parallel.tensor, findings);
    check_divides("training.model.sequence", model.sequence, "context", parallel.context, findings);
    if (parallel.context > 1 && model.sequence % parallel.context == 0 && model.sequence / parallel.context % 2 != 0)
        findings.fault("training.model.sequence",
                       fmt::format("{} tokens leave each of context {} ranks an odd number, not two mirrored slices",
                                   model.sequence, parallel.context),
                       fmt::format("a multiple of {}", 2 * parallel.context),
                       fmt::format("for example {}", nearest_multiple(model.sequence, 2 * parallel.context)));
    if (is_on(parallel.sequence) && model.sequence % (parallel.context * parallel.tensor) != 0)
        findings.fault("training.model.sequence",
                       fmt::format("{} tokens cannot be cut over context {} x tensor {} ranks by sequence parallelism",
                                   model.sequence, parallel.context, parallel.tensor),
                       fmt::format("a multiple of {}", parallel.context * parallel.tensor), "");
    const std::int64_t chunks = parallel.pipeline * parallel.virtual_stages, own = parallel.last_stage_layers;
    if (own > 0 && (parallel.virtual_stages > 1 || parallel.pipeline == 1 || model.layers - own < chunks - 1))
        findings.fault("training.parallel.last_stage_layers",
                       fmt::format("{} layers on the last stage of pipeline {} (virtual {}) leave {} for the others",
                                   own, parallel.pipeline, parallel.virtual_stages, model.layers - own),
                       "virtual: 1 and at least a layer for each other stage");
    if (model.kind == ModelKind::moe && model.layers < chunks)
        findings.fault("training.model.layers", fmt::format("{} layers for {} chunks", model.layers, chunks),
                       fmt::format("at least {}", chunks));
    if (model.kind == ModelKind::gpt && model.layers % chunks != 0)
        findings.fault("training.model.layers",
                       fmt::format("{} layers cannot be cut into pipeline {} x virtual {} = {} chunks", model.layers,
                                   parallel.pipeline, parallel.virtual_stages, chunks),
                       fmt::format("a multiple of {}", chunks),
                       fmt::format("for example {} layers, or other stages", nearest_multiple(model.layers, chunks)));
    if (parallel.virtual_stages > 1 && parallel.pipeline == 1)
        findings.fault("training.parallel.virtual",
                       "virtual stages interleave the stages of a pipeline, there is only one",
                       "1, or pipeline above 1");
}

// b d must divide the batch; m = batch / (b d) must be a multiple of p where stages are interleaved.
void check_batch(const TrainingSpec& training, Findings& findings) {
    const ParallelSpec& parallel = training.parallel;
    const detail::Wide unit = detail::Wide{training.micro_batch} * parallel.data;
    if (training.batch() % unit != 0 || unit > training.batch()) {
        findings.fault("training.batch_global",
                       fmt::format("a batch of {} sequences cannot be cut into micro-batches of {} for {} replicas",
                                   training.batch(), training.micro_batch, parallel.data),
                       unit > INT64_MAX ? "a batch that is a multiple of micro_batch x data"
                                        : fmt::format("a multiple of {}", static_cast<std::int64_t>(unit)));
        return;
    }
    const std::int64_t m = training.micro_batches();
    if (parallel.is_dual() && (m % 2 != 0 || m < 2 * parallel.pipeline))
        findings.fault("training.batch_global",
                       fmt::format("dual_pipe feeds {} micro-batches per replica from both ends of {} stages", m,
                                   parallel.pipeline),
                       fmt::format("an even number, at least {}", 2 * parallel.pipeline),
                       fmt::format("a batch of at least {}", 2 * parallel.pipeline * static_cast<std::int64_t>(unit)));
    if (parallel.virtual_stages > 1 && m % parallel.pipeline != 0)
        findings.fault(
            "training.batch_global",
            fmt::format("{} micro-batches per replica are not a multiple of pipeline {}", m, parallel.pipeline),
            "the interleaved schedule takes micro-batches in groups of the pipeline's size",
            fmt::format("use a batch of {}, or virtual: 1",
                        nearest_multiple(m, parallel.pipeline) * static_cast<std::int64_t>(unit)));
    if (detail::Wide{m} * parallel.virtual_stages * parallel.pipeline > passes_max)
        findings.fault("training.batch_global",
                       fmt::format("{} micro-batches x {} chunks x {} stages is more than a simulated step takes", m,
                                   parallel.virtual_stages, parallel.pipeline),
                       fmt::format("at most {} passes", passes_max), "use a smaller batch or larger micro-batches");
}

void warn(const TrainingSpec& training, Findings& findings) {
    const TechniqueSpec& technique = training.technique;
    if (technique.window >= training.model.sequence)
        findings.warning("training.technique.window",
                         fmt::format("a window of {} tokens covers the whole sequence of {}", technique.window,
                                     training.model.sequence),
                         "it changes nothing");
    if (training.model.kind == ModelKind::gpt && training.recompute == Recompute::selective &&
        technique.operators == OperatorSet::efficient)
        findings.warning("training.recompute", "the efficient operators keep no attention scores to compute again",
                         "selective changes nothing here; use none or full");
    if (is_on(technique.overlap_tensor) && training.parallel.tensor == 1)
        findings.warning("training.technique.overlap_tensor", "there is no tensor communication to hide");
    if (is_on(technique.overlap_pipeline) && training.parallel.pipeline == 1)
        findings.warning("training.technique.overlap_pipeline", "there is no pipeline communication to hide");
    if (is_on(technique.overlap_data) && training.parallel.data * training.parallel.context == 1)
        findings.warning("training.technique.overlap_data", "there is no data-parallel communication to hide");
}

}  // namespace

void check_training(TrainingSpec& training, const JobSpec& job, Findings& findings) {
    check_product(training.parallel, job.gpus, findings);
    check_model(training, findings);
    if (training.parallel.is_dual()) check_dual_pipe(training, findings);
    if (training.parallel.data > 0) check_batch(training, findings);
    warn(training, findings);
}

}  // namespace rehearse
