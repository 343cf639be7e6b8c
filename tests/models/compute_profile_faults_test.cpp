// A profile file says every number, within its range and with its provenance; what it does not is a fault at its place.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "models/compute/profile_keys.hpp"
#include "sim/base/fault.hpp"
#include "tests/sim/temporary_folder.hpp"

namespace rehearse {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

const TemporaryFolder& folder() {
    static const TemporaryFolder one;
    return one;
}

// What reading this text complains about, file names cut to the last part; "" when it is sound.
std::string faults_of(const std::string& text) {
    const std::string path = folder().file("p.yaml", text);
    std::string all;
    try {
        read_profile(path);
    } catch (const InputError& error) {
        all = error.what();
    }
    for (std::size_t at; (at = all.find(path)) != all.npos;) all.replace(at, path.size(), "p.yaml");
    return all;
}

const std::string& sound() {
    static const std::string text = slurp(std::string(REHEARSE_SOURCE_DIR) + "/tests/golden/round-device.yaml");
    return text;
}

std::string replaced(const std::string& from, const std::string& to) {
    std::string text = sound();
    const std::size_t at = text.find(from);
    EXPECT_NE(at, text.npos) << from;
    return text.replace(at, from.size(), to);
}

std::string without_line(const std::string& begins) {
    const std::size_t at = sound().find("  " + begins);
    EXPECT_NE(at, std::string::npos) << begins;
    return std::string(sound()).erase(at, sound().find('\n', at) + 1 - at);
}

// Every number of the table, and the two lists, each once.
TEST(ProfileFaults, ANameAloneIsNoProfile) {
    const std::string faults = faults_of("name: x\n");
    DeviceProfile profile;
    for (const ProfileEntry& entry : profile_entries(profile))
        EXPECT_THAT(faults, HasSubstr(fmt::format("p.yaml:1:1: {}: missing (a profile gives every number with its "
                                                  "provenance: {})",
                                                  entry.key, range_text(entry))));
    EXPECT_THAT(faults, HasSubstr("p.yaml:1:1: gemm.tiles: missing"));
    EXPECT_THAT(faults, HasSubstr("p.yaml:1:1: nvlink.groups: missing"));
    EXPECT_EQ(std::count(faults.begin(), faults.end(), '\n') + 1,
              static_cast<std::ptrdiff_t>(profile_entries(profile).size()) + 2);
}

TEST(ProfileFaults, AMissingNumberIsNamedAtItsSection) {
    EXPECT_EQ(faults_of(sound()), "");
    DeviceProfile profile;
    for (const ProfileEntry& entry : profile_entries(profile)) {
        const std::string key = entry.key.substr(entry.key.find('.') + 1);
        if (key == "efficiency") continue;  // stands in two sections: see below
        const std::string faults = faults_of(without_line(key + ":"));
        EXPECT_THAT(faults, testing::MatchesRegex("p.yaml:[0-9]+:3: " + entry.key + ": missing [^\n]*"));
    }
    EXPECT_THAT(faults_of(without_line("efficiency:")), HasSubstr("gemm.efficiency: missing (a profile gives every "
                                                                  "number with its provenance: 0.01 to 1)"));
    EXPECT_THAT(faults_of(replaced("variation:", "variation: none\nother:")), Not(HasSubstr("missing")));
}

struct Broken {
    std::string name;
    std::string from, to;
    std::string says;
};
void PrintTo(const Broken& broken, std::ostream* out) { *out << broken.name; }

class BrokenProfile : public testing::TestWithParam<Broken> {};

TEST_P(BrokenProfile, IsAFaultAtItsPlace) {
    const Broken& broken = GetParam();
    EXPECT_THAT(faults_of(replaced(broken.from, broken.to)), testing::StartsWith("p.yaml:" + broken.says));
}

const std::string tile = "{m: 128, n: 128, efficiency: 1.0, provenance: assumed}";
const std::string group = "{gpus: 8, latency: 10 us, bus: 200 GB/s, provenance: assumed}";

INSTANTIATE_TEST_SUITE_P(
    Table, BrokenProfile,
    testing::Values(
        Broken{"peak", "100 TFLOP/s", "1e-300 TFLOP/s", "4:17: device.peak.value: "},
        Broken{"peakZero", "100 TFLOP/s", "0 TFLOP/s", "4:17: device.peak.value: "},
        Broken{"memory", "1000 GB/s", "1 B/s",
               "6:19: device.memory.value: \"1 B/s\" is out of range (1 GB/s to 1000 TB/s)"},
        Broken{"multiprocessors", "value: 100,", "value: 0,", "5:28: device.multiprocessors.value: "},
        Broken{"reserve", "value: 4 GB", "value: 80 GB", "8:19: device.memory_reserve: the reserve leaves no memory"},
        Broken{"gemmEfficiency", "efficiency: {value: 0.8", "efficiency: {value: 50",
               "12:23: gemm.efficiency.value: \"50\" is out of range (0.01 to 1)"},
        Broken{"networkEfficiency", "network:\n  efficiency: {value: 1", "network:\n  efficiency: {value: 2",
               "40:23: network.efficiency.value: \"2\" is out of range"},
        Broken{"slowdown", "slowdown: {value: 1", "slowdown: {value: 0", "34:21: nvlink.slowdown.value: \"0\" is out"},
        Broken{"communicationShare", "value: 0.15", "value: 5", "35:42: nvlink.communication_multiprocessors.value: "},
        Broken{"hostLatency", "value: 20 us", "value: 9000000 s", "28:21: host.exchange.value: \"9000000 s\" is out"},
        Broken{"messageLatency", "message_latency: {value: 10 us", "message_latency: {value: 9000000 s",
               "42:28: network.message_latency.value: \"9000000 s\" is out of range (0 ps to 1 s)"},
        Broken{"hostTailShare", "host_tail_share: {value: 0", "host_tail_share: {value: 200 %",
               "51:28: variation.host_tail_share.value: \"200 %\" is out of range (0 to 1)"},
        Broken{"tileEfficiencyHigh", "efficiency: 1.0", "efficiency: 50", "11:36: gemm.tiles[0].efficiency: \"50\" is"},
        Broken{"tileEfficiencyZero", "efficiency: 1.0", "efficiency: 0", "11:36: gemm.tiles[0].efficiency: \"0\" is"},
        Broken{"tileWithoutRows", "{m: 128, n: 128,", "{n: 128,", "11:7: gemm.tiles[0].m: the key is missing"},
        Broken{"noTiles", "tiles:\n    - " + tile, "tiles: []", "10:10: gemm.tiles: the list is empty"},
        Broken{"tileTwice", tile, tile + "\n    - " + tile, "12:7: gemm.tiles[1]: gemm.tiles.128x128 is given twice"},
        Broken{"groupTwice", group, group + "\n    - " + group,
               "34:7: nvlink.groups[1]: nvlink.groups.8 is given twice"},
        Broken{"groupWithoutBus", "bus: 200 GB/s, ", "", "33:7: nvlink.groups[0].bus: the key is missing"},
        Broken{"emptySource", "value: 1 %, provenance: assumed", "value: 1 %, provenance: fitted, source: \"\"",
               "53:52: variation.jitter.source: an empty source"}),
    [](const testing::TestParamInfo<Broken>& row) { return row.param.name; });

}  // namespace
}  // namespace rehearse
