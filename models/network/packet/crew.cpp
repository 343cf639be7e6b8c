// The partitions of an engine, side by side: one per thread, or one in each process.
#include <algorithm>
#include <cstring>
#include <type_traits>
#include <utility>

#include "models/network/packet/cut.hpp"
#include "models/network/packet/partition.hpp"
#include "sim/base/checks.hpp"

namespace rehearse {

namespace {

// Every figure belongs to one process and is 0 in the others, so that sums are the figures of all.
void gather_counters(ProcessGroup& processes, std::vector<PortCounters>& ports) {
    static_assert(sizeof(PortCounters) % sizeof(std::uint64_t) == 0 && std::is_trivially_copyable_v<PortCounters>);
    std::vector<std::uint64_t> words(ports.size() * sizeof(PortCounters) / sizeof(std::uint64_t));
    std::memcpy(words.data(), ports.data(), words.size() * sizeof(std::uint64_t));
    processes.add_up(words);
    std::memcpy(static_cast<void*>(ports.data()), words.data(), words.size() * sizeof(std::uint64_t));
}

void gather_results(ProcessGroup& processes, std::vector<ConnectionResult>& results) {
    std::vector<std::uint64_t> words;
    for (const ConnectionResult& result : results) {
        words.insert(words.end(), {static_cast<std::uint64_t>(result.delivered.value),
                                   static_cast<std::uint64_t>(result.finished.value),
                                   static_cast<std::uint64_t>(result.state), result.retransmissions, result.timeouts,
                                   static_cast<std::uint64_t>(result.stalled.value)});
    }
    processes.add_up(words);
    const std::uint64_t* next = words.data();
    for (ConnectionResult& result : results) {
        result.delivered = SimTime{static_cast<std::int64_t>(*next++)};
        result.finished = SimTime{static_cast<std::int64_t>(*next++)};
        result.state = static_cast<ConnectionState>(*next++);
        result.retransmissions = static_cast<std::uint32_t>(*next++);
        result.timeouts = static_cast<std::uint32_t>(*next++);
        result.stalled = SimDuration{static_cast<std::int64_t>(*next++)};
    }
}

constexpr std::uint16_t header_bytes = 64;  // with them a switch knows the way; assumed

// No port of the switch would run out of bytes before they have come in.
bool cuts_through(const FabricGraph& graph, std::uint32_t node, std::uint64_t byte_time) {
    if (!graph.is_switch(node)) return false;
    for (std::uint32_t i = 0; i < graph.ports_of(node); ++i) {
        if (graph.port(graph.first_port(node) + i).byte_time < byte_time) return false;
    }
    return true;
}

}  // namespace

void PacketEngine::make_partitions(const Crew& crew) {
    REHEARSE_CHECK(crew.threads > 0 && (crew.processes == nullptr || crew.threads == 1), "threads or processes");
    const std::uint32_t count = processes_ != nullptr ? processes_->size() : crew.threads;
    cut_ = cut_fabric(*graph_, count);
    for (std::uint32_t p = 0; p < graph_->port_count(); ++p) {
        const GraphPort &port = graph_->port(p), &peer = graph_->port(port.peer);
        Egress& egress = egress_[p];
        egress.byte_time = port.byte_time;
        egress.latency = port.latency;
        egress.node = port.node;
        egress.peer = port.peer;
        egress.peer_node = peer.node;
        egress.peer_local = peer.local;
        egress.to_partition = cut_[peer.node];
        if (spec_->switching == Switching::cut_through && !has_retry_ &&
            cuts_through(*graph_, peer.node, port.byte_time))
            egress.there_at = header_bytes;
    }
    for (std::uint32_t id = 0; id < count; ++id) {
        if (processes_ != nullptr && processes_->rank() != id) continue;
        std::vector<std::uint32_t> own;
        for (std::uint32_t node = 0; node < cut_.size(); ++node) {
            if (cut_[node] == id) own.push_back(node);
        }
        partitions_.push_back(std::make_unique<Partition>(*this, id, count, std::move(own)));
    }
    if (partitions_.size() > 1) team_ = std::make_unique<WorkerTeam>(count);
}

void PacketEngine::run(SimTime until) {
    if (team_ == nullptr) return run(*partitions_.front(), until.value);
    team_->run([&](std::uint32_t member) { run(*partitions_[member], until.value); });
}

void PacketEngine::run(Partition& partition, std::int64_t until) {
    for (;;) {
        const std::int64_t begin = hand_over(partition);
        if (begin > until || begin == INT64_MAX) return;
        partition.sweep_all(begin, until - begin >= window_ ? begin + window_ : until + 1);
    }
}

std::int64_t PacketEngine::hand_over(Partition& partition) {
    if (team_ != nullptr) return partition.hand_over_to_threads(*team_);
    if (processes_ != nullptr) return partition.hand_over_to_processes(*processes_);
    return partition.next_event_time();
}

SimTime PacketEngine::next_event_time() const {
    std::int64_t earliest = INT64_MAX;
    for (const auto& partition : partitions_) earliest = std::min(earliest, partition->next_event_time());
    return SimTime{processes_ != nullptr ? processes_->least(earliest) : earliest};
}

Tally PacketEngine::tally() const {
    Tally tally;
    tally.sum = total_of(counters_);
    for (const auto& partition : partitions_) tally.closed += partition->closed();
    for (std::size_t port = 0; port < egress_.size(); ++port) {
        std::int64_t bytes = 0;
        for (std::uint32_t klass = 0; klass < classes_; ++klass) bytes += queues_[port * classes_ + klass].bytes;
        tally.queue_longest = std::max(tally.queue_longest, bytes);
    }
    if (processes_ == nullptr) return tally;
    const std::int64_t peak = processes_->greatest(tally.sum.queue_peak);
    std::vector<PortCounters> sum{tally.sum};
    gather_counters(*processes_, sum);
    tally.sum = sum.front();
    tally.sum.queue_peak = peak;
    tally.queue_longest = processes_->greatest(tally.queue_longest);
    processes_->add_up({&tally.closed, 1});
    return tally;
}

// What is paused now counts up to now.
void PacketEngine::close_pauses() {
    std::int64_t now = 0;
    for (const auto& partition : partitions_) now = std::max(now, partition->now());
    if (processes_ != nullptr) now = processes_->greatest(now);
    for (std::size_t port = 0; port < egress_.size(); ++port) {
        Egress& egress = egress_[port];
        if (egress.paused == 0) continue;
        counters_[port].paused += now - egress.paused_since;
        egress.paused_since = now;
    }
}

void PacketEngine::gather() {
    close_pauses();
    if (processes_ == nullptr) return;
    gather_counters(*processes_, counters_);
    gather_results(*processes_, results_);
    std::uint64_t events = partitions_.front()->events();
    processes_->add_up({&events, 1});
    events_elsewhere_ = events - partitions_.front()->events();
    std::vector<std::uint64_t> fingerprints;
    for (const FabricNode& node : nodes_) fingerprints.push_back(node.fingerprint);
    processes_->add_up(fingerprints);
    for (std::size_t n = 0; n < nodes_.size(); ++n) nodes_[n].fingerprint = fingerprints[n];
}

std::vector<std::uint32_t> PacketEngine::take_ended() {
    std::vector<std::uint32_t> ended = partitions_.front()->take_ended();
    for (std::size_t p = 1; p < partitions_.size(); ++p) {
        const std::vector<std::uint32_t> more = partitions_[p]->take_ended();
        ended.insert(ended.end(), more.begin(), more.end());
    }
    return ended;
}

std::uint64_t PacketEngine::events() const {
    std::uint64_t sum = events_elsewhere_;
    for (const auto& partition : partitions_) sum += partition->events();
    return sum;
}

std::uint64_t PacketEngine::fingerprint() const {
    std::uint64_t all = 0xCBF29CE484222325ull;
    for (const FabricNode& node : nodes_) all = (all ^ node.fingerprint) * 0x100000001B3ull;
    return all;
}

}  // namespace rehearse
