#include "models/network/make_network_model.hpp"

#include <vector>

#include "models/network/flow/flow_model.hpp"
#include "models/network/ideal/ideal_model.hpp"
#include "sim/base/fault.hpp"

namespace rehearse {

std::unique_ptr<NetworkModel> make_network_model(const NetworkSpec& spec, const Cluster& cluster,
                                                 const Router& router) {
    switch (spec.fidelity) {
        case Fidelity::ideal:
            return std::make_unique<IdealModel>(cluster, router, spec);
        case Fidelity::flow:
            return std::make_unique<FlowModel>(cluster, router, spec);
        case Fidelity::packet:
            break;
    }
    Fault fault;
    fault.path = "models.network.fidelity";
    fault.wrong = "packet fidelity is not available in this version";
    fault.expected = "ideal or flow";
    fault.todo = "choose flow";
    std::vector<Fault> faults;
    faults.push_back(fault);
    throw InputError(faults);
}

}  // namespace rehearse
