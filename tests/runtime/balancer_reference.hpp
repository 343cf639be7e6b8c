// The planners of runtime/balancer, written down as their headers say it: scans instead of heaps. The fast ones must
// decide the same to the last bit.
#pragma once

#include <algorithm>
#include <numeric>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "runtime/balancer/eplb.hpp"

namespace rehearse::reference {

using Indices = std::vector<std::uint32_t>;

// The heaviest first, each into the lightest pack with room.
inline std::vector<Indices> pack(const std::vector<double>& weights, std::uint32_t packs) {
    Indices order(weights.size());
    std::iota(order.begin(), order.end(), 0U);
    std::ranges::stable_sort(order, std::greater<>{}, [&](std::uint32_t i) { return weights[i]; });
    std::vector<Indices> filled(packs);
    std::vector<double> weight(packs, 0.0);
    for (const std::uint32_t item : order) {
        std::uint32_t lightest = packs;
        for (std::uint32_t i = 0; i < packs; ++i) {
            if (filled[i].size() == weights.size() / packs) continue;
            if (lightest == packs || weight[i] < weight[lightest]) lightest = i;
        }
        filled[lightest].push_back(item);
        weight[lightest] += weights[item];
    }
    return filled;
}

inline Indices replicate(const std::vector<double>& loads, std::uint32_t slots) {
    Indices expert_of_slot(loads.size()), replicas(loads.size(), 1);
    std::iota(expert_of_slot.begin(), expert_of_slot.end(), 0U);
    while (expert_of_slot.size() < slots) {
        std::uint32_t hottest = 0;
        for (std::uint32_t e = 1; e < loads.size(); ++e) {
            if (loads[e] / replicas[e] > loads[hottest] / replicas[hottest]) hottest = e;
        }
        expert_of_slot.push_back(hottest);
        ++replicas[hottest];
    }
    return expert_of_slot;
}

// The slots of balance_experts(); the groups divide among the nodes.
inline Indices balanced_slots(const std::vector<double>& loads, const EplbShape& shape) {
    const auto group_size = static_cast<std::uint32_t>(loads.size()) / shape.groups;
    std::vector<double> group_load(shape.groups, 0.0);
    for (std::size_t e = 0; e < loads.size(); ++e) group_load[e / group_size] += loads[e];
    Indices slots;
    for (const Indices& groups : pack(group_load, shape.nodes)) {
        Indices experts;
        std::vector<double> load, weight;
        for (const std::uint32_t group : groups)
            for (std::uint32_t i = 0; i < group_size; ++i) experts.push_back(group * group_size + i);
        for (const std::uint32_t expert : experts) load.push_back(loads[expert]);
        const Indices replicas = replicate(load, shape.slots / shape.nodes);
        for (const std::uint32_t i : replicas)
            weight.push_back(load[i] / static_cast<double>(std::ranges::count(replicas, i)));
        for (const Indices& gpu : pack(weight, shape.gpus / shape.nodes))
            for (const std::uint32_t replica : gpu) slots.push_back(experts[replicas[replica]]);
    }
    return slots;
}

// The slots of plan_spare_slots(); empty where it plans nothing.
inline Indices spare_slots(const ExpertMap& map, std::span<const double> loads, std::span<const std::uint32_t> spare,
                           std::uint32_t top) {
    Indices slots(map.expert_of_slot().begin(), map.expert_of_slot().end()), copies(map.expert_count(), 0), free;
    for (const std::uint32_t expert : slots) ++copies[expert];
    for (const std::uint32_t slot : spare) {
        if (copies[slots[slot]] == 1) continue;
        --copies[slots[slot]];
        free.push_back(slot);
    }
    if (free.empty() || top == 0) return {};
    std::vector<double> gpu_load(map.gpu_count(), 0.0);
    std::vector<Indices> gpus_of(map.expert_count());
    for (std::uint32_t slot = 0; slot < slots.size(); ++slot) {
        if (std::ranges::count(free, slot) > 0) continue;
        gpu_load[map.gpu_of(slot)] += loads[slots[slot]] / copies[slots[slot]];
        gpus_of[slots[slot]].push_back(map.gpu_of(slot));
    }
    const auto load_per_copy = [&](std::uint32_t e) { return loads[e] / copies[e]; };
    Indices hot(map.expert_count());
    std::iota(hot.begin(), hot.end(), 0U);
    std::ranges::stable_sort(hot, std::greater<>{}, load_per_copy);
    hot.resize(std::min<std::size_t>(hot.size(), top));
    while (!free.empty()) {
        const std::uint32_t expert = *std::ranges::max_element(hot, {}, load_per_copy);
        const auto slot = std::ranges::min_element(free, {}, [&](std::uint32_t s) {
            const std::uint32_t gpu = map.gpu_of(s);
            return std::pair(std::ranges::count(gpus_of[expert], gpu) > 0, gpu_load[gpu]);
        });
        const double before = load_per_copy(expert), after = loads[expert] / ++copies[expert];
        for (const std::uint32_t gpu : gpus_of[expert]) gpu_load[gpu] += after - before;
        gpu_load[map.gpu_of(*slot)] += after;
        gpus_of[expert].push_back(map.gpu_of(*slot));
        slots[*slot] = expert;
        free.erase(slot);
    }
    return slots;
}

}  // namespace rehearse::reference
