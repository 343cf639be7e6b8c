// Pieces that every metrics.json has.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

#include "topology/cluster.hpp"

namespace rehearse {

nlohmann::ordered_json link_json(LinkId link, double bytes, double utilisation, const Cluster& cluster);
std::int64_t peak_rss_bytes();

}  // namespace rehearse
