// `rehearse calibrate import`, `show` and `diff`.
#include <CLI/CLI.hpp>
#include <memory>

#include "scenarios/calibrate/import_logs.hpp"
#include "scenarios/calibrate/show_calibration.hpp"
#include "scenarios/commands/commands.hpp"

namespace rehearse {

namespace {

void add_import(CLI::App& calibrate, Chosen& chosen) {
    struct Arguments {
        ImportRequest request;
        std::int64_t gpus = 0, nodes = 0;
        bool json = false;
    };
    auto arguments = std::make_shared<Arguments>();
    CLI::App* import = add_command(calibrate, "import", "read logs of nccl-tests",
                                   "rehearse calibrate import all_reduce.log --gpus 16 --nodes 2 --out cluster.yaml");
    ImportRequest& request = arguments->request;
    import->add_option("logs", request.files, "outputs of all_reduce_perf and the like, as they were printed")
        ->required()
        ->type_name("FILE");
    import->add_flag("--json", arguments->json, "print rows, collective, GPUs, nodes and unparsed lines of each file");
    add_output_file(*import, "--out", request.out, "calibration file to write");
    const CLI::Range count(1, 10'000'000);
    import->add_option("--gpus", arguments->gpus, "GPUs, where a log doesn't tell")->type_name("N")->check(count);
    import->add_option("--nodes", arguments->nodes, "nodes, where a log doesn't tell")->type_name("N")->check(count);
    import
        ->add_option("--collective", request.hints.collective, "where a log neither names one nor tells it by its rows")
        ->check(CLI::IsMember(nccl_collectives()));
    import->add_option("--device", request.device, "of the calibration file, where the logs don't tell");
    import->callback([arguments, &chosen] {
        chosen = [arguments] {
            ImportRequest asked = arguments->request;
    if (arguments->gpus > 0) asked.hints.gpus = arguments->gpus;
    if (arguments->nodes > 0) asked.hints.nodes = arguments->nodes;
    asked.json = arguments->json ? Switch::on : Switch::off;
    return import_command(asked);
};
}  // namespace
);
}  // namespace rehearse

void add_show(CLI::App& calibrate, Chosen& chosen) {
    auto path = std::make_shared<std::string>();
    CLI::App* show = add_command(calibrate, "show", "print a calibration file: device, samples, fits",
                                 "rehearse calibrate show cluster.yaml");
    show->add_option("file", *path, "calibration file")->required()->type_name("FILE");
    show->callback([path, &chosen] { chosen = [path] { return show_command(*path); }; });
}

void add_diff(CLI::App& calibrate, Chosen& chosen) {
    struct Paths {
        std::string a, b;
    };
    auto paths = std::make_shared<Paths>();
    CLI::App* diff = add_command(calibrate, "diff", "compare two calibration files sample by sample",
                                 "rehearse calibrate diff before.yaml after.yaml");
    diff->add_option("a", paths->a, "calibration file")->required()->type_name("FILE");
    diff->add_option("b", paths->b, "calibration file")->required()->type_name("FILE");
    diff->callback([paths, &chosen] { chosen = [paths] { return diff_command(paths->a, paths->b); }; });
}

}  // namespace

void add_calibration_files(CLI::App& calibrate, Chosen& chosen) {
    add_import(calibrate, chosen);
    add_show(calibrate, chosen);
    add_diff(calibrate, chosen);
}

}  // namespace rehearse
