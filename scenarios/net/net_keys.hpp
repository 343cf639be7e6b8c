// The keys of a net scenario, for the visitors of scenario_keys.hpp.
#pragma once

#include "scenarios/net/net_scenario.hpp"
#include "scenarios/reading/packet_keys.hpp"
#include "scenarios/reading/scenario_keys.hpp"

namespace rehearse {

template <class V>
void pattern_keys(V& v, PatternSpec& pattern) {
    constexpr IntegerRange member_count{0, std::int64_t{1} << 24};
    v.word("pattern", pattern.pattern, pattern_words, "what traffic runs");
    v.value("message", pattern.message, {.comment = "per flow; of an all-reduce: what each member holds"});
    v.value("members", pattern.members, {.range = member_count, .comment = "0: all"});
    v.value("first", pattern.first, {.range = member_count, .comment = "member i is GPU first + i x stride"});
    v.value("stride", pattern.stride, {.range = count});
    v.value("group", pattern.group, {.range = member_count, .comment = "0: all members"});
    v.value("senders", pattern.senders, {.range = member_count, .comment = "incast"});
    v.value("chunks", pattern.chunks, {.range = layer_count, .comment = "tree"});
    v.value("matrix_seed", pattern.matrix_seed, {.comment = "permutation"});
    v.value("repetitions", pattern.repetitions, {.range = count});
    v.value("traffic_class", pattern.traffic_class, {.range = {1, 31}});
    v.value("start", pattern.start);
    v.trace("trace", pattern);
}

template <class V>
void net_scenario_keys(V& v, NetScenario& scenario) {
    v.value("name", scenario.name);
    v.value("seed", scenario.seed);
    v.section("cluster", [&] { cluster_keys(v, scenario.cluster); });
    const auto net = [&] {
        v.one_or_list("mix", scenario.net.patterns, [&](PatternSpec& pattern) { pattern_keys(v, pattern); });
        v.value("sample_interval", scenario.net.sample_interval);
        v.value("sample_count", scenario.net.sample_count, {.range = {2, 1 << 16}});
        v.word("fast_forward", scenario.net.fast_forward, fast_forward_words);
        if (scenario.net.sample_interval <= SimDuration{0})
            v.fault("sample_interval", "samples without a time between them", "more than 0 ps");
    };
    v.section("net", net, "net.pattern says what traffic runs");
    v.section("models", [&] {
        v.section("network", [&] {
            network_keys(v, scenario.network);
            v.section("packet", [&] { packet_keys(v, scenario.packet); });
        });
    });
    v.sweep("sweep", scenario.sweep);
}

}  // namespace rehearse
