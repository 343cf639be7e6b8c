// Clusters whose nccl-tests logs are at hand (data folder, nccl/), and how NCCL's costs on them are found.
//
// Of a cluster each tier is fitted on the log with the fewest nodes that uses it; logs of more nodes are predicted with
// the same costs. What no log of the cluster shows is published or assumed and stays as it starts: `why` says which.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "models/collectives/nccl_costs_file.hpp"
#include "models/collectives/nccl_fit.hpp"

namespace rehearse {

struct NcclTable {  // part of a log
    std::string log;  // "n01": the beginning of its file's name, up to the first underscore
    NodeGroup group;
    Bytes from{1 << 20}, to{std::int64_t{1} << 40};
    CollectiveKind kind = CollectiveKind::all_reduce;
};

struct NcclFitStep {
    std::vector<NcclTable> tables;  // fitted together
    std::vector<NcclParameter> free;
};

struct NcclSetPlan {  // costs of one algorithm: a start, then one fit after the other
    NcclCosts start;
    std::vector<NcclFitStep> steps;
    std::string why;
};

struct NcclCheck {
    std::string quantity;  // of tests/validation/nccl.yaml
    NcclTable table;
    std::optional<NcclAlgorithm> forced = {};
};

struct NcclCluster {
    std::string name;
    std::vector<NcclSetPlan> sets;
    std::vector<NcclCheck> checks;
    std::vector<NcclCheck> odd_sizes;  // rows of odd index, predicted by fits on those of even index
    bool is_study = false;  // with costs of another cluster put in: compared, not shipped
};

std::vector<NcclCluster> nccl_clusters();

enum class RowChoice : std::uint8_t { all, even, odd };  // by index from 0 among the rows of a table

// Both sides (out-of-place, in-place) of the rows, in file order. InputError where the log is not there, or has no such
// row.
std::vector<NcclSample> nccl_samples(const NcclTable& table, RowChoice choice);
bool has_nccl_logs();  // in the data folder

std::vector<NcclCosts> fit_cluster(const NcclCluster& cluster, RowChoice choice);

// The costs with their sources, as models/collectives/costs/NAME.yaml ships them.
NcclCostsFile costs_file(const NcclCluster& cluster);

}  // namespace rehearse
