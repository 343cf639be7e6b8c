// OperationLog: what a live rank did in each step and how long it took. Every step does the same operations in the same
// order, so that an operation is a position, and its times are a column over the steps.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/communicator/communicator.hpp"
#include "models/workload/operators.hpp"
#include "models/workload/program.hpp"
#include "runtime/live/pace.hpp"
#include "runtime/timeline.hpp"

namespace rehearse {

enum class OperationKind : std::uint8_t {
    compute,     // an operator of the workload
    exchange,    // a collective, from the arrival of its last member on
    wait,        // for the last member
};

struct Operation {
    const char* name = "";
    OperationKind kind = OperationKind::compute;
    Part part = Part::compute;
    Phase phase = Phase::forward;
    SpanStream stream = SpanStream::compute;
    std::uint32_t work = UINT32_MAX, layer = no_layer;
    const Operator* op = nullptr;   // of the workload; compute alone
    bool is_cut = false;            // compute: a product of streamed rows, piece by piece as they come
    double bytes = 0;               // exchange: as the workload counts them
    std::int64_t ranks = 0;         // exchange
};

struct OperationTimes {
    std::vector<double> begin, end;  // seconds from the start of the step, by step
    double rows = 0;                 // received by the rank's experts, sum over the steps
};

class OperationLog {
public:
    using Clock = Communicator::Clock;

    void begin_step(Clock::time_point at, const Pace& pace = {});
    // Between begin_step() and end_step(), in the order of time.
    void add(const Operation& operation, Clock::time_point begin, Clock::time_point end, double rows = 0);
    void end_step(Clock::time_point at);

    // Of the measured steps only these stay, in this order.
    void keep(const std::vector<std::size_t>& steps);
    // What was before is forgotten: it warmed caches up.
    void forget();
    std::size_t steps() const { return step_seconds_.size(); }
    const std::vector<double>& step_seconds() const { return step_seconds_; }
    const std::vector<Pace>& paces() const { return paces_; }  // by step
    const std::vector<Operation>& operations() const { return operations_; }
    const OperationTimes& times(std::size_t operation) const { return times_[operation]; }

private:
    std::vector<Operation> operations_;
    std::vector<OperationTimes> times_;
    std::vector<double> step_seconds_;
    std::vector<Pace> paces_;
    std::size_t next_ = 0;  // position in the step
    Clock::time_point began_;
};

}  // namespace rehearse
