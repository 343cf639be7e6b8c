// Flow against packet fidelity: mean and longest flow completion time of the fluid model, and what packets make of the
// same demands on the same routes under fair queues, under FIFO with PFC, and under congestion control. Then a 7:1
// incast under each law.
//
//   fidelity_bench           128 and 1,024 hosts
//   fidelity_bench --small   16 hosts (run by the tests)
#include <cstdio>
#include <cstring>

#include "tests/models/fidelity_fixture.hpp"

namespace rehearse::bench {
namespace {

using testing::Demand;
using testing::summary;
using testing::Times;

PacketSpec controlled(CongestionControl control, DcqcnSet set = DcqcnSet::connectx) {
    PacketSpec spec;
    spec.congestion = control;
    spec.dcqcn = set;
    spec.ecn = ecn_profile(EcnSet::simai, gigabits_per_second(400));
    return spec;
}

void compare(const char* name, const ClusterSpec& cluster, const std::vector<Demand>& demands) {
    const Times flow = summary(testing::flow_times(cluster, demands));
    std::printf("%-26s flow %26.1f mean %9.1f longest us\n", name, flow.mean, flow.longest);
    const auto row = [&](const char* how, const PacketSpec& spec, FlowControl control = FlowControl::pfc) {
        const Times packet = summary(testing::packet_times(cluster, demands, spec, control));
        std::printf("%-26s packet, %-15s %9.1f mean %9.1f longest us, mean %+6.1f %%\n", name, how, packet.mean,
                    packet.longest, 100 * (packet.mean / flow.mean - 1));
    };
    row("fair, no limit", testing::endless_buffers(QueueDiscipline::fair));
    row("FIFO, no limit", testing::endless_buffers(QueueDiscipline::fifo));
    row("FIFO, PFC", {});
    row("FIFO, CBFC", {}, FlowControl::cbfc);
    row("DCQCN", controlled(CongestionControl::dcqcn));
    row("Swift", controlled(CongestionControl::swift));
    row("MegaScale-like", controlled(CongestionControl::megascale));
    row("HPCC", controlled(CongestionControl::hpcc));
}

void compare_all(std::int64_t k, std::uint32_t group) {
    const ClusterSpec cluster = testing::fat_tree_with_ecmp(k);
    const auto hosts = static_cast<std::uint32_t>(cluster.hosts);
    std::printf("%u hosts\n", hosts);
    compare("permutation, 2 MB", cluster, testing::permutation_demands(hosts, 1));
    compare("all-to-all, 100 kB a pair", cluster, testing::all_to_all_demands(hosts, group, 100'000));
}

// Goodput as a share of the line; fairness: Jain's index of the rates of all seven.
void incast_under(const char* law, const PacketSpec& spec, std::int64_t bytes) {
    testing::PacketBed bed(testing::fat_tree_with_ecmp(8), spec);
    for (const TrafficPair& pair : incast(7)) bed.send(pair.source, pair.destination, bytes);
    bed.run();
    double end = 0, sum = 0, squares = 0;
    for (std::uint32_t i = 0; i < 7; ++i) {
        const double rate = 1 / bed.microseconds_of(i);
        end = std::max(end, 1 / rate);
        sum += rate;
        squares += rate * rate;
    }
    std::int64_t queue = 0;
    for (const PortCounters& port : bed.engine.counters()) queue = std::max(queue, port.queue_peak);
    const double goodput = 7 * static_cast<double>(bytes) * 8 / (end * 1e-6) / 400e9;
    std::printf("7:1 incast, %-22s end %9.1f us, goodput %.3f, fairness %.3f, queue %5.1f MB, pauses %llu\n", law, end,
                goodput, sum * sum / (7 * squares), static_cast<double>(queue) / 1e6,
                static_cast<unsigned long long>(bed.total().pauses));
}

void incast_under_all(std::int64_t bytes) {
    incast_under("none", controlled(CongestionControl::none), bytes);
    incast_under("DCQCN paper", controlled(CongestionControl::dcqcn, DcqcnSet::paper), bytes);
    incast_under("DCQCN hpcc_repository", controlled(CongestionControl::dcqcn, DcqcnSet::hpcc_repository), bytes);
    incast_under("DCQCN connectx", controlled(CongestionControl::dcqcn), bytes);
    incast_under("Swift", controlled(CongestionControl::swift), bytes);
    incast_under("MegaScale-like", controlled(CongestionControl::megascale), bytes);
    incast_under("HPCC", controlled(CongestionControl::hpcc), bytes);
}

}  // namespace
}  // namespace rehearse::bench

int main(int argc, char** argv) {
    if (argc > 1 && std::strcmp(argv[1], "--small") == 0) {
        rehearse::bench::compare_all(4, 4);
        rehearse::bench::incast_under_all(1'000'000);
        return 0;
    }
    rehearse::bench::compare_all(8, 16);
    rehearse::bench::compare_all(16, 16);
    rehearse::bench::incast_under_all(20'000'000);
    return 0;
}
