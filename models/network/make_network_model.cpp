#include "models/network/make_network_model.hpp"

#include "models/network/flow/flow_model.hpp"
#include "models/network/ideal/ideal_model.hpp"
#include "models/network/sliced_model.hpp"

namespace rehearse {

std::unique_ptr<NetworkModel> make_network_model(const NetworkSpec& spec, const Cluster& cluster, const Router& router,
                                                 const PacketInputs& packet) {
    switch (spec.fidelity) {
        case Fidelity::ideal:
            return std::make_unique<IdealModel>(cluster, router, spec);
        case Fidelity::flow:
            return std::make_unique<FlowModel>(cluster, router, spec);
        case Fidelity::packet:
            return std::make_unique<SlicedModel>(cluster, router, spec, packet.spec, packet.slice, packet.seed);
    }
    return nullptr;
}

}  // namespace rehearse
