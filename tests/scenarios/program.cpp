#include "tests/scenarios/program.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <stdexcept>

#include "tests/sim/temporary_folder.hpp"

namespace rehearse {

namespace {

void redirect(int stream, const std::string& path) {
    const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (file >= 0) dup2(file, stream);
}

}  // namespace

ProgramResult run_rehearse(const std::vector<std::string>& words, const std::filesystem::path& folder,
                           int kill_after_ms, int signal) {
    std::vector<std::string> all{REHEARSE_BINARY};
    all.insert(all.end(), words.begin(), words.end());
    return run_command(std::move(all), folder, kill_after_ms, signal);
}

ProgramResult run_command(std::vector<std::string> words, const std::filesystem::path& folder, int kill_after_ms,
                          int signal) {
    const TemporaryFolder streams;
    const std::string out = (streams.path() / "out").string(), err = (streams.path() / "err").string();
    std::vector<char*> pointers;
    for (std::string& word : words) pointers.push_back(word.data());
    pointers.push_back(nullptr);
    const pid_t child = fork();
    if (child < 0) throw std::runtime_error("fork failed");
    if (child == 0) {
        redirect(STDOUT_FILENO, out);
        redirect(STDERR_FILENO, err);
        if (chdir(folder.c_str()) == 0) execvp(pointers[0], pointers.data());
        _exit(127);
    }
    int status = 0;
    bool ended = false;
    for (int waited = 0; waited < kill_after_ms && !ended; waited += 10) {
        usleep(10'000);
        ended = waitpid(child, &status, WNOHANG) == child;
    }
    if (!ended && kill_after_ms > 0) kill(child, signal);
    if (!ended) waitpid(child, &status, 0);
    ProgramResult result;
    result.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    result.out = slurp(out);
    result.err = slurp(err);
    return result;
}

std::string source_path(const std::string& relative) { return std::string(REHEARSE_SOURCE_DIR) + "/" + relative; }

std::string library_path(const std::string& name) { return source_path("scenarios/library/" + name + ".yaml"); }

namespace {

std::vector<std::string> library_names(bool of_net) {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(source_path("scenarios/library"))) {
        const std::string name = entry.path().stem().string();
        if (entry.path().extension() == ".yaml" && name.starts_with("net_") == of_net) names.push_back(name);
    }
    std::sort(names.begin(), names.end());
    return names;
}

}  // namespace

std::vector<std::string> library_names() { return library_names(false); }
std::vector<std::string> net_library_names() { return library_names(true); }

}  // namespace rehearse
