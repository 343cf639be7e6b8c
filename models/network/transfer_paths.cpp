#include "models/network/transfer_paths.hpp"

#include <algorithm>

#include "models/network/framing.hpp"
#include "models/network/sprayed_links.hpp"
#include "sim/base/checks.hpp"

namespace rehearse {
namespace {

bool is_ethernet(LinkTier tier) {
    return tier == LinkTier::host || tier == LinkTier::aggregation || tier == LinkTier::core;
}

}  // namespace

TransferPaths::TransferPaths(const Cluster& cluster, const Router& router, const NetworkSpec& spec, PathChoice paths)
    : cluster_(&cluster), router_(&router), is_sprayed_(paths == PathChoice::spray),
      framing_(spec.framing), mtu_(spec.mtu) {
    REHEARSE_CHECK(mtu_ > Bytes{0}, "the MTU is not positive");
    for (const Link& link : cluster.links()) capacities_.push_back(link.rate.bytes_per_second());
    follows_ = followers();
    carried_alone_.assign(capacities_.size(), 0.0);
}

// PCIe links behind the only network link of a NIC, when that link is no faster.
std::vector<bool> TransferPaths::followers() const {
    const std::span<const Link> links = cluster_->links();
    std::vector<int> out(cluster_->vertices().size(), 0), in(out);
    std::vector<double> out_rate(out.size(), 0.0), in_rate(out_rate);
    for (std::size_t l = 0; l < links.size(); ++l) {
        if (links[l].tier != LinkTier::host) continue;
        ++out[links[l].from.value];
        ++in[links[l].to.value];
        out_rate[links[l].from.value] = in_rate[links[l].to.value] = capacities_[l];
    }
    std::vector<bool> follows(links.size(), false);
    for (std::size_t l = 0; l < links.size(); ++l) {
        if (links[l].tier != LinkTier::pcie) continue;
        const VertexId from = links[l].from, to = links[l].to;
        const bool leaves = cluster_->vertex(to).kind == VertexKind::nic;
        follows[l] = leaves ? out[to.value] == 1 && out_rate[to.value] <= capacities_[l]
                            : in[from.value] == 1 && in_rate[from.value] <= capacities_[l];
    }
    return follows;
}

TransferPaths::Prepared TransferPaths::prepare(const TransferRequest& request) {
    REHEARSE_CHECK(request.size >= Bytes{0}, "a transfer has a negative size");
    const PathIndex index = find_shape(request);
    const Shape& shape = shapes_[index];
    const double ratio = wire_ratio(request);
    const std::span<const WeightedLink> binding(links(shape), shape.binding);
    const double cap = std::min(shape.framed_rate / ratio, shape.plain_rate);
    Prepared prepared{index, {binding, ratio, cap}, shape.hop_latency * static_cast<std::int64_t>(request.steps), ratio,
                      shape.is_kept};
    if (shape.framed == 0) {
        prepared.binding.scale = 1.0;
    } else if (shape.framed < shape.binding) {
        mixed_.assign(binding.begin(), binding.end());
        for (std::uint32_t i = 0; i < shape.framed; ++i) mixed_[i].weight *= ratio;
        prepared.binding = {mixed_, 1.0, cap};
    }
    return prepared;
}

void TransferPaths::expect(std::uint64_t group_key) const {
    const std::uint32_t index = known_.find_small(group_key);
    if (index >= shapes_.size()) return;
    const Shape& shape = shapes_[index];
    __builtin_prefetch(&shape);
    __builtin_prefetch(&shape.near.front());
    __builtin_prefetch(&shape.near.back());
}

double TransferPaths::wire_ratio(const TransferRequest& request) const {
    std::int64_t messages = request.messages;
    if (request.pattern == TransferPattern::ring) messages = request.steps;
    if (request.pattern == TransferPattern::all_to_all) messages = static_cast<std::int64_t>(request.gpus.size()) - 1;
    const Bytes message{request.size.value / std::max<std::int64_t>(1, messages)};
    if (message <= Bytes{0}) return 1.0;
    return static_cast<double>(wire_bytes(framing_, message, mtu_).value) / static_cast<double>(message.value);
}

TransferPaths::PathIndex TransferPaths::find_shape(const TransferRequest& request) {
    PathIndex index = 0;
    if (request.group_key == 0) {
        index = new_shape();
    } else {
        const auto fresh = static_cast<PathIndex>(shapes_.size());
        index = known_.find_or_add(request.group_key, fresh);
        if (index != fresh) return index;
        shapes_.emplace_back().is_kept = true;
    }
    collect(request, shapes_[index]);
    store(shapes_[index]);
    return index;
}

TransferPaths::PathIndex TransferPaths::new_shape() {
    if (free_shapes_.empty()) {
        shapes_.emplace_back();
        return static_cast<PathIndex>(shapes_.size() - 1);
    }
    const PathIndex index = free_shapes_.back();
    free_shapes_.pop_back();
    shapes_[index] = Shape{};
    return index;
}

void TransferPaths::collect(const TransferRequest& request, Shape& shape) {
    const std::span<const GpuId> gpus = request.gpus;
    REHEARSE_CHECK(gpus.size() >= 2, "a transfer needs two members at least");
    collected_.clear();
    switch (request.pattern) {
        case TransferPattern::point_to_point:
            REHEARSE_CHECK(gpus.size() == 2, "a point-to-point transfer has a source and a destination");
            shape.hop_latency = add_hop(gpus[0], gpus[1], 1.0);
            if (is_sprayed_ || router_->ecmp().queue_pairs > 1) merge_collected();
            break;
        case TransferPattern::ring: {
            SimDuration lap{0};
            for (std::size_t i = 0; i < gpus.size(); ++i) lap += add_hop(gpus[i], gpus[(i + 1) % gpus.size()], 1.0);
            const auto hops = static_cast<std::int64_t>(gpus.size());
            shape.hop_latency = SimDuration{(lap.value + hops - 1) / hops};
            merge_collected();
            break;
        }
        case TransferPattern::all_to_all: {
            const double weight = 1.0 / static_cast<double>(gpus.size() - 1);
            for (std::size_t i = 0; i < gpus.size(); ++i) {
                for (std::size_t j = 0; j < gpus.size(); ++j) {
                    if (i == j) continue;
                    shape.hop_latency = std::max(shape.hop_latency, add_hop(gpus[i], gpus[j], weight));
                }
                merge_collected();  // keeps the list short
            }
            break;
        }
    }
}

SimDuration TransferPaths::add_hop(GpuId source, GpuId destination, double weight) {
    const bool inside = cluster_->node_of(source) == cluster_->node_of(destination);
    const bool is_sprayed = is_sprayed_ && !inside;
    const auto queue_pairs = inside || is_sprayed ? 1U : static_cast<std::uint32_t>(router_->ecmp().queue_pairs);
    SimDuration slowest{0};
    for (std::uint32_t q = 0; q < queue_pairs; ++q) {
        const Path path = router_->route({source, destination, q});
        SimDuration latency{0};
        for (const LinkId link : path.links()) {
            if (!is_sprayed) collected_.push_back({link, weight / queue_pairs});
            latency += cluster_->link(link).latency;
        }
        slowest = std::max(slowest, latency);
    }
    if (is_sprayed) {
        for (const WeightedLink& use : sprayed_links(*router_, source, destination))
            collected_.push_back({use.link, weight * use.weight});
    }
    return slowest;
}

// Sorts by link and adds up the weights of one link.
void TransferPaths::merge_collected() {
    std::stable_sort(collected_.begin(), collected_.end(),
                     [](const WeightedLink& a, const WeightedLink& b) { return a.link < b.link; });
    std::size_t kept = 0;
    for (const WeightedLink& use : collected_) {
        if (kept > 0 && collected_[kept - 1].link == use.link) {
            collected_[kept - 1].weight += use.weight;
        } else {
            collected_[kept++] = use;
        }
    }
    collected_.resize(kept);
}

void TransferPaths::store(Shape& shape) {
    shape.all = static_cast<std::uint32_t>(collected_.size());
    if (shape.all > near_max) shape.first = pool_.take(shape.all);
    WeightedLink* const out = shape.all > near_max ? pool_.at(shape.first) : shape.near.data();
    shape.framed_rate = shape.plain_rate = std::numeric_limits<double>::infinity();
    std::uint32_t next = 0;
    for (const WeightedLink& use : collected_) {
        if (!is_ethernet(cluster_->link(use.link).tier)) continue;
        out[next++] = use;
        shape.framed_rate = std::min(shape.framed_rate, capacities_[use.link.value] / use.weight);
    }
    shape.framed = next;
    for (const WeightedLink& use : collected_) {
        if (is_ethernet(cluster_->link(use.link).tier) || follows_[use.link.value]) continue;
        out[next++] = use;
        shape.plain_rate = std::min(shape.plain_rate, capacities_[use.link.value] / use.weight);
    }
    shape.binding = next;
    for (const WeightedLink& use : collected_) {
        if (follows_[use.link.value]) out[next++] = use;
    }
}

void TransferPaths::count(PathIndex index, double payload, double wire_ratio) {
    Shape& shape = shapes_[index];
    if (!shape.is_kept) return add_carried(index, payload, wire_ratio, carried_alone_);
    shape.payload += payload;
    shape.wire += payload * wire_ratio;
}

void TransferPaths::release(PathIndex index) {
    if (shapes_[index].all > near_max) pool_.give_back(shapes_[index].first, shapes_[index].all);
    free_shapes_.push_back(index);
}

void TransferPaths::add_carried(PathIndex index, double payload, double wire_ratio, std::vector<double>& bytes) const {
    const Shape& shape = shapes_[index];
    for (std::uint32_t i = 0; i < shape.all; ++i) {
        const WeightedLink& use = links(shape)[i];
        bytes[use.link.value] += use.weight * payload * (i < shape.framed ? wire_ratio : 1.0);
    }
}

std::vector<double> TransferPaths::carried() const {
    std::vector<double> bytes = carried_alone_;
    for (PathIndex index = 0; index < shapes_.size(); ++index) {
        const Shape& shape = shapes_[index];
        if (shape.is_kept && shape.payload > 0) add_carried(index, shape.payload, shape.wire / shape.payload, bytes);
    }
    return bytes;
}

}  // namespace rehearse
