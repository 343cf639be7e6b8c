#include "runtime/balancer/migration.hpp"

#include <algorithm>
#include <bit>

namespace rehearse {

namespace {

bool holds(const ExpertMap& map, std::uint32_t gpu, std::uint32_t expert) {
    return std::ranges::any_of(map.slots_of(expert), [&](std::uint32_t slot) { return map.gpu_of(slot) == gpu; });
}

std::uint32_t home(const ExpertMap& map, std::uint32_t expert) { return map.gpu_of(map.slots_of(expert).front()); }

}  // namespace

Migration plan_migration(const ExpertMap& from, const ExpertMap& to, const MigrationSpec& spec) {
    Migration migration;
    const MapDelta delta = difference(from, to);
    if (delta.changes.empty()) return migration;
    std::vector<Bytes> sent(from.gpu_count()), received(from.gpu_count());
    const auto add = [&](const ExpertMove& move, Bytes bytes) {
        sent[move.from_gpu] += bytes;
        received[move.to_gpu] += bytes;
        migration.bytes += bytes;
        migration.moves.push_back(move);
    };
    for (const MapDelta::Change& change : delta.changes) {
        const std::uint32_t gpu = to.gpu_of(change.slot);
        const bool moves_home = to.slots_of(change.expert).front() == change.slot && home(from, change.expert) != gpu;
        if (moves_home) {
            add({change.expert, home(from, change.expert), gpu, true},
                holds(from, gpu, change.expert) ? spec.optimizer : spec.weights + spec.optimizer);
        } else if (!holds(from, gpu, change.expert)) {
            const auto holders = from.slots_of(change.expert);
            const std::uint32_t slot = *std::ranges::min_element(
                holders, {}, [&](std::uint32_t holder) { return sent[from.gpu_of(holder)].value; });
            add({change.expert, from.gpu_of(slot), gpu, false}, spec.weights);
        }
    }
    const Bytes most = std::max(*std::ranges::max_element(sent), *std::ranges::max_element(received));
    if (most > Bytes{0}) migration.transfer = spec.latency + most / spec.link;
    const std::int64_t hops = std::bit_width(from.gpu_count() - 1);
    migration.broadcast = (spec.latency + Bytes{delta.bytes(from.slot_count())} / spec.link) * hops;
    return migration;
}

}  // namespace rehearse
