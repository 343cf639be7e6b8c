#include "runtime/balancer/spare_plan.hpp"

#include <algorithm>
#include <numeric>

#include "runtime/balancer/first_heap.hpp"

namespace rehearse {

namespace {

using Indices = std::vector<std::uint32_t>;

// What the slots hold while the plan is made.
struct Holdings {
    Indices expert_of_slot, copies;
    std::vector<char> is_free;  // by slot
    Indices free_on;            // slots left to give, by GPU
};

Holdings without_spare(const ExpertMap& map, std::span<const std::uint32_t> spare) {
    Holdings held{{map.expert_of_slot().begin(), map.expert_of_slot().end()}, Indices(map.expert_count()),
                  std::vector<char>(map.slot_count()), Indices(map.gpu_count())};
    for (std::uint32_t expert = 0; expert < map.expert_count(); ++expert)
        held.copies[expert] = static_cast<std::uint32_t>(map.slots_of(expert).size());
    for (const std::uint32_t slot : spare) {
        std::uint32_t& copies = held.copies[held.expert_of_slot[slot]];
        if (copies == 1) continue;
        --copies;
        held.is_free[slot] = 1;
        ++held.free_on[map.gpu_of(slot)];
    }
    return held;
}

struct HotExpert {
    std::uint32_t expert = 0;
    double load_per_copy = 0;
    Indices gpus;             // of its copies, one entry each, where there are slots left to give
    std::vector<char> holds;  // by GPU
};

std::vector<double> loads_per_copy(std::span<const double> loads, const Indices& copies) {
    std::vector<double> per_copy(loads.size());
    for (std::size_t expert = 0; expert < loads.size(); ++expert) per_copy[expert] = loads[expert] / copies[expert];
    return per_copy;
}

std::vector<HotExpert> hottest_experts(const ExpertMap& map, const Holdings& held, const std::vector<double>& per_copy,
                                       std::uint32_t top) {
    std::vector<LoadKey> order;
    for (std::uint32_t expert = 0; expert < map.expert_count(); ++expert)
        order.push_back(heavy_first(per_copy[expert], expert));
    const auto end = order.begin() + std::min(top, map.expert_count());
    std::partial_sort(order.begin(), end, order.end());
    std::vector<HotExpert> hot;
    for (auto at = order.begin(); at != end; ++at) {
        HotExpert& hottest = hot.emplace_back();
        hottest.expert = number_of(*at);
        hottest.load_per_copy = per_copy[hottest.expert];
        hottest.holds.resize(map.gpu_count());
        for (const std::uint32_t slot : map.slots_of(hottest.expert)) {
            const std::uint32_t gpu = map.gpu_of(slot);
            if (held.is_free[slot]) continue;
            hottest.holds[gpu] = 1;
            if (held.free_on[gpu] > 0) hottest.gpus.push_back(gpu);
        }
    }
    return hot;
}

std::vector<double> loads_without_free(const ExpertMap& map, const Holdings& held,
                                       const std::vector<double>& per_copy) {
    std::vector<double> load(map.gpu_count(), 0.0);
    std::uint32_t slot = 0;
    for (double& gpu : load) {
        for (const std::uint32_t end = slot + map.slots_per_gpu(); slot < end; ++slot) {
            if (!held.is_free[slot]) gpu += per_copy[held.expert_of_slot[slot]];
        }
    }
    return load;
}

// GPUs with slots to give, the least loaded first. A key counts while it has its GPU's present load and next slot; the
// others are dropped when they come first.
class FreeGpus {
public:
    FreeGpus(const ExpertMap& map, const Holdings& held, std::vector<double> load)
        : map_(map), held_(held), load_(std::move(load)), next_(map.gpu_count()), left_(held.free_on), order_({}) {
        std::vector<LoadKey> keys;
        for (std::uint32_t gpu = 0; gpu < map.gpu_count(); ++gpu) {
            if (left_[gpu] == 0) continue;
            next_[gpu] = next_free(gpu * map.slots_per_gpu());
            keys.push_back(key_of(gpu));
        }
        order_ = FirstHeap(std::move(keys));
    }

