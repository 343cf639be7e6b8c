// PacketModel: the packet engine as a NetworkModel, so that a training step can run on packets.
//
// Messages between nodes are queue pairs of the engine; what stays in a node crosses NVLink at its rate, alone, in
// closed form. A ring becomes one connection per hop between nodes, with one message per step: a member sends what it
// received in the step before. Hops inside a node delay that by the NVLink time of one message, and the messages of
// the members that lie on such hops count as present from the start. An all-to-all becomes its pairs.
//
// A transfer ends when the last packet of its last message has arrived. The caller may start transfers at any time it
// has advanced to; to keep that exact the engine is run to one instant at a time, which suits slices of a job and not
// whole ones.
#pragma once

#include <memory>
#include <queue>
#include <vector>

#include "models/network/network_model.hpp"
#include "models/network/packet/engine.hpp"

namespace rehearse {

class PacketModel final : public NetworkModel {
public:
    // Cluster and router must outlive the model. InputError for a fabric that the engine refuses.
    PacketModel(const Cluster& cluster, const Router& router, const NetworkSpec& spec, const PacketSpec& packet,
                std::uint64_t seed);

    FlowId start(SimTime at, const TransferRequest& request) override;
    SimTime next_event_time() override;
    // InputError (models.network.packet.transport.retries) when a queue pair gives up: the job would have died.
    void advance(SimTime to, std::vector<Completion>& done) override;
    const LinkTraffic& traffic() const override;
    std::uint64_t events() const override { return engine_.events(); }

private:
    struct Transfer {
        std::uint64_t token = 0;
        std::uint32_t open = 0;        // connections that have not delivered
        SimTime end;                   // latest part so far
    };
    struct Later {
        bool operator()(const Completion& a, const Completion& b) const {
            return a.at != b.at ? a.at > b.at : a.flow > b.flow;
        }
    };
    struct Tail {                      // of a connection: its transfer, and NVLink hops after its last message
        std::uint32_t transfer;
        SimDuration behind;
    };

    void start_pair(SimTime at, GpuId from, GpuId to, Bytes size, std::uint32_t transfer);
    void start_ring(SimTime at, const TransferRequest& request, std::uint32_t transfer);
    void open(const ConnectionRequest& request, std::uint32_t transfer, SimDuration behind);
    void close_part(std::uint32_t transfer, SimTime at);
    SimDuration inside(GpuId from, Bytes size) const;  // one hop over NVLink

    const Cluster* cluster_;
    NetworkSpec network_;
    PacketSpec packet_;
    FabricGraph graph_;
    PacketEngine engine_;
    std::vector<Transfer> transfers_;
    std::vector<std::uint32_t> free_;
    std::vector<Tail> tails_;          // per connection
    std::priority_queue<Completion, std::vector<Completion>, Later> ended_;
    mutable LinkTraffic traffic_;
};

}  // namespace rehearse
