#include "runtime/moe/replicas.hpp"

#include "models/workload/moe/moe_model.hpp"

namespace rehearse {

std::int64_t expert_slots(const TrainingSpec& training, const BalancerPolicy& balancer) {
    const std::int64_t here = training.model.experts.routed / training.parallel.expert;
    if (!is_on(balancer.active) || training.parallel.expert == 1) return here;
    return balancer.slots_per_gpu > 0 ? balancer.slots_per_gpu : here + balancer.spec.spare_slots;
}

ExpertMemory expert_memory(const TrainingSpec& training, const PolicySpec& policies) {
    if (training.model.experts.routed == 0) return {};
    const std::int64_t here = training.model.experts.routed / training.parallel.expert;
    const double slots = static_cast<double>(expert_slots(training, policies.balancer)) / static_cast<double>(here);
    return {slots * (is_on(policies.pager.active) ? policies.pager.resident : 1), slots};
}

double replica_seconds(const TrainingSpec& training, const BalancerPolicy& balancer, Bandwidth link, double pass) {
    const ModelSpec& model = training.model;
    const std::int64_t here = model.experts.routed / training.parallel.expert;
    const double layers = static_cast<double>(model.layers - model.experts.dense_layers) /
                          static_cast<double>(training.parallel.pipeline);
    const double parameters = static_cast<double>(expert_slots(training, balancer) - here) * layers *
                              expert_parameters(model) / static_cast<double>(training.parallel.expert_width());
    const double gradients = parameters * static_cast<double>(training.gradient_bytes), weights = 2 * parameters;
    return (gradients + weights) / link.bytes_per_second() + pass * (3 * gradients + 2 * weights);
}

}  // namespace rehearse
