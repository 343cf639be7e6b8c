#include "runtime/pager/pcie_link.hpp"

#include <algorithm>
#include <cmath>

#include "sim/base/checks.hpp"

namespace rehearse {

namespace {

constexpr SimTime never{INT64_MAX};
constexpr double noise = 1e-3;  // bytes left that are rounding

}  // namespace

double PcieLink::rate_of(CopyDirection direction) const {
    const auto own = static_cast<std::size_t>(direction);
    if (copies_[own].empty()) return 0;
    const double all = copies_[1 - own].empty() ? spec_.alone : spec_.duplex;
    return all * 1e-12 / static_cast<double>(copies_[own].size());
}

void PcieLink::start(SimTime now, CopyDirection direction, Bytes bytes, std::uint32_t tag) {
    REHEARSE_CHECK(now >= now_ && now <= next_end(), "a copy starts before the ends that lie behind are taken");
    REHEARSE_CHECK(bytes > Bytes{0}, "a copy of no bytes");
    drain(now);
    copies_[static_cast<std::size_t>(direction)].push_back({static_cast<double>(bytes.value), bytes, tag});
}

void PcieLink::drain(SimTime to) {
    const double elapsed = static_cast<double>((to - now_).value);
    const double rates[2] = {rate_of(CopyDirection::to_device), rate_of(CopyDirection::to_host)};
    for (std::size_t d = 0; d < 2; ++d)
        for (Copy& copy : copies_[d]) copy.left -= rates[d] * elapsed;
    now_ = to;
}

SimTime PcieLink::next_end() const {
    SimTime next = never;
    for (const CopyDirection direction : {CopyDirection::to_device, CopyDirection::to_host}) {
        const double rate = rate_of(direction);
        for (const Copy& copy : copies_[static_cast<std::size_t>(direction)]) {
            const double left = std::max(0.0, copy.left - noise);
            next = std::min(next, now_ + SimDuration{static_cast<std::int64_t>(std::ceil(left / rate))});
        }
    }
    return next;
}

std::vector<PcieLink::Done> PcieLink::advance(SimTime now) {
    std::vector<Done> done;
    for (SimTime next = next_end(); next <= now && next != never; next = next_end()) {
        drain(next);
        for (const CopyDirection direction : {CopyDirection::to_device, CopyDirection::to_host}) {
            const auto d = static_cast<std::size_t>(direction);
            std::erase_if(copies_[d], [&](const Copy& copy) {
                if (copy.left > noise) return false;
                done.push_back({next, direction, copy.tag});
                moved_[d] += copy.bytes;
                return true;
            });
        }
    }
    if (now > now_) drain(now);
    return done;
}

SimTime PcieLink::expected_end(std::uint32_t tag) const {
    PcieLink ahead = *this;
    for (SimTime next = ahead.next_end(); next != never; next = ahead.next_end()) {
        for (const Done& done : ahead.advance(next))
            if (done.tag == tag) return done.at;
    }
    return never;
}

}  // namespace rehearse
