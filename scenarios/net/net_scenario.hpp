// What `rehearse net` is asked: a fabric, traffic on it, and how the network is modelled. NetScenario is plain data;
// ValidNetScenario is the same, proved consistent.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "models/network/packet/spec.hpp"
#include "models/network/spec.hpp"
#include "models/network/study/pattern.hpp"
#include "scenarios/net/sweep.hpp"
#include "sim/config/config_node.hpp"
#include "topology/spec.hpp"

namespace rehearse {

struct NetSpec {
    std::vector<PatternSpec> patterns{PatternSpec{}};   // several: a mix, side by side
    SimDuration sample_interval = microseconds(10);     // of the time series; doubles when sample_count is reached
    std::int64_t sample_count = 256;
    FastForwardMode fast_forward = FastForwardMode::off;  // skip settled periods of bulk transfers
};

struct NetScenario {
    NetScenario() { network.fidelity = Fidelity::packet; }  // what the command is for

    std::string name;  // default: the file's name
    std::uint64_t seed = 1;
    ClusterSpec cluster;
    NetSpec net;
    NetworkSpec network;
    PacketSpec packet;
    std::vector<SweepAxis> sweep;  // none: one run
    ConfigNode written;  // what the file said and where
};

// The cluster can be wired and holds every member; groups divide their members; members, senders and cluster.hosts are
// known numbers. Made by validate() alone.
class ValidNetScenario {
public:
    const NetScenario& plain() const { return scenario_; }
    const std::string& name() const { return scenario_.name; }
    std::uint64_t seed() const { return scenario_.seed; }
    const ClusterSpec& cluster() const { return scenario_.cluster; }
    const NetSpec& net() const { return scenario_.net; }
    const NetworkSpec& network() const { return scenario_.network; }
    const PacketSpec& packet() const { return scenario_.packet; }
    const std::vector<std::string>& warnings() const { return warnings_; }

private:
    friend ValidNetScenario validate(NetScenario raw);
    ValidNetScenario() = default;
    NetScenario scenario_;
    std::vector<std::string> warnings_;
};

// Throws InputError with every fault, each at the place of its key.
ValidNetScenario validate(NetScenario raw);

}  // namespace rehearse
