#include "models/network/flow/flow_network.hpp"

#include <algorithm>
#include <cmath>

namespace rehearse {
namespace {

constexpr double noise_ps = 0.02;         // rounding of sums of times near 1 s
constexpr double noise_relative = 1e-12;  // rounding of the remaining bytes
constexpr double longest_ps = 9e18;

}  // namespace

FlowNetwork::FlowNetwork(std::span<const double> capacities, SimDuration coalesce)
    : solver_(capacities), window_(coalesce.value) {
    REHEARSE_CHECK(window_ >= 0, "a coalescing window is not negative");
}

std::int64_t FlowNetwork::on_grid(std::int64_t at) const {
    return window_ == 0 ? at : (at + window_ - 1) / window_ * window_;
}

FlowNetwork::FlowIndex FlowNetwork::start(SimTime at, double bytes, const FlowPath& path, const Tag& tag) {
    REHEARSE_CHECK(at.value >= now_, "a flow starts in the past");
    REHEARSE_CHECK(bytes >= 0, "a flow has a negative size");
    const FlowIndex flow = solver_.create(path);
    if (flow >= progress_.size()) progress_.resize(flow + 1);
    progress_[flow] = Progress{.size = bytes,
                               .left = bytes,
                               .token = tag.token,
                               .wire_ratio = tag.wire_ratio,
                               .path = tag.path,
                               .is_counted = tag.is_counted,
                               .stage = Stage::waiting};
    starts_.push(SimTime{on_grid(at.value)}, flow);
    return flow;
}

// Events come in no order of memory, and each would wait for the caches several times. So what the next ones will touch
// is fetched while the present one is handled: first the flow, then its slots, then its links. (Inlined by force: the
// compiler takes a call of a function that only fetches for useless.)
[[gnu::always_inline]] inline void FlowNetwork::fetch_flow(FlowIndex flow) {
    __builtin_prefetch(&progress_[flow]);
    solver_.prefetch(flow);
}

[[gnu::always_inline]] inline void FlowNetwork::fetch_ahead() {
    const std::span<const Event> starts = starts_.ahead();
    if (starts.size() > starts_seen_) {  // another lot was sorted
        for (const Event& start : starts) fetch_flow(static_cast<FlowIndex>(start.id));
    }
    starts_seen_ = starts.size();
    if (starts.size() > 2) solver_.prefetch_slots(static_cast<FlowIndex>(starts[2].id));
    if (starts.size() > 1) solver_.prefetch_links(static_cast<FlowIndex>(starts[1].id));
    const CompletionHeap::Ahead ends = ends_.ahead();
    for (std::size_t i = ends.near; i < ends.count; ++i) fetch_flow(ends.flows[i]);
    for (std::size_t i = 1; i < ends.near; ++i) solver_.prefetch_slots(ends.flows[i]);
    if (ends.count > 0) solver_.prefetch_links(ends.flows[0]);
}

std::span<const std::uint64_t> FlowNetwork::upcoming() {
    const CompletionHeap::Ahead ends = ends_.ahead();
    for (std::size_t i = 0; i < ends.near; ++i) upcoming_[i] = progress_[ends.flows[i]].token;
    return {upcoming_.data(), ends.near};
}

SimTime FlowNetwork::next_event_time() {
    if (solve_at_ == now_) solve();
    std::int64_t next = std::min(solve_at_, next_start());
    while (!ends_.empty() && ends_.top().at < next) {
        const std::int64_t end = progress_[ends_.top().flow].end;
        if (end <= ends_.top().at) {
            next = ends_.top().at;
        } else {
            ends_.postpone_top(end);
        }
    }
    return SimTime{next};
}

void FlowNetwork::advance(SimTime to, std::vector<Ended>& done) {
    for (SimTime next = next_event_time(); next <= to && next.value != INT64_MAX; next = next_event_time()) {
        now_ = next.value;
        fetch_ahead();
        const auto first = static_cast<std::ptrdiff_t>(done.size());
        take_ends(done);
        take_starts(done);
        std::sort(done.begin() + first, done.end(), [](const Ended& a, const Ended& b) { return a.flow < b.flow; });
    }
    now_ = std::max(now_, to.value);
}

FlowNetwork::Ended FlowNetwork::end(FlowIndex flow) {
    Progress& progress = progress_[flow];
    progress.stage = Stage::ended;
    solver_.destroy(flow);
    return {SimTime{now_}, flow, progress.token};
}

FlowNetwork::Tag FlowNetwork::tag(FlowIndex flow) const {
    const Progress& progress = progress_[flow];
    return {progress.token, progress.wire_ratio, progress.path, progress.is_counted};
}

void FlowNetwork::take_ends(std::vector<Ended>& done) {
    while (!ends_.empty() && ends_.top().at <= now_) {
        const FlowIndex flow = ends_.top().flow;
        Progress& progress = progress_[flow];
        if (progress.end > now_) {
            ends_.postpone_top(progress.end);
            continue;
        }
        ends_.pop();
        solver_.leave(flow);
        done.push_back(end(flow));
        solve_at_ = std::min(solve_at_, on_grid(now_));
        ++events_;
    }
}

void FlowNetwork::take_starts(std::vector<Ended>& done) {
    while (next_start() <= now_) {
        const auto flow = static_cast<FlowIndex>(starts_.pop().id);
        Progress& progress = progress_[flow];
        ++events_;
        if (progress.left <= 0 || std::isinf(solver_.cap(flow))) {
            done.push_back(end(flow));
            continue;
        }
        progress.stage = Stage::moving;
        progress.since = now_;
        solver_.join(flow);
        solve_at_ = now_;
    }
}

void FlowNetwork::solve() {
    solve_at_ = INT64_MAX;
    ++solves_;
    for (const FlowIndex flow : solver_.resolve()) {
        Progress& progress = progress_[flow];
        progress.left = std::max(0.0, progress.left - progress.rate * static_cast<double>(now_ - progress.since));
        progress.rate = solver_.rate(flow) * 1e-12;
        progress.since = now_;
        progress.end = end_of(progress);
        ends_.advance_to(flow, progress.end);
        ++events_;
    }
}

std::int64_t FlowNetwork::end_of(const Progress& progress) const {
    const double duration = progress.left / progress.rate;
    if (!(duration < longest_ps - static_cast<double>(progress.since))) return INT64_MAX - 1;
    const double rounded = std::ceil(duration * (1 - noise_relative) - noise_ps);
    return progress.since + std::max(std::int64_t{0}, static_cast<std::int64_t>(rounded));
}

double FlowNetwork::moved(FlowIndex flow) const {
    const Progress& progress = progress_[flow];
    const auto elapsed = static_cast<double>(now_ - progress.since);
    const double since = progress.stage == Stage::moving ? progress.rate * elapsed : 0.0;
    return progress.size - std::max(0.0, progress.left - since);
}

}  // namespace rehearse
