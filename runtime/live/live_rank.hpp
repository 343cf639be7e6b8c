// One rank of a live run: the program of its stage on the real kernels, step after step.
#pragma once

#include <memory>

#include "models/workload/workload.hpp"
#include "runtime/live/dense_operators.hpp"
#include "runtime/live/expert_layer.hpp"
#include "runtime/live/live_balance.hpp"
#include "runtime/live/live_pages.hpp"
#include "runtime/live/operation_log.hpp"
#include "runtime/live/token_batches.hpp"

namespace rehearse {

class LiveRank {
public:
    LiveRank(const Workload& workload, const PolicySpec& policies, std::uint64_t seed, Communicator& world);
    void step();
    OperationLog& log() { return log_; }
    // Of what the layers gave in the last step: equal seeds give equal values, on threads and processes alike, but
    // where rows are streamed and products are cut as they arrive.
    std::uint64_t value_fingerprint() const;

private:
    using Clock = Communicator::Clock;

    void work(const Instruction& instruction);
    void operators(const Instruction& instruction, const Segment& segment, std::size_t end);
    void run_operator(const Instruction& instruction, const Segment& segment, const Operator& op);
    void local_collective(const Instruction& instruction, const Segment& segment);
    void streamed(const Instruction& instruction, const Segment& segment, const Operator& product);
    void group_collective(const Instruction& instruction);
    Clock::time_point meet(Communicator& group, Operation operation);  // waits; the last arrival

    Operation operation_of(const Instruction& instruction, const Segment* segment, const char* name) const;
    // What the policies do is an operation like any other.
    template <class Act>
    void policy(const char* name, Part part, const Act& act);
    void policies_before();
    void policies_after();
    void policies_around(const Instruction& instruction, const Segment& segment, std::string_view name);
    ExpertLayer* layer_of(const Segment& segment);
    std::size_t place_of(const Segment& segment) const;  // among the layers with experts
    void load_tokens();
    void normalise();

    const Workload& workload_;
    const PolicySpec& policies_;
    Communicator& world_;
    std::unique_ptr<Communicator> expert_group_, data_group_, expert_data_group_;
    kernels::CpuContext context_;
    PaceProbe probe_;
    DenseOperators dense_;
    TokenBatches batches_;
    std::vector<std::unique_ptr<ExpertLayer>> layers_;  // by layer of the model; none: no experts there
    std::unique_ptr<LiveBalance> balance_;
    std::unique_ptr<LivePages> pages_;
    kernels::Array<LiveElement> tokens_;                   // the residual stream, n x h
    kernels::Array<float> gradients_, gradient_shard_;
    std::vector<std::byte> gathered_;
    std::vector<std::uint32_t> posted_[group_family_count];
    OperationLog log_;
    std::uint32_t step_ = 0, passes_ = 0;
    std::size_t next_layer_ = 0;  // with experts, whose input the next norm makes
};

}  // namespace rehearse
