#include "models/network/study/traffic.hpp"

#include <algorithm>

#include "models/network/traffic_matrix.hpp"
#include "sim/base/checks.hpp"

namespace rehearse {

namespace {

Bytes split(Bytes size, std::int64_t parts) { return Bytes{(size.value + parts - 1) / parts}; }

// Adds the flows of one pattern behind those that are there.
class Expansion {
public:
    Expansion(const PatternSpec& spec, std::vector<StudyFlow>& flows) : spec_(spec), flows_(flows) {}

    void run() {
        switch (spec_.pattern) {
            case Pattern::permutation: {
                const auto to = permutation(members(), static_cast<std::uint64_t>(spec_.matrix_seed));
                for (std::uint32_t i = 0; i < to.size(); ++i) add(gpu(i), gpu(to[i]), spec_.message);
                return;
            }
            case Pattern::incast:
                for (const TrafficPair& pair : incast(static_cast<std::uint32_t>(spec_.senders)))
                    add(gpu(pair.source), gpu(pair.destination), spec_.message);
                return;
            case Pattern::all_to_all:
                for (const TrafficPair& pair : all_to_all(members(), group()))
                    add(gpu(pair.source), gpu(pair.destination), spec_.message);
                return;
            case Pattern::ring_all_reduce:
                for (std::uint32_t g = 0; g < members() / group(); ++g) add_ring(g);
                return;
            case Pattern::tree_all_reduce:
                for (std::uint32_t g = 0; g < members() / group(); ++g) add_tree(g);
                return;
            case Pattern::trace:
                for (const TraceFlow& flow : spec_.flows) {
                    StudyFlow& added = add(GpuId{flow.source}, GpuId{flow.destination}, flow.bytes);
                    added.start = flow.start + spec_.start;
                }
                return;
        }
    }

private:
    std::uint32_t members() const { return static_cast<std::uint32_t>(spec_.members); }
    std::uint32_t group() const { return static_cast<std::uint32_t>(spec_.group == 0 ? spec_.members : spec_.group); }
    GpuId gpu(std::uint32_t member) const {
        return GpuId{static_cast<std::uint32_t>(spec_.first + member * spec_.stride)};
    }
    GpuId gpu(std::uint32_t g, std::uint32_t j) const { return gpu(g + j * (members() / group())); }

    StudyFlow& add(GpuId source, GpuId destination, Bytes message) {
        StudyFlow& flow = flows_.emplace_back();
        flow.source = source;
        flow.destination = destination;
        flow.message = message;
        flow.messages = spec_.repetitions;
        flow.start = SimTime{} + spec_.start;
        flow.traffic_class = static_cast<std::uint8_t>(spec_.traffic_class);
        return flow;
    }

    StudyFlow& add_step(GpuId source, GpuId destination, Bytes message, std::uint32_t lap) {
        StudyFlow& flow = add(source, destination, message);
        flow.lap = lap;
        flow.messages *= lap;
        return flow;
    }

    void add_ring(std::uint32_t g) {
        const std::uint32_t n = group(), begin = static_cast<std::uint32_t>(flows_.size());
        const std::uint32_t ring = begin + 1;  // a number that no other ring has
        for (std::uint32_t j = 0; j < n; ++j) {
            StudyFlow& flow = add_step(gpu(g, j), gpu(g, (j + 1) % n), split(spec_.message, n), 2 * (n - 1));
            flow.granted = 1;
            flow.grants = {begin + (j + 1) % n};
            flow.ring = ring;
        }
    }

    // Up-flows of members 1 .. n - 1, then their down-flows.
    void add_tree(std::uint32_t g) {
        const std::uint32_t n = group(), begin = static_cast<std::uint32_t>(flows_.size());
        const auto chunks = static_cast<std::uint32_t>(spec_.chunks);
        const auto up = [&](std::uint32_t j) { return begin + j - 1; };
        const auto down = [&](std::uint32_t j) { return begin + n - 1 + j - 1; };
        const auto down_of_children = [&](std::uint32_t j) {
            std::vector<std::uint32_t> all;
            for (std::uint32_t child = 2 * j + 1; child <= 2 * j + 2 && child < n; ++child) all.push_back(down(child));
            return all;
        };
        for (std::uint32_t j = 1; j < n; ++j) {
            const std::uint32_t parent = (j - 1) / 2, twin = j % 2 == 1 ? j + 1 : j - 1;
            StudyFlow& flow = add_step(gpu(g, j), gpu(g, parent), split(spec_.message, chunks), chunks);
            if (2 * j + 1 < n) flow.granted = 0;
            flow.grants = parent == 0 ? down_of_children(0) : std::vector<std::uint32_t>{up(parent)};
            if (twin < n) flow.sibling = up(twin);
        }
        for (std::uint32_t j = 1; j < n; ++j) {
            StudyFlow& flow = add_step(gpu(g, (j - 1) / 2), gpu(g, j), split(spec_.message, chunks), chunks);
            flow.granted = 0;
            flow.grants = down_of_children(j);
        }
    }

    const PatternSpec& spec_;
    std::vector<StudyFlow>& flows_;
};

}  // namespace

std::vector<StudyFlow> flows_of(std::span<const PatternSpec> patterns) {
    std::vector<StudyFlow> flows;
    for (const PatternSpec& pattern : patterns) Expansion(pattern, flows).run();
    return flows;
}

}  // namespace rehearse
