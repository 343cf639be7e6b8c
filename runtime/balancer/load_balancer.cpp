#include "runtime/balancer/load_balancer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

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

bool LoadBalancer::is_spare(std::uint32_t slot) const {
    return slot % map_.slots_per_gpu() >= map_.slots_per_gpu() - spec_.spare_slots;
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
    std::optional<ExpertMap> planned = fast_plan(forecast);
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

// The hottest experts, by load per replica, get the spare slots of the GPUs that have least to do. A slot whose expert
// would be lost, or that rests, stays.
std::optional<ExpertMap> LoadBalancer::fast_plan(std::span<const double> loads) const {
    std::vector<std::uint32_t> slots(map_.expert_of_slot().begin(), map_.expert_of_slot().end());
    std::vector<std::uint32_t> copies(map_.expert_count(), 0), free;
    for (const std::uint32_t expert : slots) ++copies[expert];
    for (std::uint32_t slot = 0; slot < slots.size(); ++slot) {
        const bool rests = slot_since_[slot] > 0 && step_ < slot_since_[slot] + spec_.cool_down;
        if (!is_spare(slot) || rests || copies[slots[slot]] == 1) continue;
        --copies[slots[slot]];
        free.push_back(slot);
    }
    if (free.empty()) return std::nullopt;

    std::vector<double> gpu_load(map_.gpu_count(), 0.0);
    std::vector<std::vector<std::uint32_t>> gpus_of(map_.expert_count());
    for (std::uint32_t slot = 0; slot < slots.size(); ++slot) {
        if (std::ranges::binary_search(free, slot)) continue;
        gpu_load[map_.gpu_of(slot)] += loads[slots[slot]] / copies[slots[slot]];
        gpus_of[slots[slot]].push_back(map_.gpu_of(slot));
    }
    std::vector<std::uint32_t> hot(map_.expert_count());
    std::iota(hot.begin(), hot.end(), 0u);
    std::ranges::stable_sort(hot, std::greater<>{}, [&](std::uint32_t e) { return loads[e] / copies[e]; });
    hot.resize(std::min<std::size_t>(hot.size(), spec_.top));
    while (!free.empty()) {
        const auto hottest = std::ranges::max_element(hot, {}, [&](std::uint32_t e) { return loads[e] / copies[e]; });
        const std::uint32_t expert = *hottest;
        // A GPU that holds the expert already gains nothing by a second copy; it comes last.
        const auto slot = std::ranges::min_element(free, {}, [&](std::uint32_t s) {
            const std::uint32_t gpu = map_.gpu_of(s);
            return std::pair(std::ranges::count(gpus_of[expert], gpu) > 0, gpu_load[gpu]);
        });
        const double before = loads[expert] / copies[expert], after = loads[expert] / (copies[expert] + 1);
        for (const std::uint32_t gpu : gpus_of[expert]) gpu_load[gpu] += after - before;
        gpu_load[map_.gpu_of(*slot)] += after;
        gpus_of[expert].push_back(map_.gpu_of(*slot));
        ++copies[expert];
        slots[*slot] = expert;
        free.erase(slot);
    }
    return ExpertMap(map_.expert_count(), map_.gpu_count(), std::move(slots), map_.version() + 1);
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
