// Measured matrix products and all-reduces of one node in the data folder, in file order, and what is fitted on them.
#pragma once

#include <vector>

#include "models/collectives/nccl_fit.hpp"
#include "models/compute/gemm_surface.hpp"
#include "scenarios/validation/csv_reader.hpp"

namespace rehearse {

inline constexpr const char* h100_gemm_file = "h100_gemm_bf16_points.csv";
inline constexpr const char* a100_all_reduce_file = "a100_nvlink_allreduce_train.csv";

// InputError with every fault of the file.
std::vector<GemmPoint> h100_gemm_points();
std::vector<NcclSample> a100_all_reduces();

// A ring under `simple`: launch, hop, rate of the links and pass.
NcclCosts fit_a100_ring(const std::vector<NcclSample>& samples);

}  // namespace rehearse
