// The published kernels of DeepEP (tests/validation/deepep.yaml) as rows that models/collectives/deepep.hpp predicts.
//
//     rows:
//       - {mode: normal, phase: dispatch, ranks: 8, rate: 153 GB/s, use: fit, band: 10 %, source: "..."}
//       - {mode: low_latency, phase: combine, ranks: 8, nvlink: off, time: 318 us, use: predict, band: 10 %, source:
//       "..."}
// A published time counts as the rate that DeepEP would print for it.
#pragma once

#include <string>
#include <vector>

#include "models/collectives/deepep.hpp"
#include "scenarios/validation/figure_suite.hpp"

namespace rehearse {

struct DeepEpKernel {
    DeepEpRow row;                // with its published rate
    PublishedFigure published;  // the same in GB/s
};

// InputError with every fault of the file.
std::vector<DeepEpKernel> read_deepep(const std::string& path);

// Fitted on the rows marked so.
DeepEpParameters fit_deepep(const std::vector<DeepEpKernel>& kernels);

}  // namespace rehearse
