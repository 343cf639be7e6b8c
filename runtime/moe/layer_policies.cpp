#include "runtime/moe/layer_policies.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "models/workload/moe/moe_model.hpp"
#include "runtime/comm_pipe/stream_share.hpp"
#include "runtime/moe/replicas.hpp"

namespace rehearse {

namespace {

// What moves with an expert, of the cut that a rank holds: half-precision weights, and the optimizer's master weights
// and moments.
MigrationSpec migration_of(const PolicyInputs& in) {
    const double parameters =
        expert_parameters(in.training.model) / static_cast<double>(in.training.parallel.expert_width());
    return {Bytes{std::llround(2 * parameters)}, Bytes{std::llround(12 * parameters)}, in.link, in.latency};
}

std::uint32_t narrow(std::int64_t value) { return static_cast<std::uint32_t>(value); }

double deviation(std::span<const double> loads) {
    const double n = static_cast<double>(loads.size());
    const double mean = std::accumulate(loads.begin(), loads.end(), 0.0) / n;
    double squares = 0;
    for (const double load : loads) squares += (load - mean) * (load - mean);
    return mean > 0 ? std::sqrt(squares / n) / mean : 0;
}

}  // namespace

LayerPolicies::LayerPolicies(const PolicyInputs& inputs, std::uint32_t layer)
    : in_(inputs), layer_(layer), experts_(narrow(inputs.training.model.experts.routed)),
      ranks_(narrow(inputs.training.parallel.expert)), top_k_(narrow(inputs.training.model.experts.top_k)),
      gate_(inputs.policies.calibrator, experts_) {
    const TrainingSpec& training = in_.training;
    const ParallelSpec& parallel = training.parallel;
    micro_tokens_ = training.micro_batch * training.model.sequence / (parallel.tensor * parallel.context) *
                    parallel.expert_width();
    step_tokens_ = micro_tokens_ * training.micro_batches();
    const BalancerPolicy& policy = in_.policies.balancer;
    if (!is_on(policy.active) || ranks_ == 1) return;
    const std::uint32_t here = experts_ / ranks_;
    const std::uint32_t slots = narrow(expert_slots(training, policy));
    const std::uint32_t nodes = std::max(1u, ranks_ / in_.gpus_per_node);
    std::vector<std::uint32_t> expert_of_slot;
    for (std::uint32_t rank = 0; rank < ranks_; ++rank) {
        for (std::uint32_t slot = 0; slot < slots; ++slot) expert_of_slot.push_back(rank * here + slot % here);
    }
    balancer_ = std::make_unique<LoadBalancer>(policy.spec, EplbShape{slots * ranks_, 1, nodes, ranks_},
                                               migration_of(in_),
                                               ExpertMap(experts_, ranks_, std::move(expert_of_slot)));
}

std::vector<double> LayerPolicies::shares_of(std::uint32_t step) const {
    return expert_shares(in_.training.routing, experts_, layer_, step, in_.seed);
}

TokenDraw LayerPolicies::draw_for(std::span<const double> shares) const {
    return TokenDraw(inclusion_probabilities(gate_.choose(shares), top_k_));
}

void LayerPolicies::warm_up(std::uint32_t step, ExpertStep& outcome) {
    const std::vector<double> shares = shares_of(step);
    const auto counts = draw_for(shares).tokens_per_expert(step_tokens_ * ranks_, layer_, step, in_.seed);
    const std::vector<std::uint64_t> tokens(counts.begin(), counts.end());
    gate_.after_step(shares, tokens);
    if (!balancer_) return;
    const auto decision = balancer_->after_step(tokens);
    if (!decision) return;
    ++outcome.figures.decisions;
    outcome.figures.migrated_bytes += decision->migration.bytes.value;
    outcome.migration_s += (decision->migration.transfer + decision->migration.broadcast).seconds();
}

ExpertSlots LayerPolicies::slots() const {
    std::vector<std::uint32_t> gpu_of_expert(experts_);
    for (std::uint32_t e = 0; e < experts_; ++e) gpu_of_expert[e] = e / (experts_ / ranks_);
    if (!balancer_) return ExpertSlots::single(gpu_of_expert);
    const ExpertMap& map = balancer_->map();
    ExpertSlots slots{{0}, {}};
    for (std::uint32_t e = 0; e < experts_; ++e) {
        for (const std::uint32_t slot : map.slots_of(e)) slots.gpu.push_back(map.gpu_of(slot));
        slots.first.push_back(static_cast<std::uint32_t>(slots.gpu.size()));
    }
    return slots;
}

std::vector<std::uint32_t> LayerPolicies::expert_of_slot() const {
    if (balancer_) return {balancer_->map().expert_of_slot().begin(), balancer_->map().expert_of_slot().end()};
    std::vector<std::uint32_t> in_order(experts_);
    std::iota(in_order.begin(), in_order.end(), 0u);
    return in_order;
}

std::vector<float> LayerPolicies::slot_rows(std::uint32_t step) const {
    const auto counts = draw_for(shares_of(step)).tokens_per_expert(step_tokens_ * ranks_, layer_, step, in_.seed);
    return rows_of_slots(std::vector<double>(counts.begin(), counts.end()), 1);
}

std::vector<float> LayerPolicies::rows_of_slots(std::span<const double> tokens, double unit) const {
    const std::vector<std::uint32_t> map = expert_of_slot();
    std::vector<std::uint32_t> replicas(experts_);
    for (const std::uint32_t expert : map) ++replicas[expert];
    std::vector<float> rows;
    for (const std::uint32_t expert : map)
        rows.push_back(static_cast<float>(tokens[expert] / replicas[expert] / unit));
    return rows;
}

// Capacity scales down what a rank (or an expert) holds above it.
DropReport LayerPolicies::drop(std::span<const double> tokens, LayerLoad& load) const {
    const CapacitySpec& capacity = in_.training.capacity;
    if (capacity.factor == 0) return {};
    const std::vector<std::uint32_t> map = expert_of_slot();
    const bool per_gpu = capacity.scope == CapacityScope::gpu;
    const double rank_mean = static_cast<double>(micro_tokens_) * top_k_;
    std::vector<std::uint32_t> held;
    for (std::uint32_t i = 0; i < (per_gpu ? ranks_ : experts_); ++i)
        held.push_back(narrow(std::llround(per_gpu ? load.rank_rows(i) * rank_mean : tokens[i])));
    const std::int64_t most =
        expert_capacity(capacity.factor, micro_tokens_ * ranks_, top_k_, static_cast<std::uint32_t>(held.size()));
    for (std::size_t slot = 0; slot < map.size(); ++slot) {
        const double rows = held[per_gpu ? slot / load.slots : map[slot]];
        if (rows > static_cast<double>(most)) load.rows[slot] *= static_cast<float>(static_cast<double>(most) / rows);
    }
    return count_drops(held, most);
}

LayerLoad LayerPolicies::measure(std::uint32_t step, ExpertFigures& figures) const {
    const auto counts = draw_for(shares_of(step)).tokens_per_source(ranks_, micro_tokens_, layer_, step, in_.seed);
    std::vector<double> tokens(experts_);
    for (std::size_t i = 0; i < counts.size(); ++i) tokens[i % experts_] += counts[i];

    LayerLoad load;
    load.ranks = ranks_;
    load.rows = rows_of_slots(tokens, static_cast<double>(micro_tokens_) * top_k_);
    load.slots = static_cast<std::uint32_t>(load.rows.size()) / ranks_;
    const DropReport drops = drop(tokens, load);
    std::vector<double> of_rank;
    for (std::uint32_t rank = 0; rank < ranks_; ++rank) of_rank.push_back(load.rank_rows(rank));
    figures.expert_max_over_mean += max_over_mean(tokens);
    figures.rank_max_over_mean += max_over_mean(of_rank);
    figures.rank_deviation += deviation(of_rank);
    figures.dropped += drops.dropped;
    figures.experts_over += drops.over;
    figures.steps_over += drops.steps;
    if (ranks_ == 1) return load;  // nothing is exchanged

    const ExchangeRequest request{ranks_, std::min(in_.gpus_per_node, ranks_), top_k_, micro_tokens_, 1.0};
    const ByteMatrix bytes = exchange_bytes(request, counts, slots(), CopiesPer::assignment);
    const double balanced = static_cast<double>(micro_tokens_) * top_k_ * (ranks_ - 1.0) / ranks_;
    const double kept = 1 - drops.dropped;
    load.exchange = static_cast<float>(std::max({bytes.sent_max() * kept / balanced,
                                                 std::min(bytes.received_max() / balanced, max_over_mean(of_rank))}));
    return load;
}

double LayerPolicies::stream_first(std::uint32_t step) const {
    const auto counts = draw_for(shares_of(step)).tokens_per_source(ranks_, micro_tokens_, layer_, step, in_.seed);
    const ExpertSlots where = slots();
    std::vector<double> received(ranks_);
    std::vector<std::uint32_t> rows(std::size_t{ranks_} * ranks_);  // [rank][source]
    for (std::uint32_t source = 0; source < ranks_; ++source) {
        for (std::uint32_t e = 0; e < experts_; ++e) {
            const std::uint32_t copies = where.first[e + 1] - where.first[e];  // which share the tokens evenly
            for (std::uint32_t i = where.first[e]; i < where.first[e + 1]; ++i) {
                const std::uint32_t here = counts[std::size_t{source} * experts_ + e] / copies;
                rows[std::size_t{where.gpu[i]} * ranks_ + source] += here;
                received[where.gpu[i]] += here;
            }
        }
    }
    const auto busiest =
        static_cast<std::size_t>(std::max_element(received.begin(), received.end()) - received.begin());
    const StreamPolicy& stream = in_.policies.stream;
    return first_share({stream.refills, stream.threshold}, std::span(rows).subspan(busiest * ranks_, ranks_));
}

}  // namespace rehearse
