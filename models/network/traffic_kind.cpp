#include <array>

#include "models/network/network_model.hpp"

namespace rehearse {

std::string_view name(TrafficKind kind) {
    constexpr std::array<std::string_view, traffic_kind_count> names{"other", "pp", "dp", "embedding"};
    return names[static_cast<std::size_t>(kind)];
}

}  // namespace rehearse
