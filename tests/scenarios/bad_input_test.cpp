// Bad input through the real program: exit code 2, nothing on stdout, one located sentence per fault on stderr.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/scenarios/program.hpp"
#include "tests/scenarios/small.hpp"
#include "tests/sim/temporary_folder.hpp"

namespace rehearse {
namespace {

using ::testing::HasSubstr;

struct BadInput {
    std::string name;
    std::string from, to;  // replaced in the small scenario
    std::string at;        // line and column
    std::string says;      // part of the message
};

void PrintTo(const BadInput& bad, std::ostream* out) { *out << bad.name; }

std::string replaced(const std::string& from, const std::string& to) {
    std::string text = small_yaml;
    const std::size_t at = text.find(from);
    EXPECT_NE(at, text.npos) << from;
    return text.replace(at, from.size(), to);
}

class BadInputTest : public ::testing::TestWithParam<BadInput> {};

TEST_P(BadInputTest, ExitsWith2AndALocatedMessage) {
    const BadInput& bad = GetParam();
    const TemporaryFolder folder;
    folder.file("job.yaml", replaced(bad.from, bad.to));
    const ProgramResult result = run_rehearse({"run", "job.yaml"}, folder.path());
    EXPECT_EQ(result.exit_code, 2) << result.err;
    EXPECT_EQ(result.out, "");
    EXPECT_THAT(result.err, HasSubstr("job.yaml:" + bad.at + ": "));
    EXPECT_THAT(result.err, HasSubstr(bad.says));
    EXPECT_FALSE(std::filesystem::exists(folder.path() / "results"));
}

const BadInput bad_inputs[] = {
    {"unknown_key", "batch_global: 32", "batch_globl: 32", "7:3", "did you mean \"batch_global\"?"},
    {"unknown_word", "kind: gpt", "kind: gtp", "6:17", "did you mean \"gpt\"?"},
    {"duplicate_key", "batch_global: 32", "batch_global: 32\n  batch_global: 64", "8:3", "batch_global"},
    {"missing_unit", "nic: 200 Gbps", "nic: 200", "3:33", "200 Gbps"},
    {"wrong_unit", "nic: 200 Gbps", "nic: 200 us", "3:33", "cluster.node.nic"},
    {"degrees_do_not_give_the_gpus", "data: 4", "data: 5", "9:13", "= 20 GPUs, the job has 16"},
    {"layers_not_divisible", "layers: 8", "layers: 9", "6:30", "multiple of 4"},
    {"micro_batch_does_not_divide", "micro_batch: 2", "micro_batch: 3", "7:17", "micro-batches of 3 for 4 replicas"},
    {"micro_batches_not_a_multiple_of_the_stages", "batch_global: 32", "batch_global: 24", "7:17",
     "multiple of pipeline 2"},
    {"memory_overflow", "layers: 8, hidden: 1024", "layers: 96, hidden: 16384", "6:3", "a GPU needs"},
    {"cluster_too_small", "cluster:", "cluster:\n  hosts: 1", "5:13", "the cluster has 1 hosts"},
    {"not_a_number", "batch_global: 32", "batch_global: .nan", "7:17", "training.batch_global"},
    {"infinite_ratio", "cluster:", "cluster:\n  fabric: {oversubscription: nan}", "3:30", "oversubscription"},
    {"negative_count", "tensor: 2", "tensor: -2", "9:22", "training.parallel.tensor"},
    {"negative_rate", "nic: 200 Gbps", "nic: -200 Gbps", "3:33", "cluster.node.nic"},
    {"beyond_64_bits", "batch_global: 32", "batch_global: 99999999999999999999", "7:17", "training.batch_global"},
    {"a_list_for_a_value", "batch_global: 32", "batch_global: [1, 2]", "7:17", "the value is a list"},
    {"broken_yaml", "kind: gpt", "kind: {gpt", "7:3", "end of map"},
    {"no_rank_order", "rank_order: [tensor, data, pipeline]", "rank_order: []", "4:29", "it names no dimension"},
    {"slow_nic", "nic: 200 Gbps", "nic: 1 bps", "3:33", "\"1 bps\" is out of range (100 Mbps to 100 Tbps)"},
    {"slow_nvlink", "nvlink: 300 GB/s", "nvlink: 1 B/s", "3:51",
     "\"1 B/s\" is out of range (100 MB/s to 100 TB/s, or 0 B/s)"},
    {"long_latency", "nic: 200 Gbps", "nvlink_latency: 9223372 s", "3:44",
     "\"9223372 s\" is out of range (0 ps to 100 ms)"},
    {"long_window", "job:", "models: {network: {coalesce: 9000000 s}}\njob:", "4:30", "models.network.coalesce"},
    {"not_utf8", "name: small", "name: sm\xe4ll", "1:9", "the byte 0xe4 is not UTF-8"},
    {"unknown_profile", "job:", "models: {profile: none-such}\njob:", "4:19", "none-such"},
};

INSTANTIATE_TEST_SUITE_P(Table, BadInputTest, ::testing::ValuesIn(bad_inputs),
                         [](const ::testing::TestParamInfo<BadInput>& row) { return row.param.name; });

TEST(BadFile, MissingUnreadableTooLargeAndTooDeep) {
    const TemporaryFolder folder;
    const auto error_of = [&](const std::string& name) {
        const ProgramResult result = run_rehearse({"run", name}, folder.path());
        EXPECT_EQ(result.exit_code, 2) << name;
        return result.err;
    };
    EXPECT_THAT(error_of("none.yaml"), HasSubstr("none.yaml: cannot read the file (no such file)"));
    EXPECT_THAT(error_of("."), HasSubstr("it is a folder"));
    folder.file("large.yaml", small_yaml + "# " + std::string(17 << 20, 'x') + "\n");
    EXPECT_THAT(error_of("large.yaml"), HasSubstr("larger than 16 MiB"));
    folder.file("deep.yaml", "name: " + std::string(101, '[') + std::string(101, ']') + "\n");
    EXPECT_THAT(error_of("deep.yaml"), HasSubstr("100"));
    folder.file("binary.yaml", std::string("\x00\xff\xfe\x01", 4));
    EXPECT_NE(error_of("binary.yaml"), "");
}

TEST(BadFile, ANameThatIsNotUtf8) {
    const TemporaryFolder folder;
    const std::string unnamed = replaced("name: small\n", "");
    folder.file("j\xe4.yaml", unnamed);
    const ProgramResult result = run_rehearse({"run", "j\xe4.yaml", "--stop-after", "metrics"}, folder.path());
    EXPECT_EQ(result.exit_code, 2) << result.err;
    EXPECT_THAT(result.err, HasSubstr("name: the file's name, which stands in for it, is not UTF-8"));
}

// Every quantity of a scenario alone at each end of its range: the step ends, or a check refuses it at a place.
TEST(Ranges, TheirEndsRunOrAreRefused) {
    const TemporaryFolder folder;
    folder.file("job.yaml", small_yaml);
    for (const char* set :
         {"cluster.node.nic=100 Mbps", "cluster.node.nic=100 Tbps", "cluster.node.nvlink=100 MB/s",
          "cluster.node.nvlink=100 TB/s", "cluster.node.pcie=100 MB/s", "cluster.node.pcie=100 TB/s",
          "cluster.node.nvlink_latency=100 ms", "cluster.node.nic_latency=100 ms", "cluster.node.pcie_latency=100 ms",
          "cluster.fabric.switch_port_rate=100 Tbps", "cluster.fabric.switch_latency=100 ms",
          "cluster.fabric.link_latency=100 ms", "models.network.coalesce=100 ms", "models.network.mtu=64 KiB"}) {
        const ProgramResult result =
            run_rehearse({"run", "job.yaml", "--stop-after", "metrics", "--set", set}, folder.path());
        EXPECT_TRUE(result.exit_code == 0 || (result.exit_code == 2 && result.err.find("--set ") != std::string::npos))
            << set << ": " << result.err;
    }
}

TEST(BadFile, EveryFaultIsReportedAtOnce) {
    const TemporaryFolder folder;
    std::string text = replaced("nic: 200 Gbps", "nic: 200");
    text.replace(text.find("tensor: 2"), 9, "tensro: 2");
    text.replace(text.find("layers: 8"), 9, "layers: 8 ms");
    folder.file("job.yaml", text);
    const ProgramResult result = run_rehearse({"run", "job.yaml"}, folder.path());
    EXPECT_EQ(result.exit_code, 2);
    EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 3) << result.err;
}

}  // namespace
}  // namespace rehearse
