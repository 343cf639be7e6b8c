// FlowNetwork: the fluid network in time. Flows begin, share the links max-min fairly, drain and end.
//
// Between two changes every rate is constant, so the state is only touched at the changes: a flow holds what was left
// at its last change of rate, r(t) = r(t0) - x (t - t0), and ends at t0 + r(t0) / x, rounded up to the next picosecond.
// Times are int64 picoseconds; bytes and rates are doubles. Ends that differ by less than rounding noise (0.02 ps plus
// 1e-12 of the remaining time) fall on the same picosecond and are taken together, as are all flows that begin at one
// instant; the rates are recomputed once, when time moves on.
//
// Coalescing (an approximation, off at 0): a flow begins at the next multiple of the window, and capacity that an ended
// flow leaves is given out at the next multiple. So every rate change comes at most one window late, never early, and
// no link is ever overloaded.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "models/network/flow/completion_heap.hpp"
#include "models/network/flow/max_min_solver.hpp"
#include "sim/base/units.hpp"
#include "sim/engine/event_queue.hpp"

namespace rehearse {

class FlowNetwork {
public:
    using FlowIndex = MaxMinSolver::FlowIndex;
    // What the owner of a flow wants to know again when it ends; the network does not look at it.
    struct Tag {
        std::uint64_t token = 0;
        double wire_ratio = 1;
        std::uint32_t path = 0;
        bool is_counted = false;
    };
    struct Ended {
        SimTime at;
        FlowIndex flow;
        std::uint64_t token;
    };

    // capacities in bytes per second, per LinkId.
    explicit FlowNetwork(std::span<const double> capacities, SimDuration coalesce = SimDuration{0});

    // A flow of `bytes` that begins to move at `at`, never before a time already advanced to. A flow without bytes, or
    // without links and cap, ends when it begins.
    FlowIndex start(SimTime at, double bytes, const FlowPath& path, const Tag& tag);
    SimTime next_event_time();  // SimTime{INT64_MAX}: nothing is under way
    // Handles everything up to `to` and appends the ends, ordered by (time, flow).
    void advance(SimTime to, std::vector<Ended>& done);

    std::span<const std::uint64_t> upcoming();  // tokens, as NetworkModel::upcoming()

    double rate(FlowIndex flow) const { return solver_.rate(flow); }  // of the last solve, bytes per second
    std::size_t link_count() const { return solver_.link_count(); }
    double lone_rate(const FlowPath& path) const { return solver_.lone_rate(path); }
    std::size_t flow_count() const { return progress_.size(); }  // indices used so far
    bool is_open(FlowIndex flow) const { return progress_[flow].stage != Stage::ended; }
    Tag tag(FlowIndex flow) const;       // also of an ended flow, until the next start()
    double size(FlowIndex flow) const { return progress_[flow].size; }
    double moved(FlowIndex flow) const;  // bytes that an open flow has moved up to the time advanced to
    std::uint64_t events() const { return events_; }
    std::uint64_t solves() const { return solves_; }
    std::uint64_t links_visited() const { return solver_.links_visited(); }

private:
    enum class Stage : std::uint8_t { waiting, moving, ended };
    struct alignas(64) Progress {  // one cache line
        double size = 0;
        double left = 0;  // bytes at `since`
        double rate = 0;  // bytes per picosecond from `since` on
        std::int64_t since = 0;
        std::int64_t end = INT64_MAX;  // at this rate
        std::uint64_t token = 0;
        double wire_ratio = 1;
        std::uint32_t path = 0;
        bool is_counted = false;
        Stage stage = Stage::ended;
    };
    static_assert(sizeof(Progress) == 64);

    void solve();
    void fetch_ahead();
    void fetch_flow(FlowIndex flow);
    Ended end(FlowIndex flow);
    std::int64_t next_start() { return starts_.empty() ? INT64_MAX : starts_.peek().time.value; }
    void take_ends(std::vector<Ended>& done);
    void take_starts(std::vector<Ended>& done);
    std::int64_t end_of(const Progress& progress) const;
    std::int64_t on_grid(std::int64_t at) const;

    MaxMinSolver solver_;
    std::int64_t window_;
    std::vector<Progress> progress_;
    CompletionHeap ends_;
    std::array<std::uint64_t, 5> upcoming_{};
    EventQueue starts_;  // flows that wait for their first byte
    std::size_t starts_seen_ = 0;  // that fetch_ahead() saw sorted
    std::int64_t now_ = 0;
    std::int64_t solve_at_ = INT64_MAX;  // when the rates are due to be recomputed
    std::uint64_t events_ = 0;
    std::uint64_t solves_ = 0;
};

}  // namespace rehearse
