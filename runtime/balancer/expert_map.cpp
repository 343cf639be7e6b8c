#include "runtime/balancer/expert_map.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "sim/base/checks.hpp"
#include "sim/base/fault.hpp"

namespace rehearse {

namespace {

[[noreturn]] void refuse(std::string wrong, std::string expected, std::string todo = "") {
    throw InputError({Fault{{}, "balancer", std::move(wrong), std::move(expected), std::move(todo)}});
}

}  // namespace

ExpertMap::ExpertMap(std::uint32_t experts, std::uint32_t gpus, std::vector<std::uint32_t> expert_of_slot,
                     std::uint64_t version)
    : gpus_(gpus), version_(version), expert_of_slot_(std::move(expert_of_slot)), first_(experts + 1, 0) {
    if (gpus == 0 || expert_of_slot_.empty() || expert_of_slot_.size() % gpus != 0)
        refuse(fmt::format("{} slots on {} GPUs", expert_of_slot_.size(), gpus), "equally many slots on every GPU",
               "choose a number of slots that the GPUs divide");
    slots_per_gpu_ = slot_count() / gpus;
    for (const std::uint32_t expert : expert_of_slot_) {
        if (expert >= experts)
            refuse(fmt::format("a slot for expert {} of {}", expert, experts), "experts of the model");
        ++first_[expert + 1];
    }
    for (std::uint32_t expert = 0; expert < experts; ++expert) {
        if (first_[expert + 1] == 0)
            refuse(fmt::format("expert {} has no slot", expert), "every expert in at least one slot",
                   "raise the number of slots");
    }
    std::partial_sum(first_.begin(), first_.end(), first_.begin());
    slots_.resize(expert_of_slot_.size());
    std::vector<std::uint32_t> next = first_;
    for (std::uint32_t slot = 0; slot < slot_count(); ++slot) slots_[next[expert_of_slot_[slot]]++] = slot;
}

ExpertMap ExpertMap::contiguous(std::uint32_t experts, std::uint32_t gpus) {
    std::vector<std::uint32_t> slots(experts);
    std::iota(slots.begin(), slots.end(), 0u);
    return {experts, gpus, std::move(slots)};
}

std::vector<double> ExpertMap::gpu_load(std::span<const double> expert_load) const {
    std::vector<double> share(expert_load.begin(), expert_load.end()), load(gpus_, 0.0);
    for (std::uint32_t expert = 0; expert < expert_count(); ++expert)
        share[expert] /= static_cast<double>(slots_of(expert).size());
    auto expert = expert_of_slot_.begin();
    for (double& gpu : load) {
        for (std::uint32_t slot = 0; slot < slots_per_gpu_; ++slot) gpu += share[*expert++];
    }
    return load;
}

double max_over_mean(std::span<const double> loads) {
    const double sum = std::accumulate(loads.begin(), loads.end(), 0.0);
    if (sum <= 0) return 1;
    return *std::max_element(loads.begin(), loads.end()) * static_cast<double>(loads.size()) / sum;
}

std::int64_t MapDelta::bytes(std::uint32_t slots) const {
    const std::int64_t each = slots <= 65536 ? 4 : 8;
    return 8 + 8 + 4 + each * static_cast<std::int64_t>(changes.size());
}

MapDelta difference(const ExpertMap& from, const ExpertMap& to) {
    REHEARSE_CHECK(from.slot_count() == to.slot_count() && from.gpu_count() == to.gpu_count(),
                   "two maps of one expert group have equally many slots");
    MapDelta delta{from.version(), to.version(), {}};
    for (std::uint32_t slot = 0; slot < from.slot_count(); ++slot) {
        if (from.expert_of_slot()[slot] != to.expert_of_slot()[slot])
            delta.changes.push_back({slot, to.expert_of_slot()[slot]});
    }
    return delta;
}

ExpertMap apply(const ExpertMap& map, const MapDelta& delta) {
    REHEARSE_CHECK(map.version() == delta.from,
                   fmt::format("a delta from version {} meets version {}", delta.from, map.version()));
    std::vector<std::uint32_t> slots(map.expert_of_slot().begin(), map.expert_of_slot().end());
    for (const MapDelta::Change& change : delta.changes) slots.at(change.slot) = change.expert;
    return {map.expert_count(), map.gpu_count(), std::move(slots), delta.to};
}

}  // namespace rehearse
