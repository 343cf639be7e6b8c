#include "models/workload/moe/moe_model.hpp"

namespace rehearse {

namespace {

double real(std::int64_t value) { return static_cast<double>(value); }

double size(const MatrixShape& shape) { return shape.in * shape.out; }

}  // namespace

double query_key_width(const ModelSpec& model) {
    return real(model.head_width() + (model.latent.query_rank > 0 ? model.latent.rope : 0));
}

std::vector<MatrixShape> input_projections(const ModelSpec& model) {
    const double h = real(model.hidden), d = real(model.head_width()), a = real(model.heads);
    if (model.latent.query_rank == 0) return {{h, d * (a + 2 * real(model.key_heads()))}};
    const double rq = real(model.latent.query_rank), rk = real(model.latent.key_rank), r = real(model.latent.rope);
    return {{h, rq + rk + r}, {rq, a * (d + r)}, {rk, 2 * a * d}};
}

MatrixShape output_projection(const ModelSpec& model) {
    return {real(model.heads * model.head_width()), real(model.hidden)};
}

double expert_parameters(const ModelSpec& model) { return 3 * real(model.hidden) * real(model.expert_ffn()); }

bool has_experts(const ModelSpec& model, std::int64_t layer) {
    return model.experts.routed > 0 && layer >= model.experts.dense_layers;
}

double dense_layer_parameters(const ModelSpec& model, std::int64_t layer) {
    const double h = real(model.hidden);
    double parameters = size(output_projection(model)) + 2 * h;
    for (const MatrixShape& shape : input_projections(model)) parameters += size(shape);
    if (layer >= model.layers) parameters += 2 * h * (h + 1);  // joins the next token's embedding
    if (!has_experts(model, layer)) return parameters + 3 * h * real(model.ffn_size());
    return parameters + h * real(model.experts.routed) + real(model.experts.shared) * expert_parameters(model);
}

double moe_parameters(const ModelSpec& model, ExpertCount count) {
    double parameters = 2 * real(model.vocab) * real(model.hidden) + real(model.hidden);
    const double experts = real(count == ExpertCount::all ? model.experts.routed : model.experts.top_k);
    for (std::int64_t layer = 0; layer < model.layers; ++layer) {
        parameters += dense_layer_parameters(model, layer);
        if (has_experts(model, layer)) parameters += experts * expert_parameters(model);
    }
    return parameters;
}

double moe_flops_per_token(const ModelSpec& model, AttentionSquare square) {
    const double widths = real(model.heads) * (query_key_width(model) + real(model.head_width()));
    const double attention =
        real(model.layers) * widths * real(model.sequence) * (square == AttentionSquare::full ? 2 : 1);
    return 6 * (moe_parameters(model, ExpertCount::active) - real(model.vocab) * real(model.hidden)) + 3 * attention;
}

}  // namespace rehearse
