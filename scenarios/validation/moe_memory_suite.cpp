// What selective recomputation saves, by models/workload/memory.hpp.
#include "models/workload/memory.hpp"
#include "scenarios/installation.hpp"
#include "scenarios/reading/read_scenario.hpp"
#include "scenarios/reading/validate_scenario.hpp"
#include "scenarios/validation/suites.hpp"

namespace rehearse {

namespace {

struct Held {
    double activations = 0, total = 0;  // GB, the reserve included
};

// As its scenario says, but for recomputation and (0: as it says) the chunks of a stage.
class Measured {
public:
    explicit Measured(const std::string& name)
        : scenario_(validate(read_scenario(data_path("scenarios/library/" + name + ".yaml").string()))) {}

    MemoryReport report(Recompute recompute, std::int64_t chunks = 0) const {
        TrainingSpec training = scenario_.training();
        training.recompute = recompute;
        if (chunks > 0) training.parallel.virtual_stages = chunks;
        return estimate_memory(training);
    }
    Held held(Recompute recompute) const {
        const MemoryReport memory = report(recompute);
        const Bytes reserve = scenario_.models().profile.memory_reserve;
        return {gigabytes(memory.activations + memory.workspace + reserve), gigabytes(memory.total() + reserve)};
    }
    static double gigabytes(Bytes bytes) { return static_cast<double>(bytes.value) / 1e9; }

private:
    ValidScenario scenario_;
};

double saved_percent(double without, double with) { return 100 * (1 - with / without); }

FigurePredictions predict_memory(const PublishedTable&) {
    FigurePredictions figures;
    const auto saved = [&](const std::string& model, const std::string& scenario) {
        const Measured measured(scenario);
        const Held without = measured.held(Recompute::none), with = measured.held(Recompute::selective);
        figures["activations saved, " + model] = saved_percent(without.activations, with.activations);
        figures["total saved, " + model] = saved_percent(without.total, with.total);
    };
    saved("Mixtral-8x7B", "mixtral_8x7b_128");
    saved("Mixtral-8x22B", "mixtral_8x22b_128");
    const Measured large("megascale_moe_352b_240");
    const auto whole = [&](Recompute recompute, std::int64_t chunks) {
        return Measured::gigabytes(large.report(recompute, chunks).total());
    };
    figures["352B on 240 GPUs, without"] = whole(Recompute::none, 1);
    figures["352B on 240 GPUs, with"] = whole(Recompute::selective, 1);
    figures["352B on 240 GPUs, with, interleaved"] = whole(Recompute::selective, 0);
    return figures;
}

}  // namespace

SuiteEntry moe_memory_suite() {
    return figure_suite("moe-memory", "memory with and without selective recomputation, experts", predict_memory);
}

}  // namespace rehearse
