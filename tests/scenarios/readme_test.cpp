// Docs are true: each command that the root README shows is run (the long ones are asked for their help), each make
// target is tried without being run.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <sstream>

#include "models/workload/program.hpp"
#include "tests/scenarios/program.hpp"
#include "tests/sim/temporary_folder.hpp"

namespace rehearse {
namespace {

namespace fs = std::filesystem;

// Words of a shown command line; double quotes hold words together.
std::vector<std::string> words_of(const std::string& line) {
    std::vector<std::string> words{""};
    bool quoted = false;
    for (const char c : line) {
        if (c == '"') {
            quoted = !quoted;
        } else if (c == ' ' && !quoted) {
            if (!words.back().empty()) words.emplace_back();
        } else {
            words.back() += c;
        }
    }
    if (words.back().empty()) words.pop_back();
    return words;
}

std::vector<std::string> lines_of(const std::string& document, std::string_view prefix) {
    std::istringstream text(slurp(source_path(document)));
    std::vector<std::string> lines;
    for (std::string line; std::getline(text, line);) {
        if (line.starts_with(prefix)) lines.push_back(line.substr(prefix.size()));
    }
    return lines;
}

// A command that would take minutes: its help names every option of the line.
void expect_options(const std::vector<std::string>& words) {
    const ProgramResult help = run_rehearse({words[0], "--help"}, source_path(""));
    EXPECT_EQ(help.exit_code, 0) << words[0];
    for (const std::string& word : words) {
        const bool known = !word.starts_with("--") || help.out.find(word + " ") != std::string::npos;
        EXPECT_TRUE(known) << words[0] << " " << word;
    }
}

TEST(Readme, ShowsCommandsThatWork) {
    const TemporaryFolder folder;
    fs::create_directory_symlink(source_path("scenarios"), folder.path() / "scenarios");
    folder.file("all_reduce.log",
                "# size count type redop root time algbw busbw #wrong time algbw busbw #wrong\n"
                "1048576 262144 float sum -1 100.0 10.49 18.35 0 50.00 20.97 36.70 0\n");
    const std::vector<std::string> lines = lines_of("README.md", "    build/release/rehearse ");
    EXPECT_GE(lines.size(), 8U);
    for (const std::string& line : lines) {
        const std::vector<std::string> words = words_of(line);
        const bool is_long = words[0] == "validate" || (words[0] == "calibrate" && words[1] == "fit") ||
                             (words[0] == "run" && words[1].find("12288") != std::string::npos);
        if (is_long) {
            expect_options(words);
            continue;
        }
        const ProgramResult result = run_rehearse(words, folder.path());
        EXPECT_EQ(result.exit_code, 0) << line << "\n" << result.err;
    }
}

// `make -n` prints what a target would do. It must be a target, and what it would run must be a command that works.
TEST(Readme, ShowsMakeTargetsThatExist) {
    std::vector<std::string> lines = lines_of("README.md", "    make ");
    for (const std::string& line : lines_of("CONTRIBUTING.md", "    make ")) lines.push_back(line);
    ASSERT_GE(lines.size(), 8U);
    std::string all;
    for (const std::string& line : lines) {
        const std::string target = line.substr(0, line.find(' '));
        const ProgramResult result = run_command({"make", "-n", target}, source_path(""));
        if (result.exit_code == 127) GTEST_SKIP() << "no make here";
        EXPECT_EQ(result.exit_code, 0) << target << "\n" << result.err;
        all += result.out;
    }
    for (const char* part :
         {"run scenarios/library/megascale_175b_12288.yaml", "ctest --test-dir", "tests/bench/*_bench",
          "validate megascale megascale-moe deepseek-v3 a100-steps deepep",
          "--published held --leave-one-out on --folds 5"})
        EXPECT_NE(all.find(part), std::string::npos) << part;
}

// The demo and `make accuracy` are too long for a test: their input is read, their options are looked up.
TEST(Readme, WhatMakeRunsIsSound) {
    const TemporaryFolder folder;
    const std::string demo = library_path("megascale_175b_12288");
    EXPECT_EQ(run_rehearse({"run", demo, "--stop-after", "scenario"}, folder.path()).exit_code, 0);
    expect_options({"validate", "megascale", "a100-steps", "--published", "held", "--markdown", "README.md"});
}

// `find` fails where a named folder is missing, and a folder that is not named is never formatted.
TEST(Readme, MakeFormatsEveryFolderThatHoldsSources) {
    const std::vector<std::string> lines = lines_of("Makefile", "SOURCE_FOLDERS := ");
    ASSERT_EQ(lines.size(), 1U);
    const std::vector<std::string> named = words_of(lines[0]);
    std::vector<std::string> present;
    for (const auto& entry : fs::directory_iterator(source_path(""))) {
        const std::string name = entry.path().filename().string();
        if (!entry.is_directory() || name.starts_with(".") || name.starts_with("build")) continue;
        for (const auto& file : fs::recursive_directory_iterator(entry)) {
            if (file.path().extension() != ".cpp") continue;
            present.push_back(name);
            break;
        }
    }
    EXPECT_THAT(named, ::testing::UnorderedElementsAreArray(present));
}

// The lines of README.md from one heading to the next.
std::vector<std::string> section(const std::string& heading) {
    std::vector<std::string> lines;
    bool inside = false;
    for (const std::string& line : lines_of("README.md", "")) {
        if (line.starts_with("## ")) inside = line == "## " + heading;
        else if (inside) lines.push_back(line);
    }
    return lines;
}

double step_time(std::vector<std::string> words, const fs::path& folder) {
    words.insert(words.end(), {"--stop-after", "metrics"});
    const ProgramResult result = run_rehearse(words, folder);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    const auto json = nlohmann::json::parse(result.out, nullptr, false);
    if (json.is_discarded()) return 0;
    const nlohmann::json& step = json["step_time_s"];
    return step.is_object() ? step["median"].get<double>() : step.get<double>();
}

// A reader who tries a command sees that it does something: 0.1 %, what `rehearse sensitivity` calls an effect.
TEST(Readme, EveryChangeOfTheClusterMovesTheStep) {
    const TemporaryFolder folder;
    fs::create_directory_symlink(source_path("scenarios"), folder.path() / "scenarios");
    std::size_t runs = 0, changes = 0;
    for (const std::string& line : section("Changing the cluster")) {
        const std::string prefix = "    build/release/rehearse ";
        if (!line.starts_with(prefix)) continue;
        std::vector<std::string> words = words_of(line.substr(prefix.size()));
        if (words[0] == "run") {
            const double changed = step_time(words, folder.path());
            for (auto at = words.begin(); (at = std::find(at, words.end(), "--set")) != words.end();)
                at = words.erase(at, at + 2);
            const double unchanged = step_time(words, folder.path());
            EXPECT_GT(std::abs(changed / unchanged - 1), 1e-3) << line;
            ++runs;
        } else if (std::find(words.begin(), words.end(), "--change") != words.end()) {
            words.insert(words.end(), {"--json", "out.json"});
            EXPECT_EQ(run_rehearse(words, folder.path()).exit_code, 0) << line;
            const auto change = nlohmann::json::parse(slurp(folder.path() / "out.json"))["changes"].at(0);
            EXPECT_TRUE(change["runs"].get<bool>()) << line << "\n" << change["reason"];
            EXPECT_GT(std::abs(change.value("difference", 0.0)), 1e-3) << line;
            ++changes;
        }
    }
    EXPECT_GE(runs, 3U);
    EXPECT_GE(changes, 1U);
}

// "| compute | ..." -> "compute"; "| data, other | ..." is two.
TEST(Readme, ExplainsEveryPartThatTheScreenShows) {
    std::string explained;
    for (const std::string& line : section("Reading the output")) {
        if (line.starts_with("| ")) explained += "," + line.substr(1, line.find('|', 1) - 1) + ",";
    }
    std::erase(explained, ' ');
    for (std::size_t part = 0; part < part_count; ++part) {
        const std::string part_name(name(static_cast<Part>(part)));
        EXPECT_NE(explained.find("," + part_name + ","), std::string::npos) << part_name << " in " << explained;
    }
    const TemporaryFolder folder;
    const ProgramResult result = run_rehearse({"run", library_path("dense_8")}, folder.path());
    for (const char* kind : {"\npublished: ", "\nfitted: ", "\nassumed: "})
        EXPECT_NE(result.out.find(kind), std::string::npos) << kind << "\n" << result.out;
}

}  // namespace
}  // namespace rehearse
