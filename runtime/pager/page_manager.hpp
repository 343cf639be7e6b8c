// The page manager: expert weights as pages in GPU memory, brought over PCIe before they are used.
//
//            predicted >= standby_at                free > load_above
//     absent ------------------------> standby ------------------------> loading ---> resident
//        ^                                                                               |
//        +------------------- evicting <------------------------------------------------+   free < evict_below
//
// "Free" is the part of the budget that no page takes; a page takes its place from the start of its loading to the end
// of its eviction. Evicting begins below `evict_below` and goes on until `load_above` is free again (hysteresis); the
// page with the least probability x recency goes first, and pages in use never. Written pages are copied back; a page
// that is wanted while it is copied back stays, since its values are still there.
//
// Two counters that are often mixed up: a miss is a page that was not resident when its use was scheduled, a fault is
// one that was not resident when it was used. A fault joins the copy that is under way, and never starts a second one.
// Nothing is ever put in the place of an expert's values: whoever meets a fault waits, lets another GPU that holds the
// expert do the work, or drops the tokens to the residual path, and each is counted.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "runtime/pager/pcie_link.hpp"

namespace rehearse {

struct PagerSpec {
    std::uint32_t pages = 0;
    Bytes page{64ll << 20};
    Bytes budget;               // of GPU memory for pages
    double standby_at = 0.7;    // probability of use
    double load_above = 0.4;    // free share of the budget
    double evict_below = 0.2;
    std::uint32_t migrate_after = 3;  // faults of a page in a row after which its work goes elsewhere
};

enum class PageState : std::uint8_t { absent, standby, loading, resident, evicting };

// What is done about a page that is not there when it is used.
enum class Degradation : std::uint8_t {
    none,     // it is resident
    wait,     // until its copy has ended
    migrate,  // it faulted `migrate_after` times in a row: the work goes to another holder
    drop,     // the budget is taken by pages in use: the tokens take the residual path only
};

enum class PageAccess : std::uint8_t { read, write };

struct PagerCounters {
    std::uint64_t uses = 0, misses = 0, faults = 0;
    std::uint64_t waits = 0, migrations = 0, drops = 0;  // faults by what was done
    std::uint64_t loads = 0, evictions = 0, prefetches_unused = 0;
    SimDuration stall;  // sum of the waits
};

class PageManager {
public:
    // Throws InputError (path: pager) when a page is larger than the budget, or thresholds are out of order.
    explicit PageManager(const PagerSpec& spec, const PcieSpec& pcie = {});

    // `probability` of being used in the coming step, per page: decides what stands by, loads and leaves.
    void plan(SimTime now, std::span<const float> probability);
    // A use that will come: counts a miss and asks for the page if it isn't there. `release()` ends the use.
    void schedule(SimTime now, std::uint32_t page);
    // Asks again for a scheduled page that found no room; whether it is there or on its way.
    bool request(SimTime now, std::uint32_t page);
    struct Use {
        Degradation action = Degradation::none;
        SimTime ready;  // all but drop: when its values are here
    };
    // The page is wanted now. Pages used to write are copied back when they leave.
    Use use(SimTime now, std::uint32_t page, PageAccess access);
    void release(SimTime now, std::uint32_t page);

    PageState state(std::uint32_t page) const { return pages_[page].state; }
    Bytes held() const { return spec_.page * held_; }  // never more than the budget
    const PagerCounters& counters() const { return counters_; }
    const PcieLink& pcie() const { return pcie_; }

private:
    struct Page {
        PageState state = PageState::absent;
        bool is_written = false;
        bool is_copied_back = false;  // a copy to the host is under way
        bool was_used = false;        // since it was loaded
        std::uint32_t users = 0;
        std::uint32_t faults_in_row = 0;
        float probability = 0;
        SimTime used;
    };

    void settle(SimTime now);  // ends of copies up to now
    void ask_for(SimTime now, std::uint32_t page);
    void load(SimTime now, std::uint32_t page);
    void evict_some(SimTime now);
    bool evict_one(SimTime now);
    void evict(SimTime now, std::uint32_t page);
    double priority(const Page& page) const;
    double free_share() const;
    std::int64_t room() const;  // pages that may still be loaded

    PagerSpec spec_;
    PcieLink pcie_;
    std::vector<Page> pages_;
    std::int64_t held_ = 0;  // pages that take memory
    std::int64_t leaving_ = 0;
    PagerCounters counters_;
    SimTime now_;
};

}  // namespace rehearse
