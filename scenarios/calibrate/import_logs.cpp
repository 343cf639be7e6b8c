#include "scenarios/calibrate/import_logs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "scenarios/text_file.hpp"
#include "sim/trace/table.hpp"

namespace rehearse {

namespace {

constexpr std::size_t notes_shown = 20;  // per file
constexpr int exit_bad_input = 2;

std::string text_of(NcclOrigin origin, const char* option) {
    switch (origin) {
        case NcclOrigin::stated:
            return "log";
        case NcclOrigin::rows:
            return "rows";
        case NcclOrigin::hint:
            return option;
        case NcclOrigin::file_name:
            return "file name";
        case NcclOrigin::unknown:
            break;
    }
    return "-";
}

std::string count_text(std::optional<std::int64_t> count) { return count ? fmt::format("{}", *count) : "?"; }

// "63 to 66?" where the rows leave a few numbers of GPUs open.
std::string gpus_text(const NcclRun& run) {
    constexpr std::int64_t worth_saying = 1000;
    if (run.gpus || run.gpus_that_fit.high > worth_saying) return count_text(run.gpus);
    return fmt::format("{} to {}?", run.gpus_that_fit.low, run.gpus_that_fit.high);
}

std::string sizes_of(const NcclRun& run) {
    const auto smaller = [](const NcclRow& a, const NcclRow& b) { return a.size < b.size; };
    const auto [least, most] = std::minmax_element(run.rows.begin(), run.rows.end(), smaller);
    if (least->size == most->size) return format(Bytes{least->size});
    return fmt::format("{} to {}", format(Bytes{least->size}), format(Bytes{most->size}));
}

std::string import_table(const std::vector<ImportedLog>& logs) {
    Table table({"file", "collective", "named by", "gpus", "counted by", "nodes", "rows", "sizes", "unparsed"});
    for (const ImportedLog& imported : logs) {
        const NcclLog& log = imported.log;
        std::string unparsed = fmt::format("{}", log.unparsed.size());
        for (const NcclRun& run : log.runs) {
            table.add({log.file, run.collective, text_of(run.collective_from, "--collective"), gpus_text(run),
                       text_of(run.gpus_from, "--gpus"), count_text(run.nodes), fmt::format("{}", run.rows.size()),
                       sizes_of(run), unparsed});
            unparsed = "";  // of the file, not of each run
        }
        if (log.runs.empty()) table.add({log.file, "-", "-", "-", "-", "-", "0", "-", unparsed});
    }
    return table.render(TableFormat::text);
}

void print_notes(const NcclLog& log, const std::vector<NcclNote>& notes, const char* kind) {
    for (std::size_t i = 0; i < std::min(notes.size(), notes_shown); ++i) {
        const std::string text = notes[i].text.empty() ? "" : ": " + in_quotes(notes[i].text);
        fmt::print(stderr, "{}:{}: {}: {}{}\n", log.file, notes[i].line, kind, notes[i].reason, text);
    }
    if (notes.size() > notes_shown)
        fmt::print(stderr, "{}: {} more lines {}; --json lists them\n", log.file, notes.size() - notes_shown, kind);
}

// The one value of all runs; none where one is unknown or they differ.
std::optional<std::int64_t> common(const NcclLog& log, std::optional<std::int64_t> NcclRun::*value) {
    if (log.runs.empty()) return std::nullopt;
    const std::optional<std::int64_t> first = log.runs.front().*value;
    const bool all =
        std::all_of(log.runs.begin(), log.runs.end(), [&](const NcclRun& run) { return run.*value == first; });
    return all ? first : std::nullopt;
}

std::string collectives_of(const NcclLog& log) {
    std::vector<std::string> names;
    for (const NcclRun& run : log.runs) {
        if (std::find(names.begin(), names.end(), run.collective) == names.end()) names.push_back(run.collective);
    }
    if (names.empty()) return "unknown";
    return fmt::format("{}", fmt::join(names, "+"));
}

nlohmann::ordered_json optional_json(std::optional<std::int64_t> value) {
    return value ? nlohmann::ordered_json(*value) : nlohmann::ordered_json(nullptr);
}

// What the calibration file leaves out or lacks.
void print_gaps(const std::vector<ImportedLog>& logs, const CalibrationFile& calibration) {
    for (const ImportedLog& imported : logs) {
        for (const NcclRun& run : imported.log.runs) {
            if (run.collective == "unknown")
                fmt::print(stderr, "{}:{}: left out: which collective these rows are is unknown; say --collective\n",
                           imported.log.file, run.line);
            else if (!run.gpus)
                fmt::print(stderr, "{}:{}: {} on an unknown number of GPUs; say --gpus\n", imported.log.file, run.line,
                           run.collective);
        }
    }
    const auto pooled = std::count_if(calibration.samples.begin(), calibration.samples.end(),
                                      [](const CalibrationSample& sample) { return sample.seconds.size() > 1; });
    if (pooled > 0)
        fmt::print(stderr,
                   "{} samples hold the times of several rows; logs of different clusters go into files of their own\n",
                   pooled);
}

}  // namespace

std::vector<ImportedLog> import_logs(const std::vector<std::string>& files, const NcclHints& hints) {
    std::vector<ImportedLog> logs;
    for (const std::string& file : files) {
        ImportedLog& imported = logs.emplace_back();
        imported.log.file = file;
        std::error_code ignored;
        if (std::filesystem::is_directory(file, ignored)) {
            imported.fault = Fault{{file, 0, 0}, "", "this is a folder", "expected a log", "name the files in it"};
            continue;
        }
        try {
            const std::string text = read_text(file);
            imported.log = parse_nccl_log(text, file, hints);
            if (imported.log.rows() == 0) imported.fault = no_row_fault(imported.log, text);
        } catch (const InputError& error) {
            imported.fault = error.faults().front();
        }
    }
    return logs;
}

nlohmann::ordered_json import_json(const std::vector<ImportedLog>& logs) {
    std::size_t rows = 0;
    auto files = nlohmann::ordered_json::array();
    for (const ImportedLog& imported : logs) {
        const NcclLog& log = imported.log;
        auto unparsed = nlohmann::ordered_json::array();
        for (const NcclNote& note : log.unparsed)
            unparsed.push_back({{"line", note.line}, {"reason", note.reason}, {"text", in_quotes(note.text)}});
        files.push_back({{"file", log.file},
                         {"collective", collectives_of(log)},
                         {"gpus", optional_json(common(log, &NcclRun::gpus))},
                         {"nodes", optional_json(common(log, &NcclRun::nodes))},
                         {"rows", log.rows()},
                         {"unparsed", unparsed}});
        rows += log.rows();
    }
    return {{"rows", rows}, {"files", files}};
}

int import_command(const ImportRequest& request) {
    const std::vector<ImportedLog> logs = import_logs(request.files, request.hints);
    const bool any = std::any_of(logs.begin(), logs.end(), [](const ImportedLog& log) { return !log.fault; });
    if (any && !request.out.empty()) {
        const CalibrationFile calibration = calibration_of(logs, request.device);
        replace_text(request.out, "# Written by `rehearse calibrate import`.\n" + to_yaml(calibration));
        print_gaps(logs, calibration);
    }
    if (is_on(request.json))
        fmt::print("{}\n", import_json(logs).dump(2, ' ', false, nlohmann::json::error_handler_t::replace));
    else fmt::print("{}", import_table(logs));
    int code = 0;
    for (const ImportedLog& imported : logs) {
        print_notes(imported.log, imported.log.unparsed, "not parsed");
        print_notes(imported.log, imported.log.findings, "contradiction");
        if (!imported.fault) continue;
        fmt::print(stderr, "{}\n", to_string(*imported.fault));
        code = exit_bad_input;
    }
    return code;
}

}  // namespace rehearse
