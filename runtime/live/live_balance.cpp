#include "runtime/live/live_balance.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

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

// Both hold floats.
void add_floats(std::span<std::byte> sums, std::span<const std::byte> added) {
    for (std::size_t i = 0; i < sums.size(); i += sizeof(float)) {
        float a = 0, b = 0;
        std::memcpy(&a, sums.data() + i, sizeof a);
        std::memcpy(&b, added.data() + i, sizeof b);
        a += b;
        std::memcpy(sums.data() + i, &a, sizeof a);
    }
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
        carry(*layers_[i], decided_[i], Carries::weights);
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
        carry(*layers_[i], moves, Carries::gradients);
        for (Move& move : moves) std::swap(move.from, move.to);
        carry(*layers_[i], moves, Carries::weights);
    }
}

// All of a layer at once. Weights replace what stands in the slot, gradients are added to it.
void LiveBalance::carry(ExpertLayer& layer, const std::vector<Move>& moves, Carries what) {
    const std::uint32_t slots = layer.shape().slots, me = group_.rank();
    ExpertLayerWeights& weights = layer.weights();
    const auto parts = [&](std::uint32_t slot) -> std::vector<std::span<std::byte>> {
        if (what == Carries::weights)
            return {std::as_writable_bytes(part_of(weights.up, slots, slot % slots)),
                    std::as_writable_bytes(part_of(weights.down, slots, slot % slots))};
        return {std::as_writable_bytes(part_of(weights.up_gradient, slots, slot % slots)),
                std::as_writable_bytes(part_of(weights.down_gradient, slots, slot % slots))};
    };
    Communicator::Parts out(group_.size());
    Communicator::Rooms in(group_.size());
    std::size_t bytes = 0;
    for (const Move& move : moves) {
        if (move.from / slots == me) {
            for (const std::span<std::byte> part : parts(move.from)) out[move.to / slots].push_back(part);
        }
        if (move.to / slots != me) continue;
        for (const std::span<std::byte> part : parts(move.to)) bytes += part.size();
    }
    staging_.resize(std::max(staging_.size(), bytes));
    std::size_t used = 0;
    for (const Move& move : moves) {
        if (move.to / slots != me) continue;
        for (const std::span<std::byte> part : parts(move.to)) {
            in[move.from / slots].push_back(std::span(staging_).subspan(used, part.size()));
            used += part.size();
        }
    }
    group_.all_to_all(out, in);
    used = 0;
    for (const Move& move : moves) {
        if (move.to / slots != me) continue;
        for (const std::span<std::byte> part : parts(move.to)) {
            if (what == Carries::weights) {
                std::memcpy(part.data(), staging_.data() + used, part.size());
            } else {
                add_floats(part, std::span<const std::byte>(staging_).subspan(used, part.size()));
            }
            used += part.size();
        }
    }
}

}  // namespace rehearse
