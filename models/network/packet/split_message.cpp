#include "models/network/packet/split_message.hpp"

#include <algorithm>

#include "sim/base/checks.hpp"

namespace rehearse {

std::vector<ConnectionRequest> split_message(const ConnectionRequest& request, std::int64_t queue_pairs) {
    REHEARSE_CHECK(queue_pairs > 0, "a message needs a queue pair");
    const std::int64_t bytes = request.message.value;
    const std::int64_t parts = std::clamp<std::int64_t>(bytes, 1, queue_pairs);
    std::vector<ConnectionRequest> all(static_cast<std::size_t>(parts), request);
    for (std::int64_t i = 0; i < parts; ++i) {
        ConnectionRequest& part = all[static_cast<std::size_t>(i)];
        part.message = Bytes{bytes / parts + (i < bytes % parts ? 1 : 0)};
        part.queue_pair = request.queue_pair + static_cast<std::uint32_t>(i);
    }
    return all;
}

}  // namespace rehearse
