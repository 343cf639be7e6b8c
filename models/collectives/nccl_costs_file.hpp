// Costs of NCCL's algorithms on one cluster, as a file: models/collectives/costs/*.yaml are the shipped ones.
//
//     name: h100-infiniband-a
//     sets:
//       - algorithm: nvls              # ring, tree, nvls, direct
//         protocol: simple             # ll, simple
//         launch: 0 s
//         nvlink: {hop: 11.77 us, rate: 251.2 GB/s}
//         network: {hop: 11.77 us, rate: 389.8 GB/s}     # rate: all adapters of a node, one way
//         pass: 0 GB/s                 # 0: hidden; so is the rate of a tier that doesn't bound
//         chunk_max: 12 MiB
//         chunk_cost: 21 us
//         source: "fitted on ..."
#pragma once

#include <string>
#include <vector>

#include "models/collectives/nccl_model.hpp"

namespace rehearse {

struct NcclSet {
    NcclCosts costs;
    std::string source;  // which numbers were fitted on what, and where the others come from
};

struct NcclCostsFile {
    std::string name;
    std::vector<NcclSet> sets;
};

// InputError with every fault: a number that is missing, a set without source, two sets of one algorithm and protocol.
NcclCostsFile read_nccl_costs(const std::string& path);
// Rounded to what a fit knows: 10 ns, 0.1 GB/s, 1 KiB.
std::string to_yaml(const NcclCostsFile& file);

}  // namespace rehearse
