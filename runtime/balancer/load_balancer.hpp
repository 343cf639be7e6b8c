// The load balancer of a group of experts: a slow planner that every `period` steps lays the whole map anew from the
// heat map, and a fast planner that after each step re-assigns the spare slots from the counts of that step. Both
// decide from counts that are reduced over all ranks, so that every rank that runs this code decides alike; the
// decision is data, and the map of a decision holds from the next step on. Nothing moves in the middle of a step.
#pragma once

#include <optional>

#include "runtime/balancer/eplb.hpp"
#include "runtime/balancer/heat_map.hpp"
#include "runtime/balancer/migration.hpp"

namespace rehearse {

struct BalancerSpec {
    std::uint32_t period = 100;     // steps between two slow plans; 0: none
    std::uint32_t window = 100;     // steps of the heat map
    std::uint32_t top = 20;         // experts that the fast planner looks at; 0: none
    std::uint32_t spare_slots = 0;  // per GPU, its last ones: the fast planner's
    double gain_least = 0.02;       // a plan that lowers max/mean of the GPUs by less than this share is not taken
    std::uint32_t cool_down = 0;    // steps for which a replaced spare slot, or the whole map, stays as it is
};

enum class BalanceScale : std::uint8_t { slow, fast };

struct BalanceDecision {
    BalanceScale scale = BalanceScale::slow;
    MapDelta delta;
    Migration migration;
    double before = 1, after = 1;  // max/mean of the GPU loads that the planner forecasts
};

class LoadBalancer {
public:
    // Throws InputError (path: balancer) as balance_experts() does, or when spare slots leave too few for all experts.
    LoadBalancer(const BalancerSpec& spec, const EplbShape& shape, const MigrationSpec& migration, ExpertMap map);

    const ExpertMap& map() const { return map_; }
    // After a step: its tokens per expert. A decision is applied to map() at once; it holds from the next step.
    std::optional<BalanceDecision> after_step(std::span<const std::uint64_t> tokens);

private:
    std::optional<BalanceDecision> take(BalanceScale scale, ExpertMap planned, std::span<const double> forecast);
    std::vector<double> confident_loads() const;
    std::vector<std::uint32_t> spare_slots() const;  // that do not rest

    BalancerSpec spec_;
    EplbShape shape_;
    MigrationSpec migration_;
    ExpertMap map_;
    HeatMap heat_;
    std::uint64_t step_ = 0, map_since_ = 0;
    std::vector<std::uint64_t> slot_since_;  // step at which the slot was written last
};

// The precomputed ring that costs least: the sum over its neighbours of the load of both times `hops` between them, so
// that loaded GPUs have short ways. Communicators are built once; this chooses among them.
std::size_t choose_ring(std::span<const std::vector<std::uint32_t>> rings, std::span<const double> gpu_load,
                        const std::vector<std::vector<double>>& hops);

}  // namespace rehearse
