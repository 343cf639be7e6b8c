// `rehearse calibrate import FILE...`: logs of nccl-tests as a table, as JSON and as a calibration file.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "kernels/calibration/calibration_file.hpp"
#include "kernels/calibration/nccl_log.hpp"
#include "sim/base/switch.hpp"

namespace rehearse {

struct ImportRequest {
    std::vector<std::string> files;
    NcclHints hints;     // where the logs don't tell
    std::string device;  // its name, where the logs don't tell
    std::string out;     // calibration file to write, "" = none
    Switch json = Switch::off;
};

struct ImportedLog {
    NcclLog log;
    std::optional<Fault> fault;  // why there is no row
};

// Each file on its own: one that cannot be read, or holds no row, does not keep the others from being imported.
std::vector<ImportedLog> import_logs(const std::vector<std::string>& files, const NcclHints& hints);

// {"rows": N, "files": [{"file", "collective", "gpus", "nodes", "rows", "unparsed"}]}, one entry per file in the order
// given. Several collectives are joined: "all_reduce+all_gather"; gpus and nodes are null where they are unknown or
// differ within the file; unparsed lists {"line", "reason", "text"}.
nlohmann::ordered_json import_json(const std::vector<ImportedLog>& logs);

// One sample per collective, size, ranks, nodes and type, with the times of all logs that have it: out-of-place, or
// in-place where a row has no other. Zero-size rows are left out, and so are runs whose collective is unknown.
// InputError when the logs name different devices.
CalibrationFile calibration_of(const std::vector<ImportedLog>& logs, const std::string& device);

// 0, or 2 when a file gave no row. Prints the table (or JSON) to stdout; faults, lines that could not be parsed and
// contradictions go to stderr.
int import_command(const ImportRequest& request);

}  // namespace rehearse
