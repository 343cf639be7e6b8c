#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>

#include "scenarios/calibrate/fit_calibration.hpp"
#include "scenarios/commands/commands.hpp"
#include "scenarios/validation/calibration.hpp"

namespace rehearse {

void add_calibrate(CLI::App& app, Chosen& chosen) {
    CLI::App* calibrate =
        add_command(app, "calibrate", "fit device profiles, import logs of nccl-tests, compare calibration files",
                    "rehearse calibrate fit megascale-ampere");
    calibrate->require_subcommand(1);
    auto request = std::make_shared<CalibrateRequest>();
    request->a100 = default_a100_data();
    CLI::App* fit = add_command(*calibrate, "fit", "fit a profile on its named rows, or a calibration file",
                                "rehearse calibrate fit a100-sxm-80g --out my-a100.yaml");
    fit->add_option("profile", request->name,
                    "a100-sxm-80g, megascale-ampere, h800-megascale-moe or h800-megatron; or a calibration file")
        ->required();
    fit->add_option("--start", request->start, "profile to start from (default: the shipped one)")->type_name("FILE");
    add_output_file(*fit, "--out", request->out, "file to write (default: a calibration file itself, no profile)");
    fit->add_option("--steps", request->a100.step_files, "measured steps (a100-sxm-80g)")->type_name("FILE");
    fit->add_option("--all-reduce", request->a100.all_reduce_file, "measured NVLink all-reduces")->type_name("FILE");
    fit->callback([request, &chosen] { chosen = [request] {
        const bool is_file = std::filesystem::is_regular_file(request->name);
        return is_file ? fit_file_command(request->name, request->out) : calibrate_command(*request);
    }; });
    add_calibrate_run(*calibrate, chosen);
    add_calibration_files(*calibrate, chosen);
}

}  // namespace rehearse
