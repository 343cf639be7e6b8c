#include "runtime/balancer/load_balancer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "runtime/balancer/spare_plan.hpp"
#include "sim/base/checks.hpp"
#include "sim/base/fault.hpp"

namespace rehearse {

LoadBalancer::LoadBalancer(const BalancerSpec& spec, const EplbShape& shape, const MigrationSpec& migration,
                           ExpertMap map)
    : spec_(spec), shape_(shape), migration_(migration), map_(std::move(map)),
      heat_(map_.expert_count(), std::max(1u, spec.window)), slot_since_(map_.slot_count(), 0) {
    REHEARSE_CHECK(shape.slots == map_.slot_count() && shape.gpus == map_.gpu_count(),
                   "the map has another shape than the balancer");
    const std::uint32_t fixed = (map_.slots_per_gpu() - std::min(spec.spare_slots, map_.slots_per_gpu())) * shape.gpus;
    if (fixed < map_.expert_count())
        throw InputError({Fault{{}, "balancer",
                                fmt::format("{} spare slots per GPU leave {} slots for {} experts", spec.spare_slots,
                                            fixed, map_.expert_count()),
                                "a slot for every expert besides the spare ones", "use fewer spare slots"}});
}

std::optional<BalanceDecision> LoadBalancer::after_step(std::span<const std::uint64_t> tokens) {
    heat_.add(tokens);
    ++step_;
    const bool rests = step_ < map_since_ + spec_.cool_down && map_.version() > 0;
    if (spec_.period > 0 && step_ % spec_.period == 0 && !rests) {
        const std::vector<double> forecast = heat_.mean();
        // The whole map anew: the spare slots take part, and are filled with replicas.
        if (auto decision =
                take(BalanceScale::slow, balance_experts(forecast, shape_, map_.version() + 1), forecast)) {
            map_since_ = step_;
            return decision;
        }
    }
    if (spec_.top == 0 || spec_.spare_slots == 0) return std::nullopt;
    const std::vector<double> forecast = confident_loads();
    std::optional<ExpertMap> planned = plan_spare_slots(map_, forecast, spare_slots(), spec_.top);
    return planned ? take(BalanceScale::fast, std::move(*planned), forecast) : std::nullopt;
}

// How far the last step is to be believed: an expert counts by its tokens times how well they agree with the window,
// c = min(last, mean) / max(last, mean), and by its mean for the rest.
std::vector<double> LoadBalancer::confident_loads() const {
    std::vector<double> loads = heat_.mean();
    const auto last = heat_.last();
    for (std::size_t expert = 0; expert < loads.size(); ++expert) {
        const double now = static_cast<double>(last[expert]), mean = loads[expert];
        const double confidence = std::max(now, mean) > 0 ? std::min(now, mean) / std::max(now, mean) : 1.0;
        loads[expert] = confidence * now + (1 - confidence) * mean;
    }
    return loads;
}

std::vector<std::uint32_t> LoadBalancer::spare_slots() const {
    std::vector<std::uint32_t> slots;
    for (std::uint32_t end = map_.slots_per_gpu(); end <= map_.slot_count(); end += map_.slots_per_gpu()) {
        for (std::uint32_t slot = end - std::min(spec_.spare_slots, map_.slots_per_gpu()); slot < end; ++slot) {
            const bool rests = slot_since_[slot] > 0 && step_ < slot_since_[slot] + spec_.cool_down;
            if (!rests) slots.push_back(slot);
        }
    }
    return slots;
}

std::optional<BalanceDecision> LoadBalancer::take(BalanceScale scale, ExpertMap planned,
                                                  std::span<const double> forecast) {
    BalanceDecision decision;
    decision.scale = scale;
    decision.before = max_over_mean(map_.gpu_load(forecast));
    decision.after = max_over_mean(planned.gpu_load(forecast));
    if (decision.after > decision.before * (1 - spec_.gain_least)) return std::nullopt;
    decision.delta = difference(map_, planned);
    decision.migration = plan_migration(map_, planned, migration_);
    for (const MapDelta::Change& change : decision.delta.changes) slot_since_[change.slot] = step_;
    map_ = std::move(planned);
    return decision;
}

std::size_t choose_ring(std::span<const std::vector<std::uint32_t>> rings, std::span<const double> gpu_load,
                        const std::vector<std::vector<double>>& hops) {
    REHEARSE_CHECK(!rings.empty(), "no ring to choose from");
    std::size_t best = 0;
    double least = INFINITY;
    for (std::size_t i = 0; i < rings.size(); ++i) {
        double cost = 0;
        for (std::size_t k = 0; k < rings[i].size(); ++k) {
            const std::uint32_t a = rings[i][k], b = rings[i][(k + 1) % rings[i].size()];
            cost += (gpu_load[a] + gpu_load[b]) * hops[a][b];
        }
        if (cost < least) {
            least = cost;
            best = i;
        }
    }
    return best;
}

}  // namespace rehearse
