// Docs are true: each command that the root README shows is run (the long ones are asked for their help).
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "tests/scenarios/program.hpp"

namespace rehearse {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view program_prefix = "    build/release/rehearse ";

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

TEST(Readme, ShowsCommandsThatWork) {
    const fs::path folder = fs::temp_directory_path() / "rehearse_readme_test";
    fs::remove_all(folder);
    fs::create_directories(folder);
    fs::create_directory_symlink(source_path("scenarios"), folder / "scenarios");
    std::ifstream readme(source_path("README.md"));
    int commands = 0;
    for (std::string line; std::getline(readme, line);) {
        if (!line.starts_with(program_prefix)) continue;
        std::vector<std::string> words = words_of(line.substr(program_prefix.size()));
        const bool is_long = words[0] == "validate" || words[0] == "calibrate" ||
                             (words[0] == "run" && words[1].find("12288") != std::string::npos);
        if (is_long) words.emplace_back("--help");
        const ProgramResult result = run_rehearse(words, folder);
        EXPECT_EQ(result.exit_code, 0) << line << "\n" << result.err;
        ++commands;
    }
    EXPECT_GE(commands, 8);
    fs::remove_all(folder);
}

}  // namespace
}  // namespace rehearse
