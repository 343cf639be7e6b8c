#include "runtime/balancer/eplb.hpp"

#include <fmt/format.h>

#include <numeric>

#include "runtime/balancer/first_heap.hpp"
#include "sim/base/fault.hpp"

namespace rehearse {

namespace {

using Indices = std::vector<std::uint32_t>;

// Items into equally large packs, the heaviest first, each into the lightest pack with room: pack after pack, in each
// the order in which its items came.
Indices pack(const std::vector<double>& weights, std::uint32_t packs) {
    std::vector<LoadKey> order, open;
    for (const double weight : weights) order.push_back(heavy_first(weight, static_cast<std::uint32_t>(order.size())));
    sort_by_load(order);
    const std::size_t room = weights.size() / packs;
    std::vector<double> weight(packs, 0.0);
    Indices filled(packs, 0), packed(weights.size());
    const auto put = [&](std::uint32_t item, std::uint32_t pack) {
        packed[pack * room + filled[pack]++] = item;
        weight[pack] += weights[item];
    };
    std::uint32_t first = 0;  // an empty pack is the lightest as long as items weigh something
    for (; first < packs && weights[number_of(order[first])] > 0; ++first) put(number_of(order[first]), first);
    for (std::uint32_t pack = packs; pack-- > 0;) {
        if (filled[pack] < room) open.push_back(light_first(weight[pack], pack));
    }
    FirstHeap lightest(std::move(open));
    for (const LoadKey key : std::span(order).subspan(first)) {
        const std::uint32_t pack = number_of(lightest.first());
        put(number_of(key), pack);
        if (filled[pack] < room) lightest.replace_first(light_first(weight[pack], pack));
        else lightest.drop_first();
    }
    return packed;
}

// Experts of the slots: each once, then each further slot to the expert with the largest load per replica.
Indices replicate(const std::vector<double>& loads, std::uint32_t slots) {
    Indices expert_of_slot(loads.size()), replicas(loads.size(), 1);
    std::iota(expert_of_slot.begin(), expert_of_slot.end(), 0u);
    std::vector<LoadKey> once;
    for (const std::uint32_t expert : expert_of_slot) once.push_back(heavy_first(loads[expert], expert));
    FirstHeap hottest(std::move(once));
    while (expert_of_slot.size() < slots) {
        const std::uint32_t expert = number_of(hottest.first());
        expert_of_slot.push_back(expert);
        hottest.replace_first(heavy_first(loads[expert] / ++replicas[expert], expert));
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
    const Indices groups = pack(group_load, shape.nodes);
    const std::size_t groups_per_node = shape.groups / shape.nodes;
    for (std::uint32_t node = 0; node < shape.nodes; ++node) {
        Indices experts;
        std::vector<double> load;
        for (const std::uint32_t group : std::span(groups).subspan(node * groups_per_node, groups_per_node))
            for (std::uint32_t i = 0; i < group_size; ++i) experts.push_back(group * group_size + i);
        for (const std::uint32_t expert : experts) load.push_back(loads[expert]);
        const Indices replicas = replicate(load, shape.slots / shape.nodes);  // indices into `experts`
        Indices copies(experts.size(), 0);
        for (const std::uint32_t i : replicas) ++copies[i];
        std::vector<double> weight;
        for (const std::uint32_t i : replicas) weight.push_back(load[i] / copies[i]);
        for (const std::uint32_t replica : pack(weight, shape.gpus / shape.nodes))
            slots.push_back(experts[replicas[replica]]);
    }
    return {static_cast<std::uint32_t>(loads.size()), shape.gpus, std::move(slots), version};
}

}  // namespace rehearse
