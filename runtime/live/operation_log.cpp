#include "runtime/live/operation_log.hpp"

#include <type_traits>

#include "sim/base/checks.hpp"

namespace rehearse {

namespace {

double seconds(Communicator::Clock::duration time) { return std::chrono::duration<double>(time).count(); }

}  // namespace

void OperationLog::begin_step(Clock::time_point at, const Pace& pace) {
    paces_.push_back(pace);
    next_ = 0;
    began_ = at;
}

void OperationLog::add(const Operation& operation, Clock::time_point begin, Clock::time_point end, double rows) {
    if (next_ == operations_.size()) {
        REHEARSE_CHECK(step_seconds_.empty(), "a step with more operations than the one before");
        operations_.push_back(operation);
        times_.emplace_back();
    }
    REHEARSE_CHECK(operations_[next_].name == operation.name && operations_[next_].work == operation.work,
                   "steps differ in their operations");
    OperationTimes& times = times_[next_++];
    times.begin.push_back(seconds(begin - began_));
    times.end.push_back(seconds(end - began_));
    times.rows += rows;
}

void OperationLog::end_step(Clock::time_point at) {
    REHEARSE_CHECK(next_ == operations_.size(), "a step with fewer operations than the one before");
    step_seconds_.push_back(seconds(at - began_));
}

void OperationLog::forget() {
    for (OperationTimes& times : times_) times = {};
    step_seconds_.clear();
    paces_.clear();
}

void OperationLog::keep(const std::vector<std::size_t>& steps) {
    const auto select = [&](auto& values) {
        std::remove_reference_t<decltype(values)> kept;
        for (const std::size_t step : steps) kept.push_back(values.at(step));
        values = std::move(kept);
    };
    for (OperationTimes& times : times_) {
        times.rows *= static_cast<double>(steps.size()) / static_cast<double>(times.begin.size());
        select(times.begin);
        select(times.end);
    }
    select(step_seconds_);
    select(paces_);
}

}  // namespace rehearse
