// Claims of the article that its synthetic scenarios answer.
#include <fmt/format.h>

#include <cmath>

#include "models/workload/moe/moe_model.hpp"
#include "scenarios/ablate/ablate.hpp"
#include "scenarios/installation.hpp"
#include "scenarios/reading/read_scenario.hpp"
#include "scenarios/reading/validate_scenario.hpp"
#include "scenarios/validation/article_claims.hpp"
#include "scenarios/workload_of.hpp"

namespace rehearse {

namespace {

std::string path_of(const std::string& name) { return data_path("scenarios/library/" + name + ".yaml").string(); }

// A system with its policies, and without.
struct System {
    explicit System(const std::string& name)
        : scenario(validate(read_scenario(path_of(name + "_full")))), full(workload_of(scenario)),
          baseline(workload_of(validate(read_scenario(path_of(name + "_baseline"))))),
          ablation(measure_ablation({path_of(name + "_full"), {}, {"comm", "balance", "memory"}, "", 1, 0})) {}

    double step_ms(GroupSet on) const { return 1e3 * ablation.subsets[on].step_time_s; }
    double tokens_per_s(GroupSet on) const { return ablation.subsets[on].tokens_per_s; }
    double exposed(GroupSet on) const {
        const SubsetRun& run = ablation.subsets[on];
        double sum = 0;
        for (const Part part : {Part::tp_exposed, Part::pp_exposed, Part::dp_exposed, Part::ep_exposed,
                                Part::straggler_wait})
            sum += run.breakdown_s[static_cast<std::size_t>(part)];
        return 100 * sum / run.step_time_s;
    }
    // Weights of the experts on a GPU, and how long those that are not resident take over its part of the link.
    double expert_bytes() const {
        const TrainingSpec& training = scenario.training();
        return 2 * expert_parameters(training.model) *
               static_cast<double>(training.model.experts.routed * training.model.layers) /
               static_cast<double>(training.parallel.expert_span());
    }
    double fetch_ms() const {
        const PagerPolicy& pager = scenario.policies().pager;
        return 1e3 * (1 - pager.resident) * expert_bytes() /
               (pager.pcie_alone.bytes_per_second() / pager.gpus_per_switch);
    }

