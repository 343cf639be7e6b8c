// Router traces as Megatron-Core writes them (megatron/core/transformer/moe/router_trace.py): JSON lines, one object
// for each (step, block, layer, rank), with the number of tokens and, of each token, the experts it chose:
//
//     {"step": 12, "block": "decoder", "layer": 3, "rank": 0, "num_tokens": 2, "topk_indices": [[5, 17], [0, 5]]}
//
// What a line holds is documented; how its fields are spelled is assumed, so that more than one spelling is taken:
// num_tokens, token_count or tokens; topk_indices, topk_index, topk or indices. `block` is a name or a number and may
// be absent; other fields are passed over.
//
// The reading never throws for what stands in the file. A line counts for nothing and is one fault, with its number,
// when it is cut off, no JSON or longer than 16 MiB; names an expert that there is not, one expert twice for a token,
// another k than the lines before, or another number of tokens than it lists; or says again what a line before said.
// All other lines are counted. A file that cannot be read is one fault. Whether faults stop a run is the caller's
// choice.
#pragma once

#include <cstdint>
#include <istream>
#include <string>
#include <vector>

#include "models/workload/routing/routing.hpp"
#include "sim/base/fault.hpp"

namespace rehearse {

struct RouterTrace {
    RecordedRouting recorded;             // assignments per expert, summed over ranks
    std::uint32_t top_k = 0;
    std::vector<std::int64_t> steps;      // numbers of the recorded steps, ascending
    std::vector<std::string> layers;      // "decoder.3" of the recorded layers: by block, then by number
    std::int64_t lines = 0;               // counted ones
    std::int64_t tokens = 0;              // of the counted lines
    FaultList faults;
};

// `experts` is the number of routed experts of the model, at least 1.
RouterTrace read_router_trace(const std::string& path, std::uint32_t experts);
RouterTrace read_router_trace(std::istream& lines, const std::string& name, std::uint32_t experts);

}  // namespace rehearse
