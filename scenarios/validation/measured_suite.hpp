// Suites of figures whose measurements lie in the data folder: as figure_suite(), and skipped with the reason where the
// folder isn't there.
#pragma once

#include <string>

#include "scenarios/validation/validation.hpp"

namespace rehearse {

// `data`: what must exist, below the data folder.
SuiteEntry measured_suite(const std::string& name, const std::string& what, const std::string& data,
                          FigurePredictions (*predict)(const PublishedTable&));

// The data folder's file of that name.
std::string data_file(const std::string& name);

SuiteEntry nccl_suite();         // nccl-tests logs: nccl_clusters.hpp
SuiteEntry gemm_h100_suite();    // matrix products
SuiteEntry nvlink_a100_suite();  // all-reduces in a node

}  // namespace rehearse
