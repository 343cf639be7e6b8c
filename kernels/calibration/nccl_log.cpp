#include "kernels/calibration/nccl_log.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "kernels/calibration/nccl_infer.hpp"
#include "kernels/calibration/nccl_line.hpp"
#include "kernels/calibration/nccl_prologue.hpp"

namespace rehearse {

namespace {

constexpr std::size_t line_bytes_most = 4096;  // a longer line is no row: 200 bytes are usual

// What failed runs leave behind, of nccl-tests, NCCL, MPI, Slurm and the shell.
bool tells_failure(std::string_view text) {
    for (const char* sign :
         {"Test NCCL failure", "Test CUDA failure", "Test failure", "unhandled system error", "unhandled cuda error",
          "out of memory", "MPI_ABORT", "MPI_Abort", "mpirun noticed", "mpirun has exited", "prterun noticed",
          "Segmentation fault", "segmentation violation", "srun: error", "slurmstepd: error", "command not found",
          "error while loading shared libraries", "core dumped", "Bus error"}) {
        if (text.find(sign) != text.npos) return true;
    }
    return false;
}

bool is_unfinished(const RowOutcome& outcome) {
    const auto* broken = std::get_if<BrokenRow>(&outcome);
    return broken != nullptr && broken->what == BrokenRow::What::unfinished;
}

// What the lines of one process have said so far. Outputs of several processes can be mixed line by line.
struct Process {
    Prologue prologue;
    std::optional<NcclLayout> layout;
    std::vector<std::size_t> runs;  // of the present table, by position in the log
    std::vector<std::string> torn;  // words of a row that a message or a line break interrupted
    int torn_line = 0;
    std::string torn_by;  // why it is no row as it stands
    bool in_table = false;
    bool is_over = false;  // the lines below the table have come
};

class LogReader {
public:
    LogReader(const std::string& file, const NcclHints& hints) : hints_(hints) { log_.file = file; }

    void line(std::string_view raw, int number, LineEnd end) {
        const LogLine line = split_line(raw.substr(0, line_bytes_most));
        if (line.words.empty()) return;
        Process& process = processes_[line.tag];
        if (raw.size() > line_bytes_most && line.text.find_first_not_of(' ', line_bytes_most) != line.text.npos) return;
        const std::optional<Message> message = find_message(line.words);
        const bool is_info = message && line.text.find(" WARN ") == line.text.npos;
        if (!is_info && tells_failure(line.text)) note(number, "the run failed here", line.text);
        if (message) return tear(process, message->before, number);
        if (const auto layout = parse_header(line.words)) return begin_table(process, *layout, number);
        if (take_row(process, line, number, end)) return;
        other_line(process, line, number);
    }

    NcclLog finish() {
        for (auto& [tag, process] : processes_) drop_torn(process);
        const NcclHints name = hints_of_name(log_.file);
        for (std::size_t i = 0; i < log_.runs.size(); ++i)
            complete_run(log_.runs[i], stated_[i], hints_, name, log_.findings);
        const auto by_line = [](const NcclNote& a, const NcclNote& b) { return a.line < b.line; };
        std::stable_sort(log_.unparsed.begin(), log_.unparsed.end(), by_line);
        std::stable_sort(log_.findings.begin(), log_.findings.end(), by_line);
        return std::move(log_);
    }

private:
    void note(int number, std::string reason, const std::string& text) {
        log_.unparsed.push_back({number, std::move(reason), text});
    }

    void begin_table(Process& process, const NcclLayout& layout, int number) {
        drop_torn(process);
        if (process.in_table) process.prologue = {};  // a table of its own
        process.layout = layout;
        process.runs.clear();
        process.in_table = true;
        process.is_over = false;
        log_.headers.push_back(number);
    }

    // A message of NCCL stands on the line: what stands before it may be a piece of a row.
    void tear(Process& process, const std::vector<std::string>& before, int number) {
        if (before.empty()) return;
        if (begins_row(before)) {
            drop_torn(process);
            process.torn = before;
            process.torn_line = number;
            process.torn_by = "a message of NCCL interrupts this row, and the rest of it does not follow";
        } else if (!process.torn.empty() && all_cells(before)) {
            process.torn.insert(process.torn.end(), before.begin(), before.end());
        }
    }

    void drop_torn(Process& process) {
        if (process.torn.empty()) return;
        std::string text;
        for (const std::string& word : process.torn) text += word + " ";
        note(process.torn_line, process.torn_by, text);
        process.torn.clear();
    }

    // Was the line a row, whole or broken?
    bool take_row(Process& process, const LogLine& line, int number, LineEnd end) {
        if (!process.torn.empty() && all_cells(line.words)) {
            std::vector<std::string> whole = process.torn;
            whole.insert(whole.end(), line.words.begin(), line.words.end());
            const RowOutcome joined = parse_row(whole, process.layout, end);
            const auto* row = std::get_if<NcclRow>(&joined);
            if (row != nullptr && rates_agree(*row)) {
                process.torn.clear();
                add_row(process, *row, process.torn_line);
                return true;
            }
            if (is_unfinished(joined)) {
                process.torn = std::move(whole);
                return true;
            }
        }
        const RowOutcome outcome = parse_row(line.words, process.layout, end);
        if (std::holds_alternative<NoRow>(outcome)) return false;
        drop_torn(process);
        if (is_unfinished(outcome)) {
            process.torn = line.words;
            process.torn_line = number;
            process.torn_by = std::get<BrokenRow>(outcome).reason;
        } else if (const auto* wrong = std::get_if<BrokenRow>(&outcome)) note(number, wrong->reason, line.text);
        else add_row(process, std::get<NcclRow>(outcome), number);
        return true;
    }

