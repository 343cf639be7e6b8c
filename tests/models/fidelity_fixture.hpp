// The same demands at packet and at flow fidelity: flow completion times from the start until the sender holds the last
// ACK. 400 Gbps and 500 ns a link, 4,096 + 64 bytes a packet, 64 an ACK.
#pragma once

#include <algorithm>
#include <vector>

#include "models/network/make_network_model.hpp"
#include "models/network/traffic_matrix.hpp"
#include "tests/models/packet_fixture.hpp"

namespace rehearse::testing {

inline PacketSpec endless_buffers(QueueDiscipline discipline) {
    PacketSpec spec;
    spec.buffer.bounded = Switch::off;
    spec.buffer.discipline = discipline;
    return spec;
}

struct Demand {
    std::uint32_t source, destination;
    std::int64_t bytes;
};

struct Times {
    double mean = 0, longest = 0;  // microseconds
    std::size_t unfinished = 0;
};

inline Times summary(const std::vector<double>& us) {
    Times times;
    for (const double one : us) {
        times.unfinished += one <= 0;
        times.mean += one / static_cast<double>(us.size());
        times.longest = std::max(times.longest, one);
    }
    return times;
}

inline std::vector<double> packet_times(const ClusterSpec& cluster, const std::vector<Demand>& demands,
                                        PacketSpec spec, FlowControl control = FlowControl::pfc) {
    NetworkSpec network = PacketBed::plain_network();
    network.flow_control = control;
    PacketBed bed(cluster, spec, network);
    for (const Demand& demand : demands) bed.send(demand.source, demand.destination, demand.bytes);
    bed.run();
    std::vector<double> us;
    for (std::uint32_t i = 0; i < demands.size(); ++i) us.push_back(bed.microseconds_of(i));
    return us;
}

// Fluid time and propagation of the model; then what it leaves out: serialisation of the first packet on all links but
// one, and the way of the ACK.
inline std::vector<double> flow_times(const ClusterSpec& spec, const std::vector<Demand>& demands) {
    const PacketBed bed(spec);
    const auto model = make_network_model(bed.network, bed.cluster, bed.router);
    std::vector<double> us(demands.size());
    for (std::uint32_t i = 0; i < demands.size(); ++i) {
        const GpuId ends[] = {GpuId{demands[i].source}, GpuId{demands[i].destination}};
        TransferRequest request;
        request.gpus = ends;
        request.size = Bytes{demands[i].bytes};
        request.token = i;
        model->start(SimTime{}, request);
        const double links = bed.graph.route({ends[0], ends[1]}).switches + 1;
        const double first = static_cast<double>(std::min<std::int64_t>(demands[i].bytes, 4096) + 64) * 20e-6;
        us[i] = (links - 1) * first + links * (0.5 + 0.00128);
    }
    std::vector<Completion> done;
    for (SimTime at = model->next_event_time(); at < SimTime{INT64_MAX}; at = model->next_event_time()) {
        model->advance(at, done);
    }
    for (const Completion& one : done) us[one.token] += one.at.seconds() * 1e6;
    return us;
}

inline std::vector<Demand> permutation_demands(std::uint32_t hosts, std::uint64_t seed) {
    std::vector<Demand> demands;
    const std::vector<std::uint32_t> to = permutation(hosts, seed);
    for (std::uint32_t i = 0; i < hosts; ++i) demands.push_back({i, to[i], 2'000'000});
    return demands;
}

inline std::vector<Demand> all_to_all_demands(std::uint32_t hosts, std::uint32_t group, std::int64_t bytes) {
    std::vector<Demand> demands;
    for (const TrafficPair& pair : all_to_all(hosts, group)) demands.push_back({pair.source, pair.destination, bytes});
    return demands;
}

}  // namespace rehearse::testing
