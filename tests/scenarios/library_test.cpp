// The scenarios that ship: all are sound, and the two systems that the library compares differ in their software alone.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "scenarios/reading/read_scenario.hpp"
#include "scenarios/reading/scenario_yaml.hpp"
#include "scenarios/reading/validate_scenario.hpp"
#include "sim/config/load_config.hpp"
#include "tests/scenarios/program.hpp"
#include "tests/sim/temporary_folder.hpp"

namespace rehearse {
namespace {

using Values = std::map<std::string, std::string>;

void flatten(const ConfigNode& node, const std::string& path, Values& values) {
    if (node.kind == ConfigNode::Kind::scalar) values[path] = node.text;
    for (std::size_t i = 0; i < node.items.size(); ++i)
        flatten(node.items[i], path + "[" + std::to_string(i) + "]", values);
    for (const ConfigEntry& entry : node.entries)
        flatten(entry.value, path.empty() ? entry.key : path + "." + entry.key, values);
}

// Every value of the resolved scenario by its dotted key.
Values values_of(const std::string& library_name) {
    const ValidScenario scenario = validate(read_scenario(library_path(library_name)));
    Values values;
    flatten(parse_config(scenario_yaml(scenario.plain()), "resolved.yaml"), "", values);
    return values;
}

std::vector<std::string> differing_keys(const Values& a, const Values& b) {
    std::vector<std::string> keys;
    for (const auto& [key, value] : a) {
        if (b.count(key) == 0 || b.at(key) != value) keys.push_back(key);
    }
    for (const auto& [key, value] : b) {
        if (a.count(key) == 0) keys.push_back(key);
    }
    return keys;
}

TEST(Library, EveryScenarioIsSound) {
    ASSERT_GE(library_names().size(), 35U);
    for (const std::string& name : library_names()) {
        try {
            EXPECT_GT(validate(read_scenario(library_path(name))).training().micro_batches(), 0) << name;
        } catch (const InputError& error) {
            ADD_FAILURE() << error.what();
        }
    }
}

TEST(Library, NamesAreUnique) {
    std::map<std::string, std::string> seen;
    for (const std::string& name : library_names()) {
        const std::string title = read_scenario(library_path(name)).name;
        EXPECT_EQ(seen.count(title), 0U) << name << " and " << seen[title] << " are both called " << title;
        seen[title] = name;
    }
}

// MegaScale against its baseline: name and techniques (ZeRO stage 2 is one of them: it belongs to the data overlap).
// The baseline's 530B computes its attention scores again; the efficient operators keep none, so that it is no choice
// there.
TEST(Library, TheTwoSystemsDifferInTechniquesOnly) {
    for (const std::string size : {"175b_256", "175b_512", "175b_768", "175b_1024", "175b_3072", "175b_6144",
                                   "175b_8192", "175b_12288", "530b_2240", "530b_4480", "530b_11200"}) {
        for (const std::string& key : differing_keys(values_of("megascale_" + size), values_of("megatron_" + size))) {
            const bool allowed =
                key == "name" || key == "training.parallel.zero" || key.rfind("training.technique.", 0) == 0 ||
                (size.starts_with("530b") && key == "training.recompute");
            EXPECT_TRUE(allowed) << size << ": " << key;
        }
    }
}

// Sizes of one system differ in name, GPUs, hosts, batch and the data-parallel degree that follows.
TEST(Library, TheSizesDifferInSizeOnly) {
    for (const std::string system : {"megascale", "megatron"}) {
        const Values base = values_of(system + "_175b_256");
        for (const std::string gpus : {"512", "768", "1024", "3072", "6144", "8192", "12288"}) {
            for (const std::string& key : differing_keys(base, values_of(system + "_175b_" + gpus))) {
                const bool allowed = key == "name" || key == "job.gpus" || key == "cluster.hosts" ||
                                     key == "training.batch_global" || key == "training.parallel.data";
                EXPECT_TRUE(allowed) << system << " " << gpus << ": " << key;
            }
        }
    }
}

// m = batch / d: 192, 96, 64, 48 with batch 768 and 128, 64, 48, 32 with batch 6,144; 280 in the weak scaling.
TEST(Library, MicroBatchesPerReplicaAreThoseOfThePaper) {
    const std::map<std::string, std::int64_t> expected{{"175b_256", 192},  {"175b_512", 96},   {"175b_768", 64},
                                                       {"175b_1024", 48},  {"175b_3072", 128}, {"175b_6144", 64},
                                                       {"175b_8192", 48},  {"175b_12288", 32}, {"175b_98304", 32},
                                                       {"530b_2240", 280}, {"530b_4480", 280}, {"530b_11200", 280}};
    for (const auto& [size, m] : expected)
        EXPECT_EQ(validate(read_scenario(library_path("megascale_" + size))).training().micro_batches(), m) << size;
}

// The table of keys in scenarios/README.md names every key that a resolved scenario has.
TEST(Library, EveryKeyIsDocumented) {
    const std::string text = slurp(source_path("scenarios/README.md"));
    for (const auto& [key, value] : values_of("dense_8")) {
        const std::string name = key.substr(0, key.find('['));
        EXPECT_NE(text.find("| `" + name + "` |"), text.npos) << name;
    }
}

// Row n has the techniques of row n - 1 and one more; row 8 is MegaScale but for the batch, row 9 three times the
// batch.
TEST(Library, TheAblationAddsOneTechniquePerRow) {
    const auto row = [](int n) { return values_of("megascale_ablation_" + std::to_string(n)); };
    for (int n = 2; n <= 9; ++n) {
        std::vector<std::string> keys;
        for (const std::string& key : differing_keys(row(n - 1), row(n))) {
            if (key.rfind("training.technique.", 0) == 0) keys.push_back(key);
            else EXPECT_TRUE(key == "name" || key == "training.parallel.zero") << n << ": " << key;
        }
        EXPECT_EQ(keys.size(), 1U) << "row " << n;
    }
    for (const std::string& key : differing_keys(row(1), values_of("megatron_175b_256")))
        EXPECT_TRUE(key == "name" || key == "training.batch_global") << key;
    for (const std::string& key : differing_keys(row(8), values_of("megascale_175b_256")))
        EXPECT_TRUE(key == "name" || key == "training.batch_global") << key;
    const TrainingSpec last = validate(read_scenario(library_path("megascale_ablation_9"))).training();
    EXPECT_EQ(last.batch(), 768);
}

}  // namespace
}  // namespace rehearse
