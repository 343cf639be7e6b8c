// Queue pairs per connection: a message is cut into as many parts, each with an ECMP hash of its own, as NCCL does with
// NCCL_IB_SPLIT_DATA_ON_QPS = 1.
#pragma once

#include <cstdint>
#include <vector>

#include "models/network/packet/queue_pair.hpp"

namespace rehearse {

// Parts that differ by one byte at most, none of them empty (a message without payload stays whole); queue pairs are
// numbered from the request's own. The parts together are the message: the last one to finish ends it.
std::vector<ConnectionRequest> split_message(const ConnectionRequest& request, std::int64_t queue_pairs);

}  // namespace rehearse
