// `rehearse net --threads` and `mpirun ... rehearse net --mpi` through the real program: the same files from any crew.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "sim/engine/parallel/process_group.hpp"
#include "tests/scenarios/program.hpp"
#include "tests/sim/temporary_folder.hpp"

namespace rehearse {
namespace {

using Json = nlohmann::json;
using ::testing::AllOf;
using ::testing::HasSubstr;

const std::string crew_yaml = R"(name: crew
cluster:
  hosts: 16
  fabric: {kind: clos, rails: 1, switch_ports: 4, port_split: off, hosts_per_tor_set: 2, tor_sets_per_pod: 2}
  node: {gpus: 1, nics: 1, nic: 400 Gbps, pcie: 0 GB/s}
net: {pattern: all_to_all, message: 100 kB}
models:
  network:
    fidelity: packet
    packet:
      congestion: hpcc
      loss: {data: 0.001}
)";

const std::string one_switch_yaml = R"(name: one switch
cluster:
  hosts: 4
  fabric: {kind: rail_only, rails: 1, switch_ports: 8, port_split: off, hosts_per_tor_set: 4}
  node: {gpus: 1, nics: 1, nic: 400 Gbps, pcie: 0 GB/s}
net: {pattern: permutation, message: 100 kB}
models: {network: {fidelity: packet}}
)";

class NetCrew : public ::testing::Test {
protected:
    void SetUp() override {
        folder_.file("crew.yaml", crew_yaml);
        folder_.file("one_switch.yaml", one_switch_yaml);
    }
    static std::vector<std::string> mpirun(int count) {
        return {"mpirun", "--allow-run-as-root", "--oversubscribe", "-n", std::to_string(count), REHEARSE_BINARY,
                "net", "--mpi"};
    }
    // Runs, and returns what a run is compared by.
    std::vector<std::string> outcome(std::vector<std::string> words, const std::string& out) {
        words.insert(words.end(), {"crew.yaml", "--quiet", "--out", out});
        const ProgramResult result = run_command(std::move(words), folder_.path());
        EXPECT_EQ(result.exit_code, 0) << result.err;
        EXPECT_THAT(result.out, HasSubstr("results: "));
        EXPECT_EQ(result.out.find("results: "), result.out.rfind("results: ")) << "one process writes";
        const std::filesystem::path folder = folder_.path() / out;
        const Json run = Json::parse(slurp(folder / "metrics.json"))["run"];
        return {run["fingerprint"].dump(), run["events"].dump(), slurp(folder / "flows.csv"),
                slurp(folder / "links.csv"), slurp(folder / "series.csv")};
    }
    std::vector<std::string> alone() { return outcome({REHEARSE_BINARY, "net"}, "alone"); }
    bool has_mpirun() { return run_command({"mpirun", "--version"}, folder_.path()).exit_code == 0; }

    TemporaryFolder folder_;
};

TEST_F(NetCrew, ThreadsChangeNothing) {
    const std::vector<std::string> expected = alone();
    for (const char* threads : {"2", "4"})
        EXPECT_EQ(outcome({REHEARSE_BINARY, "net", "--threads", threads}, threads), expected) << threads;
}

TEST_F(NetCrew, ProcessesChangeNothing) {
    if (!ProcessGroup::is_available()) GTEST_SKIP() << "built without MPI";
    if (!has_mpirun()) GTEST_SKIP() << "no mpirun on the path";
    const std::vector<std::string> expected = alone();
    for (const int count : {1, 2, 4}) EXPECT_EQ(outcome(mpirun(count), "p" + std::to_string(count)), expected) << count;
}

TEST_F(NetCrew, OneSwitchHasNoTwoPartitions) {
    const auto says = AllOf(HasSubstr("one_switch.yaml:4:"), HasSubstr("cluster.fabric: a fabric of 1 switch can't be "
                                                                      "cut into 2 partitions"));
    const ProgramResult threads = run_rehearse({"net", "one_switch.yaml", "--threads", "2"}, folder_.path());
    EXPECT_EQ(threads.exit_code, 2);
    EXPECT_THAT(threads.err, says);
    if (!ProcessGroup::is_available() || !has_mpirun()) return;
    std::vector<std::string> words = mpirun(2);
    words.push_back("one_switch.yaml");
    const ProgramResult processes = run_command(words, folder_.path());
    EXPECT_EQ(processes.exit_code, 2);
    EXPECT_THAT(processes.err, says);
    EXPECT_EQ(processes.err.find("cluster.fabric"), processes.err.rfind("cluster.fabric")) << "one process says so";
}

TEST_F(NetCrew, MpiThatIsMissing) {
    if (ProcessGroup::is_available()) GTEST_SKIP() << "built with MPI";
    const ProgramResult result = run_rehearse({"net", "crew.yaml", "--mpi"}, folder_.path());
    EXPECT_EQ(result.exit_code, 2);
    EXPECT_THAT(result.err, AllOf(HasSubstr("--mpi: this build has no MPI"), HasSubstr("libopenmpi-dev")));
}

TEST_F(NetCrew, ThreadsAndProcessesExcludeEachOther) {
    const ProgramResult result = run_rehearse({"net", "crew.yaml", "--mpi", "--threads", "2"}, folder_.path());
    EXPECT_EQ(result.exit_code, 2);
}

}  // namespace
}  // namespace rehearse
