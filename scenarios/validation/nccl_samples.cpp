// The rows of nccl-tests logs as samples of the collective model.
#include <fmt/format.h>

#include <filesystem>

#include "kernels/calibration/nccl_log.hpp"
#include "scenarios/text_file.hpp"
#include "scenarios/validation/measured_steps.hpp"
#include "scenarios/validation/nccl_clusters.hpp"

namespace rehearse {

namespace {

namespace fs = std::filesystem;

fs::path logs_folder() { return fs::path(data_folder()) / "nccl"; }

fs::path path_of(const std::string& log) {
    for (const fs::directory_entry& entry : fs::directory_iterator(logs_folder())) {
        const std::string file = entry.path().filename().string();
        if (file.starts_with(log + "_") && file.ends_with(".txt")) return entry.path();
    }
    throw InputError({{{logs_folder().string(), 1, 1}, log, "no such log", log + "_*.txt", ""}});
}

void add_sides(const NcclTable& table, const NcclRow& row, std::vector<NcclSample>& samples) {
    for (const std::optional<NcclSide>& side : {row.out_of_place, row.in_place}) {
        if (side) samples.push_back({table.kind, table.group, Bytes{row.size}, side->time_us.value * 1e-6});
    }
}

}  // namespace

bool has_nccl_logs() { return fs::is_directory(logs_folder()); }

std::vector<NcclSample> nccl_samples(const NcclTable& table, RowChoice choice) {
    const fs::path path = path_of(table.log);
    const NcclLog log = parse_nccl_log(read_text(path.string()), path.string(), {});
    std::vector<NcclSample> samples;
    std::size_t index = 0;
    for (const NcclRun& run : log.runs) {
        for (const NcclRow& row : run.rows) {
            if (Bytes{row.size} < table.from || Bytes{row.size} > table.to) continue;
            const RowChoice parity = index++ % 2 == 0 ? RowChoice::even : RowChoice::odd;
            if (choice == RowChoice::all || choice == parity) add_sides(table, row, samples);
        }
    }
    if (samples.empty())
        throw InputError({{{path.string(), 1, 1}, table.log, "no row of these sizes", "", "look at the log"}});
    return samples;
}

}  // namespace rehearse
