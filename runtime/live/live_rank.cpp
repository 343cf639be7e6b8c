#include "runtime/live/live_rank.hpp"

#include <algorithm>
#include <cstring>

#include "kernels/cpu/elementwise.hpp"
#include "models/workload/moe/moe_model.hpp"
#include "runtime/moe/replicas.hpp"
#include "sim/base/checks.hpp"
#include "sim/base/fingerprint.hpp"
#include "sim/base/rng.hpp"

namespace rehearse {

namespace {

std::int64_t tokens_of(const TrainingSpec& training) { return training.micro_batch * training.model.sequence; }

const char* name_of(LocalCollectiveKind kind) { return kind == LocalCollectiveKind::dispatch ? "dispatch" : "combine"; }

const char* name_of(CollectiveVerb verb) {
    switch (verb) {
        case CollectiveVerb::all_gather: return "all-gather";
        case CollectiveVerb::reduce_scatter: return "reduce-scatter";
        case CollectiveVerb::all_reduce: return "all-reduce";
        case CollectiveVerb::sync: break;
    }
    return "sync";
}

// Small values: what experts add to a token must not change what the next gate chooses.
// One draw of 8,191 numbers goes round: nothing depends on more of them.
void fill(std::span<LiveElement> values, const Stream& random, std::uint64_t entity, float scale) {
    kernels::Array<LiveElement> drawn(std::min<std::size_t>(8191, values.size()));
    for (std::size_t i = 0; i < drawn.size(); ++i)
        drawn[i] = kernels::from_float<LiveElement>(scale * static_cast<float>(random.normal(entity, i)));
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = drawn[i % drawn.size()];
}

}  // namespace

LiveRank::LiveRank(const Workload& workload, const PolicySpec& policies, std::uint64_t seed, Communicator& world)
    : workload_(workload), policies_(policies), world_(world), probe_(context_),
      dense_(workload.training, context_),
      batches_(workload.training, tokens_of(workload.training), world.rank(), seed) {
    const TrainingSpec& training = workload_.training;
    const ModelSpec& model = training.model;
    const RankId rank{world.rank()};
    const auto group = [&](GroupFamily family) { return world.split(workload_.layout.group_of(family, rank)); };
    expert_group_ = group(GroupFamily::local);
    data_group_ = group(GroupFamily::data);
    expert_data_group_ = group(GroupFamily::expert_data);
    const std::size_t elements = static_cast<std::size_t>(tokens_of(training) * model.hidden);
    tokens_.resize(elements);
    const ExpertLayerShape shape{tokens_of(training), model.hidden,       model.experts.routed,
                                 model.experts.top_k, model.expert_ffn(),
                                 static_cast<std::uint32_t>(expert_slots(training, policies.balancer))};
    const Stream random(seed, "live.weights");
    for (std::int64_t l = 0; l < model.layers; ++l) {
        if (!has_experts(model, l)) {
            layers_.emplace_back();
            continue;
        }
        ExpertLayer& layer = *layers_.emplace_back(
            std::make_unique<ExpertLayer>(shape, *expert_group_, context_));
        const auto entity = static_cast<std::uint64_t>(l);
        TokenBatches::fill_gate(layer.weights().gate, model.experts.routed, l);
        fill(layer.weights().up, random, 4 * entity, 0.02f);
        fill(layer.weights().down, random, 4 * entity + 1, 0.002f);
        fill(layer.output_gradient(), random, 4 * entity + 2, 0.01f);
        layer.place(ExpertMap::contiguous(static_cast<std::uint32_t>(model.experts.routed), expert_group_->size()));
    }
    std::vector<ExpertLayer*> routed;
    for (const auto& layer : layers_) {
        if (layer != nullptr) routed.push_back(layer.get());
    }
    if (is_on(policies.balancer.active))
        balance_ = std::make_unique<LiveBalance>(training, policies.balancer, routed, *expert_group_, world);
    if (is_on(policies.pager.active)) pages_ = std::make_unique<LivePages>(policies.pager, routed, seed);
}

template <class Act>
void LiveRank::policy(const char* name, Part part, const Act& act) {
    const Clock::time_point begin = Clock::now();
    act();
    log_.add({.name = name, .part = part}, begin, Clock::now());
}

void LiveRank::policies_before() {
    if (pages_ != nullptr) policy("plan of pages", Part::optimizer, [&] { pages_->begin_step(); });
}

void LiveRank::policies_after() {
    if (pages_ != nullptr) policy("plan of pages", Part::optimizer, [&] { pages_->end_step(); });
    if (balance_ == nullptr) return;
    meet(*expert_group_, {});
    policy("replicas", Part::ep_exposed, [&] { balance_->join_replicas(); });
    meet(world_, {});
    policy("balancer", Part::optimizer, [&] { balance_->decide(); });
    policy("migration", Part::ep_exposed, [&] { balance_->migrate(); });
}

// Pages of a layer are used from the first product that reads their weights on, and held until the last of a pass. The
// pages of the layer that follows in the pass are asked for then.
void LiveRank::policies_around(const Instruction& instruction, const Segment& segment, std::string_view name) {
    if (pages_ == nullptr) return;
    const bool is_last = instruction.micro_batch + 1 == workload_.training.micro_batches();
    const std::size_t layer = place_of(segment);
    if (name == "expert up")
        policy("pages", Part::data, [&] { pages_->use(layer, layer + 1, PageAccess::read); });
    if (name == "expert down dgrad")
        policy("pages", Part::data, [&] {
            pages_->use(layer, layer > 0 ? layer - 1 : no_layer, is_last ? PageAccess::write : PageAccess::read);
        });
    if (name == "unpermute" || name == "gate wgrad")
        policy("pages", Part::data, [&] { pages_->release(layer); });
}

std::size_t LiveRank::place_of(const Segment& segment) const {
    return static_cast<std::size_t>(
        std::count_if(layers_.begin(), layers_.begin() + static_cast<std::ptrdiff_t>(segment.layer),
                      [](const std::unique_ptr<ExpertLayer>& layer) { return layer != nullptr; }));
}

void LiveRank::step() {
    world_.meet();
    const Pace pace = probe_.run();
    log_.begin_step(world_.meet(), pace);
    passes_ = 0;
    for (std::vector<std::uint32_t>& posted : posted_) posted.clear();
    policies_before();
    for (const Instruction& instruction : workload_.programs.front().instructions) {
        switch (instruction.op) {
            case Op::work: work(instruction); break;
            case Op::collective:
                posted_[static_cast<std::size_t>(instruction.family)].push_back(instruction.index);
                break;
            case Op::await: group_collective(instruction); break;
            default: REHEARSE_CHECK(false, "a live run has no pipeline");
        }
    }
    policies_after();
    const Clock::time_point end = Clock::now(), last = world_.meet();
    Operation waits{.name = "wait for the last rank", .kind = OperationKind::wait, .part = Part::straggler_wait};
    log_.add(waits, end, last);
    log_.end_step(last);
    ++step_;
}

std::uint64_t LiveRank::value_fingerprint() const {
    Fingerprint fingerprint;
    for (const std::unique_ptr<ExpertLayer>& layer : layers_) {
        if (layer == nullptr) continue;
        for (const LiveElement value : layer->output()) fingerprint.add(std::uint64_t{value.bits});
        for (const LiveElement value : layer->input_gradient()) fingerprint.add(std::uint64_t{value.bits});
    }
    return fingerprint.value();
}

Operation LiveRank::operation_of(const Instruction& instruction, const Segment* segment, const char* name) const {
    Operation operation;
    operation.name = name;
    operation.part = instruction.part;
    operation.phase = instruction.phase;
    if (instruction.op == Op::work) operation.work = instruction.index;
    if (segment != nullptr) operation.layer = segment->layer;
    return operation;
}

ExpertLayer* LiveRank::layer_of(const Segment& segment) {
    return segment.layer < layers_.size() ? layers_[segment.layer].get() : nullptr;
}

void LiveRank::work(const Instruction& instruction) {
    const Work& work = workload_.works[instruction.index];
    const auto next_from = [&](std::size_t layer) {
        while (layer < layers_.size() && layers_[layer] == nullptr) ++layer;
        return layer;
    };
    next_layer_ = next_from(0);
    for (const Segment& segment : work.segments) {
        if (segment.layer != no_layer) next_layer_ = next_from(segment.layer + 1);
        const LocalCollective& collective = segment.collective;
        const bool streams = collective.hiding == Hiding::streamed && collective.kind == LocalCollectiveKind::dispatch;
        operators(instruction, segment, streams ? collective.partner : segment.operators.size());
        if (streams) {
            REHEARSE_CHECK(collective.partner + 1 == segment.operators.size(), "one product takes the streamed rows");
            streamed(instruction, segment, segment.operators.back());
        } else if (collective.kind != LocalCollectiveKind::none) {
            local_collective(instruction, segment);
        }
    }
}

void LiveRank::operators(const Instruction& instruction, const Segment& segment, std::size_t end) {
    for (std::size_t i = 0; i < end; ++i) run_operator(instruction, segment, segment.operators[i]);
}

void LiveRank::run_operator(const Instruction& instruction, const Segment& segment, const Operator& op) {
    const std::string_view name = op.name;
    ExpertLayer* const layer = layer_of(segment);
    if (layer != nullptr) policies_around(instruction, segment, name);
    const Clock::time_point begin = Clock::now();
    if (layer != nullptr && ExpertLayer::has(name)) {
        layer->run(name);
    } else if (name == "norm") {
        normalise();
    } else if (name == "embedding") {
        load_tokens();
        dense_.run(op);
    } else {
        dense_.run(op);
    }
    Operation operation = operation_of(instruction, &segment, op.name);
    operation.op = &op;
    if (balance_ != nullptr && name == "top-k") balance_->count(place_of(segment));
    const bool has_rows = op.expert_rows != ExpertRows::none && layer != nullptr;
    log_.add(operation, begin, Clock::now(), has_rows ? static_cast<double>(layer->received_rows()) : 0);
}

LiveRank::Clock::time_point LiveRank::meet(Communicator& group, Operation operation) {
    const Clock::time_point begin = Clock::now(), last = group.meet();
    operation.name = "wait";
    operation.kind = OperationKind::wait;
    operation.part = Part::straggler_wait;
    operation.stream = SpanStream::tensor;
    log_.add(operation, begin, last);
    return last;
}

void LiveRank::local_collective(const Instruction& instruction, const Segment& segment) {
    const LocalCollective& collective = segment.collective;
    ExpertLayer* const layer = layer_of(segment);
    REHEARSE_CHECK(layer != nullptr, "a live rank exchanges rows of experts and nothing else within a layer");
    Operation operation = operation_of(instruction, &segment, name_of(collective.kind));
    const Clock::time_point begin = meet(*expert_group_, operation);
    if (collective.kind == LocalCollectiveKind::dispatch) layer->dispatch();
    else layer->combine();
    operation.kind = OperationKind::exchange;
    operation.part = Part::ep_exposed;
    operation.stream = SpanStream::tensor;
    operation.ranks = expert_group_->size();
    operation.bytes = collective.exchange.tokens * static_cast<double>(collective.exchange.top_k) *
                      collective.exchange.token_bytes;
    log_.add(operation, begin, Clock::now());
}

// The product's share of the time stands behind that of the rows.
void LiveRank::streamed(const Instruction& instruction, const Segment& segment, const Operator& product) {
    ExpertLayer* const layer = layer_of(segment);
    REHEARSE_CHECK(layer != nullptr, "a live rank streams rows of experts");
    policies_around(instruction, segment, product.name);
    Operation operation = operation_of(instruction, &segment, "streamed dispatch");
    const Clock::time_point begin = meet(*expert_group_, operation);
    const double busy = layer->dispatch_into(product.name, policies_.stream);
    const Clock::time_point end = Clock::now();
    const auto exchanged = end - std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(busy));
    operation.kind = OperationKind::exchange;
    operation.part = Part::ep_exposed;
    operation.stream = SpanStream::tensor;
    operation.ranks = expert_group_->size();
    operation.bytes = segment.collective.exchange.tokens * static_cast<double>(segment.collective.exchange.top_k) *
                      segment.collective.exchange.token_bytes;
    log_.add(operation, begin, exchanged);
    Operation computed = operation_of(instruction, &segment, product.name);
    computed.op = &product;
    computed.is_cut = true;
    log_.add(computed, exchanged, end, static_cast<double>(layer->received_rows()));
}

