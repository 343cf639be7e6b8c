// The only place that knows which classes stand behind NetworkModel.
#pragma once

#include <memory>

#include "models/network/network_model.hpp"
#include "models/network/packet/spec.hpp"
#include "models/network/slice.hpp"
#include "models/network/spec.hpp"
#include "topology/cluster.hpp"
#include "topology/router.hpp"

namespace rehearse {

struct PacketInputs {  // of packet fidelity
    PacketSpec spec;
    TrafficSlice slice;
    std::uint64_t seed = 1;  // losses, marks, ties
};

// Cluster and router must outlive the model. InputError for a fabric that cannot carry packets.
std::unique_ptr<NetworkModel> make_network_model(const NetworkSpec& spec, const Cluster& cluster, const Router& router,
                                                 const PacketInputs& packet = {});

}  // namespace rehearse
