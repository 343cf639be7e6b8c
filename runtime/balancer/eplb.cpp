#include "runtime/balancer/eplb.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <queue>

#include "sim/base/fault.hpp"

namespace rehearse {

namespace {

using Indices = std::vector<std::uint32_t>;

// Items into equally large packs, the heaviest first, each into the lightest pack with room. One list per pack, in the
// order in which the items came.
std::vector<Indices> pack(const std::vector<double>& weights, std::uint32_t packs) {
    Indices order(weights.size());
    std::iota(order.begin(), order.end(), 0u);
    std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return weights[a] > weights[b]; });
    const std::size_t room = weights.size() / packs;
    using Lightest = std::pair<double, std::uint32_t>;  // weight, pack
    std::priority_queue<Lightest, std::vector<Lightest>, std::greater<>> open;
    for (std::uint32_t i = 0; i < packs; ++i) open.emplace(0.0, i);
    std::vector<Indices> filled(packs);
    for (const std::uint32_t item : order) {
        const auto [weight, lightest] = open.top();
        open.pop();
        filled[lightest].push_back(item);
        if (filled[lightest].size() < room) open.emplace(weight + weights[item], lightest);
    }
    return filled;
}

// Experts of the slots: each once, then each further slot to the expert with the largest load per replica.
Indices replicate(const std::vector<double>& loads, std::uint32_t slots) {
    Indices expert_of_slot(loads.size()), replicas(loads.size(), 1);
    std::iota(expert_of_slot.begin(), expert_of_slot.end(), 0u);
    struct Hot {
        double load_per_replica;
        std::uint32_t expert;
        bool operator<(const Hot& other) const {
            return load_per_replica < other.load_per_replica ||
                   (load_per_replica == other.load_per_replica && expert > other.expert);
        }
    };
    std::priority_queue<Hot> hottest;
    for (std::uint32_t expert = 0; expert < loads.size(); ++expert) hottest.push({loads[expert], expert});
    while (expert_of_slot.size() < slots) {
        const std::uint32_t expert = hottest.top().expert;
        hottest.pop();
        expert_of_slot.push_back(expert);
        hottest.push({loads[expert] / ++replicas[expert], expert});
    }
    return expert_of_slot;
}

void check(std::size_t experts, const EplbShape& shape) {
    FaultList faults;
    const auto fault = [&](bool holds, std::string wrong, std::string expected) {
        if (holds) return;
        Fault found;
        found.path = "balancer";
        found.wrong = std::move(wrong);
        found.expected = std::move(expected);
        faults.add(std::move(found));
    };
    const bool positive = shape.groups > 0 && shape.nodes > 0 && shape.gpus > 0 && experts > 0;
    fault(positive, "no experts, groups, nodes or GPUs", "at least one of each");
    faults.throw_if_any();
    fault(experts % shape.groups == 0, fmt::format("{} experts in {} groups", experts, shape.groups),
          "equally large groups");
    fault(shape.gpus % shape.nodes == 0, fmt::format("{} GPUs on {} nodes", shape.gpus, shape.nodes),
          "equally many GPUs on every node");
    fault(shape.slots % shape.gpus == 0, fmt::format("{} slots on {} GPUs", shape.slots, shape.gpus),
          "equally many slots on every GPU");
    fault(shape.slots >= experts, fmt::format("{} slots for {} experts", shape.slots, experts),
          "a slot for every expert");
    faults.throw_if_any();
}

}  // namespace

ExpertMap balance_experts(std::span<const double> loads, const EplbShape& wanted, std::uint64_t version) {
    check(loads.size(), wanted);
    EplbShape shape = wanted;
    if (shape.groups % shape.nodes != 0) shape.groups = shape.nodes = 1;
    const auto group_size = static_cast<std::uint32_t>(loads.size()) / shape.groups;
    std::vector<double> group_load(shape.groups, 0.0);
    for (std::size_t expert = 0; expert < loads.size(); ++expert) group_load[expert / group_size] += loads[expert];

    Indices slots;
    for (const Indices& groups : pack(group_load, shape.nodes)) {
        Indices experts;
        std::vector<double> load;
        for (const std::uint32_t group : groups)
            for (std::uint32_t i = 0; i < group_size; ++i) experts.push_back(group * group_size + i);
        for (const std::uint32_t expert : experts) load.push_back(loads[expert]);
        const Indices replicas = replicate(load, shape.slots / shape.nodes);  // indices into `experts`
        Indices copies(experts.size(), 0);
        for (const std::uint32_t i : replicas) ++copies[i];
        std::vector<double> weight;
        for (const std::uint32_t i : replicas) weight.push_back(load[i] / copies[i]);
        for (const Indices& gpu : pack(weight, shape.gpus / shape.nodes))
            for (const std::uint32_t replica : gpu) slots.push_back(experts[replicas[replica]]);
    }
    return {static_cast<std::uint32_t>(loads.size()), shape.gpus, std::move(slots), version};
}

}  // namespace rehearse
