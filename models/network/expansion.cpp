#include "models/network/expansion.hpp"

#include <algorithm>

#include "models/network/framing.hpp"
#include "sim/base/checks.hpp"

namespace rehearse {
namespace {

bool is_ethernet(LinkTier tier) {
    return tier == LinkTier::host || tier == LinkTier::aggregation || tier == LinkTier::core;
}

}  // namespace

Expansion::Expansion(const Cluster& cluster, const Router& router, const NetworkSpec& spec)
    : cluster_(&cluster), router_(&router), framing_(spec.framing), mtu_(spec.mtu) {
    REHEARSE_CHECK(mtu_ > Bytes{0}, "the MTU is not positive");
}

std::vector<double> Expansion::capacities() const {
    std::vector<double> capacities;
    capacities.reserve(cluster_->links().size());
    for (const Link& link : cluster_->links()) capacities.push_back(link.rate.bytes_per_second());
    return capacities;
}

Expansion::Transfer Expansion::expand(const TransferRequest& request) {
    REHEARSE_CHECK(request.size >= Bytes{0}, "a transfer has a negative size");
    const Shape* shape = &scratch_;
    if (request.group_key == 0) {
        shape_of(request, scratch_);
    } else {
        const auto [place, is_new] = known_.try_emplace(request.group_key, static_cast<std::uint32_t>(shapes_.size()));
        if (is_new) {
            shapes_.emplace_back();
            shape_of(request, shapes_.back());
        }
        shape = &shapes_[place->second];
    }
    const double ratio = wire_ratio(request);
    weighted_ = shape->links;
    for (std::size_t i = 0; i < weighted_.size(); ++i) {
        if (shape->framed[i] != 0) weighted_[i].weight *= ratio;
    }
    return {weighted_, shape->hop_latency * static_cast<std::int64_t>(request.steps)};
}

double Expansion::wire_ratio(const TransferRequest& request) const {
    std::int64_t messages = 1;
    if (request.pattern == TransferPattern::ring) messages = request.steps;
    if (request.pattern == TransferPattern::all_to_all) messages = static_cast<std::int64_t>(request.gpus.size()) - 1;
    const Bytes message{request.size.value / std::max<std::int64_t>(1, messages)};
    if (message <= Bytes{0}) return 1.0;
    return static_cast<double>(wire_bytes(framing_, message, mtu_).value) / static_cast<double>(message.value);
}

void Expansion::shape_of(const TransferRequest& request, Shape& shape) {
    const std::span<const GpuId> gpus = request.gpus;
    REHEARSE_CHECK(gpus.size() >= 2, "a transfer needs two members at least");
    shape.links.clear();
    shape.hop_latency = SimDuration{0};
    switch (request.pattern) {
        case TransferPattern::point_to_point:
            REHEARSE_CHECK(gpus.size() == 2, "a point-to-point transfer has a source and a destination");
            add_hop(gpus[0], gpus[1], 1.0, shape);
            break;
        case TransferPattern::ring:
            for (std::size_t i = 0; i < gpus.size(); ++i) add_hop(gpus[i], gpus[(i + 1) % gpus.size()], 1.0, shape);
            break;
        case TransferPattern::all_to_all: {
            const double weight = 1.0 / static_cast<double>(gpus.size() - 1);
            for (std::size_t i = 0; i < gpus.size(); ++i) {
                for (std::size_t j = 0; j < gpus.size(); ++j) {
                    if (i != j) add_hop(gpus[i], gpus[j], weight, shape);
                }
                merge(shape);  // keeps the list short
            }
            break;
        }
    }
    merge(shape);
    shape.framed.clear();
    for (const WeightedLink& use : shape.links) shape.framed.push_back(is_ethernet(cluster_->link(use.link).tier) ? 1 : 0);
}

void Expansion::add_hop(GpuId source, GpuId destination, double weight, Shape& shape) {
    const bool inside = cluster_->node_of(source) == cluster_->node_of(destination);
    const auto queue_pairs = inside ? 1U : static_cast<std::uint32_t>(router_->ecmp().queue_pairs);
    for (std::uint32_t q = 0; q < queue_pairs; ++q) {
        const Path path = router_->route({source, destination, q});
        SimDuration latency{0};
        for (const LinkId link : path.links()) {
            shape.links.push_back({link, weight / queue_pairs});
            latency += cluster_->link(link).latency;
        }
        shape.hop_latency = std::max(shape.hop_latency, latency);
    }
}

// Sorts by link and adds up the weights of one link.
void Expansion::merge(Shape& shape) {
    std::stable_sort(shape.links.begin(), shape.links.end(),
                     [](const WeightedLink& a, const WeightedLink& b) { return a.link < b.link; });
    std::size_t kept = 0;
    for (const WeightedLink& use : shape.links) {
        if (kept > 0 && shape.links[kept - 1].link == use.link) {
            shape.links[kept - 1].weight += use.weight;
        } else {
            shape.links[kept++] = use;
        }
    }
    shape.links.resize(kept);
}

}  // namespace rehearse
