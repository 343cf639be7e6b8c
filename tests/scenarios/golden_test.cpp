// The dump of every stage of one small scenario, compared text for text. A change here is a change of behaviour: look
// at the difference, and if it is meant, run with REHEARSE_UPDATE_GOLDEN=1.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/scenarios/program.hpp"
#include "tests/sim/temporary_folder.hpp"

namespace rehearse {
namespace {

// Paths of this checkout and figures of this machine and build do not belong in a golden file.
std::string portable(std::string text, const std::string& stage) {
    const std::string root = source_path("");
    for (std::size_t at = text.find(root); at != text.npos; at = text.find(root))
        text.replace(at, root.size(), "ROOT/");
    if (stage != "metrics") return text;
    auto json = nlohmann::ordered_json::parse(text);
    for (const char* key : {"wall_s", "peak_rss_bytes", "version", "commit"}) json["run"].erase(key);
    return json.dump(1) + "\n";
}

class Golden : public ::testing::TestWithParam<const char*> {};

TEST_P(Golden, DumpIsUnchanged) {
    const std::string stage = GetParam();
    const TemporaryFolder folder;
    const ProgramResult result =
        run_rehearse({"run", source_path("tests/golden/small.yaml"), "--stop-after", stage}, folder.path());
    ASSERT_EQ(result.exit_code, 0) << result.err;
    const std::string path = source_path("tests/golden/" + stage + ".txt");
    const std::string text = portable(result.out, stage);
    if (std::getenv("REHEARSE_UPDATE_GOLDEN") != nullptr) std::ofstream(path, std::ios::binary) << text;
    EXPECT_EQ(text, slurp(path));
}

INSTANTIATE_TEST_SUITE_P(Stages, Golden,
                         ::testing::Values("scenario", "cluster", "workload", "placement", "timeline", "metrics"),
                         [](const ::testing::TestParamInfo<const char*>& row) { return std::string(row.param); });

}  // namespace
}  // namespace rehearse
