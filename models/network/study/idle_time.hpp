// How long a flow takes alone on an idle fabric: the closed form that slowdowns are measured against, and what turns
// a fluid time into a flow completion time.
//
//     one way    = wire bytes / slowest rate + sum of latencies + first packet / rate of every other link
//     completion = one way of all messages + ACK return
//     in a ring  = messages x (wire bytes of one / rate of its slowest hop)
//                  + latencies and first packets of the hops before, one hop for each message, + ACK return
//     ACK return = sum over the links back of latency + ACK / rate
//
// Ethernet links store and forward whole packets; NVLink and PCIe add latency and may be the slowest. Exact for packets
// of one size on links of one rate. Example: 4,096 B over 4 links of 400 Gbps and 500 ns, 64 bytes of framing:
// 83.2 + 4 x 500 + 3 x 83.2 + 4 x (500 + 1.28) ns = 4.338 us.
#pragma once

#include <span>
#include <vector>

#include "models/network/spec.hpp"
#include "models/network/study/traffic.hpp"
#include "sim/base/switch.hpp"
#include "topology/cluster.hpp"
#include "topology/router.hpp"

namespace rehearse {

struct IdlePath {
    SimDuration latency;            // of all links
    SimDuration store_and_forward;  // the first packet on all Ethernet links but the slowest
    SimDuration ack_return;
    Bandwidth slowest_ethernet, slowest_inside;  // 0: the path has none
};

class IdleTimes {
public:
    // `pad_last`: the last packet of a message is as long as the others. Both must outlive the object.
    IdleTimes(const Cluster& cluster, const Router& router, const NetworkSpec& network, Switch pad_last);

    IdlePath path(const StudyFlow& flow) const;
    SimDuration one_way(const IdlePath& path, Bytes message, std::int64_t messages = 1) const;
    // Of each flow, from its start until the sender holds the last ACK.
    std::vector<SimDuration> completions(const std::vector<StudyFlow>& flows) const;

private:
    void add_ring(std::span<const StudyFlow> ring, std::span<SimDuration> times) const;
    SimDuration moving(const IdlePath& path, Bytes message, std::int64_t messages) const;  // at the slowest rate
    Bytes wire(Bytes message) const;

    const Cluster* cluster_;
    const Router* router_;
    NetworkSpec network_;
    Switch pad_last_;
};

}  // namespace rehearse
