// Flow against packet fidelity: mean and longest flow completion time of the fluid model, and what packets make of the
// same demands on the same routes under fair queues, under FIFO with PFC, and under congestion control.
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

PacketSpec controlled(CongestionControl control) {
    PacketSpec spec;
    spec.congestion = control;
    spec.dcqcn = DcqcnSet::connectx;
    spec.ecn = ecn_profile(EcnSet::simai, gigabits_per_second(400));
    return spec;
}

void compare(const char* name, const ClusterSpec& cluster, const std::vector<Demand>& demands) {
    const Times flow = summary(testing::flow_times(cluster, demands));
    std::printf("%-26s flow %26.1f mean %9.1f longest us\n", name, flow.mean, flow.longest);
    const auto row = [&](const char* how, const PacketSpec& spec) {
        const Times packet = summary(testing::packet_times(cluster, demands, spec));
        std::printf("%-26s packet, %-15s %9.1f mean %9.1f longest us, mean %+6.1f %%\n", name, how, packet.mean,
                    packet.longest, 100 * (packet.mean / flow.mean - 1));
    };
    row("fair, no limit", testing::endless_buffers(QueueDiscipline::fair));
    row("FIFO, no limit", testing::endless_buffers(QueueDiscipline::fifo));
    row("FIFO, PFC", {});
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

}  // namespace
}  // namespace rehearse::bench

int main(int argc, char** argv) {
    if (argc > 1 && std::strcmp(argv[1], "--small") == 0) {
        rehearse::bench::compare_all(4, 4);
        return 0;
    }
    rehearse::bench::compare_all(8, 16);
    rehearse::bench::compare_all(16, 16);
    return 0;
}
