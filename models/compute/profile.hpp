// DeviceProfile: how fast one accelerator (with its host software) runs the operators of a training step. Read from
// YAML, one provenance per number: published (with source), measured, fitted (with the data it was fitted on) or
// assumed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "models/compute/measured_costs.hpp"
#include "models/compute/variation.hpp"
#include "sim/base/units.hpp"

namespace rehearse {

enum class Provenance : std::uint8_t { published, measured, fitted, assumed };

struct ProfileNote {
    std::string key;         // dotted, as in the file
    std::string value;       // as text with unit
    Provenance provenance = Provenance::assumed;
    std::string source;      // paper, data file, reason
};

struct TileShape {
    std::int64_t m = 128, n = 256;
    Ratio efficiency{1.0};   // relative to gemm_efficiency
};

// The surface of gemm_surface.hpp as rates. Where a profile has one, GEMMs take its time and not that of tiles.
struct GemmRates {
    SimDuration launch;
    FlopRate flops{720e12};         // half precision
    Bandwidth result, left, right;  // of C, A and B in half precision; 0 = hidden behind the arithmetic
};

struct LocalLink {  // NVLink as a collective of that many GPUs of one node sees it
    std::int64_t gpus = 8;
    SimDuration latency;  // of one pass: an all-gather or a reduce-scatter is one, an all-reduce two
    Bandwidth bus = gigabytes_per_second(230);  // bus bandwidth as nccl-tests defines it
};

// Dispatch and combine among several nodes (collectives/expert_exchange.hpp): rates as a share of the NIC, and for
// those that run beside other operators also the time that their kernels wait for the peers' announcements.
struct ExchangeProfile {
    Ratio network_efficiency{0.9};      // nothing else runs
    Ratio dispatch_beside{0.9};         // beside other operators; first exchange of a layer
    Ratio dispatch_cached_beside{0.9};  // the layout is known from the first
    Ratio combine_beside{0.9};
    SimDuration notify, notify_cached;
};

struct DeviceProfile {
    std::string name;
    FlopRate peak{312e12};                        // half-precision matrix units, dense
    std::int64_t multiprocessors = 108;
    Bandwidth memory = gigabytes_per_second(2039);
    Bytes memory_size{80'000'000'000};
    Bytes memory_reserve{4'000'000'000};          // context, communication library, fragmentation

    Ratio gemm_efficiency{0.8};                   // of peak, in a full wave of tiles
    std::vector<TileShape> tiles{{}};
    Ratio gemm_tail{1.0};                         // share of the last wave's idle time that split-K does not recover
    double gemm_k_overhead = 0;                   // prologue and epilogue of a tile, in units of K
    std::optional<GemmRates> gemm_surface;        // gemm.surface, may be missing in a file
    Ratio memory_efficiency{0.8};
    SimDuration kernel_overhead = microseconds(4);  // launch gap per kernel
    Ratio kernel_slowdown{1.0};                   // factor on memory-bound kernels and launch gaps: what a system's
                                                  // element-wise code takes beyond one pass at the memory's rate
    Ratio fp8_rate{2.0};                          // rate of an fp8 GEMM relative to half precision
    Ratio attention_efficiency{0.55};             // fused attention forward, of peak
    Ratio attention_backward{0.8};                // backward rate relative to forward
    Ratio misaligned_efficiency{1.0};             // GEMM with a dimension that is no multiple of 8 halves, relative

    SimDuration host_layer_forward;               // host time to launch one layer: a floor under its device time
    SimDuration host_layer_backward;
    SimDuration host_collective;                  // added per local collective when the host is the bound
    SimDuration host_micro_batch;                 // launching what stands outside the layers, per micro-batch
    SimDuration host_exchange;                    // device-wide synchronisation after a blocking exchange
    SimDuration host_input;                       // loading the next batch when nothing hides it
    SimDuration host_step;                        // fixed part: optimizer launch, gradient norm, logging, scheduling

    std::vector<LocalLink> local_links{{}};       // by gpus, ascending; a group uses the first entry that holds it
    Ratio local_slowdown{1.0};                    // factor on a local collective between kernels of a real step
    Ratio communication_multiprocessors{0.15};    // share of the device that a concurrent collective occupies
    Ratio gather_multiprocessors{0.15};           // the same for all-gather and reduce-scatter (copy engines: 0)
    Ratio all_to_all_rate{1.0};                   // of an all-to-all, relative to the bus of the group
    std::int64_t overlap_chunks = 4;              // chunks of a GEMM fused with its collective

    Ratio network_efficiency{1.0};  // share of the framed NIC rate that messages and tensor rings reach
    Ratio group_efficiency{1.0};    // the same for gradient and weight collectives over the data group
    SimDuration message_latency = microseconds(10);  // software latency of a message

    ExchangeProfile exchange;

    VariationSpec variation;
    MeasuredCosts measured;         // of the calibration file that the profile names; most profiles have none
    std::string calibration_path;
    std::vector<ProfileNote> notes;
};

// Reads a profile file, and the calibration file that its key `calibration` names, relative to it. Every number of
// DeviceProfile stands in it, with its provenance and within the range of profile_keys.hpp; InputError with all faults
// otherwise, each at its place. The defaults above are for profiles that are made in code: none of them reaches a
// profile that was read. Looking up a profile by name is the scenario's affair (models.profile).
DeviceProfile read_profile(const std::string& path);

// The profile on nodes whose GPUs send `nvlink` one way: no collective inside a node is faster.
DeviceProfile limited_by(DeviceProfile profile, Bandwidth nvlink);

}  // namespace rehearse
