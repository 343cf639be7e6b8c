// The per-pair byte matrix of a dispatch: what each source rank sends to each GPU of its expert group, from the tokens
// that it has for each expert. The combine moves the same copies back: its matrix is the transpose, with its own bytes
// per token.
//
// A token with k experts is sent as one copy per
//     assignment   k copies, also when two of its experts share a GPU (Megatron-Core's all-to-all dispatcher)
//     rank         each distinct GPU once
//     node         each distinct node once, to the GPU of that node with the source's place in its own (the same rail),
//                  which passes it on to the distinct GPUs of the node over NVLink (DeepEP's normal kernels)
// Counts say how many tokens of a source chose each expert, not which of them together, so that distinct ones are an
// expectation: a set of experts with inclusion probabilities pi (pi = count / tokens of the source), their sum a, is
// as good as m of M equal experts,
//     p = sum pi^2 / sum pi,  m = a / p,  M = k / p,
//     P(a token has none of them) = prod_{i<k} (M - m - i) / (M - i)
// which is exact for equal experts (hypergeometric) and for a set of one (1 - pi).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace rehearse {

// Where experts stand, as compressed rows: expert e has slots on gpu[first[e]] .. gpu[first[e + 1] - 1]. The tokens of
// an expert spread evenly over its slots.
struct ExpertSlots {
    std::vector<std::uint32_t> first, gpu;
    static ExpertSlots single(std::span<const std::uint32_t> gpu_of_expert);  // one slot each
    std::uint32_t experts() const { return static_cast<std::uint32_t>(first.size() - 1); }
};

enum class CopiesPer : std::uint8_t { assignment, rank, node };

struct ByteMatrix {
    std::uint32_t ranks = 0;
    std::vector<double> bytes;  // [source][destination]; the diagonal is what stays on its GPU
    double at(std::uint32_t source, std::uint32_t destination) const {
        return bytes[std::size_t{source} * ranks + destination];
    }
    double sent_max() const;      // over ranks, without the diagonal
    double received_max() const;
    double total() const;         // without the diagonal
};

// The most that one rank sends or receives over the network (to other nodes) and over NVLink (within its node); not
// necessarily the same rank.
struct BusiestRank {
    double network = 0, nvlink = 0;  // bytes
};
BusiestRank busiest_rank(const ByteMatrix& matrix, std::uint32_t gpus_per_node);

struct ExchangeRequest {
    std::uint32_t ranks = 0;             // of the expert group; GPUs are numbered in it
    std::uint32_t gpus_per_node = 0;     // divides the ranks
    std::uint32_t top_k = 0;
    std::int64_t tokens_per_source = 0;
    double bytes_per_token = 0;          // of one copy
};

// `counts` is [source][expert] (TokenDraw). InvariantBroken when shapes disagree or a GPU lies outside the group.
ByteMatrix exchange_bytes(const ExchangeRequest& request, std::span<const std::uint32_t> counts,
                          const ExpertSlots& slots, CopiesPer copies);

// What NVLink carries behind the network with copies per node: [GPU that received the copy][GPU that gets it].
ByteMatrix forwarded_bytes(const ByteMatrix& per_rank, std::uint32_t gpus_per_node);

}  // namespace rehearse
