#include "kernels/cpu/launch.hpp"

#include <algorithm>

namespace rehearse::kernels {

void split(const CpuContext& context, std::int64_t count, const std::function<void(std::int64_t, std::int64_t)>& part) {
    const std::int64_t threads = std::min<std::int64_t>(context.threads(), count);
    if (threads <= 1) return part(0, count);
#pragma omp parallel for num_threads(static_cast<int>(threads)) schedule(static)
    for (std::int64_t t = 0; t < threads; ++t) part(count * t / threads, count * (t + 1) / threads);
}

}  // namespace rehearse::kernels
