#include "models/workload/price.hpp"

#include <algorithm>
#include <cmath>

#include "models/compute/cost.hpp"

namespace rehearse {

namespace {

class Pricing {
public:
    Pricing(const DeviceProfile& profile, const LocalFabric& fabric) : profile_(profile), fabric_(fabric) {}

    PricedWork price(const Work& work) const {
        std::vector<double> compute(work.segments.size()), communication(work.segments.size());
        std::vector<double> device(work.regions.size()), floor(work.regions.size());
        for (std::size_t r = 0; r < work.regions.size(); ++r) floor[r] = host_floor(work.regions[r]);
        for (std::size_t i = 0; i < work.segments.size(); ++i) {
            price_segment(work.segments[i], compute[i], communication[i]);
            device[work.segments[i].region] += compute[i];
            if (floor[work.segments[i].region] > 0 && communication[i] > 0) {
                floor[work.segments[i].region] += profile_.host_collective.seconds();
            }
        }
        PricedWork priced;
        for (std::size_t i = 0; i < work.segments.size(); ++i) {
            const std::size_t r = work.segments[i].region;
            // The host issues kernels ahead of the device; where it cannot keep up, its pace rules the whole region.
            const double stretch = device[r] > 0 ? std::max(1.0, floor[r] / device[r]) : 1.0;
            priced.add({seconds(compute[i] * stretch), seconds(communication[i])});
        }
        return priced;
    }

private:
    double host_floor(const HostRegion& region) const {
        return region.layers_forward * profile_.host_layer_forward.seconds() +
               region.layers_backward * profile_.host_layer_backward.seconds() +
               region.micro_batches * profile_.host_micro_batch.seconds();
    }

    double operator_seconds(const Operator& op) const {
        switch (op.kind) {
            case OperatorKind::gemm:
                return gemm_seconds(profile_, {op.batch, op.m, op.n, op.k, op.output_bytes, op.fill});
            case OperatorKind::attention:
                return attention_seconds(profile_, op.flops.value, op.bytes, op.kernels,
                                         op.phase == AttentionPhase::forward ? Ratio{1} : profile_.attention_backward);
            case OperatorKind::memory: return memory_seconds(profile_, op.bytes, op.kernels);
            case OperatorKind::host: break;
        }
        switch (op.host) {
            case HostCost::exchange: return profile_.host_exchange.seconds();
            case HostCost::input: return profile_.host_input.seconds();
            case HostCost::step: return profile_.host_step.seconds();
            case HostCost::none: break;
        }
        return 0;
    }

    double collective_seconds(const LocalCollective& collective, double share) const {
        const std::uint32_t n = fabric_.group_size;
        const double bytes = collective.bytes * share;
        if (collective.kind == LocalCollectiveKind::none || n <= 1) return 0;
        const bool all_reduce = collective.kind == LocalCollectiveKind::all_reduce;
        if (n <= fabric_.ranks_per_node) {
            return local_collective_seconds(profile_, all_reduce ? 2 : 1, bytes, n);
        }
        // Beyond the node: a ring over all NICs of each node, one latency per node boundary and round.
        const double rounds = all_reduce ? 2 : 1;
        const double nodes = std::ceil(n / static_cast<double>(fabric_.ranks_per_node));
        const double rate = fabric_.node_network.bytes_per_second() * profile_.network_efficiency.value;
        return rounds * ((n - 1.0) / n * bytes / rate + profile_.message_latency.seconds() * (nodes - 1));
    }

    void price_segment(const Segment& segment, double& compute, double& communication) const {
        compute = 0;
        communication = 0;
        for (const Operator& op : segment.operators) compute += operator_seconds(op);
        const LocalCollective& collective = segment.collective;
        const double whole = collective_seconds(collective, 1.0);
        if (whole <= 0) return;
        const bool has_partner = collective.partner < segment.operators.size();
        const double partner = has_partner ? operator_seconds(segment.operators[collective.partner]) : 0;
        const double taken = profile_.communication_multiprocessors.value;
        if (collective.hiding == Hiding::none || !has_partner) {
            communication = whole;
        } else if (collective.hiding == Hiding::under) {
            // The collective occupies multiprocessors that the operator beside it misses.
            compute += std::min(whole, partner) * taken;
            communication = std::max(0.0, whole - partner - std::min(whole, partner) * taken);
        } else {
            price_chunked(collective, partner, compute, communication);
        }
    }

    // n chunks: the first chunk's collective is exposed, the others run beside the GEMM and take multiprocessors from
    // it.
    void price_chunked(const LocalCollective& collective, double gemm, double& compute, double& communication) const {
        const double n = static_cast<double>(profile_.overlap_chunks);
        const double chunk = collective_seconds(collective, 1.0 / n);
        const double launches = (n - 1) * profile_.kernel_overhead.seconds();
        const double steal = n * chunk * profile_.communication_multiprocessors.value;
        const double busy = gemm + launches;
        const double total = chunk + std::max(busy + steal, (n - 1) * chunk + busy / n);
        compute += launches;
        communication = std::max(0.0, total - busy);
        const double blocking = gemm + collective_seconds(collective, 1.0);
        if (total >= blocking) {  // chunking would lose: libraries fall back to the plain form
            compute -= launches;
            communication = blocking - gemm;
        }
    }

    const DeviceProfile& profile_;
    const LocalFabric& fabric_;
};

}  // namespace

SimDuration PricedWork::compute() const {
    SimDuration total;
    for (const PricedSegment& segment : segments) total += segment.compute;
    return total;
}

SimDuration PricedWork::communication() const {
    SimDuration total;
    for (const PricedSegment& segment : segments) total += segment.communication;
    return total;
}

std::vector<PricedWork> price(const Workload& workload, const DeviceProfile& profile, const LocalFabric& fabric) {
    const Pricing pricing(profile, fabric);
    std::vector<PricedWork> prices;
    prices.reserve(workload.works.size());
    for (const Work& work : workload.works) prices.push_back(pricing.price(work));
    return prices;
}

}  // namespace rehearse
