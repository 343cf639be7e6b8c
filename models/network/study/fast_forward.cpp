#include "models/network/study/fast_forward.hpp"

#include <algorithm>
#include <cmath>

namespace rehearse {

namespace {

constexpr SimDuration coarse = microseconds(2), fine = nanoseconds(20);

bool is_near(double a, double b, double absolute, double relative) {
    return std::abs(a - b) <= std::max(absolute, relative * std::max(std::abs(a), std::abs(b)));
}

// Between two messages of a chain, ps.
double pace(const ConnectionProgress& from, const ConnectionProgress& to) {
    return static_cast<double>((to.whole_at - from.whole_at).value) / (to.whole - from.whole);
}

}  // namespace

FastForward::FastForward(PacketEngine& engine, SimTime settled_from)
    : engine_(engine), settled_from_(settled_from),
      connections_(static_cast<std::uint32_t>(engine.results().size())), moved_(connections_, 0.0) {
    join_collectives();
}

// Union of sets, the lowest number standing for each.
void FastForward::join_collectives() {
    collective_.resize(connections_);
    for (std::uint32_t c = 0; c < connections_; ++c) collective_[c] = c;
    const auto first_of = [&](std::uint32_t c) {
        while (collective_[c] != c) c = collective_[c] = collective_[collective_[c]];
        return c;
    };
    const auto join = [&](std::uint32_t a, std::uint32_t b) {
        if (b == no_connection) return;
        a = first_of(a);
        b = first_of(b);
        collective_[std::max(a, b)] = std::min(a, b);
    };
    for (std::uint32_t c = 0; c < connections_; ++c) {
        for (const std::uint32_t next : engine_.request(c).successors) join(c, next);
        join(c, engine_.request(c).sibling);
    }
    for (std::uint32_t c = 0; c < connections_; ++c) collective_[c] = first_of(c);
}

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
            now_ = now_ < settled_from_ ? std::min(until, settled_from_) : until;
            engine_.run(now_);
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
    periods_ = 0;
    for (leader_ = 0; leader_ < connections_; ++leader_) {
        const ConnectionProgress progress = engine_.progress(leader_);
        if (!progress.is_open) continue;
        unit_ = progress.is_chain() ? progress.per_message : bulk_packets;
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
    for (std::uint32_t c = 0; c < connections_; ++c) mark.progress.push_back(engine_.progress(c));
    return mark;
}

void FastForward::look(SimTime now) {
    const ConnectionProgress leader = engine_.progress(leader_);
    if (!leader.is_open || leader.acknowledged < next_mark_) return;
    if (marks_.size() == marks_kept) marks_.erase(marks_.begin());
    marks_.push_back(mark(now));
    if (marks_.size() == marks_kept && agree()) {
        count_moved();
        if (const std::uint64_t periods = periods_to_skip(); periods > 0) return skip(periods);
    }
    if (++periods_ > periods_patience) {
        unit_ *= 4;
        periods_ = 0;
        marks_.erase(marks_.begin(), marks_.end() - 1);
    }
    next_mark_ = leader.acknowledged / unit_ * unit_ + unit_;
}

bool FastForward::agree() const {
    const Mark &a = marks_.front(), &b = marks_[marks_kept / 2], &c = marks_.back();
    const auto first = static_cast<double>((b.at - a.at).value), second = static_cast<double>((c.at - b.at).value);
    if (!is_near(first, second, 0, 0.02) || !agree_in_counters()) return false;
    for (std::uint32_t i = 0; i < connections_; ++i) {
        if (!agree(i)) return false;
    }
    return true;
}

bool FastForward::agree(std::uint32_t connection) const {
    const ConnectionProgress& a = marks_.front().progress[connection];
    const ConnectionProgress& b = marks_[marks_kept / 2].progress[connection];
    const ConnectionProgress& c = marks_.back().progress[connection];
    if (!c.is_open) return a.acknowledged == c.acknowledged;  // its departure is still to be felt
    if (c.is_chain()) return a.whole < b.whole && b.whole < c.whole && is_near(pace(a, b), pace(b, c), 0, 0.04);
    const double first = b.acknowledged - a.acknowledged, second = c.acknowledged - b.acknowledged;
    return is_near(first, second, 4, 0.03) && is_near(first + second, c.sent - a.sent, 16, 0.03);
}

bool FastForward::agree_in_counters() const {
    const PortCounters a = total_of(marks_.front().ports), b = total_of(marks_[marks_kept / 2].ports),
                       c = total_of(marks_.back().ports);
    for (const auto count :
         {&PortCounters::pauses, &PortCounters::marks, &PortCounters::losses, &PortCounters::drops}) {
        const auto first = static_cast<double>(b.*count - a.*count), second = static_cast<double>(c.*count - b.*count);
        if (!is_near(first, second, 16, 0.2)) return false;
    }
    return true;
}

void FastForward::count_moved() {
    std::vector<double> sum(connections_, 0.0), members(connections_, 0.0);
    for (std::uint32_t i = 0; i < connections_; ++i) {
        const ConnectionProgress &a = marks_.front().progress[i], &c = marks_.back().progress[i];
        moved_[i] = (c.acknowledged - a.acknowledged) / double{periods_seen};
        sum[collective_[i]] += moved_[i];
        ++members[collective_[i]];
    }
    for (std::uint32_t i = 0; i < connections_; ++i) {
        const ConnectionProgress& now = marks_.back().progress[i];
        if (!now.is_chain()) continue;
        const double mean = sum[collective_[i]] / members[collective_[i]] / now.per_message;
        const double off = std::abs(moved_[i] / now.per_message - mean);
        moved_[i] = off < 1 ? std::round(mean) * now.per_message : NAN;
    }
}

// As many as leave every open connection two periods, a multiple of those seen.
std::uint64_t FastForward::periods_to_skip() const {
    double most = INFINITY;
    std::vector<std::uint8_t> has_ended(connections_, 0);  // some member, per collective
    for (std::uint32_t i = 0; i < connections_; ++i)
        if (!engine_.progress(i).is_open) has_ended[collective_[i]] = 1;
    for (std::uint32_t i = 0; i < connections_; ++i) {
        const ConnectionProgress progress = engine_.progress(i);
        if (progress.is_open && progress.is_chain() && has_ended[collective_[i]] != 0) return 0;
        const double moved = moved_[i];
        if (progress.is_open && std::isnan(moved)) return 0;  // a collective whose members go at paces of their own
        if (!progress.is_open || moved < 1) continue;  // one that stands still may go on doing so
        most = std::min(most, std::floor((progress.packets - progress.sent) / moved) - 2);
    }
    if (!std::isfinite(most) || most <= 0) return 0;
    return static_cast<std::uint64_t>(most) / periods_seen * periods_seen;
}

// Of the periods seen: as long as the chains took in the mean, whose members may be late in turn; else as the leader.
SimDuration FastForward::length_seen() const {
    double sum = 0, chains = 0;
    for (std::uint32_t i = 0; i < connections_; ++i) {
        const ConnectionProgress &first = marks_.front().progress[i], &last = marks_.back().progress[i];
        if (!last.is_open || !last.is_chain()) continue;
        sum += pace(first, last) * periods_seen * moved_[i] / last.per_message;
        ++chains;
    }
    return chains > 0 ? SimDuration{std::llround(sum / chains)} : marks_.back().at - marks_.front().at;
}

void FastForward::skip(std::uint64_t periods) {
    for (std::uint32_t i = 0; i < connections_; ++i) {
        if (!engine_.progress(i).is_open) continue;
        engine_.leave_out(i, static_cast<std::uint32_t>(moved_[i] * static_cast<double>(periods)));
    }
    const std::uint64_t times = periods / periods_seen;
    engine_.repeat_counters(marks_.front().ports, times);
    events_left_out_ += times * (marks_.back().events - marks_.front().events);
    skips_.push_back({now_, length_seen() * static_cast<std::int64_t>(times)});
    marks_.clear();
    leader_ = no_connection;
}

}  // namespace rehearse
