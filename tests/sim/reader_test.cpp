#include "sim/config/reader.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/config/load_config.hpp"
#include "sim/config/yaml_writer.hpp"

namespace rehearse {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

enum class Hash { crc32, xor16 };

// The faults that reading `text` with `read` collects, one per line.
template <class Read>
std::string faults_of(const std::string& text, const Read& read) {
    const ConfigNode root = parse_config(text, "s.yaml");
    FaultList faults;
    Reader reader(root, "", faults);
    read(reader);
    std::string all;
    for (const Fault& fault : faults.faults()) all += fmt::format("{}{}", all.empty() ? "" : "\n", to_string(fault));
    return all;
}

template <class T>
std::string faults_for(const std::string& value) {
    return faults_of("k: " + value + "\n", [](Reader& reader) {
        T ignored{};
        reader.read("k", ignored);
    });
}

TEST(Reader, ReadsEveryKindAndLeavesDefaultsAlone) {
    std::string name = "default";
    std::int64_t count = 3, kept = 17;
    std::uint64_t seed = 0;
    double factor = 0;
    Switch state = Switch::off;
    SimDuration latency;
    Bytes size;
    Bandwidth rate;
    FlopRate peak;
    Ratio share;
    Hash hash = Hash::crc32;
    const std::string text =
        "name: \"x: y\"\ncount: 12288\nseed: 18446744073709551615\nfactor: 1e-3\nstate: yes\nlatency: 1.5 us\n"
        "size: 64 KiB\nrate: 300 GB/s\npeak: 312 TFLOP/s\nshare: 73.4 %\nhash: xor16\n";
    EXPECT_EQ(faults_of(text,
                        [&](Reader& r) {
                            r.read("name", name);
                            r.read("count", count, at_least(1));
                            r.read("kept", kept);
                            r.read("seed", seed);
                            r.read("factor", factor);
                            r.read("state", state);
                            r.read("latency", latency);
                            r.read("size", size);
                            r.read("rate", rate);
                            r.read("peak", peak);
                            r.read("share", share);
                            r.read_enum("hash", hash, {{"crc32", Hash::crc32}, {"xor16", Hash::xor16}});
                            r.finish();
                        }),
              "");
    EXPECT_EQ(name, "x: y");
    EXPECT_EQ(count, 12'288);
    EXPECT_EQ(kept, 17);
    EXPECT_EQ(seed, UINT64_MAX);
    EXPECT_EQ(factor, 1e-3);
    EXPECT_EQ(state, Switch::on);
    EXPECT_EQ(latency, nanoseconds(1'500));
    EXPECT_EQ(size, Bytes{65'536});
    EXPECT_EQ(rate, gigabytes_per_second(300));
    EXPECT_EQ(peak.value, 312e12);
    EXPECT_EQ(share.value, 0.734);
    EXPECT_EQ(hash, Hash::xor16);
}

TEST(Reader, ReadsLists) {
    std::vector<std::string> names;
    std::vector<std::int64_t> counts{1};
    std::vector<SimDuration> delays;
    std::vector<Hash> hashes;
    EXPECT_EQ(faults_of("names: [a, \"b c\"]\ncounts: 7\ndelays: [1 us, 2 ns]\nhashes: [xor16, crc32]\n",
                        [&](Reader& r) {
                            r.read("names", names);
                            r.read("counts", counts);
                            r.read("delays", delays);
                            r.read_enum("hashes", hashes, {{"crc32", Hash::crc32}, {"xor16", Hash::xor16}});
                            r.finish();
                        }),
              "");
    EXPECT_THAT(names, ElementsAre("a", "b c"));
    EXPECT_THAT(counts, ElementsAre(7));
    EXPECT_THAT(delays, ElementsAre(microseconds(1), nanoseconds(2)));
    EXPECT_THAT(hashes, ElementsAre(Hash::xor16, Hash::crc32));
    EXPECT_EQ(faults_of("counts: [1, x, 2, -3]\n", [&](Reader& r) { r.read("counts", counts); }),
              "s.yaml:1:13: counts[1]: \"x\" is not an integer (expected an integer of at least 0)\n"
              "s.yaml:1:19: counts[3]: -3 is out of range (expected an integer of at least 0)");
    EXPECT_THAT(counts, ElementsAre(7));  // the old value stays when an item is wrong
}

TEST(Reader, ReportsAllFaultsWithTheirPlaces) {
    std::int64_t gpus = 0;
    Bandwidth nic;
    EXPECT_EQ(
        faults_of("cluster:\n  node:\n    gpus: 010\n    nic: 200\n    nvlnk: 3\n",
                  [&](Reader& r) {
                      Reader cluster = r.child("cluster");
                      Reader node = cluster.child("node");
                      Bandwidth nvlink;
                      node.read("gpus", gpus);
                      node.read("nic", nic);
                      node.read("nvlink", nvlink);
                      node.require("memory", "device profiles need it");
                      node.finish();
                      cluster.finish();
                      r.finish();
                  }),
        "s.yaml:3:11: cluster.node.gpus: \"010\" begins with a zero, which some readers take for octal (expected an "
        "integer of at least 0); leave leading zeros out\n"
        "s.yaml:4:10: cluster.node.nic: \"200\" has no unit (expected a bandwidth such as \"200 Gbps\"); "
        "write \"200 Gbps\"\n"
        "s.yaml:3:5: cluster.node.memory: the key is missing (device profiles need it)\n"
        "s.yaml:5:5: cluster.node.nvlnk: unknown key; did you mean \"nvlink\"?");
}

TEST(Reader, RefusesNumbersThatOthersWouldGuessAt) {
    EXPECT_THAT(faults_for<std::int64_t>("1e6"), HasSubstr("\"1e6\" is not an integer"));
    EXPECT_THAT(faults_for<std::int64_t>("1e6"), HasSubstr("write all digits and no point"));
    for (const char* text :
         {"0x10", "1_000", "+1", "1.0", "nan", "''", "'-'", "9223372036854775808", "-1", "00", "1 2"})
        EXPECT_NE(faults_for<std::int64_t>(text), "") << text;
    for (const char* text : {"nan", ".nan", "inf", ".inf", "-0.1", "1e999", "0x1p3", "01.5", "1.5x", "''", ".5"})
        EXPECT_NE(faults_for<double>(text), "") << text;
    for (const char* text : {"-1", "18446744073709551616", "1.5", "007"})
        EXPECT_NE(faults_for<std::uint64_t>(text), "") << text;
    for (const char* text : {"On", "TRUE", "1", "0", "y", "enabled"}) EXPECT_NE(faults_for<Switch>(text), "") << text;
    EXPECT_EQ(faults_for<std::int64_t>("9223372036854775807"), "");
    EXPECT_EQ(faults_for<double>("0.25"), "");
}

TEST(Reader, RangesIncludeTheirEnds) {
    std::int64_t n = 0;
    double x = 0;
    const auto read = [&](Reader& r) {
        r.read("n", n, {1, 64});
        r.read("x", x, {0, 1});
    };
    EXPECT_EQ(faults_of("n: 1\nx: 0\n", read), "");
    EXPECT_EQ(faults_of("n: 64\nx: 1\n", read), "");
    EXPECT_THAT(faults_of("n: 0\n", read), HasSubstr("n: 0 is out of range (expected an integer from 1 to 64)"));
    EXPECT_THAT(faults_of("n: 65\n", read), HasSubstr("out of range"));
    EXPECT_THAT(faults_of("x: 1.001\n", read), HasSubstr("(expected a number from 0 to 1)"));
    EXPECT_EQ(faults_of("n: -9223372036854775808\nx: -1e9\n",
                        [&](Reader& r) {
                            r.read("n", n, any_integer());
                            r.read("x", x, any_real());
                        }),
              "");
    EXPECT_EQ(n, INT64_MIN);
    EXPECT_EQ(x, -1e9);
}

TEST(Reader, NamesWrongShapes) {
    EXPECT_THAT(faults_for<std::int64_t>("[1]"), HasSubstr("k: the value is a list (expected a single value)"));
    EXPECT_THAT(faults_for<std::string>(""), HasSubstr("the value is empty"));
    EXPECT_THAT(faults_for<std::string>("~"), HasSubstr("leave the key out to take the default"));
    EXPECT_THAT(faults_of("k: 3\n", [](Reader& r) { r.child("k").finish(); }), HasSubstr("expected a map of keys"));
    EXPECT_EQ(faults_of("k:\n", [](Reader& r) { r.child("k").finish(); }), "");
    EXPECT_THAT(faults_of("k: {a: 1}\n", [](Reader& r) { r.children("k"); }), HasSubstr("expected a list"));
    EXPECT_THAT(faults_of("k: [{a: 1}, 2]\n",
                          [](Reader& r) {
                              for (Reader& item : r.children("k")) item.allow("a"), item.finish();
                          }),
                HasSubstr("s.yaml:1:13: k[1]: the value is a single value"));
}

TEST(Reader, EnumsListTheirWords) {
    Hash hash = Hash::xor16;
    EXPECT_EQ(faults_of("k: crc23\n",
                        [&](Reader& r) {
                            r.read_enum("k", hash, {{"crc32", Hash::crc32}, {"xor16", Hash::xor16}});
                        }),
              "s.yaml:1:4: k: \"crc23\" is unknown (expected one of crc32, xor16); did you mean \"crc32\"?");
    EXPECT_EQ(hash, Hash::xor16);
}

TEST(Reader, UnknownOverridesNameTheOption) {
    const ConfigNode root = parse_config("a: 1\n", "s.yaml", {"sed=2"});
    FaultList faults;
    Reader reader(root, "", faults);
    std::uint64_t seed = 1;
    std::int64_t a = 0;
    reader.read("seed", seed);
    reader.read("a", a);
    reader.finish();
    ASSERT_EQ(faults.size(), 1u);
    EXPECT_EQ(to_string(faults.faults()[0]), "--set sed: sed: unknown key; did you mean \"seed\"?");
}

bool same(const ConfigNode& a, const ConfigNode& b) {
    if (a.kind != b.kind || a.text != b.text || a.items.size() != b.items.size()) return false;
    if (a.entries.size() != b.entries.size()) return false;
    for (std::size_t i = 0; i < a.items.size(); ++i)
        if (!same(a.items[i], b.items[i])) return false;
    for (std::size_t i = 0; i < a.entries.size(); ++i)
        if (a.entries[i].key != b.entries[i].key || !same(a.entries[i].value, b.entries[i].value)) return false;
    return true;
}

TEST(YamlWriter, WritesWhatAPersonWouldWrite) {
    YamlWriter yaml;
    yaml.comment("Every default spelled out.");
    yaml.value("name", "MegaScale 175B on 12,288 GPUs");
    yaml.begin_map("node", "one server");
    yaml.value("gpus", 8);
    yaml.value("nic", gigabits_per_second(200), "one per GPU");
    yaml.value("share", 0.5);
    yaml.value("split", Switch::on);
    yaml.list("rank_order", std::vector<std::string>{"tensor", "data"});
    yaml.list("sizes", std::vector<Bytes>{Bytes{1'024}, Bytes{3}});
    yaml.begin_map("nothing");
    yaml.end();
    yaml.end();
    yaml.begin_list("rows");
    yaml.begin_item();
    yaml.value("a", 1);
    yaml.begin_map("b");
    yaml.value("c", 2);
    yaml.end();
    yaml.end();
    yaml.begin_item();
    yaml.end();
    yaml.end();
    EXPECT_EQ(yaml.text(),
              "# Every default spelled out.\n"
              "name: \"MegaScale 175B on 12,288 GPUs\"\n"
              "node:  # one server\n"
              "  gpus: 8\n"
              "  nic: 200 Gbps  # one per GPU\n"
              "  share: 0.5\n"
              "  split: on\n"
              "  rank_order: [tensor, data]\n"
              "  sizes: [1 KiB, 3 B]\n"
              "  nothing:\n"
              "    {}\n"
              "rows:\n"
              "  - a: 1\n"
              "    b:\n"
              "      c: 2\n"
              "  - {}\n");
    const ConfigNode root = parse_config(yaml.text(), "w.yaml");
    EXPECT_EQ(root.find("name")->text, "MegaScale 175B on 12,288 GPUs");
    EXPECT_EQ(root.find("node")->find("nothing")->kind, ConfigNode::Kind::map);
    EXPECT_EQ(root.find("rows")->items[0].find("b")->find("c")->text, "2");
    EXPECT_EQ(root.find("rows")->items[1].kind, ConfigNode::Kind::map);
}

TEST(YamlWriter, AwkwardTextReadsBackTheSame) {
    const std::vector<std::string> texts{
        "",    " lead", "trail ", "a: b", "a #b",   "#",   "~",           "null",   "- x",  "-x",    "-",   "*a",
        "&a",  "!t",    "%x",     "@x",   "`x",     "'x'", "\"x\"",       "\\",     "a\nb", "\t",    "{a}", "[a]",
        "a,b", "a]",    "?",      "? x",  "|",      ">",   "caf\xc3\xa9", "...",    "---",  "true",  "010", "a\x01z",
        "=",   "<<",    "a:",     ":a",   "73.4 %", "(x)", "\x7f",        "a\r\nb", "0x1f", "-1e-9", ".5",  "/a/b"};
    YamlWriter yaml;
    yaml.list("flow", texts);
    for (std::size_t i = 0; i < texts.size(); ++i) yaml.value("k" + std::to_string(i), texts[i], "why");
    yaml.begin_map("keys");
    for (const std::string& text : texts)
        if (text != "<<") yaml.value(text, 1);
    yaml.end();
    const ConfigNode root = parse_config(yaml.text(), "w.yaml");
    for (std::size_t i = 0; i < texts.size(); ++i) {
        EXPECT_EQ(root.find("flow")->items[i].kind, ConfigNode::Kind::scalar) << texts[i];
        EXPECT_EQ(root.find("flow")->items[i].text, texts[i]);
        EXPECT_EQ(root.find("k" + std::to_string(i))->text, texts[i]);
        EXPECT_TRUE(texts[i] == "<<" || root.find("keys")->find(texts[i]) != nullptr) << texts[i];
    }
    EXPECT_TRUE(same(root, parse_config(yaml.text(), "other.yaml")));
}

TEST(YamlWriter, MismatchedCallsAreBrokenInvariants) {
    YamlWriter open;
    open.begin_map("a");
    EXPECT_THROW(open.text(), InvariantBroken);
    EXPECT_THROW(open.begin_item(), InvariantBroken);
    YamlWriter list;
    list.begin_list("a");
    EXPECT_THROW(list.value("k", 1), InvariantBroken);
    EXPECT_THROW(YamlWriter().end(), InvariantBroken);
    EXPECT_THROW(YamlWriter().value("k", std::numeric_limits<double>::quiet_NaN()), InvariantBroken);
}

}  // namespace
}  // namespace rehearse
