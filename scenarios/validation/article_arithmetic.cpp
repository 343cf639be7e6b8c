// Claims of the article that sizes and rates alone decide.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "models/collectives/expert_exchange.hpp"
#include "models/workload/routing/capacity.hpp"
#include "runtime/balancer/expert_map.hpp"
#include "runtime/comm_pipe/stream_share.hpp"
#include "runtime/moe/policy_spec.hpp"
#include "scenarios/validation/article_claims.hpp"

namespace rehearse {

namespace {

// PCIe 4 x16: 16 lanes of 16 GT/s, 128 bits in 130; what copies reach of it is the pager's default.
constexpr double pcie_one_way = 16 * 16e9 * 128 / 130 / 8;
double pcie_measured() { return PagerPolicy{}.pcie_alone.bytes_per_second(); }
double pcie_duplex() { return PagerPolicy{}.pcie_duplex.bytes_per_second(); }

constexpr std::int64_t experts = 2048, tokens = 1'000'000, top_k = 2;
constexpr std::uint32_t gpus = 1440;

void answer_pages(const Claims& claims, Answers& answers) {
    const double page = 64 * 1024 * 1024;
    const auto ms = [](double bytes, double rate) { return 1e3 * bytes / rate; };
    const double alone = ms(page, pcie_measured());
    answers["page_64"] = {{alone},
                          fmt::format("{:.2f} ms at the link's {:.1f} GB/s, {:.2f} ms as copies reach it, {:.2f} "
                                      "ms with both directions at work: impossible on PCIe 4",
                                      ms(page, pcie_one_way), pcie_one_way / 1e9, alone, ms(page, pcie_duplex()))};
    answers["page_128"] = {{2 * alone}, fmt::format("{:.2f} ms at the link's rate: between the two, plausible",
                                                    2 * ms(page, pcie_one_way))};
    answers["pcie"] = {{pcie_one_way / 1e9}, fmt::format("{:.0f} GB/s is both directions together; HBM is {:.0f} times "
                                                         "as fast as one, not balanced",
                                                         2 * pcie_one_way / 1e9, 2000e9 / pcie_one_way)};
    answers["pcie_use"] = {{100 * pcie_measured() / pcie_one_way},
                           fmt::format("{:.1f} GB/s, above the {:.1f} that copies reach",
                                       claims("pcie_use") / 100 * pcie_one_way / 1e9, pcie_measured() / 1e9)};
}

void answer_maps(const Claims& claims, Answers& answers) {
    const MapDelta delta{0, 1, std::vector<MapDelta::Change>(20)};
    const double floor = static_cast<double>(experts) * std::log2(gpus) / 8, plain = 2.0 * experts + 2.0 * (gpus + 1);
    answers["map"] = {{plain},
                      fmt::format("any map needs {:.0f} B (log2 {} bits an expert); a delta of 20 experts has {} B, "
                                  "which is what the balancer sends",
                                  floor, gpus, delta.bytes(experts))};
    const double hops = std::ceil(std::log2(gpus)), message = 5e-3;
    answers["broadcast"] = {{hops * message},
                            fmt::format("a tree of {:.0f} hops of 5 us; {} messages one by one take {:.1f} "
                                        "ms, more than {} ms",
                                        hops, gpus - 1, (gpus - 1) * message, claims("broadcast"))};
}

void answer_capacity(const Claims& claims, Answers& answers) {
    const double even = uniform_variation(tokens, experts, top_k), mean = static_cast<double>(tokens * top_k) / experts;
    const auto at = [&](double capacity, double variation) {
        return normal_drops(variation, capacity / mean, static_cast<std::uint32_t>(experts));
    };
    const double before = claims("deviation"), after = claims("deviation", 1);
    answers["capacity_976"] = {
        {100},
        fmt::format("976 x {} < {} assignments: every step drops some; of the assignments "
                    "{:.2f} % with even routing, {:.1f} % with the deviation {}",
                    experts, tokens * top_k, 100 * at(976, even).dropped, 100 * at(976, before).dropped, before)};
    answers["capacity_1268"] = {
        {100 * at(1268, after).steps},
        fmt::format("with the article's deviation {} every step has an expert over and {:.1f} % of "
                    "the assignments drop; even routing (deviation {:.3f}) drops none",
                    after, 100 * at(1268, after).dropped, even)};
    const double share = claims("hot") / 100, mean_share = 1.0 / 128, hot = share / 3;
    answers["capacity_2"] = {
        {hot / mean_share},
        fmt::format("the busiest expert has {:.1f} times the mean: at a factor of {} "
                    "{:.0f} % of all assignments drop",
                    hot / mean_share, claims("capacity_2"), 100 * (share - 3 * claims("capacity_2") * mean_share))};
    answers["hot"] = {{claims("hot")},
                      fmt::format("taken as the routing; with one expert to a GPU it leaves {:.0f} % of the "
                                  "GPUs' time used, not {} %",
                                  100 * mean_share / hot, claims("active"))};
}

void answer_exchange(const Claims& claims, Answers& answers) {
    const std::vector<std::uint32_t> peers(256, 4096);
    const auto refills = static_cast<std::int64_t>(std::ceil(StreamPolicy{}.threshold / (1 - claims("hidden") / 100)));
    answers["hidden"] = {
        {100 * (1 - first_share({refills, StreamPolicy{}.threshold}, peers))},
        fmt::format("one ring a dispatch hides {:.0f} %; {} % needs {:.1f} refills, here {}; less where "
                    "the products are shorter than the transfer",
                    100 * (1 - first_share({1, StreamPolicy{}.threshold}, peers)), claims("hidden"),
                    StreamPolicy{}.threshold / (1 - claims("hidden") / 100), refills)};
    const ExpertExchange exchange{256, 8, 4096, experts, top_k, 0, Bytes{8192}};
    const auto bytes = [&](ExchangeForm form) { return exchange_volume(exchange, form).network; };
    const double direct = bytes(ExchangeForm::direct);
    answers["tree"] = {
        {100 * (1 - bytes(ExchangeForm::tree) / direct)},
        fmt::format("payloads are distinct, so forwarding cannot cut bytes; one copy a node saves {:.1f} % at "
                    "top-2; two levels cut messages, {} to {}",
                    100 * (1 - bytes(ExchangeForm::hierarchical) / direct),
                    exchange_volume(exchange, ExchangeForm::direct).messages_network,
                    exchange_volume(exchange, ExchangeForm::hierarchical).messages_network)};
    const double groups = gpus / 32.0;
    answers["start"] = {{(groups - 1) * 30 / 60},
                        fmt::format("{:.0f} groups: the last starts {:.0f} s after the first; {} "
                                    "min needs {:.1f} s between groups",
                                    groups, (groups - 1) * 30, claims("start"), claims("start") * 60 / (groups - 1))};
}

void answer_shares(const Claims& claims, Answers& answers) {
    const double rest = 100 - claims("top_5", 1), most = 5 + rest / claims("least", 1);
    const double others = 32 - 5;  // of the scenario
    answers["least"] = {{(100 - claims("top_5")) / others, rest / others},
                        fmt::format("means of the others of 32 experts (assumed): {:.0f} % at {} % each allows {:.0f} "
                                    "experts at most", rest, claims("least", 1), std::floor(most))};
}

}  // namespace

void answer_by_arithmetic(const Claims& claims, Answers& answers) {
    answer_pages(claims, answers);
    answer_maps(claims, answers);
    answer_capacity(claims, answers);
    answer_exchange(claims, answers);
    answer_shares(claims, answers);
}

}  // namespace rehearse
