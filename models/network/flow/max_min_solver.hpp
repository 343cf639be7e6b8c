// The fast max-min solver: keeps the allocation while flows join and leave, and recomputes only what changes.
//
// Model and equation as in max_min_reference.hpp. Every link has a level: the rate of the flows that it limits
// (infinite when it limits none). The allocation is the state in which each flow runs at the smallest level on its
// path or at its cap. resolve() repairs it by an incremental progressive filling:
//
//   A sweep runs through the levels from low to high, over a queue of the links that are in doubt, ordered by the
//   smaller of their old level and their present share
//       share = (capacity - load of the flows fixed below) / weight of the flows that still grow.
//   - A link whose share rose above its old level reaches that level first: the flows that it held are released there
//     and grow on, unless another link that is not in doubt holds them at the same level.
//   - A link that reaches its share is full: the growing flows on it, and those that were faster, stop there.
//   A flow that is released, stopped or slowed puts its other links in doubt.
//
// Every change happens at or above the present level, so a link is settled once. The sweep visits the links whose level
// or load changes and their neighbours; influence travels through full links only, and a link that could carry every
// flow on it at its cap is never looked at. Deterministic: what happens follows from the order of the
// calls alone.
//
// Cost of one resolve(): O(m log m) in the memberships m of the visited links. No allocation once warm.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "models/network/flow/link_queue.hpp"
#include "models/network/flow/max_min_reference.hpp"
#include "models/network/flow/memberships.hpp"

namespace rehearse {

// What a flow asks for: `links` distinct, each with weight x scale. Its cap is at most the rate that it could get
// alone, lone_rate(); infinity stands for just that.
struct FlowPath {
    std::span<const WeightedLink> links;
    double scale = 1.0;
    double cap = std::numeric_limits<double>::infinity();
};

class MaxMinSolver {
public:
    using FlowIndex = std::uint32_t;  // dense, reused after destroy()

    explicit MaxMinSolver(std::span<const double> capacities);  // bytes per second, all > 0

    double lone_rate(const FlowPath& path) const;  // min over the links of capacity / (weight x scale)

    FlowIndex create(const FlowPath& path);  // takes no part yet
    void join(FlowIndex flow);               // takes part from the next resolve() on; its rate is 0 until then
    void leave(FlowIndex flow);              // no longer takes part; not between join() and resolve()
    void destroy(FlowIndex flow);            // frees the index

    // Restores the max-min allocation. The flows whose rate changed, in the order in which they were settled; valid
    // until the next call.
    std::span<const FlowIndex> resolve();
    double rate(FlowIndex flow) const { return flows_[flow].rate; }
    double cap(FlowIndex flow) const { return flows_[flow].cap; }

    // For flows that join or leave soon: first itself, then what it points to, then its links.
    void prefetch(FlowIndex flow) const { __builtin_prefetch(&flows_[flow]); }
    void prefetch_slots(FlowIndex flow) const { network_.prefetch_slot(flows_[flow].first); }
    void prefetch_links(FlowIndex flow) const { network_.prefetch_links(flows_[flow].first, flows_[flow].count); }

    std::size_t link_count() const { return network_.link_count(); }
    std::uint64_t links_visited() const { return links_visited_; }

private:
    static constexpr double infinity = std::numeric_limits<double>::infinity();
    static constexpr std::uint32_t no_link = UINT32_MAX;
    static constexpr double tie = 1e-11;  // relative: levels this close are one level
    static constexpr double demand_slack = 1e-10;  // relative: sums of caps this close to the capacity fit into it

