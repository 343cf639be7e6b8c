// LiveExecutor: runs a workload on local devices, with the same programs, policies and placement as the simulation, and
// reports in the same form. A rank is a thread or a process with one core.
//
// It takes workloads of mixtures of experts over data and expert ranks: no tensor, context or pipeline cut, and no
// overlap that needs an engine beside the core. Each step does real work: tokens whose features lead a real gate to
// the experts that the routing says, rows that travel to the ranks of their experts, products, gradients of weights,
// and their reduction. Gradients start anew in each layer (what is behind it does not change what a layer costs).
#pragma once

#include <functional>

#include "kernels/communicator/communicator.hpp"
#include "runtime/executor.hpp"
#include "runtime/live/calm_steps.hpp"
#include "runtime/live/operation_log.hpp"
#include "runtime/moe/policy_spec.hpp"

namespace rehearse {

class LiveRank;

// All measured steps of all ranks.
struct LiveReport {
    std::vector<Operation> operations;                // of a step, in order; the same on every rank
    std::vector<std::vector<OperationTimes>> times;   // by rank and operation
    std::vector<double> step_seconds;                 // by step
    ChosenSteps chosen;                                   // how those were chosen
    std::uint64_t value_fingerprint = 0;              // of what all ranks computed in the last step
    std::size_t median_step() const;
    // Median over the steps, mean over the ranks.
    double seconds(std::size_t operation) const;
    double spread() const;  // of the step: relative_spread()
};

// Calls the function once on each rank, with its communicator, and returns when all that run here are through.
using RunRanks = std::function<void(const std::function<void(Communicator&)>&)>;
RunRanks on_threads(std::uint32_t ranks);
std::int64_t local_cores();  // that this process may run on

class LiveExecutor : public Executor {
public:
    // Everything is kept by reference but the functions.
    LiveExecutor(const PolicySpec& policies, const LiveSpec& spec, RunRanks run_ranks)
        : policies_(policies), spec_(spec), run_ranks_(std::move(run_ranks)) {}

    // The median step. Throws what a rank throws first.
    Timeline execute(const Workload& workload) override;
    const LiveReport& report() const { return report_; }  // of the last execute()

private:
    ChosenSteps run_steps(LiveRank& rank, Communicator& world) const;

    const PolicySpec& policies_;
    LiveSpec spec_;
    RunRanks run_ranks_;
    LiveReport report_;
};

}  // namespace rehearse
