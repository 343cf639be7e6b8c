// The flows of fat_tree_flows.hpp in SimGrid (S4U host-to-host communications). A separate program, because SimGrid
// keeps its state in globals.
//
//   simgrid_peer perm|a2a HALF PODS BYTES MEMBERS JITTER   (JITTER 0 or 1)
// prints: CPU seconds to build, CPU seconds from the first send to the end, simulated end, mean completion time.
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <simgrid/s4u.hpp>
#include <string>
#include <vector>

#include "tests/bench/fat_tree_flows.hpp"

namespace {

namespace sg = simgrid::s4u;

double cpu_seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

// The options make it a plain fluid model: no TCP window, no cross traffic.
void configure() {
    sg::Engine::set_config("network/model:CM02");
    sg::Engine::set_config("network/TCP-gamma:0");
    sg::Engine::set_config("network/crosstraffic:0");
    sg::Engine::set_config("surf/precision:1e-12");
}

std::vector<sg::Host*> build(unsigned half, unsigned pods) {
    const auto host = [](sg::NetZone* zone, const std::vector<unsigned long>&, unsigned long id) {
        auto* made = zone->create_host("h" + std::to_string(id), 1e9)->seal();
        return std::make_pair(made->get_netpoint(), static_cast<simgrid::kernel::routing::NetPoint*>(nullptr));
    };
    const sg::FatTreeParams shape(3, {half, half, pods}, {1, half, half}, {1, 1, 1});
    sg::create_fatTree_zone("tree", nullptr, shape, sg::ClusterCallbacks(host), 50e9, 500e-9,
                            sg::Link::SharingPolicy::SPLITDUPLEX)
        ->seal();
    std::vector<sg::Host*> hosts;
    for (unsigned h = 0; h < half * half * pods; ++h) hosts.push_back(sg::Host::by_name("h" + std::to_string(h)));
    return hosts;
}

}  // namespace

int main(int argc, char** argv) {
    sg::Engine engine(&argc, argv);
    if (argc < 7) return 2;
    configure();
    const auto half = static_cast<unsigned>(std::atoi(argv[2])), pods = static_cast<unsigned>(std::atoi(argv[3]));
    const auto members = static_cast<unsigned>(std::atoi(argv[5]));
    const double begin = cpu_seconds();
    const std::vector<sg::Host*> hosts = build(half, pods);
    const double built = cpu_seconds();
    auto flows = std::string(argv[1]) == "perm"
                     ? rehearse::bench::permutation(half * half * pods, std::atof(argv[4]), 1)
                     : rehearse::bench::all_to_all(half * half * pods, members, std::atof(argv[4]));
    if (std::atoi(argv[6]) != 0) flows = rehearse::bench::jittered(flows);
    double sum = 0;
    sg::Actor::create("main", hosts[0], [&] {
        std::vector<sg::CommPtr> sent;
        for (const auto& flow : flows) {
            sent.push_back(sg::Comm::sendto_async(hosts[flow.source], hosts[flow.destination],
                                                  static_cast<std::uint64_t>(flow.bytes)));
        }
        for (const auto& comm : sent) comm->wait();
        for (const auto& comm : sent) sum += comm->get_finish_time();
    });
    engine.run();
    std::printf("%.6f %.6f %.12f %.12f\n", built - begin, cpu_seconds() - built, sg::Engine::get_clock(),
                sum / static_cast<double>(flows.size()));
    return 0;
}
