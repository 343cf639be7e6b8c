// From (token, expert) pairs to rows ordered by expert, equal experts by slot: a counting sort in three launches. A
// slot is token * top_k + k. Slots are cut into chunks; no launch depends on the order of threads, so the order of rows
// is one.
#pragma once

#include "kernels/block.hpp"
#include "kernels/host_device.hpp"

namespace rehearse::kernels {

constexpr std::int64_t route_chunk = 128;

// Block `index` counts the experts of one chunk.
struct RouteCount {
    const std::int32_t* expert_of_slot;
    std::int32_t* counts;  // chunks x experts
    std::int64_t slots, experts;

    REHEARSE_SCALAR std::size_t shared_bytes() const { return shared_size<std::int32_t>(experts); }

    template <class Block>
    REHEARSE_BODY void operator()(Block& block, std::int64_t index) const {
        std::int32_t* const count = block.template shared<std::int32_t>(experts);
        block.for_each(experts, [&](std::int64_t e) { count[e] = 0; });
        block.sync();
        const std::int64_t first = index * route_chunk;
        const std::int64_t here = slots - first < route_chunk ? slots - first : route_chunk;
        block.for_each(here, [&](std::int64_t i) { block.add(&count[expert_of_slot[first + i]], 1); });
        block.sync();
        block.for_each(experts, [&](std::int64_t e) { counts[index * experts + e] = count[e]; });
    }
};

// One block: counts become the first row of each (chunk, expert); rows per expert come out beside.
struct RouteScan {
    std::int32_t* counts;  // chunks x experts, replaced
    std::int32_t* rows_per_expert;
    std::int64_t chunks, experts;

    REHEARSE_SCALAR std::size_t shared_bytes() const { return shared_size<std::int32_t>(experts); }

    template <class Block>
    REHEARSE_BODY void operator()(Block& block, std::int64_t) const {
        std::int32_t* const total = block.template shared<std::int32_t>(experts);
        block.for_each(experts, [&](std::int64_t e) {
            std::int32_t sum = 0;
            for (std::int64_t chunk = 0; chunk < chunks; ++chunk) sum += counts[chunk * experts + e];
            total[e] = sum;
            rows_per_expert[e] = sum;
        });
        block.sync();
        block.for_each(experts, [&](std::int64_t e) {
            std::int32_t row = 0;
            for (std::int64_t before = 0; before < e; ++before) row += total[before];
            for (std::int64_t chunk = 0; chunk < chunks; ++chunk) {
                const std::int32_t here = counts[chunk * experts + e];
                counts[chunk * experts + e] = row;
                row += here;
            }
        });
    }
};

// Block `index` gives the slots of one chunk their rows.
struct RoutePlace {
    const std::int32_t* expert_of_slot;
    const std::int32_t* first_row;  // chunks x experts
    std::int32_t* row_of_slot;
    std::int32_t* slot_of_row;
    std::int64_t slots, experts;

    REHEARSE_SCALAR std::size_t shared_bytes() const { return 0; }

    template <class Block>
    REHEARSE_BODY void operator()(Block& block, std::int64_t index) const {
        const std::int64_t first = index * route_chunk;
        const std::int64_t here = slots - first < route_chunk ? slots - first : route_chunk;
        const std::int32_t* const expert = expert_of_slot + first;
        block.for_each(here, [&](std::int64_t i) {
            std::int32_t row = first_row[index * experts + expert[i]];
            for (std::int64_t before = 0; before < i; ++before) row += expert[before] == expert[i] ? 1 : 0;
            row_of_slot[first + i] = row;
            slot_of_row[row] = static_cast<std::int32_t>(first + i);
        });
    }
};

}  // namespace rehearse::kernels
