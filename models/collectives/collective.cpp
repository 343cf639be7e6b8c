#include "models/collectives/collective.hpp"

#include <bit>

#include "sim/base/checks.hpp"

namespace rehearse {
namespace {

// What a pair sends, as multiples: sent = (whole + fraction (n-1)/n) S; steps = per_member (n-1) + per_level log2 n +
// once.
struct Row {
    std::int64_t whole = 0;
    std::int64_t fraction = 0;
    std::int64_t per_member = 0;
    std::int64_t per_level = 0;
    std::int64_t once = 0;
    bool is_present = false;
};

Row ring_row(CollectiveKind kind) {
    switch (kind) {
        case CollectiveKind::all_reduce:
            return {.fraction = 2, .per_member = 2, .is_present = true};
        case CollectiveKind::all_gather:
            return {.fraction = 1, .per_member = 1, .is_present = true};
        case CollectiveKind::reduce_scatter:
            return {.fraction = 1, .per_member = 1, .is_present = true};
        case CollectiveKind::broadcast:
            return {.whole = 1, .per_member = 1, .is_present = true};
        case CollectiveKind::all_to_all:
            break;
    }
    return {};
}

Row row_of(CollectiveKind kind, CollectiveAlgorithm algorithm) {
    if (algorithm == CollectiveAlgorithm::ring) return ring_row(kind);
    if (algorithm == CollectiveAlgorithm::direct) {
        if (kind == CollectiveKind::all_to_all) return {.fraction = 1, .once = 1, .is_present = true};
        return {};
    }
    if (kind == CollectiveKind::all_reduce) return {.whole = 2, .per_level = 2, .is_present = true};
    if (kind == CollectiveKind::broadcast) return {.whole = 1, .per_level = 1, .is_present = true};
    return {};
}

}  // namespace

std::string_view name(CollectiveKind kind) {
    switch (kind) {
        case CollectiveKind::all_reduce:
            return "all_reduce";
        case CollectiveKind::all_gather:
            return "all_gather";
        case CollectiveKind::reduce_scatter:
            return "reduce_scatter";
        case CollectiveKind::broadcast:
            return "broadcast";
        case CollectiveKind::all_to_all:
            break;
    }
    return "all_to_all";
}

std::string_view name(CollectiveAlgorithm algorithm) {
    switch (algorithm) {
        case CollectiveAlgorithm::ring:
            return "ring";
        case CollectiveAlgorithm::tree:
            return "tree";
        case CollectiveAlgorithm::direct:
            break;
    }
    return "direct";
}

Availability availability(CollectiveKind kind, CollectiveAlgorithm algorithm) {
    return row_of(kind, algorithm).is_present ? Availability::present : Availability::missing;
}

CollectiveVolume collective_volume(CollectiveKind kind, CollectiveAlgorithm algorithm, std::int64_t members,
                                   Bytes size) {
    const Row row = row_of(kind, algorithm);
    REHEARSE_CHECK(row.is_present, "this collective has no such algorithm");
    REHEARSE_CHECK(members >= 1 && members <= INT32_MAX, "a collective has members");
    REHEARSE_CHECK(size >= Bytes{0}, "a collective has a size");
    if (members == 1) return {};
    const detail::Wide part = detail::Wide{size.value} * row.fraction * (members - 1);
    const auto levels = static_cast<std::int64_t>(std::bit_width(static_cast<std::uint64_t>(members - 1)));
    const std::int64_t steps = row.per_member * (members - 1) + row.per_level * levels + row.once;
    return {size * row.whole + Bytes{detail::divide_up(part, members)}, static_cast<std::uint32_t>(steps)};
}

SimDuration collective_time(CollectiveKind kind, CollectiveAlgorithm algorithm, std::int64_t members, Bytes size,
                            SimDuration alpha, Bandwidth rate) {
    const CollectiveVolume volume = collective_volume(kind, algorithm, members, size);
    return alpha * static_cast<std::int64_t>(volume.steps) + volume.sent_per_member / rate;
}

Ratio bus_factor(CollectiveKind kind, std::int64_t members) {
    REHEARSE_CHECK(members >= 1, "a collective has members");
    const double part = static_cast<double>(members - 1) / static_cast<double>(members);
    switch (kind) {
        case CollectiveKind::all_reduce:
            return {2 * part};
        case CollectiveKind::broadcast:
            return {1.0};
        case CollectiveKind::all_gather:
        case CollectiveKind::reduce_scatter:
        case CollectiveKind::all_to_all:
            break;
    }
    return {part};
}

double algorithm_bandwidth(Bytes size, SimDuration time) {
    REHEARSE_CHECK(time > SimDuration{0}, "a rate needs a time");
    return static_cast<double>(size.value) / time.seconds();
}

double bus_bandwidth(CollectiveKind kind, std::int64_t members, Bytes size, SimDuration time) {
    return algorithm_bandwidth(size, time) * bus_factor(kind, members).value;
}

}  // namespace rehearse
