// Imported logs as a calibration file.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "scenarios/calibrate/import_logs.hpp"
#include "sim/config/utf8.hpp"

namespace rehearse {

namespace {

// Logs hold any bytes, a YAML file holds UTF-8.
std::string as_utf8(std::string text) {
    for (std::size_t at = find_non_utf8(text); at < text.size(); at = find_non_utf8(text)) text[at] = '?';
    return text;
}

// The device of all logs, or `given` where none names one.
std::string device_of(const std::vector<ImportedLog>& logs, const std::string& given) {
    std::map<std::string, const ImportedLog*> devices;
    for (const ImportedLog& imported : logs) {
        for (const NcclRun& run : imported.log.runs) {
            if (!run.device.empty()) devices.emplace(run.device, &imported);
        }
    }
    if (devices.size() > 1) {
        FaultList faults;
        for (const auto& [device, imported] : devices)
            faults.add({{imported->log.file, 0, 0},
                        "",
                        fmt::format("measured on {}", in_quotes(device)),
                        "a calibration file has one device",
                        "import the logs of one device into one file"});
        faults.throw_if_any();
    }
    if (!devices.empty()) return as_utf8(devices.begin()->first);
    return given.empty() ? "not stated" : given;
}

void add_software(const std::vector<ImportedLog>& logs, CalibrationFile& calibration) {
    const auto add = [&](const std::string& name, const std::string& version) {
        const SoftwareVersion software{name, as_utf8(version)};
        auto& all = calibration.software;
        if (!version.empty() && std::find(all.begin(), all.end(), software) == all.end()) all.push_back(software);
    };
    for (const ImportedLog& imported : logs) {
        for (const NcclRun& run : imported.log.runs) {
            add("NCCL", run.library);
            add("nccl-tests", run.version);
        }
    }
}

CalibrationSample sample_of(const NcclRun& run, const NcclRow& row) {
    CalibrationSample sample;
    sample.what = run.collective;
    sample.kind = SampleKind::collective;
    sample.shape = {{"bytes", row.size}};
    if (run.gpus) sample.shape.emplace_back("ranks", *run.gpus);
    if (run.nodes) sample.shape.emplace_back("nodes", *run.nodes);
    sample.precision = row.type;
    const NcclSide& side = row.out_of_place ? *row.out_of_place : *row.in_place;
    sample.seconds = {side.time_us.value / 1e6};
    return sample;
}

}  // namespace

CalibrationFile calibration_of(const std::vector<ImportedLog>& logs, const std::string& device) {
    CalibrationFile calibration;
    calibration.device.name = device_of(logs, device);
    calibration.device.kind = DeviceKind::gpu;
    add_software(logs, calibration);
    calibration.source.command = "rehearse calibrate import";
    calibration.source.origin = "logs of nccl-tests, out-of-place times (in-place where a row has no other)";
    std::set<std::int64_t> counts;
    std::map<std::string, std::size_t> known;
    for (const ImportedLog& imported : logs) {
        if (imported.fault) continue;
        calibration.source.files.push_back(as_utf8(imported.log.file));
        for (const NcclRun& run : imported.log.runs) {
            counts.insert(run.gpus.value_or(0));
            for (const NcclRow& row : run.rows) {
                if (row.size == 0 || run.collective == "unknown") continue;
                CalibrationSample sample = sample_of(run, row);
                const auto [at, is_new] = known.emplace(label_of(sample), calibration.samples.size());
                if (is_new) calibration.samples.push_back(std::move(sample));
                else calibration.samples[at->second].seconds.push_back(sample.seconds.front());
            }
        }
    }
    if (counts.size() == 1) calibration.device.count = *counts.begin();
    return calibration;
}

}  // namespace rehearse
