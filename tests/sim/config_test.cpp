// The YAML door: text in, tree or located faults out.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/config/load_config.hpp"
#include "tests/sim/temporary_folder.hpp"

namespace rehearse {
namespace {

using testing::HasSubstr;

std::string faults_of(const std::string& text, const std::vector<std::string>& overrides = {}) {
    try {
        parse_config(text, "s.yaml", overrides);
    } catch (const InputError& error) {
        return error.what();
    }
    return "accepted";
}

std::string load_faults(const std::string& path) {
    try {
        load_config(path);
    } catch (const InputError& error) {
        return error.what();
    }
    return "accepted";
}

TEST(ParseConfig, KeepsTextOrderAndPlaces) {
    const ConfigNode root = parse_config("b: 010\na:\n  - {x: no}\n  - \"1e6\"\n", "s.yaml");
    ASSERT_EQ(root.entries.size(), 2u);
    EXPECT_EQ(root.entries[0].key, "b");
    EXPECT_EQ(root.entries[0].value.text, "010");  // text, not octal 8
    EXPECT_EQ(root.entries[1].key, "a");
    const ConfigNode& list = root.entries[1].value;
    EXPECT_EQ(list.kind, ConfigNode::Kind::list);
    EXPECT_EQ(list.items[0].find("x")->text, "no");  // text, not a boolean
    EXPECT_EQ(list.items[0].find("x")->place.line, 3);
    EXPECT_EQ(list.items[0].find("x")->place.column, 9);
    EXPECT_EQ(list.items[1].text, "1e6");
    EXPECT_EQ(root.entries[0].place.line, 1);
    EXPECT_EQ(root.entries[0].place.column, 1);
    EXPECT_EQ(root.entries[0].value.place.column, 4);
    EXPECT_EQ(root.find("absent"), nullptr);
}

TEST(ParseConfig, AnEmptyFileSetsNothing) {
    EXPECT_EQ(parse_config("", "s.yaml").kind, ConfigNode::Kind::map);
    EXPECT_EQ(parse_config("# only a comment\n", "s.yaml").entries.size(), 0u);
}

TEST(ParseConfig, FindPlaceFallsBackToTheNodeAbove) {
    const ConfigNode root = parse_config("a:\n  b: [1, {c: 2}]\n", "s.yaml");
    EXPECT_EQ(find_place(root, "a.b[1].c").column, 14);
    EXPECT_EQ(find_place(root, "a.b[0]").column, 7);
    EXPECT_EQ(find_place(root, "a.missing.deep").line, 2);  // the map under a begins there
    EXPECT_EQ(find_place(root, "nowhere").line, 1);
}

TEST(ParseConfig, ReportsAllDuplicateKeysWithTheirPlaces) {
    EXPECT_EQ(faults_of("a: 1\nb: {x: 1, x: 2}\na: 3\n"),
              "s.yaml:2:11: duplicate key \"x\" (first in line 2); remove one of the two\n"
              "s.yaml:3:1: duplicate key \"a\" (first in line 1); remove one of the two");
}

TEST(ParseConfig, RefusesWhatYamlAllowsAndWeDoNot) {
    EXPECT_THAT(faults_of("a: [1, 2\n"), testing::StartsWith("s.yaml:"));
    EXPECT_THAT(faults_of("a: b: c\n"), HasSubstr("s.yaml:1:"));
    EXPECT_THAT(faults_of("- 1\n- 2\n"), HasSubstr("the file holds a list"));
    EXPECT_THAT(faults_of("word\n"), HasSubstr("the file holds a single value"));
    EXPECT_THAT(faults_of("a: 1\n---\nb: 2\n"), HasSubstr("a second document"));
    EXPECT_THAT(faults_of("a: &x {b: 1}\nc: {<<: *x}\n"), HasSubstr("s.yaml:2:5: merge keys are not supported"));
    EXPECT_THAT(faults_of("a: !!int 3\n"), HasSubstr("is not supported"));
    EXPECT_THAT(faults_of("? [1, 2]\n: 3\n"), HasSubstr("a key is a list"));
    EXPECT_THAT(faults_of("~: 3\n"), HasSubstr("a key is empty"));
    EXPECT_THAT(faults_of("a: *nobody\n"), testing::StartsWith("s.yaml:1:"));
}

TEST(ParseConfig, TextIsUtf8) {
    EXPECT_EQ(faults_of("a: \"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\"\n"), "accepted");
    const std::string advice = " is not UTF-8 (expected text in UTF-8); save it as UTF-8";
    EXPECT_EQ(faults_of("a: 1\nb: \xc3\xa9\xff\n"), "s.yaml:2:5: the byte 0xff" + advice);  // the column counts letters
    EXPECT_EQ(faults_of("a: 1\n", {"a=\xe9"}), "--set a: the byte 0xe9" + advice);
    for (const char* broken :
         {"\xc3", "\xe2\x82", "\xc0\x80", "\xe0\x80\x80", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\x80"})
        EXPECT_EQ(faults_of(std::string("a: ") + broken).rfind("s.yaml:1:4: the byte 0x", 0), 0u);
}

TEST(ParseConfig, AliasesCopyButCannotFormCyclesOrExplode) {
    const ConfigNode root = parse_config("a: &x {n: [1, 2]}\nb: *x\n", "s.yaml");
    EXPECT_EQ(root.find("b")->find("n")->items.size(), 2u);
    EXPECT_THAT(faults_of("a: &x [1, *x]\n"), HasSubstr("the alias stands inside the node that it names"));
    std::string laughs = "a0: &a0 [1, 1, 1, 1, 1, 1, 1, 1, 1, 1]\n";
    for (int i = 1; i < 12; ++i) {
        laughs += fmt::format("a{}: &a{} [*a{}", i, i, i - 1);
        for (int j = 1; j < 10; ++j) laughs += fmt::format(", *a{}", i - 1);
        laughs += "]\n";
    }
    EXPECT_THAT(faults_of(laughs), HasSubstr("too many nodes"));
    std::string tower = "a0: &a0 [1]\n";
    for (int i = 1; i < 200; ++i) tower += fmt::format("a{}: &a{} [*a{}]\n", i, i, i - 1);
    EXPECT_THAT(faults_of(tower), HasSubstr("nested too deeply"));
}

TEST(ParseConfig, NestingIsBounded) {
    const auto nested = [](int levels) { return "a: " + std::string(levels, '[') + std::string(levels, ']') + "\n"; };
    EXPECT_EQ(faults_of(nested(99)), "accepted");  // 99 lists and the map at the top
    EXPECT_THAT(faults_of(nested(100)), HasSubstr("nested too deeply (at most 100 levels)"));
    EXPECT_THAT(faults_of(nested(100'000)), HasSubstr("nested too deeply"));
}

TEST(LoadConfig, NamesFilesThatItCannotRead) {
    const TemporaryFolder folder;
    const std::string missing = (folder.path() / "missing.yaml").string();
    EXPECT_EQ(load_faults(missing), missing + ": cannot read the file (no such file)");
    EXPECT_THAT(load_faults(folder.path().string()), HasSubstr("cannot read the file (it is a folder)"));
    const std::string large = folder.file("large.yaml", "a: 1\n" + std::string(16 << 20, '#'));
    EXPECT_THAT(load_faults(large), HasSubstr("larger than 16 MiB"));
}

TEST(LoadConfig, IncludesComeFirstAndOwnKeysWin) {
    const TemporaryFolder folder;
    folder.file("parts/net.yaml", "include: base.yaml\nnet: {hash: crc32, qps: 4}\n");
    folder.file("parts/base.yaml", "net: {hash: xor, ttl: 3}\nbase: yes\nlist: [1, 2, 3]\n");
    const std::string main = folder.file("main.yaml", "include: [parts/net.yaml]\nnet: {qps: 1}\nlist: [9]\n");
    const ConfigNode root = load_config(main);
    EXPECT_EQ(root.find("include"), nullptr);
    EXPECT_EQ(root.find("net")->find("hash")->text, "crc32");
    EXPECT_EQ(root.find("net")->find("qps")->text, "1");
    EXPECT_EQ(root.find("net")->find("ttl")->text, "3");
    EXPECT_EQ(root.find("base")->text, "yes");
    ASSERT_EQ(root.find("list")->items.size(), 1u);  // lists are replaced
    EXPECT_THAT(root.find("net")->find("ttl")->place.file, testing::EndsWith("parts/base.yaml"));
    EXPECT_THAT(root.find("net")->find("qps")->place.file, testing::EndsWith("main.yaml"));
}

// A key of both files is merged, every other one kept, in the order base then own; n log n, where a search of all keys
// for each key took minutes at 200,000 keys.
TEST(LoadConfig, ManyKeysMergeOntoMany) {
    const TemporaryFolder folder;
    constexpr int keys = 20'000;
    std::string base, own = "include: base.yaml\n";
    for (int i = 0; i < keys; ++i) {
        base += fmt::format("k{}: base\n", i);
        own += fmt::format("k{}: own\n", i + keys - 1);
    }
    folder.file("base.yaml", base);
    const ConfigNode root = load_config(folder.file("own.yaml", own));
    ASSERT_EQ(root.entries.size(), 2u * keys - 1);
    EXPECT_EQ(root.entries[keys - 2].value.text, "base");
    EXPECT_EQ(root.entries[keys - 1].value.text, "own");
    EXPECT_EQ(root.entries.back().key, fmt::format("k{}", 2 * keys - 2));
}

TEST(LoadConfig, IncludeFaultsPointAtTheInclude) {
    const TemporaryFolder folder;
    const std::string a = folder.file("a.yaml", "include: b.yaml\n");
    folder.file("b.yaml", "x: 1\ninclude: [a.yaml]\n");
    EXPECT_THAT(load_faults(a), HasSubstr("b.yaml:2:11: include: \"a.yaml\" includes itself"));
    const std::string self = folder.file("self.yaml", "include: ./self.yaml\n");
    EXPECT_THAT(load_faults(self), HasSubstr("includes itself"));
    const std::string lost = folder.file("lost.yaml", "include: nowhere.yaml\n");
    EXPECT_THAT(load_faults(lost), HasSubstr("lost.yaml:1:10: include: cannot read"));
    const std::string odd = folder.file("odd.yaml", "include: {a: b}\n");
    EXPECT_THAT(load_faults(odd), HasSubstr("expected a file or a list of files"));
    const std::string twice = folder.file("twice.yaml", "include: [leaf.yaml, leaf.yaml]\n");
    folder.file("leaf.yaml", "x: 1\n");
    EXPECT_EQ(load_faults(twice), "accepted");  // a diamond is no cycle
}

TEST(LoadConfig, IncludesCannotExplode) {
    const TemporaryFolder folder;
    for (int i = 0; i < 30; ++i) {
        const std::string next = std::to_string(i + 1) + ".yaml";
        folder.file(std::to_string(i) + ".yaml", "include: [" + next + ", " + next + "]\n");
    }
    folder.file("30.yaml", "x: 1\n");
    EXPECT_THAT(load_faults((folder.path() / "0.yaml").string()), HasSubstr("too many files (at most 1000)"));
}

TEST(Overrides, ReplaceCreateAndCarryTheirOwnPlace) {
    const ConfigNode root =
        parse_config("a: {b: 1, l: [5, 6]}\nn:\n", "s.yaml",
                     {"a.b=200 Gbps", "a.new.deep=on", "a.l.1=7", "n.x=[1, 2]", "q={r: s=t}", "e="});
    EXPECT_EQ(root.find("a")->find("b")->text, "200 Gbps");
    EXPECT_EQ(root.find("a")->find("b")->place.file, "--set a.b");
    EXPECT_EQ(root.find("a")->find("b")->place.line, 0);
    EXPECT_EQ(root.find("a")->find("new")->find("deep")->text, "on");
    EXPECT_EQ(root.find("a")->find("l")->items[1].text, "7");
    EXPECT_EQ(root.find("n")->find("x")->items.size(), 2u);
    EXPECT_EQ(root.find("q")->find("r")->text, "s=t");
    EXPECT_EQ(root.find("e")->kind, ConfigNode::Kind::null);
}

TEST(Overrides, ThatDoNotFitAreNamed) {
    EXPECT_THAT(faults_of("a: 1\n", {"a.b=2"}),
                HasSubstr("--set a.b: \"b\" is asked for below the single value \"1\""));
    EXPECT_THAT(faults_of("a: [1]\n", {"a.1=2"}), HasSubstr("--set a.1: \"1\" is no item of a list of 1"));
    EXPECT_THAT(faults_of("a: 1\n", {"novalue"}), HasSubstr("--set: \"novalue\" has no value (expected key=value)"));
    EXPECT_THAT(faults_of("a: 1\n", {"a..b=2"}), HasSubstr("a part of the key is empty"));
    EXPECT_THAT(faults_of("a: 1\n", {"=2"}), HasSubstr("a part of the key is empty"));
    EXPECT_THAT(faults_of("a: 1\n", {"a=[1"}), HasSubstr("--set a: "));
    EXPECT_THAT(faults_of("a: 1\n", {"a={x: 1, x: 2}"}), HasSubstr("--set a: duplicate key \"x\""));
}

}  // namespace
}  // namespace rehearse
