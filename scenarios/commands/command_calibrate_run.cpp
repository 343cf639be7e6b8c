// `rehearse calibrate run`.
#include <CLI/CLI.hpp>
#include <memory>

#include "scenarios/calibrate/run_calibration.hpp"
#include "scenarios/commands/commands.hpp"

namespace rehearse {

void add_calibrate_run(CLI::App& calibrate, Chosen& chosen) {
    struct Arguments {
        CalibrateRunRequest request;
        bool quick = false;
    };
    auto arguments = std::make_shared<Arguments>();
    CalibrateRunRequest& request = arguments->request;
    CLI::App* run = add_command(calibrate, "run", "measure the kernels, collectives and policies of this machine",
                                "rehearse calibrate run --out local-cpu.calibration.yaml");
    add_output_file(*run, "--out", request.out, "calibration file to write (default: a table on the screen)");
    run->add_option("--ranks", request.ranks, "measured together, one core each")
        ->type_name("N")
        ->check(CLI::Range(std::int64_t{2}, std::int64_t{64}));
    run->add_option("--steps", request.steps, "times of each sample, behind the warm-up")
        ->type_name("N")
        ->check(CLI::Range(std::int64_t{20}, std::int64_t{10'000}));
    run->add_option("--oversample", request.oversample, "run so many times as many steps; the calmest count")
        ->type_name("N")
        ->check(CLI::Range(std::int64_t{1}, std::int64_t{1'000}));
    run->add_option("--patience", request.patience, "how long to wait for a calm machine, for each shape")
        ->type_name("SECONDS")
        ->check(CLI::Range(0.0, 3600.0));
    run->add_option("--spread", request.spread_most, "quartile range over median from which on a sample is noise")
        ->type_name("X")
        ->check(CLI::Range(0.01, 1000.0));
    run->add_flag("--quick", arguments->quick, "a few small shapes: to try it out, not to predict with");
    run->callback([arguments, &chosen] {
        chosen = [arguments] {
            CalibrateRunRequest asked = arguments->request;
            if (arguments->quick) {
                asked.size = SweepSize::quick;
                asked.patience = 0;
            }
            return run_calibration(asked);
        };
    });
}

}  // namespace rehearse
