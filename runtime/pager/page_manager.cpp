#include "runtime/pager/page_manager.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "sim/base/checks.hpp"
#include "sim/base/fault.hpp"
#include "sim/base/units_text.hpp"

namespace rehearse {

PageManager::PageManager(const PagerSpec& spec, const PcieSpec& pcie) : spec_(spec), pcie_(pcie), pages_(spec.pages) {
    FaultList faults;
    if (spec.page <= Bytes{0} || spec.page > spec.budget)
        faults.add({{}, "pager.page", fmt::format("a page of {} in a budget of {}", format(spec.page),
                                                  format(spec.budget)),
                    "at least one page in the budget", "use smaller pages or a larger budget"});
    if (!(0 <= spec.evict_below && spec.evict_below <= spec.load_above && spec.load_above <= 1))
        faults.add({{}, "pager.evict_below",
                    fmt::format("evicting below {} free and loading above {}", spec.evict_below, spec.load_above),
                    "0 <= evict_below <= load_above <= 1", ""});
    faults.throw_if_any();
}

double PageManager::free_share() const {
    return 1 - static_cast<double>((held_ - leaving_) * spec_.page.value) / static_cast<double>(spec_.budget.value);
}

std::int64_t PageManager::room() const { return spec_.budget.value / spec_.page.value - held_; }

// Recency falls from 1 with the age of the last use: 1 / (1 + age in milliseconds).
double PageManager::priority(const Page& page) const {
    const double age = std::max(0.0, static_cast<double>((now_ - page.used).value) * 1e-9);
    return static_cast<double>(page.probability) / (1 + age);
}

void PageManager::settle(SimTime now) {
    REHEARSE_CHECK(now >= now_, "the page manager is asked about the past");
    for (const PcieLink::Done& done : pcie_.advance(now)) {
        Page& page = pages_[done.tag];
        if (done.direction == CopyDirection::to_device) {
            page.state = PageState::resident;
            page.used = done.at;
            continue;
        }
        page.is_copied_back = false;
        if (page.state != PageState::evicting) continue;  // it was wanted meanwhile
        page.state = PageState::absent;
        --held_;
        --leaving_;
    }
    now_ = now;
}

void PageManager::load(SimTime now, std::uint32_t page) {
    pages_[page].state = PageState::loading;
    pages_[page].was_used = false;
    ++held_;
    ++counters_.loads;
    pcie_.start(now, CopyDirection::to_device, spec_.page, page);
}

void PageManager::evict(SimTime now, std::uint32_t index) {
    Page& page = pages_[index];
    ++counters_.evictions;
    if (!page.was_used) ++counters_.prefetches_unused;
    if (!page.is_written) {  // the host has the same values
        page.state = PageState::absent;
        --held_;
        return;
    }
    page.is_written = false;
    page.is_copied_back = true;
    page.state = PageState::evicting;
    ++leaving_;
    pcie_.start(now, CopyDirection::to_host, spec_.page, index);
}

bool PageManager::evict_one(SimTime now) {
    const Page* least = nullptr;
    for (const Page& page : pages_) {
        if (page.state != PageState::resident || page.users > 0 || page.is_copied_back) continue;
        if (least == nullptr || priority(page) < priority(*least)) least = &page;
    }
    if (least == nullptr) return false;
    evict(now, static_cast<std::uint32_t>(least - pages_.data()));
    return true;
}

void PageManager::evict_some(SimTime now) {
    if (free_share() >= spec_.evict_below) return;
    while (free_share() < spec_.load_above && evict_one(now)) {}
}

void PageManager::plan(SimTime now, std::span<const float> probability) {
    REHEARSE_CHECK(probability.size() == pages_.size(), "one probability per page");
    settle(now);
    std::vector<std::uint32_t> order;
    for (std::uint32_t i = 0; i < pages_.size(); ++i) {
        Page& page = pages_[i];
        page.probability = probability[i];
        const bool likely = static_cast<double>(probability[i]) >= spec_.standby_at;
        if (page.state == PageState::absent && likely) page.state = PageState::standby;
        if (page.state == PageState::standby && !likely) page.state = PageState::absent;
        if (page.state == PageState::standby) order.push_back(i);
    }
    evict_some(now);
    std::ranges::stable_sort(order, std::greater<>{}, [&](std::uint32_t i) { return pages_[i].probability; });
    for (const std::uint32_t i : order) {
        if (free_share() <= spec_.load_above || room() <= 0) break;
        load(now, i);
    }
}

void PageManager::schedule(SimTime now, std::uint32_t index) {
    settle(now);
    Page& page = pages_[index];
    ++page.users;
    if (page.state == PageState::resident) return;
    if (page.state != PageState::evicting) ++counters_.misses;
    ask_for(now, index);
}

// The page loads, or stays, or nothing can be done: all the budget is in use or on its way.
void PageManager::ask_for(SimTime now, std::uint32_t index) {
    Page& page = pages_[index];
    if (page.state == PageState::evicting) {
        page.state = PageState::resident;
        --leaving_;
    }
    if (page.state == PageState::resident || page.state == PageState::loading) return;
    if (room() <= 0) evict_one(now);
    if (room() > 0) load(now, index);
}

bool PageManager::request(SimTime now, std::uint32_t index) {
    settle(now);
    ask_for(now, index);
    return pages_[index].state == PageState::resident || pages_[index].state == PageState::loading;
}

PageManager::Use PageManager::use(SimTime now, std::uint32_t index, PageAccess access) {
    settle(now);
    Page& page = pages_[index];
    REHEARSE_CHECK(page.users > 0, "a use that was not scheduled");
    ++counters_.uses;
    Use use{Degradation::none, now};
    if (page.state != PageState::resident) {
        ++counters_.faults;
        ask_for(now, index);
        if (++page.faults_in_row >= spec_.migrate_after) {
            page.faults_in_row = 0;
            ++counters_.migrations;
            return {Degradation::migrate, page.state == PageState::loading ? pcie_.expected_end(index) : now};
        }
        if (page.state != PageState::loading) {
            ++counters_.drops;
            return {Degradation::drop, now};
        }
        use = {Degradation::wait, pcie_.expected_end(index)};
        ++counters_.waits;
        counters_.stall += use.ready - now;
    } else {
        page.faults_in_row = 0;
    }
    page.was_used = true;
    page.is_written = page.is_written || access == PageAccess::write;
    page.used = use.ready;
    return use;
}

void PageManager::release(SimTime now, std::uint32_t index) {
    settle(now);
    REHEARSE_CHECK(pages_[index].users > 0, "a release without a use");
    --pages_[index].users;
}

}  // namespace rehearse
