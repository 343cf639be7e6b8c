// Operators: the work of a step before any device is known. A Work is a sequence of segments; each segment is a run of
// operators on one rank, closed (or not) by a collective of the local (tensor x context) group.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/base/units.hpp"

namespace rehearse {

enum class OperatorKind : std::uint8_t {
    gemm,       // batch products of (m x k) by (k x n), half precision in, fp32 accumulation
    attention,  // fused attention kernel: `flops` on the matrix units
    memory,     // bound by `bytes` of device memory traffic
    host,       // host-side time; `name` says which profile entry prices it
};

enum class HostCost : std::uint8_t { none, exchange, input, step };

struct Operator {
    OperatorKind kind = OperatorKind::memory;
    const char* name = "";
    std::int64_t batch = 1, m = 0, n = 0, k = 0;  // gemm
    FlopCount flops;                              // attention
    Bytes bytes;                                  // memory; attention: its traffic
    std::int64_t kernels = 1;                     // device kernels launched
    HostCost host = HostCost::none;
};

enum class LocalCollectiveKind : std::uint8_t { none, all_gather, reduce_scatter, all_reduce, ring_exchange };

enum class Hiding : std::uint8_t {
    none,     // the collective blocks
    under,    // runs beside the operators of its own segment (an independent GEMM hides it)
    chunked,  // chunked with the GEMM of its segment: only the first chunk and what exceeds the GEMM stay exposed
};

struct LocalCollective {
    LocalCollectiveKind kind = LocalCollectiveKind::none;
    Bytes bytes;  // the whole tensor (all-gather: output; reduce-scatter: input)
    Hiding hiding = Hiding::none;
};

struct Segment {
    std::vector<Operator> operators;
    LocalCollective collective;
};

struct Work {
    std::string name;
    std::vector<Segment> segments;
};

}  // namespace rehearse