    struct alignas(64) FlowState {
        double rate = 0;
        double cap = 0;
        double weight = 0;        // on every link; negative: weights_[slot] on each
        std::uint32_t first = 0;  // slots
        std::uint32_t count = 0;
        std::uint32_t limit = no_link;  // the link that limits it; no_link = its cap
        std::uint32_t sweep = 0;        // 2 x sweep: growing; 2 x sweep + 1: stopped in this sweep; less: clean
    };
    // How a link divides its members. Counted when the link comes into doubt; as long as the link stays in play,
    // joining, leaving and changing flows keep it up to date, so that it is rarely counted anew.
    struct Division {
        double fixed = 0;             // load of the members that are not counted in `growing`
        double weight = 0;            // of the growing ones: growing flows, and those that this link limits
        double taken_min = infinity;  // clean flows from this rate on count as growing: the link would slow them
        double kept_max = 0;          // no other clean flow is faster
        double queued = infinity;     // key in the queue
        std::uint32_t growing = 0;
        std::uint16_t credit = 0;  // times that it may be used before rounding errors call for a new count; 0 when
                                   // the link is not in play
        bool settled = false;
        std::uint32_t cover = no_link;  // the link that covers it, see update_covers(); itself: none does
    };
    struct Rate {
        double rate;
        double weight;
    };

    double weight_of(const FlowState& flow, std::uint32_t slot) const {
        return flow.weight >= 0 ? flow.weight : weights_[slot];
    }
    // Its flows could ask for more than it has.
    static bool is_overbooked(const LinkState& link) { return link.demand > link.capacity * (1 + demand_slack); }
    static bool in_play(const LinkState& link) {
        return link.level < infinity || (is_overbooked(link) && !link.is_covered);
    }
    bool is_growing(const FlowState& flow) const { return flow.sweep == growing_stamp_; }
    bool is_clean(const FlowState& flow) const { return flow.sweep < growing_stamp_; }
    double share(std::uint32_t link) const {
        const Division& division = divisions_[link];
        if (division.growing == 0) return infinity;
        return std::max(present_, (network_.link(link).capacity - division.fixed) / division.weight);
    }
    double due(std::uint32_t link) const { return std::min(network_.link(link).level, share(link)); }

    void update_covers(FlowIndex joined);
    void find_cover(std::uint32_t link);
    bool covers(std::uint32_t cover, std::uint32_t link) const;
    bool leans(const FlowState& flow, std::uint32_t slot, std::uint32_t on) const;
    void drop_from_play(std::uint32_t link);

    void begin_sweep();
    void seed();
    enum class Count : std::uint8_t { kept, anew };
    Count doubt(std::uint32_t link);
    void count_members(std::uint32_t link);
    void take_faster(std::uint32_t link);
    void watch_cap(FlowIndex flow);
    void stop_capped();
    void queue_link(std::uint32_t link, double key) {
        if (key >= divisions_[link].queued) return;  // an earlier entry looks again
        divisions_[link].queued = key;
        queue_.lower({key, link});
    }
    void on_top();
    void release(std::uint32_t link);
    void rest(std::uint32_t link);
    bool hold_elsewhere(FlowState& flow, std::uint32_t link);
    void grow(FlowIndex flow, std::uint32_t from);
    void fill(std::uint32_t link, double share);
    void stop(FlowIndex flow, double rate, std::uint32_t at);

    Memberships network_;
    std::vector<Division> divisions_;  // per link
    std::vector<FlowState> flows_;
    std::vector<double> weights_;  // per slot, of the flows whose links differ
    std::vector<FlowIndex> free_flows_;
    std::vector<FlowIndex> joined_;
    std::vector<std::uint32_t> relieved_;  // full links that a flow left
    LinkQueue queue_;
    std::vector<Rate> faster_;  // scratch of count_members()
    std::size_t faster_count_ = 0;
    std::vector<FlowIndex> growing_;  // and some that no longer grow
    double cap_floor_ = infinity;     // no growing flow has a lower cap
    std::vector<FlowIndex> changed_;
    std::uint32_t sweep_ = 0;
    std::uint32_t growing_stamp_ = 0;  // 2 x sweep
    double present_ = 0;               // level of the sweep
    double anchor_ = 0;                // last level at which something stopped: ties share it exactly
    std::uint64_t links_visited_ = 0;
};

}  // namespace rehearse
