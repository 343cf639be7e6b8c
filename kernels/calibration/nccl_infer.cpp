#include "kernels/calibration/nccl_infer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>

#include "kernels/calibration/nccl_rates.hpp"

namespace rehearse {

namespace {

using Names = std::vector<std::string>;

bool contains(const Names& names, const std::string& name) {
    return std::find(names.begin(), names.end(), name) != names.end();
}

// No elements counted wrong (an error of one is all wrong).
bool verified(const std::optional<NcclSide>& side) { return side && side->wrong && *side->wrong < 1; }

bool in_place_unchecked(const NcclRun& run) {
    return std::any_of(run.rows.begin(), run.rows.end(), [](const NcclRow& row) {
        return verified(row.out_of_place) && row.in_place && !verified(row.in_place);
    });
}

std::optional<std::int64_t> leading_integer(std::string_view word, std::string_view& rest) {
    std::int64_t value = 0;
    const auto end = std::from_chars(word.data(), word.data() + word.size(), value);
    if (end.ec != std::errc{} || value <= 0) return std::nullopt;
    rest = word.substr(static_cast<std::size_t>(end.ptr - word.data()));
    return value;
}

// The one definition that explains more of the rows that only one explains.
AlgbwDefinition definition_of(const NcclRun& run) {
    if (run.parts < 2) return AlgbwDefinition::size;
    const double moved = static_cast<double>(run.parts - 1) / static_cast<double>(run.parts);
    int only_size = 0, only_moved = 0;
    for (const NcclRow& row : run.rows) {
        for (const auto& side : {row.out_of_place, row.in_place}) {
            if (!side) continue;
            const bool as_size = could_be(side->algbw, *side, row.size, 1);
            const bool as_moved = could_be(side->algbw, *side, row.size, moved);
            only_size += as_size && !as_moved ? 1 : 0;
            only_moved += as_moved && !as_size ? 1 : 0;
        }
    }
    return only_moved > only_size ? AlgbwDefinition::moved : AlgbwDefinition::size;
}

void name_collective(NcclRun& run, const NcclStated& stated, const NcclHints& hints, const NcclHints& name,
                     std::vector<NcclNote>& findings) {
    const Names like = collectives_like(run);
    const auto take = [&](const std::string& collective, NcclOrigin origin, const std::string& who) {
        if (collective.empty() || run.collective_from != NcclOrigin::unknown) return;
        if (run.parts == 0 || contains(like, collective)) {
            run.collective = collective;
            run.collective_from = origin;
        } else if (!who.empty()) {
            findings.push_back(
                {run.line, fmt::format("{} names {}, the rows look like {}", who, collective, like[0]), ""});
        }
    };
    take(stated.collective, NcclOrigin::stated, "the log");
    if (run.parts > 0 && like.size() == 1) take(like[0], NcclOrigin::rows, "");
    take(hints.collective, NcclOrigin::hint, "--collective");
    take(name.collective, NcclOrigin::file_name, "the name of the file");
    if (run.parts > 0) take(like[0], NcclOrigin::rows, "");
}

// GPUs by the rows: the parts of the data, or the factor of all_reduce.
GpuRange gpus_by_rows(const NcclRun& run) {
    if (run.parts > 1) return {run.parts, run.parts};
    if (run.collective == "all_reduce") return all_reduce_gpus(factor_span(run));
    return {};
}

void count_gpus(NcclRun& run, const NcclStated& stated, const NcclHints& hints, const NcclHints& name,
                std::vector<NcclNote>& findings) {
    GpuRange range = gpus_by_rows(run);
    if (range.low > range.high) {
        findings.push_back({run.line, "no number of GPUs explains all of these busbw and times", ""});
        range = {};
    }
    run.gpus_that_fit = range;
    const auto take = [&](std::optional<std::int64_t> gpus, NcclOrigin origin, const std::string& who) {
        if (!gpus || run.gpus) return;
        if (*gpus >= range.low && *gpus <= range.high) {
            run.gpus = gpus;
            run.gpus_from = origin;
            return;
        }
        const std::string fit =
            range.low == range.high ? fmt::format("{}", range.low) : fmt::format("{} to {}", range.low, range.high);
        findings.push_back({run.line, fmt::format("{} says {} GPUs, the rows {}", who, *gpus, fit), ""});
    };
    take(stated.gpus, NcclOrigin::stated, "the log");
    if (range.low == range.high) take(range.low, NcclOrigin::rows, "");
    take(hints.gpus, NcclOrigin::hint, "--gpus");
    take(name.gpus, NcclOrigin::file_name, "the name of the file");
}

void count_nodes(NcclRun& run, const NcclStated& stated, const NcclHints& hints, const NcclHints& name) {
    const auto take = [&](std::optional<std::int64_t> nodes, NcclOrigin origin) {
        if (!nodes || run.nodes || (run.gpus && *nodes > *run.gpus)) return;
        run.nodes = nodes;
        run.nodes_from = origin;
    };
    if (run.gpus_from == NcclOrigin::stated) take(stated.nodes, NcclOrigin::stated);
    if (run.gpus == 1) take(1, NcclOrigin::rows);
    take(hints.nodes, NcclOrigin::hint);
    take(name.nodes, NcclOrigin::file_name);
}

double rate_middle(const NcclSide& side, std::int64_t size) {
    return static_cast<double>(size) / side.time_us.value / 1e3;
}

// Rows whose rates contradict their time under every definition.
void check_rates(const NcclRun& run, std::vector<NcclNote>& findings) {
    const double parts = static_cast<double>(std::max<std::int64_t>(1, run.parts));
    const bool moved = run.definition == AlgbwDefinition::moved;
    const double factor = moved ? (parts - 1) / parts : busbw_factor(run.collective, run.gpus.value_or(1));
    for (const NcclRow& row : run.rows) {
        for (const auto& side : {row.out_of_place, row.in_place}) {
            if (!side) continue;
            const bool algbw = could_be(side->algbw, *side, row.size, 1) ||
                               could_be(side->algbw, *side, row.size, (parts - 1) / parts);
            if (!algbw)
                findings.push_back({row.line,
                                    fmt::format("algbw {} is not size / time = {:.4g} GB/s", side->algbw.value,
                                                rate_middle(*side, row.size)),
                                    ""});
            else if (run.gpus && run.collective != "unknown" && !could_be(side->busbw, *side, row.size, factor))
                findings.push_back({row.line,
                                    fmt::format("busbw {} is not {:.4g} x size / time, as {} of {} GPUs has",
                                                side->busbw.value, factor, run.collective, *run.gpus),
                                    ""});
        }
    }
}

}  // namespace

const std::vector<std::string>& nccl_collectives() {
    static const Names names{"all_reduce", "all_gather", "reduce_scatter", "alltoall", "broadcast",
                             "reduce",     "sendrecv",   "gather",         "scatter",  "hypercube"};
    return names;
}

std::vector<std::string> collectives_like(const NcclRun& run) {
    const NcclRow& row = run.rows.front();
    const bool reduces = !row.redop.empty() && row.redop != "none";
    const bool rooted = row.root && *row.root >= 0;
    const bool unchecked = in_place_unchecked(run);
    if (run.parts != 1) {
        if (reduces) return {"reduce_scatter"};
        if (rooted) return {"gather", "scatter"};
        if (unchecked) return {"alltoall", "all_gather", "gather", "scatter", "hypercube"};
        return {"all_gather", "alltoall", "gather", "scatter", "hypercube"};
    }
    // A factor of zero is that of a single GPU, which holds all parts of any collective.
    const RateSpan factor = factor_span(run);
    if (rooted && reduces) return {"reduce"};
    if (rooted) return factor.low > 0 ? Names{"broadcast"} : Names{"broadcast", "gather", "scatter"};
    const bool one_to_one = factor.low <= 1 && factor.high >= 1;
    Names like = reduces ? Names{"all_reduce"} : Names{};
    if (one_to_one) like.insert(unchecked || !reduces ? like.begin() : like.end(), "sendrecv");
    if (!reduces && one_to_one) like.insert(like.end(), {"broadcast", "all_reduce"});
    if (factor.low <= 0) like.push_back(reduces ? "reduce_scatter" : "all_gather");
    if (factor.low <= 0 && !reduces) like.push_back("alltoall");
    return like.empty() ? Names{"all_reduce"} : like;
}

NcclHints hints_of_name(const std::string& file) {
    NcclHints hints;
    std::string name = file.substr(file.find_last_of('/') + 1), letters;
    for (char& c : name) {
        c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
        if (std::isalpha(static_cast<unsigned char>(c)) != 0) letters += c;
    }
    static const std::vector<std::pair<const char*, const char*>> known{
        {"allreduce", "all_reduce"}, {"allgather", "all_gather"}, {"reducescatter", "reduce_scatter"},
        {"alltoall", "alltoall"},    {"sendrecv", "sendrecv"},    {"broadcast", "broadcast"},
        {"hypercube", "hypercube"},  {"scatter", "scatter"},      {"gather", "gather"},
        {"reduce", "reduce"}};
    for (const auto& [written, collective] : known) {
        if (hints.collective.empty() && letters.find(written) != letters.npos) hints.collective = collective;
    }
    for (std::size_t at = 0; at < name.size();) {
        const std::size_t end = std::min(name.find_first_of("_-. ", at), name.size());
        std::string_view rest;
        if (const auto number = leading_integer(std::string_view(name).substr(at, end - at), rest)) {
            const bool times =
                rest.size() > 1 && rest[0] == 'x' && std::isalpha(static_cast<unsigned char>(rest[1])) != 0;
            if (!hints.gpus && (times || rest == "gpu" || rest == "gpus")) hints.gpus = number;
            if (!hints.nodes && (rest == "n" || rest == "node" || rest == "nodes")) hints.nodes = number;
        }
        at = end + 1;
    }
    return hints;
}

void complete_run(NcclRun& run, const NcclStated& stated, const NcclHints& hints, const NcclHints& name,
                  std::vector<NcclNote>& findings) {
    name_collective(run, stated, hints, name, findings);
    count_gpus(run, stated, hints, name, findings);
    count_nodes(run, stated, hints, name);
    run.definition = definition_of(run);
    check_rates(run, findings);
}

}  // namespace rehearse
