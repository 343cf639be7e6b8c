// DeviceProfile: how fast one accelerator (with its host software) runs the operators of a training step. Read from YAML,
// one provenance per number: published (with source), measured, fitted (with the data it was fitted on) or assumed.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

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

struct DeviceProfile {
    std::string name;
    FlopRate peak{312e12};                        // half-precision matrix units, dense
    std::int64_t multiprocessors = 108;
    Bandwidth memory = gigabytes_per_second(2039);
    Bytes memory_size{80'000'000'000};
    Bytes memory_reserve{4'000'000'000};          // context, communication library, fragmentation

    Ratio gemm_efficiency{0.8};                   // of peak, in a full wave of tiles
    std::vector<TileShape> tiles{{}};
    double gemm_k_overhead = 0;                   // prologue and epilogue of a tile, in units of K
    Ratio memory_efficiency{0.8};
    SimDuration kernel_overhead = microseconds(4);  // launch gap per kernel
    Ratio attention_efficiency{0.55};             // fused attention forward, of peak
    Ratio attention_backward{0.8};                // backward rate relative to forward
    Ratio misaligned_efficiency{1.0};             // GEMM whose inner vocabulary size is odd (not padded), relative

    SimDuration host_layer_forward;               // host time to launch one layer: a floor under its device time
    SimDuration host_layer_backward;
    SimDuration host_collective;                  // added per local collective when the host is the bound
    SimDuration host_micro_batch;                 // launching what stands outside the layers, per micro-batch
    SimDuration host_exchange;                    // device-wide synchronisation after a blocking exchange
    SimDuration host_input;                       // loading the next batch when nothing hides it
    SimDuration host_step;                        // fixed part of a step

    Bandwidth local_bus = gigabytes_per_second(230);  // bus bandwidth of a local collective over NVLink
    SimDuration local_latency = microseconds(20);
    struct LocalPoint { std::int64_t gpus; Bytes size; SimDuration time; };
    std::vector<LocalPoint> local_all_reduce;     // measured all-reduce times; rule when present
    Ratio communication_multiprocessors{0.15};    // share of the device that a concurrent collective occupies
    std::int64_t overlap_chunks = 4;              // chunks of a GEMM fused with its collective

    Ratio network_efficiency{1.0};                // share of the framed NIC rate that the library reaches
    SimDuration message_latency = microseconds(10);  // software latency of a message
    double optimizer_bytes = 30;                  // memory traffic per parameter of the sharded optimizer
    double gradient_bytes = 4;                    // memory traffic per local parameter: norm, zeroing, casts

    VariationSpec variation;
    std::vector<ProfileNote> notes;
};

// Reads a profile file; InputError with all its faults. `find_profile` looks up a name in the installed library
// (models/compute/profiles/NAME.yaml), a path is taken as it is.
DeviceProfile read_profile(const std::string& path);

}  // namespace rehearse
