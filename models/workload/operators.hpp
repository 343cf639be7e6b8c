// Operators: the work of a step before any device is known. A Work is a sequence of segments; each segment is a run of
// operators on one rank, closed (or not) by a collective of its tensor or context group.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/base/switch.hpp"
#include "models/collectives/expert_exchange.hpp"
#include "sim/base/units.hpp"

namespace rehearse {

enum class OperatorKind : std::uint8_t {
    gemm,       // batch products of (m x k) by (k x n), half precision in, fp32 accumulation
    attention,  // fused attention kernel: `flops` on the matrix units
    memory,     // bound by `bytes` of device memory traffic
    host,       // host-side time; `host` says which entry of the profile prices it
};

enum class HostCost : std::uint8_t { none, exchange, input, step };
enum class AttentionPhase : std::uint8_t { forward, backward };
enum class Precision : std::uint8_t { half, fp8 };

// What of an operator grows with the rows (token, expert) that an expert's rank receives.
enum class ExpertRows : std::uint8_t {
    none,
    m,      // gemm: `batch` experts with m rows each, on average
    k,      // gemm: the same as the inner dimension (weight gradients)
    bytes,  // memory: all of it
};

struct Operator {
    OperatorKind kind = OperatorKind::memory;
    const char* name = "";
    std::int64_t batch = 1, m = 0, n = 0, k = 0;  // gemm
    std::int64_t output_bytes = 2;                // gemm: traffic per element of the result (8 = fp32 accumulation)
    double fill = 1.0;                            // gemm: share of the result that is computed (banded scores)
    FlopCount flops;                              // attention
    AttentionPhase phase = AttentionPhase::forward;
    double bytes = 0;                             // memory; attention
    std::int64_t kernels = 1;                     // device kernels launched
    HostCost host = HostCost::none;
    double seconds = 0;                           // host: a time of its own beside that of the profile
    ExpertRows expert_rows = ExpertRows::none;
    Precision precision = Precision::half;        // gemm
};

enum class LocalCollectiveKind : std::uint8_t {
    none,
    all_gather,      // these three over the tensor group
    reduce_scatter,
    all_reduce,
    ring_exchange,   // over the context group: every rank sends to the next one
    all_to_all,      // over the tensor group: token shards to head shards (DeepSpeed-Ulysses)
    dispatch,        // over the expert group: rows to the ranks of their experts
    combine,         // and their results back
};

// Of dispatch and combine. The form is chosen when the collective is priced (price.hpp).
struct ExchangeShape {
    double tokens = 0;         // of a rank
    std::int64_t top_k = 1;
    double token_bytes = 0;    // of one row
    std::int64_t experts = 1;  // E
    std::int64_t node_limit = 0;  // nodes that a token's experts may stand on; 0 = any
    std::optional<ExchangeForm> form{};  // none: the fastest
    Switch cached = Switch::off;  // the layout is known from an exchange before
};

enum class Hiding : std::uint8_t {
    none,     // the collective blocks
    under,    // runs beside its partners, which do not depend on it
    streamed, // its partners work on what has arrived: the first part is exposed, and what exceeds them
    fused,    // tile by tile inside the kernel of its partners, the rows of one source rank after those of another: as
              // chunked, with one start for all
    chunked,  // cut into chunks together with its partner GEMM: the first chunk and what exceeds the GEMM stay exposed
};

struct LocalCollective {
    LocalCollectiveKind kind = LocalCollectiveKind::none;
    // The whole tensor (all-gather: output; reduce-scatter: input); ring exchange and all-to-all: what a rank holds to
    // send, its own part included. Dispatch and combine: see `exchange`.
    double bytes = 0;
    Hiding hiding = Hiding::none;
    std::size_t partner = 0;  // the operators of this segment from this one on hide it
    // Hiding::under: its input is there before the operators of the segment before, from this one on; it begins beside
    // them as soon as the collective of that segment has ended.
    static constexpr std::size_t not_early = SIZE_MAX;
    std::size_t early = not_early;
    // And its result is not needed by so many first operators of the segment behind: what is left of it runs beside
    // them, and the collective of that segment begins later.
    std::size_t late = 0;
    ExchangeShape exchange{};
    double first = 1;         // streamed: the part that is exposed
    double chunk = 1;         // streamed: of the rows of an average rank, what is there at a time
};

inline constexpr std::uint32_t no_layer = 0xffffffff;

struct Segment {
    std::vector<Operator> operators;
    std::uint32_t layer = no_layer;  // whose expert loads act on it
    LocalCollective collective;  // at the end of the segment
    std::uint16_t region = 0;    // index into Work::regions
};

// A run of segments that the host launches: its device time is not below the host's time to issue it.
struct HostRegion {
    double layers_forward = 0;
    double layers_backward = 0;
    double micro_batches = 0;  // what stands outside the layers (embedding, head)
};

struct Work {
    std::string name;
    std::vector<Segment> segments;
    std::vector<HostRegion> regions{{}};
};

}  // namespace rehearse
