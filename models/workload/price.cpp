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
        if (collective.kind == LocalCollectiveKind::none) return 0;
        const double bytes = collective.bytes * share;
        return collective.kind == LocalCollectiveKind::ring_exchange
                   ? exchange_seconds(bytes)
                   : tensor_seconds(bytes, collective.kind == LocalCollectiveKind::all_reduce ? 2 : 1);
    }

    double tensor_seconds(double bytes, int passes) const {
        const auto [n, nodes] = fabric_.tensor;
        if (nodes == 1) return local_collective_seconds(profile_, passes, bytes, n);
        const double latency = profile_.message_latency.seconds() * (nodes - 1);
        return passes * ((n - 1.0) / n * bytes / network_rate(static_cast<double>(n) / nodes) + latency);
    }

    double exchange_seconds(double bytes) const {
        const auto [n, nodes] = fabric_.context;
        if (n <= 1) return 0;
        if (nodes == 1) return local_exchange_seconds(profile_, bytes, n);
        return bytes / network_rate(1) + profile_.message_latency.seconds();
    }

    // Bytes per second of so many ranks of a node over their share of its NICs.
    double network_rate(double ranks) const {
        const double share = std::min(1.0, ranks / fabric_.ranks_per_node);
        return fabric_.node_network.bytes_per_second() * share * profile_.network_efficiency.value;
    }

    void price_segment(const Segment& segment, double& compute, double& communication) const {
        const LocalCollective& collective = segment.collective;
        double partner = 0;
        compute = 0;
        communication = 0;
        for (std::size_t i = 0; i < segment.operators.size(); ++i) {
            const double time = operator_seconds(segment.operators[i]);
            compute += time;
            if (i >= collective.partner) partner += time;
        }
        const double whole = collective_seconds(collective, 1.0);
        if (whole <= 0) return;
        const double taken = profile_.communication_multiprocessors.value;
        if (collective.hiding == Hiding::none || partner <= 0) {
            communication = whole;
        } else if (collective.hiding == Hiding::under) {
            // The collective occupies multiprocessors that the operators beside it miss.
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
