// A fabric with its packet engine, for tests that state their traffic and read the results.
#pragma once

#include <vector>

#include "models/network/packet/engine.hpp"
#include "tests/topology/fabrics.hpp"

namespace rehearse::testing {

struct PacketBed {
    explicit PacketBed(const ClusterSpec& cluster_spec, PacketSpec packets = {}, NetworkSpec net = plain_network(),
                       std::uint64_t seed = 1, const Crew& crew = {})
        : cluster(build_cluster(cluster_spec)), router(cluster, {.hash = HashFunction::jenkins}, seed),
          graph(cluster, router), network(net), spec(packets), engine(graph, network, spec, seed, crew) {}

    static NetworkSpec plain_network() {  // 64 bytes a packet and an ACK, as in facts of other simulators
        NetworkSpec spec;
        spec.framing = Framing::fixed_64;
        return spec;
    }

    std::uint32_t send(std::uint32_t from, std::uint32_t to, std::int64_t bytes, SimTime start = {}) {
        return engine.connect(
            {.source = GpuId{from}, .destination = GpuId{to}, .message = Bytes{bytes}, .start = start});
    }
    // The port by which a GPU's NIC sends, and its switch's back to it.
    std::uint32_t nic_port(std::uint32_t gpu) const { return graph.first_port(graph.nic_of(GpuId{gpu})); }
    LinkId uplink_of(std::uint32_t gpu) const { return graph.port(nic_port(gpu)).link; }
    LinkId downlink_of(std::uint32_t gpu) const { return graph.port(graph.port(nic_port(gpu)).peer).link; }
    // Loses the data packets that begin to leave in this window, on one way of one link.
    void lose(LinkId link, SimTime begin, SimTime end) {
        engine.add_fault({.kind = LinkFaultKind::lossy, .link = link, .begin = begin, .end = end,
                          .data_loss = Ratio{1.0}});
    }
    void run() { engine.run(SimTime{INT64_MAX - 1}); }
    double microseconds_of(std::uint32_t connection) const {
        const ConnectionResult& result = engine.results()[connection];
        return (result.finished - result.start).seconds() * 1e6;
    }
    bool all_done() const {
        for (const ConnectionResult& result : engine.results()) {
            if (result.state != ConnectionState::done) return false;
        }
        return true;
    }
    PortCounters total() const { return total_of(engine.counters()); }

    Cluster cluster;
    Router router;
    FabricGraph graph;
    NetworkSpec network;
    PacketSpec spec;
    PacketEngine engine;
};

}  // namespace rehearse::testing
