#include "models/network/study/fast_forward.hpp"

#include <algorithm>
#include <cmath>

namespace rehearse {

namespace {

constexpr SimDuration coarse = microseconds(2), fine = nanoseconds(20);

bool is_near(double a, double b, double absolute, double relative) {
    return std::abs(a - b) <= std::max(absolute, relative * std::max(std::abs(a), std::abs(b)));
}

}  // namespace

FastForward::FastForward(PacketEngine& engine, SimTime settled_from)
    : engine_(engine), settled_from_(settled_from), connections_(engine.results().size()) {}

SimTime FastForward::passed(SimTime engine_time) const {
    SimTime time = engine_time;
    for (const Skip& skip : skips_) {
        if (skip.at < engine_time) time = time + skip.length;
    }
    return time;
}

void FastForward::run(SimTime until) {
    while (now_ < until) {
        if (now_ < settled_from_ || !choose_leader()) {
            const SimTime to = now_ < settled_from_ ? std::min(until, settled_from_) : until;
            engine_.run(to);
            now_ = to;
            continue;
        }
        now_ = std::min(until, now_ + stride());
        engine_.run(now_);
        look(now_);
    }
}

bool FastForward::choose_leader() {
    if (leader_ != no_connection && engine_.progress(leader_).is_open) return true;
    marks_.clear();
    for (leader_ = 0; leader_ < connections_; ++leader_) {
        const ConnectionProgress progress = engine_.progress(leader_);
        if (!progress.is_open) continue;
        unit_ = progress.packets > progress.per_message ? progress.per_message : bulk_packets;
        next_mark_ = progress.acknowledged + unit_;
        return true;
    }
    leader_ = no_connection;
    return false;
}

// Fine steps where the leader may reach its mark: so the ends of periods are known to 20 ns.
SimDuration FastForward::stride() const {
    const std::uint32_t acknowledged = engine_.progress(leader_).acknowledged;
    const std::uint32_t left = next_mark_ > acknowledged ? next_mark_ - acknowledged : 0;
    if (marks_.size() < 2) return left > 64 ? coarse : fine;
    const Mark &last = marks_.back(), &before = marks_[marks_.size() - 2];
    const double packet = static_cast<double>((last.at - before.at).value) / unit_;
    const auto ahead = static_cast<std::int64_t>(packet * (left > 8 ? left - 8 : 0) / 2);
    return std::max(fine, SimDuration{ahead});
}

FastForward::Mark FastForward::mark(SimTime now) const {
    Mark mark{now, {}, engine_.counters(), engine_.events()};
    for (std::uint32_t c = 0; c < connections_; ++c) mark.acknowledged.push_back(engine_.progress(c).acknowledged);
    return mark;
}

void FastForward::look(SimTime now) {
    const ConnectionProgress leader = engine_.progress(leader_);
    if (!leader.is_open || leader.acknowledged < next_mark_) return;
    next_mark_ += unit_;
    if (marks_.size() == 3) marks_.erase(marks_.begin());
    marks_.push_back(mark(now));
    if (marks_.size() < 3 || !agree()) return;
    if (const std::uint64_t periods = periods_to_skip(); periods >= 2) skip(periods, now);
}

bool FastForward::agree() const {
    const Mark &a = marks_[0], &b = marks_[1], &c = marks_[2];
    const double first = static_cast<double>((b.at - a.at).value), second = static_cast<double>((c.at - b.at).value);
    if (!is_near(first, second, 0, 0.002)) return false;
    for (std::uint32_t i = 0; i < connections_; ++i) {
        if (!is_near(b.acknowledged[i] - a.acknowledged[i], c.acknowledged[i] - b.acknowledged[i], 2, 0.01)) return false;
    }
    const PortCounters before = total_of(a.ports), middle = total_of(b.ports), now = total_of(c.ports);
    for (const auto count : {&PortCounters::pauses, &PortCounters::marks, &PortCounters::losses, &PortCounters::drops}) {
        const auto was = static_cast<double>(middle.*count - before.*count);
        if (!is_near(was, static_cast<double>(now.*count - middle.*count), 2, 0.02)) return false;
    }
    return true;
}

// As many as leave every open connection two periods; 0 where a chain moves by parts of messages.
std::uint64_t FastForward::periods_to_skip() const {
    double most = INFINITY;
    for (std::uint32_t i = 0; i < connections_; ++i) {
        const ConnectionProgress progress = engine_.progress(i);
        if (!progress.is_open) continue;
        const double moved = (marks_[2].acknowledged[i] - marks_[0].acknowledged[i]) / 2.0;
        if (progress.packets > progress.per_message) {
            const double messages = moved / progress.per_message;
            if (std::round(messages) < 1 || !is_near(messages, std::round(messages), 0.02, 0)) return 0;
        }
        if (moved < 1) continue;  // it stands still, and may go on doing so
        most = std::min(most, std::floor((progress.packets - progress.sent) / moved) - 2);
    }
    return std::isfinite(most) && most > 0 ? static_cast<std::uint64_t>(most) : 0;
}

void FastForward::skip(std::uint64_t periods, SimTime now) {
    const Mark &first = marks_[0], &last = marks_[2];
    const double times = static_cast<double>(periods);
    for (std::uint32_t i = 0; i < connections_; ++i) {
        const ConnectionProgress progress = engine_.progress(i);
        if (!progress.is_open) continue;
        const double moved = (last.acknowledged[i] - first.acknowledged[i]) / 2.0;
        const bool is_chain = progress.packets > progress.per_message;
        const double each = is_chain ? std::round(moved / progress.per_message) * progress.per_message : moved;
        engine_.leave_out(i, static_cast<std::uint32_t>(each * times));
    }
    engine_.repeat_counters(marks_[1].ports, periods);
    events_left_out_ += periods * (last.events - marks_[1].events);
    skips_.push_back({now, SimDuration{(last.at - first.at).value / 2 * static_cast<std::int64_t>(periods)}});
    marks_.clear();
    leader_ = no_connection;
}

}  // namespace rehearse
