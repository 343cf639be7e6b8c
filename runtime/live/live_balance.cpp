#include "runtime/live/live_balance.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>

#include "models/workload/moe/moe_model.hpp"
#include "sim/base/checks.hpp"

namespace rehearse {

namespace {

// As runtime/moe/layer_policies lays them at the beginning: the experts of a rank in order, then again in its spare
// slots.
ExpertMap first_map(std::uint32_t experts, std::uint32_t ranks, std::uint32_t slots) {
    const std::uint32_t here = experts / ranks;
    std::vector<std::uint32_t> expert_of_slot;
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
        for (std::uint32_t slot = 0; slot < slots; ++slot) expert_of_slot.push_back(rank * here + slot % here);
    }
    return ExpertMap(experts, ranks, std::move(expert_of_slot));
}

// The parts of a slot in a stack of as many as the rank has.
template <class T>
std::span<T> part_of(kernels::Array<T>& stack, std::uint32_t slots, std::uint32_t slot) {
    const std::size_t size = stack.size() / slots;
    return std::span(stack).subspan(slot * size, size);
}

}  // namespace

LiveBalance::LiveBalance(const TrainingSpec& training, const BalancerPolicy& policy, std::vector<ExpertLayer*> layers,
                         Communicator& group, Communicator& world)
    : layers_(std::move(layers)), group_(group), world_(world), decided_(layers_.size()) {
    const ExpertLayerShape& shape = layers_.front()->shape();
    const auto experts = static_cast<std::uint32_t>(shape.experts);
    const Bytes weights{std::llround(2 * expert_parameters(training.model))};
    const MigrationSpec migration{weights, Bytes{0}, gigabytes_per_second(10), microseconds(1)};  // plans need no times
    for (ExpertLayer* layer : layers_) {
        const ExpertMap map = first_map(experts, group.size(), shape.slots);
        balancers_.emplace_back(policy.spec, EplbShape{shape.slots * group.size(), 1, 1, group.size()}, migration, map);
        layer->place(map);
        counts_.emplace_back(shape.experts);
    }
}

void LiveBalance::count(std::size_t layer) {
    const std::span<const std::int32_t> tokens = layers_[layer]->tokens_per_expert();
    for (std::size_t e = 0; e < tokens.size(); ++e) counts_[layer][e] += static_cast<float>(tokens[e]);
}

void LiveBalance::decide() {
    for (std::size_t i = 0; i < layers_.size(); ++i) {
        world_.all_reduce(counts_[i]);
        const std::vector<std::uint64_t> tokens(counts_[i].begin(), counts_[i].end());
        std::fill(counts_[i].begin(), counts_[i].end(), 0.0f);
        const ExpertMap before = balancers_[i].map();
        const auto decision = balancers_[i].after_step(tokens);
        decided_[i].clear();
        if (!decision) continue;
        for (const MapDelta::Change& change : decision->delta.changes) {
            const auto holders = before.slots_of(change.expert);
            const auto here = std::find_if(holders.begin(), holders.end(), [&](std::uint32_t slot) {
                return before.gpu_of(slot) == before.gpu_of(change.slot);
            });
            decided_[i].push_back({here != holders.end() ? *here : holders.front(), change.slot});
        }
    }
}

void LiveBalance::migrate() {
    for (std::size_t i = 0; i < layers_.size(); ++i) {
        if (decided_[i].empty()) continue;  // on every rank alike
        carry_weights(*layers_[i], decided_[i]);
        layers_[i]->place(balancers_[i].map());
    }
}

std::vector<LiveBalance::Move> LiveBalance::replica_moves(const ExpertMap& map) const {
    std::vector<Move> moves;
    for (std::uint32_t expert = 0; expert < map.expert_count(); ++expert) {
        const auto slots = map.slots_of(expert);
        for (std::size_t copy = 1; copy < slots.size(); ++copy) moves.push_back({slots[copy], slots[0]});
    }
    return moves;
}

void LiveBalance::join_replicas() {
    for (std::size_t i = 0; i < layers_.size(); ++i) {
        std::vector<Move> moves = replica_moves(balancers_[i].map());
        if (moves.empty()) continue;
        ExpertLayerWeights& weights = layers_[i]->weights();
        carry(*layers_[i], moves, {weights.up_gradient, weights.down_gradient}, gradients_,
              [](std::span<float> sums, std::span<const float> added) {
                  std::transform(sums.begin(), sums.end(), added.begin(), sums.begin(), std::plus<>());
              });
        for (Move& move : moves) std::swap(move.from, move.to);
        carry_weights(*layers_[i], moves);
    }
}

void LiveBalance::carry_weights(ExpertLayer& layer, const std::vector<Move>& moves) {
    carry(layer, moves, {layer.weights().up, layer.weights().down}, weights_,
          [](std::span<LiveElement> to, std::span<const LiveElement> from) { std::ranges::copy(from, to.begin()); });
}

// All of a layer at once.
template <class T, class Land>
void LiveBalance::carry(ExpertLayer& layer, const std::vector<Move>& moves, Stacks<T> stacks, kernels::Array<T>& landed,
                        const Land& land) {
    const std::uint32_t slots = layer.shape().slots, me = group_.rank();
    const auto parts = [&](std::uint32_t slot) {
        return std::array{part_of(stacks.up, slots, slot % slots), part_of(stacks.down, slots, slot % slots)};
    };
    std::size_t size = 0;
    for (const Move& move : moves) {
        if (move.to / slots == me) size += (stacks.up.size() + stacks.down.size()) / slots;
    }
    landed.resize(std::max(landed.size(), size));
    Communicator::Parts out(group_.size());
    Communicator::Rooms in(group_.size());
    std::span<T> room = landed;
    for (const Move& move : moves) {
        for (const std::span<T> part : parts(move.from)) {
            if (move.from / slots == me) out[move.to / slots].push_back(std::as_bytes(part));
            if (move.to / slots != me) continue;
            in[move.from / slots].push_back(std::as_writable_bytes(room.first(part.size())));
            room = room.subspan(part.size());
        }
    }
    group_.all_to_all(out, in);
    room = landed;
    for (const Move& move : moves) {
        if (move.to / slots != me) continue;
        for (const std::span<T> part : parts(move.to)) {
            land(part, room.first(part.size()));
            room = room.subspan(part.size());
        }
    }
}

}  // namespace rehearse
