// The costs of an algorithm (nccl_model.hpp) fitted on measured collectives: least squares of log(predicted/measured),
// rows that nothing explains counted linearly (fit.hpp). Parameters are fitted as logarithms of their start, so each
// stays positive, between a thirtieth and thirty times of it.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "models/collectives/nccl_model.hpp"

namespace rehearse {

struct NcclSample {
    CollectiveKind kind = CollectiveKind::all_reduce;
    NodeGroup group;
    Bytes size;
    double seconds = 0;
};

// One free number each, but `hop`: both tiers' hops, alike (a table of one node count doesn't part them), and
// `chunk`: chunk_max and chunk_cost.
enum class NcclParameter : std::uint8_t {
    launch, hop, hop_nvlink, hop_network, rate_nvlink, rate_network, pass, chunk
};

std::string_view name(NcclParameter parameter);  // "NVLink hop", ...

// The other numbers stay as in `start`, and so does one that starts at zero. InvariantBroken without samples, or for a
// sample that took no time.
NcclCosts fit_nccl(const NcclCosts& start, std::span<const NcclParameter> free, std::span<const NcclSample> samples);

// predicted / measured of the fastest set, per sample.
std::vector<double> nccl_ratios(std::span<const NcclCosts> sets, std::span<const NcclSample> samples,
                                std::optional<NcclAlgorithm> forced = {});

// exp(mean |log ratio|) - 1; the mean of |ratio - 1|. 0 of nothing.
double geometric_mean_error(std::span<const double> ratios);
double mean_error(std::span<const double> ratios);

// Every other sample, from the first or from the second on.
enum class Parity : std::uint8_t { even, odd };
template <class T>
std::vector<T> every_other(const std::vector<T>& items, Parity parity) {
    std::vector<T> chosen;
    for (std::size_t i = parity == Parity::even ? 0 : 1; i < items.size(); i += 2) chosen.push_back(items[i]);
    return chosen;
}

}  // namespace rehearse
