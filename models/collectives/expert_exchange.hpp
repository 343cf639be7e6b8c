// Dispatch and combine of a mixture of experts over n ranks, g to a node: bytes, messages and time of each form.
//
// Every rank has T tokens, each with k different experts of E, E/n on a rank; a copy of a token is b bytes. The router
// is even, and the experts of a token may be limited to L nodes (DeepSeek-V3, arXiv 2412.19437: 4). S = T k b.
//
//   form          sent by a rank over the network  over NVLink              messages: network, NVLink
//   direct        S (n - g) / n                    S (g - 1) / n            n - g, g - 1
//   gather        T b (N - 1)                      T b N (g - 1)            N - 1, g - 1
//   hierarchical  T b D_nodes (N - 1) / N          T b D_ranks (g - 1) / g  N - 1, g - 1
//   ring          S (n - 1) / 2                    S (n - 1) / 2            n - 1 in all
//   tree          S w(N)                           S w(g)                   log2 N, log2 g, rounded up
//
// direct: NCCL's grouped sends, DeepEP's low-latency kernels. gather: an all-gather of all tokens, and a reduce-scatter
// of all results. hierarchical: DeepEP's normal kernels. ring: blocks forwarded from neighbour to neighbour. tree:
// Bruck et al. (IEEE TPDS 8, 1997), among nodes and then within them.
//
// N = n / g nodes. D_nodes and D_ranks are the distinct nodes and ranks that the k experts of a token stand on, in the
// mean: hierarchical sends one copy to each node, to the GPU on the sender's rail, which passes it on to each rank
// once. w(m) is the mean number of set bits of 0 .. m-1, the hops of a block: log2(m) / 2 for a power of two. The
// figures of a ring are those of the ranks at the edge of a node; the others have no network traffic.
//
// Since every (source, expert) has a payload of its own, forwarding cannot cut bytes: w(m) >= (m - 1) / m, so a tree
// never sends less than direct; it cuts messages. What cuts bytes is not to send a node the same token twice: 1 -
// D_nodes / k, which is 1.6 % for top-2 on 32 nodes and 50 % for top-8 limited to 4 nodes. Two levels cut messages as
// well: 1,439 become 179 + 7 a rank on 1,440 ranks.
//
// Time, with R and M the network and NVLink parts, each (bytes / rate, 0 without bytes), c per message, a = latency:
//   direct                software + c messages + max(a_net + R, a_nvl + M)      the two run side by side
//   hierarchical, gather  software + c messages + a_net + a_nvl + max(R, M) + min(R, M) / q   stages pipelined in q
//                         rounds; a gather pays its latencies in each step of its two rings, and runs M at the rate of
//                         copies without reordering
//   ring                  software + (n - 1) (a + c) + max(R, M),  a of the network when there are two nodes
//   tree                  software + rounds (a + c) + R + M, store and forward
// Example: exchange_cost(exchange, rates, ExchangeForm::hierarchical).time; choose_exchange(exchange, rates).form.
#pragma once

#include <cstdint>
#include <string_view>

#include "sim/base/units.hpp"

namespace rehearse {

enum class ExchangeForm : std::uint8_t { direct, gather, hierarchical, ring, tree };
inline constexpr ExchangeForm exchange_forms[] = {ExchangeForm::direct, ExchangeForm::gather,
                                                  ExchangeForm::hierarchical, ExchangeForm::ring, ExchangeForm::tree};
std::string_view name(ExchangeForm form);

struct ExpertExchange {
    std::int64_t ranks = 1;          // n
    std::int64_t gpus_per_node = 1;  // g, divides n; 1 = everything goes over the network
    std::int64_t tokens = 0;         // T, of one rank
    std::int64_t experts = 1;        // E, a multiple of n
    std::int64_t top_k = 1;          // k
    std::int64_t node_limit = 0;     // L; 0 = none
    Bytes bytes_per_token;           // b
    std::int64_t nodes() const { return ranks / gpus_per_node; }
};

struct ExchangeRates {
    Bandwidth nvlink;                // one way, of all-to-all copies
    Bandwidth nvlink_gather;         // one way, of all-gather and reduce-scatter; 0 = nvlink
    Bandwidth nic;                   // one way, of one rank
    SimDuration latency_nvlink, latency_network;
    SimDuration software;            // fixed, of one call
    SimDuration per_message;
    double rounds = 1;               // q; 1 = one stage after the other
};

struct ExchangeCost {
    ExchangeForm form = ExchangeForm::direct;
    Bytes network, nvlink;           // sent by one rank, see the table
    std::int64_t messages_network = 0, messages_nvlink = 0;
    SimDuration time;
};

// The parts that time is made of. For an uneven router take those of the busiest rank instead (its byte matrix,
// models/workload/routing/exchange_bytes.hpp): an exchange ends with the last of its members.
struct ExchangeVolume {
    double network = 0, nvlink = 0;  // bytes
    std::int64_t messages_network = 0, messages_nvlink = 0;
};

struct DistinctTargets {
    double nodes = 0, ranks = 0;
};

// k experts drawn without replacement. Without a limit both are hypergeometric: places (1 - C(E - s, k) / C(E, k)), s
// experts on a place. With one, a token takes the L nodes with the best single expert each, and the best k experts on
// them: it has min(L, nodes among its k best experts of all) nodes. Distinct ranks are then taken as those of k experts
// drawn from L nodes, which a draw of tokens shows to be low by less than 2 %.
DistinctTargets distinct_targets(const ExpertExchange& exchange);

// InvariantBroken when nodes or experts don't divide, k > E, L k cannot be met, or a rate that is used is not positive.
ExchangeCost exchange_cost(const ExpertExchange& exchange, const ExchangeRates& rates, ExchangeForm form);
// Its two halves: the table above, and the times below it.
ExchangeVolume exchange_volume(const ExpertExchange& exchange, ExchangeForm form);
SimDuration exchange_time(const ExchangeVolume& volume, const ExchangeRates& rates, ExchangeForm form);
// The form of least time; of equal ones the first of the table.
ExchangeCost choose_exchange(const ExpertExchange& exchange, const ExchangeRates& rates);

}  // namespace rehearse
