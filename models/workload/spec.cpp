#include "models/workload/spec.hpp"

#include "models/workload/moe/moe_model.hpp"
#include "models/workload/program.hpp"

namespace rehearse {

double ModelSpec::parameters() const {
    if (kind == ModelKind::moe) return moe_parameters(*this, ExpertCount::all);
    const double h = static_cast<double>(hidden), f = static_cast<double>(ffn_size());
    // QKV and projection 4 h^2 + 4 h, MLP 2 h f + f + h, two layer norms 4 h.
    const double layer = 4 * h * h + 4 * h + 2 * h * f + f + h + 4 * h;
    return static_cast<double>(layers) * layer + static_cast<double>(vocab) * h + 2 * h;
}

std::string_view name(Dimension dimension) {
    constexpr std::string_view names[] = {"tensor", "context", "data", "pipeline"};
    return names[static_cast<std::size_t>(dimension)];
}

std::string_view name(Part part) {
    constexpr std::string_view names[part_count] = {"compute",        "tp_exposed", "pp_exposed", "dp_exposed",
                                                    "ep_exposed",     "bubble",     "optimizer",  "data",
                                                    "straggler_wait", "other"};
    return names[static_cast<std::size_t>(part)];
}

}  // namespace rehearse
