// PacketModel: the packet engine as a NetworkModel, so that transfers of a training step go as packets
// (expand_transfer.hpp says as which connections). A transfer ends when the last packet of its last message has
// arrived.
//
// The caller may start transfers at any time it has advanced to, and learns of an end at its very time. Between ends
// the engine runs in whole windows: no connection is through before the packets that it lacks have crossed its last
// link, so that next_event_time() is the earliest of these times or the next event, whichever is later.
//
// Traffic of Ethernet links is what the engine counted; that of NVLink and PCIe links is laid on the routes.
//
// Connections are kept, as a library keeps its queue pairs: a transfer equal to one that is over takes over its
// connections. Memory grows with the transfers under way at once, not with those that have been.
#pragma once

#include <compare>
#include <map>
#include <queue>
#include <vector>

#include "models/network/network_model.hpp"
#include "models/network/packet/engine.hpp"
#include "models/network/packet/expand_transfer.hpp"
#include "models/network/transfer_paths.hpp"

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
    PacketShare packet_share() const override;

    const SharedBuffer::Limits& buffer_limits() const { return engine_.buffer_limits(); }
    std::size_t connections() const { return tails_.size(); }  // that memory is held for

private:
    struct Shape {  // transfers that are equal but for their times
        TransferPattern pattern;
        std::int64_t size;  // with what the library wastes
        std::uint32_t steps;
        std::vector<GpuId> gpus;
        auto operator<=>(const Shape&) const = default;
    };
    struct Bundle {  // connections of a transfer, which another one of its shape may take over
        std::uint32_t first = 0, count = 0;
        SimDuration inside{0};
    };
    struct Transfer {
        std::uint64_t token = 0;
        std::uint32_t open = 0;  // connections that have not delivered
        SimTime end;             // latest part so far
        Bundle bundle;
        std::vector<Bundle>* home = nullptr;  // where the bundle goes when the transfer is over
    };
    struct Later {
        bool operator()(const Completion& a, const Completion& b) const {
            return a.at != b.at ? a.at > b.at : a.flow > b.flow;
        }
    };
    struct Tail {                 // of a connection: its transfer, and what comes behind its last message
        std::uint32_t transfer;
        SimDuration behind;
        std::uint32_t place = 0;  // in active_
    };

    std::uint32_t new_transfer();
    bool take_over(std::vector<Bundle>& idle, SimTime at, Bundle& bundle);
    Bundle open(const TransferRequest& request, SimTime at);
    void close_part(std::uint32_t transfer, SimTime at);
    void close(std::uint32_t connection);
    void deactivate(std::uint32_t connection);

    const Cluster* cluster_;
    NetworkSpec network_;
    PacketSpec packet_;
    FabricGraph graph_;
    PacketEngine engine_;
    SimTime now_;                 // advanced to
    SimTime quiet_until_;         // no connection is through before
    std::vector<Transfer> transfers_;
    std::vector<std::uint32_t> free_;
    TransferPaths paths_;
    std::map<Shape, std::vector<Bundle>> idle_;
    std::vector<Tail> tails_;            // per connection
    std::vector<std::uint32_t> active_;  // connections that have not delivered
    std::priority_queue<Completion, std::vector<Completion>, Later> ended_;
    std::uint64_t transfer_count_ = 0, retransmissions_ = 0;
    double payload_ = 0;
    mutable LinkTraffic traffic_;
};

}  // namespace rehearse
