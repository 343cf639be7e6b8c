#include "models/workload/routing/exchange_bytes.hpp"

#include <algorithm>

#include "sim/base/checks.hpp"

namespace rehearse {

namespace {

// Sums over the slots that stand in one place: a GPU, or a node.
struct PlaceSums {
    double pi = 0, square = 0;
};

// P(a token has at least one expert there), by the equation of the header.
double reached(const PlaceSums& sums, std::uint32_t top_k) {
    if (!(sums.pi > 0)) return 0;
    const double p = sums.square / sums.pi, m = sums.pi / p, all = top_k / p;
    double none = 1;
    for (std::uint32_t i = 0; i < top_k; ++i) none *= std::max(all - m - i, 0.0) / std::max(all - i, 1e-12);
    return 1 - std::min(none, 1.0);
}

// The copies of one source's mean token that reach each place; `places` of `gpus_per_place` GPUs.
std::vector<double> copies_of_source(std::span<const std::uint32_t> counts, const ExpertSlots& slots,
                                     const ExchangeRequest& request, std::uint32_t gpus_per_place, CopiesPer copies) {
    std::vector<PlaceSums> sums(request.ranks / gpus_per_place);
    for (std::uint32_t e = 0; e < slots.experts(); ++e) {
        const std::uint32_t replicas = slots.first[e + 1] - slots.first[e];
        const double pi = static_cast<double>(counts[e]) / static_cast<double>(request.tokens_per_source) / replicas;
        for (std::uint32_t s = slots.first[e]; s < slots.first[e + 1]; ++s) {
            PlaceSums& place = sums[slots.gpu[s] / gpus_per_place];
            place.pi += pi;
            place.square += pi * pi;
        }
    }
    std::vector<double> result(sums.size());
    for (std::size_t i = 0; i < sums.size(); ++i)
        result[i] = copies == CopiesPer::assignment ? sums[i].pi : reached(sums[i], request.top_k);
    return result;
}

}  // namespace

ExpertSlots ExpertSlots::single(std::span<const std::uint32_t> gpu_of_expert) {
    ExpertSlots slots;
    for (std::uint32_t e = 0; e <= gpu_of_expert.size(); ++e) slots.first.push_back(e);
    slots.gpu.assign(gpu_of_expert.begin(), gpu_of_expert.end());
    return slots;
}

double ByteMatrix::sent_max() const {
    double most = 0;
    for (std::uint32_t s = 0; s < ranks; ++s) {
        double sent = -at(s, s);
        for (std::uint32_t d = 0; d < ranks; ++d) sent += at(s, d);
        most = std::max(most, sent);
    }
    return most;
}

double ByteMatrix::received_max() const {
    std::vector<double> received(ranks, 0.0);
    for (std::uint32_t s = 0; s < ranks; ++s)
        for (std::uint32_t d = 0; d < ranks; ++d) received[d] += s == d ? 0 : at(s, d);
    return received.empty() ? 0 : *std::max_element(received.begin(), received.end());
}

double ByteMatrix::total() const {
    double sum = 0;
    for (std::uint32_t s = 0; s < ranks; ++s)
        for (std::uint32_t d = 0; d < ranks; ++d) sum += s == d ? 0 : at(s, d);
    return sum;
}

BusiestRank busiest_rank(const ByteMatrix& matrix, std::uint32_t gpus_per_node) {
    REHEARSE_CHECK(gpus_per_node > 0 && matrix.ranks % gpus_per_node == 0, "whole nodes");
    std::vector<BusiestRank> sent(matrix.ranks), received(matrix.ranks);
    for (std::uint32_t s = 0; s < matrix.ranks; ++s) {
        for (std::uint32_t d = 0; d < matrix.ranks; ++d) {
            if (s == d) continue;
            const auto part = s / gpus_per_node == d / gpus_per_node ? &BusiestRank::nvlink : &BusiestRank::network;
            sent[s].*part += matrix.at(s, d);
            received[d].*part += matrix.at(s, d);
        }
    }
    BusiestRank most;
    for (std::uint32_t r = 0; r < matrix.ranks; ++r) {
        most.network = std::max({most.network, sent[r].network, received[r].network});
        most.nvlink = std::max({most.nvlink, sent[r].nvlink, received[r].nvlink});
    }
    return most;
}

ByteMatrix exchange_bytes(const ExchangeRequest& request, std::span<const std::uint32_t> counts,
                          const ExpertSlots& slots, CopiesPer copies) {
    REHEARSE_CHECK(request.ranks > 0 && request.gpus_per_node > 0 && request.ranks % request.gpus_per_node == 0,
                   "whole nodes");
    REHEARSE_CHECK(slots.experts() > 0 && counts.size() == std::size_t{request.ranks} * slots.experts(),
                   "a count for each source and expert");
    REHEARSE_CHECK(slots.gpu.size() == slots.first.back(), "compressed rows end where the slots do");
    for (std::uint32_t e = 0; e < slots.experts(); ++e)
        REHEARSE_CHECK(slots.first[e + 1] > slots.first[e], "every expert stands somewhere");
    for (const std::uint32_t gpu : slots.gpu) REHEARSE_CHECK(gpu < request.ranks, "a GPU of the group");
    ByteMatrix matrix{request.ranks, std::vector<double>(std::size_t{request.ranks} * request.ranks, 0.0)};
    if (request.tokens_per_source <= 0) return matrix;
    const std::uint32_t g = copies == CopiesPer::node ? request.gpus_per_node : 1;
    const double bytes = static_cast<double>(request.tokens_per_source) * request.bytes_per_token;
    for (std::uint32_t s = 0; s < request.ranks; ++s) {
        const auto row = counts.subspan(std::size_t{s} * slots.experts(), slots.experts());
        const std::vector<double> reach = copies_of_source(row, slots, request, g, copies);
        for (std::uint32_t place = 0; place < reach.size(); ++place)
            matrix.bytes[std::size_t{s} * request.ranks + place * g + s % g] = bytes * reach[place];
    }
    return matrix;
}

ByteMatrix forwarded_bytes(const ByteMatrix& per_rank, std::uint32_t gpus_per_node) {
    const std::uint32_t n = per_rank.ranks, g = gpus_per_node;
    REHEARSE_CHECK(g > 0 && n % g == 0, "whole nodes");
    ByteMatrix matrix{n, std::vector<double>(per_rank.bytes.size(), 0.0)};
    for (std::uint32_t s = 0; s < n; ++s) {
        for (std::uint32_t d = 0; d < n; ++d)
            matrix.bytes[std::size_t{d / g * g + s % g} * n + d] += per_rank.at(s, d);
    }
    return matrix;
}

}  // namespace rehearse
