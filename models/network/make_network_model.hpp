// The only place that knows which classes stand behind NetworkModel.
#pragma once

#include <memory>

#include "models/network/network_model.hpp"
#include "models/network/spec.hpp"
#include "topology/cluster.hpp"
#include "topology/router.hpp"

namespace rehearse {

// Cluster and router must outlive the model. InputError (models.network.fidelity) for packet fidelity, which this
// version does not have.
std::unique_ptr<NetworkModel> make_network_model(const NetworkSpec& spec, const Cluster& cluster, const Router& router);

}  // namespace rehearse
