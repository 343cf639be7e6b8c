#include "sim/base/fault.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/base/nearest.hpp"

namespace rehearse {
namespace {

TEST(Fault, HasOneGrammar) {
    const Place place{"a.yaml", 3, 7};
    const Fault fault{place, "cluster.nic", "\"200\" has no unit", "expected a bandwidth", "write \"200 Gbps\""};
    EXPECT_EQ(to_string(fault),
              "a.yaml:3:7: cluster.nic: \"200\" has no unit (expected a bandwidth); write \"200 Gbps\"");
    const Place file{"a.yaml", 0, 0};
    EXPECT_EQ(to_string(Fault{file, "", "no such file", "", ""}), "a.yaml: no such file");
}

TEST(FaultList, ThrowsAllFaultsInTheOrderOfTheFile) {
    FaultList faults;
    EXPECT_NO_THROW(faults.throw_if_any());
    const auto add = [&](int line, int column, const char* path, const char* wrong) {
        const Place place{"a.yaml", line, column};
        faults.add({place, path, wrong, "", ""});
    };
    add(9, 1, "x", "late");
    add(2, 5, "y", "second");
    add(2, 1, "z", "first");
    try {
        faults.throw_if_any();
        FAIL() << "nothing was thrown";
    } catch (const InputError& error) {
        EXPECT_STREQ(error.what(), "a.yaml:2:1: z: first\na.yaml:2:5: y: second\na.yaml:9:1: x: late");
    }
}

TEST(FaultList, CountsWhatItDoesNotKeep) {
    FaultList faults;
    for (int i = 0; i < 150; ++i) {
        const Place place{"a.yaml", i + 1, 1};
        faults.add({place, "", "bad", "", ""});
    }
    EXPECT_EQ(faults.size(), 150u);
    try {
        faults.throw_if_any();
        FAIL() << "nothing was thrown";
    } catch (const InputError& error) {
        EXPECT_EQ(error.faults().size(), 101u);
        EXPECT_THAT(error.what(), testing::EndsWith("\n50 more faults are not shown"));
    }
}

TEST(InQuotes, KeepsATerminalSafe) {
    EXPECT_EQ(in_quotes("a b"), "\"a b\"");
    EXPECT_EQ(in_quotes("\x1b[2J\n"), "\"\\x1b[2J\\x0a\"");
    EXPECT_EQ(in_quotes(std::string(1'000, 'x')), "\"" + std::string(30, 'x') + "..." + std::string(30, 'x') + "\"");
}

TEST(NearestWord, FindsSlipsAndRefusesStrangers) {
    const std::vector<std::string> known{"nic", "nvlink", "nvlink_latency", "gpus"};
    EXPECT_EQ(nearest_word("nvlnk", known), "nvlink");
    EXPECT_EQ(nearest_word("nvlikn", known), "nvlink");
    EXPECT_EQ(nearest_word("NIC", known), "nic");
    EXPECT_EQ(nearest_word("gpu", known), "gpus");
    EXPECT_EQ(nearest_word("nvlink_latnecy", known), "nvlink_latency");
    EXPECT_EQ(nearest_word("bandwidth", known), "");
    EXPECT_EQ(nearest_word("", known), "");
    EXPECT_EQ(nearest_word(std::string(100'000, 'n'), known), "");
}

}  // namespace
}  // namespace rehearse