// Nothing runs beside on a core: what was posted is done where it is awaited.
void LiveRank::group_collective(const Instruction& instruction) {
    const GroupCollective& spec =
        workload_.collectives[posted_[static_cast<std::size_t>(instruction.family)][instruction.index]];
    Communicator& group = instruction.family == GroupFamily::expert_data ? *expert_data_group_ : *data_group_;
    Operation operation = operation_of(instruction, nullptr, name_of(spec.verb));
    const Clock::time_point begin = meet(group, operation);
    const std::size_t bytes = static_cast<std::size_t>(spec.bytes.value);
    const std::size_t shard = (bytes / sizeof(float) + group.size() - 1) / group.size();
    gradients_.resize(std::max(gradients_.size(), shard * group.size()));
    gradient_shard_.resize(std::max(gradient_shard_.size(), shard));
    if (spec.verb == CollectiveVerb::all_reduce) {
        group.all_reduce(std::span(gradients_).first(bytes / sizeof(float)));
    } else if (spec.verb == CollectiveVerb::reduce_scatter) {
        group.reduce_scatter(std::span(gradients_).first(shard * group.size()),
                             std::span(gradient_shard_).first(shard));
    } else if (spec.verb == CollectiveVerb::all_gather) {
        gathered_.resize(std::max(gathered_.size(), shard * sizeof(float) * group.size()));
        group.all_gather(std::as_bytes(std::span(gradient_shard_).first(shard)),
                         std::span(gathered_).first(shard * sizeof(float) * group.size()));
    }
    operation.kind = OperationKind::exchange;
    operation.part = Part::dp_exposed;
    operation.stream = SpanStream::data;
    operation.ranks = group.size();
    operation.bytes = static_cast<double>(bytes);
    log_.add(operation, begin, Clock::now());
}

void LiveRank::load_tokens() {
    const std::span<const LiveElement> batch = batches_.batch(step_ * 7 + passes_++);
    std::copy(batch.begin(), batch.end(), tokens_.begin());
}

// The norm before the gate makes the input of its layer; that before attention is overwritten by it.
void LiveRank::normalise() {
    ExpertLayer* const layer = next_layer_ < layers_.size() ? layers_[next_layer_].get() : nullptr;
    dense_.norm(tokens_, layer != nullptr ? std::span(layer->input()) : dense_.room(tokens_.size()));
}

}  // namespace rehearse
