// One mixture-of-experts layer at work on one rank: gate, permutation, dispatch, experts, combine, and back, each
// operator of the workload (models/workload/moe/moe_experts.cpp) on the real kernels and on real rows. The caller runs
// the operators one by one, in the order of the workload, by their names there.
//
// Shapes: n tokens of h elements, E experts, k per token, inner size f, S slots on the rank; R rows received.
//   forward   gate: logits (n x E)   top-k: choice (n x k)   permute: rows (n k x h)   [dispatch]: received (R x h)
//             expert up: (R x 2 f)   swiglu: (R x f)   expert down: (R x h)   [combine]: results (n k x h)
//             unpermute: out (n x h)
//   backward  unpermute backward: gradients of results   [dispatch]   expert down dgrad, swiglu backward, expert up
//             dgrad   [combine]: gradients of rows   expert down wgrad, expert up wgrad   permute backward,
//             gate backward, gate dgrad: gradients of the tokens   gate wgrad
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "kernels/array.hpp"
#include "kernels/cpu/expert_ffn.hpp"
#include "kernels/cpu/permute.hpp"
#include "runtime/balancer/expert_map.hpp"
#include "runtime/comm_pipe/token_stream.hpp"
#include "runtime/live/row_exchange.hpp"
#include "runtime/moe/policy_spec.hpp"

namespace rehearse {

using LiveElement =
    kernels::Bf16;  // activations and weights; sums, gradients of weights and the gate's logits are fp32

struct ExpertLayerShape {
    std::int64_t tokens = 0, hidden = 0, experts = 0, top_k = 1, inner = 0;
    std::uint32_t slots = 0;  // for experts, on a rank
};

// Weights of a rank's slots in one layer. Gradients of what is reduced elsewhere stand in memory of the caller.
struct ExpertLayerWeights {
    kernels::Array<LiveElement> gate;      // h x E
    kernels::Array<LiveElement> up, down;  // S x h x 2 f, S x f x h
    kernels::Array<float> gate_gradient, up_gradient, down_gradient;
};

class ExpertLayer {
public:
    ExpertLayer(const ExpertLayerShape& shape, Communicator& group, kernels::CpuContext& context);

    // Which experts stand in the slots of the group from now on; tokens spread evenly over the slots of an expert.
    void place(const ExpertMap& map);
    ExpertLayerWeights& weights() { return weights_; }
    const ExpertLayerShape& shape() const { return shape_; }

    // Whether an operator of that name is one of this layer's.
    static bool has(std::string_view name);
    void run(std::string_view name);
    void dispatch();  // of rows; after "unpermute backward" of the gradients of results
    void combine();
    // A dispatch through the token stream (comm_pipe): the product that takes its rows ("expert up", "expert down
    // dgrad") runs on what has arrived. Returns the seconds that the product took.
    double dispatch_into(std::string_view product, const StreamPolicy& policy);

    std::span<LiveElement> input() { return input_; }        // n x h, what the gate and the experts see
    std::span<const LiveElement> output() const { return output_; }
    std::span<LiveElement> output_gradient() { return output_gradient_; }
    std::span<const LiveElement> input_gradient() const { return input_gradient_; }
    std::span<const std::int32_t> tokens_per_expert() const { return tokens_per_expert_; }  // of the last top-k
    std::size_t received_rows() const { return exchange_.received_rows(); }
    std::span<const std::int64_t> heights() const { return exchange_.heights(); }

private:
    using Row = std::span<LiveElement>;
    struct StreamedProduct;
    StreamedProduct streamed(std::string_view product);
    void gate();
    void choose();
    void spread_over_slots();
    void permute();
    void plan_exchange();
    void products(std::string_view name);
    void gate_backward();
    void gate_input_gradient();
    kernels::Matrix<LiveElement> matrix(kernels::Array<LiveElement>& values, std::int64_t rows, std::int64_t columns);
    kernels::Matrix<LiveElement> received(kernels::Array<LiveElement>& values, std::int64_t columns);

    ExpertLayerShape shape_;
    Communicator& group_;
    kernels::CpuContext& context_;
    RowExchange exchange_;
    ExpertLayerWeights weights_;
    std::vector<std::vector<std::int32_t>> slots_of_;   // by expert
    std::vector<std::uint32_t> turn_;                   // whose slot is next
    kernels::Route route_;
    std::optional<TokenStream> stream_;
    bool is_backward_ = false;                          // what the next exchange carries

    kernels::Array<LiveElement> input_, output_, output_gradient_, input_gradient_;
    kernels::Array<float> logits_, choice_weights_, logits_gradient_, choice_gradient_;
    std::vector<std::int32_t> chosen_, chosen_slots_, tokens_per_expert_;
    kernels::Array<LiveElement> rows_, results_;                       // of this rank's tokens
    kernels::Array<LiveElement> received_, up_, activated_, down_;     // of this rank's experts
    kernels::Array<LiveElement> results_gradient_, rows_gradient_;
    kernels::Array<LiveElement> down_gradient_, activated_gradient_, up_gradient_, received_gradient_;
    kernels::Array<LiveElement> logits_gradient_narrow_, tokens_gradient_;
};

}  // namespace rehearse
