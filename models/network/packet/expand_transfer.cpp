#include "models/network/packet/expand_transfer.hpp"

#include <algorithm>

namespace rehearse {

namespace {

class Expansion {
public:
    Expansion(const Cluster& cluster, std::int64_t queue_pairs) : cluster_(cluster), queue_pairs_(queue_pairs) {}

    void pair(GpuId from, GpuId to, Bytes size) {
        if (from == to) return;
        if (cluster_.node_of(from) == cluster_.node_of(to)) {
            all_.inside = std::max(all_.inside, inside(from, size));
            return;
        }
        for (std::int64_t pair = 0; pair < queue_pairs_; ++pair) {
            ConnectionRequest request;
            request.source = from;
            request.destination = to;
            request.message = Bytes{size.value / queue_pairs_ + (pair < size.value % queue_pairs_ ? 1 : 0)};
            request.queue_pair = static_cast<std::uint32_t>(pair);
            add(request, bus(from) + bus(to));
        }
    }

    // The hops that leave a node, in ring order; each grants the next one, however many NVLink hops lie between.
    void ring(std::span<const GpuId> gpus, Bytes message, std::int64_t steps) {
        const std::size_t n = gpus.size();
        std::vector<std::size_t> hops;
        for (std::size_t i = 0; i < n; ++i) {
            if (cluster_.node_of(gpus[i]) != cluster_.node_of(gpus[(i + 1) % n])) hops.push_back(i);
        }
        if (hops.empty()) {
            all_.inside = inside(gpus[0], message) * steps;
            return;
        }
        for (std::size_t h = 0; h < hops.size(); ++h) {
            const std::size_t next = (h + 1) % hops.size();
            const std::size_t before = hops[(h + hops.size() - 1) % hops.size()];
            const std::size_t between = (hops[h] + n - before - 1) % n;  // NVLink hops since the last one
            const std::size_t after = (hops[next] + n - hops[h] - 1) % n;
            ConnectionRequest hop;
            hop.source = gpus[hops[h]];
            hop.destination = gpus[(hops[h] + 1) % n];
            hop.message = message;
            hop.messages = steps;
            hop.granted = static_cast<std::int64_t>(1 + between);
            hop.successors[0] = static_cast<std::uint32_t>(next);
            const SimDuration hops_after = inside(hop.destination, message) * static_cast<std::int64_t>(after);
            hop.successor_delay = bus(hop.destination) + hops_after + bus(gpus[hops[next]]);
            add(hop, bus(hop.source) + bus(hop.destination) + hops_after);
        }
    }

    TransferConnections take() { return std::move(all_); }

private:
    SimDuration inside(GpuId from, Bytes size) const {  // one hop over NVLink
        const Link& up = cluster_.link(cluster_.out_links(cluster_.gpu_vertex(from)).front());
        return size / up.rate + up.latency * 2;
    }
    SimDuration bus(GpuId gpu) const {  // to its NIC, or back
        const VertexId nic = cluster_.nic_vertex(gpu);
        for (const LinkId link : cluster_.out_links(cluster_.gpu_vertex(gpu))) {
            if (cluster_.link(link).to == nic) return cluster_.link(link).latency;
        }
        return SimDuration{0};  // the GPU sits on its NIC
    }
    void add(const ConnectionRequest& request, SimDuration behind) {
        all_.requests.push_back(request);
        all_.behind.push_back(behind);
    }

    const Cluster& cluster_;
    std::int64_t queue_pairs_;
    TransferConnections all_;
};

template <class Visit>
void each_hop(const TransferRequest& request, const Visit& visit) {
    const std::size_t n = request.gpus.size();
    switch (request.pattern) {
        case TransferPattern::point_to_point:
            visit(request.gpus[0], request.gpus[1]);
            break;
        case TransferPattern::ring:
            for (std::size_t i = 0; i < n; ++i) visit(request.gpus[i], request.gpus[(i + 1) % n]);
            break;
        case TransferPattern::all_to_all:
            for (const GpuId from : request.gpus) {
                for (const GpuId to : request.gpus) {
                    if (from != to) visit(from, to);
                }
            }
            break;
    }
}

}  // namespace

TransferConnections expand_transfer(const TransferRequest& request, const Cluster& cluster, std::int64_t queue_pairs) {
    const auto n = static_cast<std::int64_t>(request.gpus.size());
    REHEARSE_CHECK(n >= 2, "a transfer needs two ends");
    const std::int64_t size =
        detail::round_up_to_int64(static_cast<double>(request.size.value) / request.efficiency);
    Expansion expansion(cluster, std::max<std::int64_t>(1, queue_pairs));
    if (request.pattern == TransferPattern::ring) {
        expansion.ring(request.gpus, Bytes{std::max<std::int64_t>(1, size / request.steps)}, request.steps);
    } else {
        const std::int64_t share = request.pattern == TransferPattern::all_to_all ? size / (n - 1) : size;
        each_hop(request, [&](GpuId from, GpuId to) { expansion.pair(from, to, Bytes{share}); });
    }
    return expansion.take();
}

bool goes_by_packet(const TransferRequest& request, const Cluster& cluster, const Router& router) {
    const bool relays = cluster.spec().fabric.kind == FabricKind::rail_only;
    bool leaves = false, is_direct = true;
    each_hop(request, [&](GpuId from, GpuId to) {
        if (cluster.node_of(from) == cluster.node_of(to)) return;
        leaves = true;
        if (!relays) return;
        const Path path = router.route({from, to, 0});
        const auto links = path.links();
        const auto first = std::find_if(links.begin(), links.end(), [&](LinkId link) {
            return cluster.link(link).tier >= LinkTier::host;
        });
        is_direct = is_direct && first != links.end() && cluster.link(*first).from == cluster.nic_vertex(from);
    });
    return leaves && is_direct;
}

std::uint64_t transmissions(const ConnectionRequest& request, const FabricGraph& graph, const NetworkSpec& network,
                            const PacketSpec& packet) {
    const auto parts = [](std::int64_t whole, std::int64_t part) {
        return std::max<std::int64_t>(1, (whole + part - 1) / part);
    };
    const std::int64_t packets = parts(request.message.value, network.mtu.value);
    const std::int64_t acks = parts(packets, packet.transport.ack_every);
    const std::int64_t forth = packets * (graph.route(request.forth()).switches + 1);
    const std::int64_t back = acks * (graph.route(request.back()).switches + 1);
    return static_cast<std::uint64_t>((forth + back) * request.messages);
}

}  // namespace rehearse
