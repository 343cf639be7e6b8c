// Between two windows: what partitions give each other, and when the next window begins.
//
// A packet that leaves in a window arrives after its end, so it is early enough to hand it over then. The order in
// which the outboxes are emptied means nothing: each wire is filled by one partition alone, in order.
#include <algorithm>
#include <cstring>

#include "models/network/packet/partition.hpp"

namespace rehearse {

namespace {

template <class T>
void write(const std::vector<T>& items, ProcessGroup::Box& box) {
    const std::uint64_t count = items.size();
    const std::size_t at = box.size();
    box.resize(at + sizeof count + count * sizeof(T));
    std::memcpy(box.data() + at, &count, sizeof count);
    if (count > 0) std::memcpy(box.data() + at + sizeof count, items.data(), count * sizeof(T));
}

template <class T>
std::size_t read(const ProcessGroup::Box& box, std::size_t at, std::vector<T>& items) {
    std::uint64_t count = 0;
    std::memcpy(&count, box.data() + at, sizeof count);
    items.resize(count);
    if (count > 0) std::memcpy(items.data(), box.data() + at + sizeof count, count * sizeof(T));
    return at + sizeof count + count * sizeof(T);
}

}  // namespace

void Partition::take(Outbox& box) {
    for (const HandedPacket& handed : box.packets) deliver(handed.port, pool_.take(handed.packet));
    for (const HandedRecord& handed : box.records)
        congestion_.record(handed.connection, handed.number, handed.hop, handed.record);
    box.packets.clear();
    box.records.clear();
}

std::int64_t Partition::announce() {
    const std::int64_t earliest = std::min(next_event_time(), handed_earliest_);
    handed_earliest_ = INT64_MAX;
    return earliest;
}

std::int64_t Partition::hand_over_to_threads(WorkerTeam& team) {
    const std::uint32_t turn = turn_;
    turn_ ^= 1;
    announced_[turn] = announce();
    team.meet();
    std::int64_t begin = INT64_MAX;
    for (const auto& other : engine_.partitions_) {
        begin = std::min(begin, other->announced_[turn]);
        if (other.get() != this) take(other->outboxes_[turn][id_]);
    }
    return begin;
}

std::int64_t Partition::hand_over_to_processes(ProcessGroup& processes) {
    std::vector<Outbox>& boxes = outboxes_[turn_];
    bytes_out_.resize(boxes.size());
    bytes_in_.resize(boxes.size());
    for (std::size_t p = 0; p < boxes.size(); ++p) {
        bytes_out_[p].clear();
        if (boxes[p].packets.empty() && boxes[p].records.empty()) continue;
        write(boxes[p].packets, bytes_out_[p]);
        write(boxes[p].records, bytes_out_[p]);
        boxes[p].packets.clear();
        boxes[p].records.clear();
    }
    const std::int64_t begin = processes.exchange(announce(), bytes_out_, bytes_in_);
    for (const ProcessGroup::Box& bytes : bytes_in_) {
        if (bytes.empty()) continue;
        read(bytes, read(bytes, 0, taken_.packets), taken_.records);
        take(taken_);
    }
    return begin;
}

}  // namespace rehearse
