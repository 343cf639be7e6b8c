#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstring>
#include <memory>

#include "scenarios/commands/commands.hpp"
#include "scenarios/installation.hpp"
#include "sim/base/fault.hpp"
#include "sim/trace/output_error.hpp"

namespace rehearse {

namespace {

// The distribution's own interpreter: it is the one that sees the packaged numpy and matplotlib.
constexpr const char* interpreter = "/usr/bin/python3";

int spawn_and_wait(std::vector<std::string> words) {
    std::vector<char*> pointers;
    for (std::string& word : words) pointers.push_back(word.data());
    pointers.push_back(nullptr);
    const pid_t child = fork();
    if (child < 0) throw OutputError(fmt::format("cannot start {}: {}", words.front(), std::strerror(errno)));
    if (child == 0) {
        execv(pointers[0], pointers.data());
        _exit(127);
    }
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    if (!WIFEXITED(status))
        throw OutputError(fmt::format("{} was ended by signal {}", words.front(), WTERMSIG(status)));
    if (WEXITSTATUS(status) == 127) {
        Fault fault;
        fault.place.file = words.front();
        fault.wrong = "cannot be started";
        fault.expected = "python3 with numpy and matplotlib";
        throw InputError(std::vector<Fault>(1, fault));
    }
    return WEXITSTATUS(status);
}

}  // namespace

void add_report(CLI::App& app, Chosen& chosen) {
    auto folders = std::make_shared<std::vector<std::string>>();
    auto out = std::make_shared<std::string>();
    CLI::App* command =
        add_command(app, "report", "figures and one HTML page from results folders", "rehearse report results/demo");
    command->add_option("folder", *folders, "results folders, or the JSON of rehearse validate")->required();
    command->add_option("--out", *out, "folder for report.html and its figures (default: DIR/report)")
        ->type_name("DIR")
        ->check([](const std::string& text) { return text.empty() ? "the name of the folder is empty" : ""; }, "", "");
    command->callback([folders, out, &chosen] {
        chosen = [folders, out] {
            std::vector<std::string> words{interpreter, data_path("reports/report.py").string()};
            words.insert(words.end(), folders->begin(), folders->end());
            if (!out->empty()) words.insert(words.end(), {"--out", *out});
            return spawn_and_wait(words);
        };
    });
}

}  // namespace rehearse
