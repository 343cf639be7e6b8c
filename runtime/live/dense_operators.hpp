// What of a workload is no layer with experts, on the real kernels: products of the same shapes, attention of the same
// heads, memory traffic of the same bytes. Values are not handed on from one operator to the next: what these
// operators cost does not depend on them.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "kernels/array.hpp"
#include "kernels/cpu/context.hpp"
#include "models/workload/operators.hpp"
#include "models/workload/spec.hpp"
#include "runtime/live/expert_layer.hpp"

namespace rehearse {

class DenseOperators {
public:
    DenseOperators(const TrainingSpec& training, kernels::CpuContext& context);
    void run(const Operator& op);
    void norm(std::span<const LiveElement> tokens, std::span<LiveElement> into);
    // Of this size, for a result that nothing reads.
    std::span<LiveElement> room(std::size_t elements);

private:
    void product(const Operator& op);
    void attention(const Operator& op);
    void swiglu(const Operator& op);
    void stream(double bytes);  // reads two arrays and writes a third

    // Weights and gradients of the operators lie one behind the other, as they do in a model: no operator finds those
    // of the one before in the cache. What lies beyond the end goes on at the beginning.
    template <class T>
    std::span<T> next(kernels::Array<T>& arena, std::size_t& used, std::int64_t count);

    const ModelSpec& model_;
    std::int64_t micro_batch_;
    kernels::CpuContext& context_;
    kernels::Array<LiveElement> activations_, results_, weights_, arrays_;
    kernels::Array<float> gradients_, attention_gradients_, log_sum_;
    std::size_t weights_used_ = 0, gradients_used_ = 0, arrays_used_ = 0;
};

}  // namespace rehearse
