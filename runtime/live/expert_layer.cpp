#include "runtime/live/expert_layer.hpp"

#include <algorithm>
#include <array>

#include "kernels/cpu/elementwise.hpp"
#include "kernels/cpu/gate.hpp"
#include "kernels/cpu/row_calls.hpp"
#include "sim/base/checks.hpp"

namespace rehearse {

using kernels::Matrix;
using kernels::Stacked;
using kernels::Transposed;
using kernels::Write;

namespace {

constexpr std::array names{"gate", "top-k", "permute", "expert up", "swiglu", "expert down", "unpermute",
                           "unpermute backward", "expert down dgrad", "swiglu again", "swiglu backward",
                           "expert up dgrad", "expert down wgrad", "expert up wgrad", "permute backward",
                           "gate backward", "gate dgrad", "gate wgrad"};

std::span<const std::byte> bytes_of(const kernels::Array<LiveElement>& values, std::size_t count) {
    return std::as_bytes(std::span(values).first(count));
}

std::span<std::byte> room_of(kernels::Array<LiveElement>& values, std::size_t count) {
    if (values.size() < count) values.resize(count);
    return std::as_writable_bytes(std::span(values).first(count));
}

}  // namespace

ExpertLayer::ExpertLayer(const ExpertLayerShape& shape, Communicator& group, kernels::CpuContext& context)
    : shape_(shape), group_(group), context_(context),
      exchange_(group, shape.slots, static_cast<std::size_t>(shape.hidden) * sizeof(LiveElement),
                kernels::depth_pad) {
    const auto size = [](std::int64_t a, std::int64_t b) { return static_cast<std::size_t>(a * b); };
    const auto& s = shape_;
    weights_.gate.resize(size(s.hidden, s.experts));
    weights_.up.resize(size(s.slots * s.hidden, 2 * s.inner));
    weights_.down.resize(size(s.slots * s.inner, s.hidden));
    weights_.gate_gradient.resize(weights_.gate.size());
    weights_.up_gradient.resize(weights_.up.size());
    weights_.down_gradient.resize(weights_.down.size());
    for (auto* tokens : {&input_, &output_, &output_gradient_, &input_gradient_, &tokens_gradient_})
        tokens->resize(size(s.tokens, s.hidden));
    for (auto* rows : {&rows_, &results_, &results_gradient_, &rows_gradient_})
        rows->resize(size(s.tokens * s.top_k, s.hidden));
    logits_.resize(size(s.tokens, s.experts));
    logits_gradient_.resize(logits_.size());
    logits_gradient_narrow_.resize(logits_.size());
    choice_weights_.resize(size(s.tokens, s.top_k));
    choice_gradient_.resize(choice_weights_.size());
    chosen_.resize(choice_weights_.size());
    chosen_slots_.resize(choice_weights_.size());
    tokens_per_expert_.resize(static_cast<std::size_t>(s.experts));
}

void ExpertLayer::place(const ExpertMap& map) {
    slots_of_.assign(static_cast<std::size_t>(shape_.experts), {});
    turn_.assign(static_cast<std::size_t>(shape_.experts), group_.rank());
    for (std::uint32_t expert = 0; expert < map.expert_count(); ++expert) {
        for (const std::uint32_t slot : map.slots_of(expert))
            slots_of_[expert].push_back(static_cast<std::int32_t>(slot));
    }
}

bool ExpertLayer::has(std::string_view name) { return std::find(names.begin(), names.end(), name) != names.end(); }

void ExpertLayer::run(std::string_view name) {
    if (name == "gate") return gate();
    if (name == "top-k") return choose();
    if (name == "permute") return permute();
    if (name == "unpermute")
        return kernels::combine(context_, matrix(results_, shape_.tokens * shape_.top_k, shape_.hidden), route_,
                                Matrix<const float>(choice_weights_, shape_.tokens, shape_.top_k),
                                matrix(output_, shape_.tokens, shape_.hidden));
    if (name == "unpermute backward") {
        is_backward_ = true;
        return kernels::combine_backward(
            context_, matrix(output_gradient_, shape_.tokens, shape_.hidden),
            matrix(results_, shape_.tokens * shape_.top_k, shape_.hidden), route_,
            Matrix<const float>(choice_weights_, shape_.tokens, shape_.top_k),
            matrix(results_gradient_, shape_.tokens * shape_.top_k, shape_.hidden),
            Matrix<float>(choice_gradient_, shape_.tokens, shape_.top_k));
    }
    if (name == "permute backward")
        return kernels::permute_backward(context_, matrix(rows_gradient_, shape_.tokens * shape_.top_k, shape_.hidden),
                                         route_, matrix(tokens_gradient_, shape_.tokens, shape_.hidden));
    if (name == "gate backward") return gate_backward();
    if (name == "gate dgrad") return gate_input_gradient();
    if (name == "gate wgrad")
        return kernels::gemm(context_, matrix(input_, shape_.tokens, shape_.hidden),
                             matrix(logits_gradient_narrow_, shape_.tokens, shape_.experts),
                             Matrix<float>(weights_.gate_gradient, shape_.hidden, shape_.experts), Transposed::left,
                             Write::accumulate);
    products(name);
}

void ExpertLayer::gate() {
    is_backward_ = false;
    kernels::gemm(context_, matrix(input_, shape_.tokens, shape_.hidden),
                  matrix(weights_.gate, shape_.hidden, shape_.experts),
                  Matrix<float>(logits_, shape_.tokens, shape_.experts));
}

void ExpertLayer::choose() {
    kernels::select_experts(context_, Matrix<const float>(logits_, shape_.tokens, shape_.experts), {},
                            {Matrix<std::int32_t>(chosen_, shape_.tokens, shape_.top_k),
                             Matrix<float>(choice_weights_, shape_.tokens, shape_.top_k)},
                            tokens_per_expert_);
    spread_over_slots();
}

// The slots of an expert take its tokens in turn.
void ExpertLayer::spread_over_slots() {
    for (std::size_t i = 0; i < chosen_.size(); ++i) {
        const auto expert = static_cast<std::size_t>(chosen_[i]);
        const std::vector<std::int32_t>& slots = slots_of_[expert];
        chosen_slots_[i] = slots.size() == 1 ? slots[0] : slots[turn_[expert]++ % slots.size()];
    }
}

void ExpertLayer::permute() {
    kernels::plan_route(context_, Matrix<const std::int32_t>(chosen_slots_, shape_.tokens, shape_.top_k),
                        std::int64_t{shape_.slots} * group_.size(), route_);
    kernels::permute(context_, matrix(input_, shape_.tokens, shape_.hidden), route_,
                     matrix(rows_, shape_.tokens * shape_.top_k, shape_.hidden));
}

void ExpertLayer::plan_exchange() {
    exchange_.plan(route_.rows_per_expert);
}

void ExpertLayer::dispatch() {
    const std::size_t row = static_cast<std::size_t>(shape_.hidden);
    if (!is_backward_) plan_exchange();
    kernels::Array<LiveElement>& into = is_backward_ ? down_gradient_ : received_;
    exchange_.dispatch(bytes_of(is_backward_ ? results_gradient_ : rows_, exchange_.sent_rows() * row),
                       room_of(into, exchange_.padded_rows() * row));
}

void ExpertLayer::combine() {
    const std::size_t row = static_cast<std::size_t>(shape_.hidden);
    exchange_.combine(bytes_of(is_backward_ ? received_gradient_ : down_, exchange_.padded_rows() * row),
                      room_of(is_backward_ ? rows_gradient_ : results_, exchange_.sent_rows() * row));
}

void ExpertLayer::products(std::string_view name) {
    const std::int64_t h = shape_.hidden, f = shape_.inner, slots = shape_.slots;
    const Stacked<const LiveElement> w_up{weights_.up, slots, h, 2 * f}, w_down{weights_.down, slots, f, h};
    const kernels::RowCounts rows = exchange_.padded();
    if (name == "expert up") {
        kernels::grouped_gemm(context_, rows, received(received_, h), w_up, received(up_, 2 * f));
    } else if (name == "swiglu" || name == "swiglu again") {
        kernels::swiglu(context_, received(up_, 2 * f), received(activated_, f));
    } else if (name == "expert down") {
        kernels::grouped_gemm(context_, rows, received(activated_, f), w_down, received(down_, h));
    } else if (name == "expert down dgrad") {
        kernels::grouped_gemm(context_, rows, received(down_gradient_, h), w_down, received(activated_gradient_, f),
                              Transposed::right);
    } else if (name == "swiglu backward") {
        kernels::swiglu_backward(context_, received(activated_gradient_, f), received(up_, 2 * f),
                                 received(up_gradient_, 2 * f));
    } else if (name == "expert up dgrad") {
        kernels::grouped_gemm(context_, rows, received(up_gradient_, 2 * f), w_up, received(received_gradient_, h),
                              Transposed::right);
    } else if (name == "expert down wgrad") {
        kernels::grouped_weight_gradient(context_, rows, Matrix<const LiveElement>(received(activated_, f)),
                                         received(down_gradient_, h),
                                         Stacked<float>{weights_.down_gradient, slots, f, h}, Write::accumulate);
    } else if (name == "expert up wgrad") {
        kernels::grouped_weight_gradient(context_, rows, Matrix<const LiveElement>(received(received_, h)),
                                         received(up_gradient_, 2 * f),
                                         Stacked<float>{weights_.up_gradient, slots, h, 2 * f}, Write::accumulate);
    } else {
        REHEARSE_CHECK(false, "no operator of a layer with experts: " + std::string(name));
    }
}

void ExpertLayer::gate_backward() {
    kernels::select_experts_backward(context_,
                                     {Matrix<std::int32_t>(chosen_, shape_.tokens, shape_.top_k),
                                      Matrix<float>(choice_weights_, shape_.tokens, shape_.top_k)},
                                     Matrix<const float>(choice_gradient_, shape_.tokens, shape_.top_k),
                                     Matrix<float>(logits_gradient_, shape_.tokens, shape_.experts));
    std::transform(logits_gradient_.begin(), logits_gradient_.end(), logits_gradient_narrow_.begin(),
                   [](float value) { return kernels::from_float<LiveElement>(value); });
}

// What the gate gives to the tokens' gradient, on top of what their rows give.
void ExpertLayer::gate_input_gradient() {
    kernels::gemm(context_, matrix(logits_gradient_narrow_, shape_.tokens, shape_.experts),
                  matrix(weights_.gate, shape_.hidden, shape_.experts),
                  matrix(input_gradient_, shape_.tokens, shape_.hidden), Transposed::right);
    kernels::scale_add(context_, std::span<const LiveElement>(tokens_gradient_),
                       std::span<const LiveElement>(input_gradient_), 1.0f, std::span(input_gradient_));
}

Matrix<LiveElement> ExpertLayer::matrix(kernels::Array<LiveElement>& values, std::int64_t rows, std::int64_t columns) {
    return {values, rows, columns};
}

Matrix<LiveElement> ExpertLayer::received(kernels::Array<LiveElement>& values, std::int64_t columns) {
    const auto rows = static_cast<std::int64_t>(exchange_.padded_rows());
    const auto count = static_cast<std::size_t>(rows * columns);
    if (values.size() < count) values.resize(count);
    return {std::span(values).first(count), rows, columns};
}

}  // namespace rehearse