    ValidScenario scenario;
    Workload full, baseline;
    Ablation ablation;
};

constexpr GroupSet none = 0, comm_and_balance = 3, all = 7;

// Of so many independent normal variables, in standard deviations (Blom, 1958).
double expected_maximum(double count) {
    const double target = (count - 0.375) / (count + 0.25);
    double low = 0, high = 10;
    for (int i = 0; i < 60; ++i) {
        const double middle = (low + high) / 2;
        (0.5 * std::erfc(-middle / std::sqrt(2.0)) < target ? low : high) = middle;
    }
    return low;
}

// Deviation of the load of a rank that holds `here` experts of a skew, drawn at random.
double skew_deviation(const RoutingSpec& routing, double experts, double here) {
    double rest = 1, left = experts, squares = 0;
    for (const SkewGroup& group : routing.groups) {
        squares += group.experts * std::pow(group.share * experts / group.experts - 1, 2);
        rest -= group.share;
        left -= group.experts;
    }
    squares += left * std::pow(rest * experts / left - 1, 2);
    return std::sqrt(squares / experts / here);
}

double gigabytes(Bytes bytes) { return static_cast<double>(bytes.value) / 1e9; }

void answer_split(const Claims& claims, const System& system, Answers& answers) {
    const ExpertFigures& before = system.baseline.experts.figures;
    const auto& groups = system.ablation.split.groups;
    const double ranks = static_cast<double>(system.scenario.training().parallel.expert);
    answers["step_256"] = {{system.step_ms(none), system.step_ms(all)},
                           "width of the model and number of shared experts were chosen for these two; every input is "
                           "marked assumed in the scenario's parts"};
    const double base = claims("step_256"), exposed = claims("exposed") / 100 * base;
    const double left = claims("exposed", 1) / 100 * claims("step_256", 1);
    answers["split"] = {
        {groups[0].ordered, groups[1].ordered, groups[2].ordered},
        fmt::format(
            "the article's own exposed communication, {:.0f} to {:.0f} ms, is a factor of {:.2f} by itself, not {}; "
            "its skew puts {:.1f} times the mean on the busiest GPU, {:.1f} would follow from its deviation; a "
            "system without pages waits for none, so that paging can only cost: {:.0f} ms to fetch what is not "
            "resident",
            exposed, left, base / (base - exposed + left), claims("split"), before.rank_max_over_mean,
            1 + claims("deviation") * expected_maximum(ranks), system.fetch_ms())};
    answers["exposed"] = {
        {system.exposed(none), system.exposed(all)},
        fmt::format("an exchange ends with its last member, here one with {:.1f} times the mean; waits "
                    "for it count as communication",
                    before.rank_max_over_mean)};
    answers["deviation"] = {
        {before.rank_deviation, system.full.experts.figures.rank_deviation},
        fmt::format("{:.0f} experts of the article's skew on a GPU deviate by {:.2f}, placed at random",
                    static_cast<double>(system.scenario.training().model.experts.routed) / ranks,
                    skew_deviation(system.scenario.training().routing,
                                   static_cast<double>(system.scenario.training().model.experts.routed),
                                   static_cast<double>(system.scenario.training().model.experts.routed) / ranks))};
    const auto busy = [&](GroupSet on) {
        const SubsetRun& run = system.ablation.subsets[on];
        return 100 * (run.breakdown_s[static_cast<std::size_t>(Part::compute)] +
                      run.breakdown_s[static_cast<std::size_t>(Part::optimizer)]) / run.step_time_s;
    };
    answers["active"] = {{busy(none), busy(all)}, "time in kernels that compute; what the article counts is not said"};
    answers["throughput"] = {
        {system.tokens_per_s(all)},
        fmt::format(
            "possible for {:.1f}B active parameters, at {:.0f} % MFU; not for the article's title, a 352B model",
            moe_parameters(system.scenario.training().model, ExpertCount::active) / 1e9,
            100 * system.ablation.subsets[all].mfu)};
}

void answer_memory(const Claims& claims, const System& system, Answers& answers) {
    const double weights = system.expert_bytes() / 1e9;
    const double page_ms = 1e3 * static_cast<double>(system.scenario.policies().pager.spec.page.value) /
                           system.scenario.policies().pager.pcie_alone.bytes_per_second();
    const ExpertFigures& figures = system.full.experts.figures;
    const double saved = claims("memory") - claims("memory", 1);
    answers["memory"] = {
        {gigabytes(system.baseline.memory.total()), gigabytes(system.full.memory.total())},
        fmt::format("paging saves what is not resident of {:.1f} GB of weights; the {:.1f} GB claimed are {:.1f} "
                    "times all that training keeps of these experts (18 B a parameter, {:.1f} GB)",
                    weights, saved, saved / (9 * weights), 9 * weights)};
    answers["all_resident"] = {{gigabytes(system.baseline.memory.total())},
                               fmt::format("experts are sharded over {} GPUs: {:.1f} GB of weights on each",
                                           system.scenario.training().parallel.expert_span(), weights)};
    const double mean = static_cast<double>(system.scenario.training().batch() *
                                            system.scenario.training().model.sequence *
                                            system.scenario.training().model.experts.top_k) /
                        static_cast<double>(system.scenario.training().model.experts.routed);
    answers["fault_rate"] = {
        {100 * figures.page_faults},
        fmt::format("every expert has work in every step ({:.0f} assignments in the mean), so that "
                    "each page is used twice a step and {:.0f} % of them must come anew",
                    mean, 100 * (1 - system.scenario.policies().pager.resident))};
    answers["stall"] = {
        {1e3 * system.full.experts.page_wait_s / std::max<double>(1, static_cast<double>(figures.page_waits))},
        fmt::format("a page takes {:.2f} ms alone; {} ms means that copies are {:.0f} % done when they are "
                    "wanted; here they queue behind other pages, in both directions",
                    page_ms, claims("stall"), 100 * (1 - claims("stall") / page_ms))};
    const double expert = 14 * expert_parameters(system.scenario.training().model);
    answers["placement"] = {{1e3 * expert / system.scenario.policies().pager.pcie_alone.bytes_per_second()},
                            fmt::format("the decision takes microseconds; the {:.0f} MB of one expert's weights and "
                                        "optimizer state go over PCIe", expert / 1e6)};
}

void answer_8(const Claims& claims, const System& system, Answers& answers) {
    const ExpertFigures &before = system.baseline.experts.figures, &after = system.full.experts.figures;
    answers["step_8"] = {
        {system.step_ms(none), system.step_ms(all)},
        fmt::format("{:.0f} ms without paging, a ratio of {:.2f} to {:.2f}; {:.0f} ms to fetch once what "
                    "is not resident exceed the step",
                    system.step_ms(comm_and_balance), claims("step_8") / claims("step_8", 1),
                    system.step_ms(none) / system.step_ms(comm_and_balance), system.fetch_ms())};
    answers["tokens_8"] = {{system.tokens_per_s(none), system.tokens_per_s(all)},
                           fmt::format("{} tokens/s of {} ms are {:.0f} tokens a step; the ratio {:.3f} can be right",
                                       claims("tokens_8"), claims("step_8"),
                                       claims("tokens_8") * claims("step_8") / 1e3,
                                       claims("tokens_8", 1) / claims("tokens_8"))};
    answers["deviation_8"] = {{before.rank_deviation, after.rank_deviation},
                              fmt::format("4 experts a GPU, 5 of 32 with {} % of the tokens", claims("top_5"))};
    answers["memory_8"] = {{gigabytes(system.baseline.memory.total()), gigabytes(system.full.memory.total())},
                           fmt::format("weights of the experts on a GPU: {:.1f} GB; gradients and optimizer state stay",
                                       system.expert_bytes() / 1e9)};
    const double busiest = 100 * 5 * after.expert_max_over_mean /
                           static_cast<double>(system.scenario.training().model.experts.routed);
    answers["top_5"] = {
        {100 * 5 * before.expert_max_over_mean / 32, busiest},
        "five times the busiest; the calibrator removes the preference of a gate that prefers steadily"};
}

}  // namespace

void answer_by_simulation(const Claims& claims, Answers& answers) {
    const System large("moe_article_256"), small("moe_article_8");
    answer_split(claims, large, answers);
    answer_memory(claims, large, answers);
    answer_8(claims, small, answers);
}

}  // namespace rehearse
