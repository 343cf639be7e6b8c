#include "scenarios/validation/deepep_suite.hpp"

#include <fmt/format.h>

#include "scenarios/installation.hpp"
#include "scenarios/validation/suites.hpp"
#include "sim/config/load_config.hpp"
#include "sim/config/reader.hpp"

namespace rehearse {

namespace {

std::string name_of(const DeepEpRow& row) {
    return fmt::format("{}{}, EP{} {}", row.mode == DeepEpMode::normal ? "normal" : "low latency",
                       is_on(row.nvlink) ? "" : " without NVLink", row.ranks,
                       row.phase == DeepEpPhase::dispatch ? "dispatch" : "combine");
}

DeepEpKernel read_kernel(Reader& reader) {
    DeepEpKernel kernel;
    DeepEpRow& row = kernel.row;
    reader.read_enum("mode", row.mode,
                     {{"normal", DeepEpMode::normal}, {"low_latency", DeepEpMode::low_latency}});
    reader.read_enum("phase", row.phase, {{"dispatch", DeepEpPhase::dispatch}, {"combine", DeepEpPhase::combine}});
    reader.read("ranks", row.ranks, at_least(8));
    reader.read("nvlink", row.nvlink);
    if (row.ranks % 8 != 0) reader.fault("ranks", fmt::format("{} ranks", row.ranks), "whole nodes of 8");
    Bandwidth rate;
    SimDuration time;
    reader.read("rate", rate);
    reader.read("time", time);
    if ((rate.value > 0) == (time.value > 0)) reader.fault("rate", "no figure, or two", "a rate or a time");
    kernel.published = read_figure(reader);
    reader.require("source", "a published figure names its source");
    reader.finish();
    if (row.ranks < 8 || row.ranks % 8 != 0 || (rate.value <= 0 && time.value <= 0)) return kernel;  // said above
    row.rate = rate.value > 0 ? rate.bytes_per_second() : deepep_logical_bytes(row) / time.seconds();
    kernel.published.quantity = name_of(row);
    kernel.published.unit = "GB/s";
    kernel.published.value = row.rate / 1e9;
    return kernel;
}

std::string path_of(const std::string& suite) { return data_path("tests/validation/" + suite + ".yaml").string(); }

PublishedTable deepep_table(const std::string& name) {
    PublishedTable table{name, "DeepEP's kernels on H800: GB/s as DeepEP counts them"};
    for (DeepEpKernel& kernel : read_deepep(path_of(name))) table.figures.push_back(std::move(kernel.published));
    table.notes = {
        "the low-latency rows of EP128 and EP256 repeat the first release's to the microsecond: taken as kernels that "
        "do not use NVLink",
        "the first release's normal kernels of EP32 and EP64 are another pipeline, and not predicted"};
    return table;
}

FigurePredictions predict_deepep(const PublishedTable& table) {
    const std::vector<DeepEpKernel> kernels = read_deepep(path_of(table.suite));
    const DeepEpParameters parameters = fit_deepep(kernels);
    FigurePredictions rates;
    for (const DeepEpKernel& kernel : kernels)
        rates[kernel.published.quantity] = deepep_rate(kernel.row, parameters) / 1e9;
    return rates;
}

}  // namespace

std::vector<DeepEpKernel> read_deepep(const std::string& path) {
    const ConfigNode tree = load_config(path);
    FaultList faults;
    Reader root(tree, "", faults);
    for (const char* key : {"suite", "title"}) root.allow(key);
    std::vector<DeepEpKernel> kernels;
    for (Reader& row : root.children("rows")) kernels.push_back(read_kernel(row));
    root.finish();
    faults.throw_if_any();
    return kernels;
}

DeepEpParameters fit_deepep(const std::vector<DeepEpKernel>& kernels) {
    std::vector<DeepEpRow> rows;
    for (const DeepEpKernel& kernel : kernels) {
        if (kernel.published.use == PublishedUse::fit) rows.push_back(kernel.row);
    }
    return fit_deepep(rows);
}

SuiteEntry deepep_suite() {
    return figure_suite("deepep", "DeepEP dispatch and combine on H800, EP8 to EP256", predict_deepep, deepep_table);
}

}  // namespace rehearse