    std::uint32_t left(std::uint32_t gpu) const { return left_[gpu]; }

    // The slot that a copy of the expert goes to: of a GPU that doesn't hold it, if there is one.
    std::uint32_t take(const std::vector<char>& holds) {
        aside_.clear();
        while (drop_stale(), !order_.empty() && holds[map_.gpu_of(number_of(order_.first()))] != 0) {
            aside_.push_back(order_.first());
            order_.drop_first();
        }
        const std::uint32_t slot = number_of(order_.empty() ? aside_.front() : order_.first());
        for (const LoadKey key : aside_) order_.add(key);
        const std::uint32_t gpu = map_.gpu_of(slot);
        if (--left_[gpu] > 0) next_[gpu] = next_free(slot + 1);
        return slot;
    }

    // The key is renewed apart, once the loads of all copies are.
    void add_load(std::uint32_t gpu, double load) { load_[gpu] += load; }
    void renew(std::uint32_t gpu) {
        if (left_[gpu] > 0) order_.add(key_of(gpu));
    }

private:
    LoadKey key_of(std::uint32_t gpu) const { return light_first(load_[gpu], next_[gpu]); }
    std::uint32_t next_free(std::uint32_t slot) const {
        while (held_.is_free[slot] == 0) ++slot;
        return slot;
    }
    void drop_stale() {
        while (!order_.empty()) {
            const std::uint32_t gpu = map_.gpu_of(number_of(order_.first()));
            if (left_[gpu] > 0 && order_.first() == key_of(gpu)) return;
            order_.drop_first();
        }
    }

    const ExpertMap& map_;
    const Holdings& held_;
    std::vector<double> load_;
    Indices next_, left_;  // the next slot to give, and how many there are, by GPU
    FirstHeap order_;
    std::vector<LoadKey> aside_;
};

// Gives the expert one more copy; returns its slot.
std::uint32_t give(HotExpert& hottest, double load_per_copy, const ExpertMap& map, FreeGpus& gpus) {
    const std::uint32_t slot = gpus.take(hottest.holds), gpu = map.gpu_of(slot);
    std::erase_if(hottest.gpus, [&](std::uint32_t holder) { return gpus.left(holder) == 0; });
    for (const std::uint32_t holder : hottest.gpus) gpus.add_load(holder, load_per_copy - hottest.load_per_copy);
    gpus.add_load(gpu, load_per_copy);
    hottest.load_per_copy = load_per_copy;
    hottest.holds[gpu] = 1;
    if (gpus.left(gpu) > 0) hottest.gpus.push_back(gpu);
    for (const std::uint32_t holder : hottest.gpus) gpus.renew(holder);
    return slot;
}

}  // namespace

std::optional<ExpertMap> plan_spare_slots(const ExpertMap& map, std::span<const double> loads,
                                          std::span<const std::uint32_t> spare, std::uint32_t top) {
    Holdings held = without_spare(map, spare);
    const std::uint32_t free = std::accumulate(held.free_on.begin(), held.free_on.end(), 0U);
    if (free == 0 || top == 0) return std::nullopt;
    const std::vector<double> per_copy = loads_per_copy(loads, held.copies);
    std::vector<HotExpert> hot = hottest_experts(map, held, per_copy, top);
    FreeGpus gpus(map, held, loads_without_free(map, held, per_copy));
    std::vector<LoadKey> ranks;  // of `hot`, whose order breaks ties
    for (const HotExpert& expert : hot)
        ranks.push_back(heavy_first(expert.load_per_copy, static_cast<std::uint32_t>(ranks.size())));
    FirstHeap turn(std::move(ranks));
    for (std::uint32_t given = 0; given < free; ++given) {
        const std::uint32_t rank = number_of(turn.first()), expert = hot[rank].expert;
        const double after = loads[expert] / ++held.copies[expert];
        held.expert_of_slot[give(hot[rank], after, map, gpus)] = expert;
        turn.replace_first(heavy_first(after, rank));
    }
    return ExpertMap(map.expert_count(), map.gpu_count(), std::move(held.expert_of_slot), map.version() + 1);
}

}  // namespace rehearse
