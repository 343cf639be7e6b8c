// What a run's rows say about its collective and its GPUs, where nobody named them; and where its figures contradict
// each other.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "kernels/calibration/nccl_log.hpp"

namespace rehearse {

// What the lines around a table said.
struct NcclStated {
    std::string collective;
    std::optional<std::int64_t> gpus, nodes;
};

// The collectives whose rows look like these, the likeliest first. What tells them apart: size = count x bytes x n
// where each rank holds a part; an operation only where something is reduced; a root; and an in-place side that isn't
// checked for alltoall and sendrecv.
std::vector<std::string> collectives_like(const NcclRun& run);

// Hints in the name of a file: "logs/all_reduce_16xh100_2n.txt" has a collective, 16 GPUs and 2 nodes.
NcclHints hints_of_name(const std::string& file);

// Completes the run in this order: what the log states, what its rows determine, `hints`, the name of the file.
void complete_run(NcclRun& run, const NcclStated& stated, const NcclHints& hints, const NcclHints& name,
                  std::vector<NcclNote>& findings);

}  // namespace rehearse