    void add_row(Process& process, NcclRow row, int number) {
        row.line = number;
        if (process.is_over) leave_table(process);
        NcclRun& run = run_of(process, *parts_of(row), number);
        if (run.parts == 0) run.parts = *parts_of(row);
        run.rows.push_back(std::move(row));
    }

    void leave_table(Process& process) {
        process.prologue = {};
        process.runs.clear();
        process.in_table = process.is_over = false;
    }

    // The run of the present table whose data is cut into as many parts; zero-size rows go with the latest.
    NcclRun& run_of(Process& process, std::int64_t parts, int number) {
        for (auto at = process.runs.rbegin(); at != process.runs.rend(); ++at) {
            NcclRun& run = log_.runs[*at];
            if (parts == 0 || run.parts == 0 || run.parts == parts) return run;
        }
        process.in_table = true;
        process.runs.push_back(log_.runs.size());
        NcclRun run;
        run.line = number;
        run.device = process.prologue.device();
        run.version = process.prologue.version();
        run.library = process.prologue.library();
        log_.runs.push_back(std::move(run));
        stated_.push_back(process.prologue.stated());
        return log_.runs.back();
    }

    void other_line(Process& process, const LogLine& line, int number) {
        if (line.text.find("Out of bounds values") != line.text.npos && line.text.find("FAILED") != line.text.npos)
            log_.findings.push_back({number, "the results of this run were wrong", line.text});
        const Said said = process.prologue.what(line);
        if (said == Said::nothing) return;
        if (said == Said::end) {
            const std::string name = collective_in(line.text);
            for (const std::size_t run : process.runs) {
                if (stated_[run].collective.empty()) stated_[run].collective = name;
            }
            process.is_over = process.in_table;
            return;
        }
        const bool in_rows = process.in_table && !process.runs.empty();
        if (in_rows && !process.is_over && said == Said::library) return;  // it can come at any time
        if (in_rows) leave_table(process);
        process.prologue.take(line);
    }

    NcclHints hints_;
    NcclLog log_;
    std::vector<NcclStated> stated_;            // of each run
    std::map<std::string, Process> processes_;  // by tag
};

std::string line_text(std::string_view text, int number) {
    for (int i = 1; i < number; ++i) text.remove_prefix(std::min(text.size(), text.find('\n') + 1));
    return std::string(text.substr(0, text.find('\n')));
}

}  // namespace

std::size_t NcclLog::rows() const {
    std::size_t all = 0;
    for (const NcclRun& run : runs) all += run.rows.size();
    return all;
}

NcclLog parse_nccl_log(std::string_view text, const std::string& file, const NcclHints& hints) {
    LogReader reader(file, hints);
    int number = 0;
    while (!text.empty()) {
        const std::size_t end = text.find('\n');
        reader.line(text.substr(0, end), ++number, end == text.npos ? LineEnd::cut : LineEnd::whole);
        text.remove_prefix(end == text.npos ? text.size() : end + 1);
    }
    return reader.finish();
}

Fault no_row_fault(const NcclLog& log, std::string_view text) {
    const std::string expected = "expected a table of nccl-tests";
    if (text.find_first_not_of(" \t\r\n") == text.npos)
        return {{log.file, 0, 0}, "", "the log is empty", expected, "check that the run wrote into it"};
    if (text.substr(0, 2) == "\xff\xfe" || text.substr(0, 2) == "\xfe\xff")
        return {{log.file, 0, 0}, "", "the log is UTF-16", "expected UTF-8", "convert it: iconv -f UTF-16 -t UTF-8"};
    if (text.substr(0, 2) == "\x1f\x8b" || text.substr(0, 4) == "PK\x03\x04" || text.substr(0, 3) == "BZh")
        return {{log.file, 0, 0}, "", "the log is compressed", expected, "unpack it first"};
    if (!log.unparsed.empty()) {
        const NcclNote& first = log.unparsed.front();
        return {{log.file, first.line, 1},
                "",
                fmt::format("no row; {}: {}", first.reason, in_quotes(first.text)),
                expected,
                ""};
    }
    if (text.substr(0, line_bytes_most).find('\0') != text.npos)
        return {{log.file, 0, 0}, "", "the file is binary", expected, ""};
    if (!log.headers.empty())
        return {{log.file, log.headers.back(), 1},
                "",
                "no row follows the header of the table",
                expected,
                "the log is cut, or the run ended before its first size"};
    return {{log.file, 1, 1},
            "",
            fmt::format("no row; the log begins with {}", in_quotes(line_text(text, 1))),
            expected,
            "give the output of a program such as all_reduce_perf"};
}

}  // namespace rehearse
