#include "kernels/calibration/nccl_prologue.hpp"

#include <algorithm>
#include <charconv>

namespace rehearse {

namespace {

constexpr std::int64_t ranks_most = 10'000'000;

bool is_rank_line(const LogLine& line) {
    return line.words.size() > 4 && line.words[0] == "#" && line.words[1] == "Rank" &&
           std::find(line.words.begin(), line.words.end(), "on") != line.words.end();
}

// The word after `key`, "" = none.
std::string word_after(const LogLine& line, std::string_view key) {
    const auto at = std::find(line.words.begin(), line.words.end(), key);
    return at == line.words.end() || at + 1 == line.words.end() ? "" : *(at + 1);
}

}  // namespace

std::string collective_in(std::string_view text) {
    std::string found;
    for (const std::string& name : nccl_collectives()) {
        const std::size_t at = text.find(name + "_perf");
        const bool alone = at == 0 || (at != text.npos && text[at - 1] != '_');  // reduce_perf ends all_reduce_perf
        if (at == text.npos || !alone) continue;
        if (!found.empty()) return "";
        found = name;
    }
    return found;
}

Said Prologue::what(const LogLine& line) const {
    for (const char* end : {"Avg bus bandwidth", "Collective test concluded", "Out of bounds values"}) {
        if (line.text.find(end) != line.text.npos) return Said::end;
    }
    if (line.text.find("NCCL version") != line.text.npos) return Said::library;
    for (const char* begin : {"# nThread", "# nccl-tests version", "# Collective test starting", "# Using devices"}) {
        if (line.text.find(begin) != line.text.npos) return Said::prologue;
    }
    return is_rank_line(line) || !collective_in(line.text).empty() ? Said::prologue : Said::nothing;
}

void Prologue::take(const LogLine& line) {
    if (is_rank_line(line)) return take_rank(line);
    const std::string name = collective_in(line.text);
    if (!name.empty()) collective_ = name;
    if (line.text.find("# nccl-tests version") != line.text.npos) version_ = word_after(line, "version");
    else if (line.text.find("NCCL version") != line.text.npos) library_ = word_after(line, "version");
}

// "#  Rank  3 Group  0 Pid 10003 on  node01 device  3 [0000:5d:00] NVIDIA H100 80GB HBM3"
void Prologue::take_rank(const LogLine& line) {
    std::int64_t rank = -1;
    const std::string& digits = line.words[2];
    const auto end = std::from_chars(digits.data(), digits.data() + digits.size(), rank);
    if (end.ec != std::errc{} || end.ptr != digits.data() + digits.size() || rank < 0 || rank > ranks_most) return;
    ranks_.insert(rank);
    const std::string host = word_after(line, "on");
    if (!host.empty()) hosts_.insert(host);
    const auto device = std::find(line.words.begin(), line.words.end(), "device");
    if (!device_.empty() || line.words.end() - device < 4) return;
    for (auto word = device + 3; word != line.words.end(); ++word) device_ += (device_.empty() ? "" : " ") + *word;
}

// A list with gaps was cut out of the log: its last rank still says how many there are, but not on how many nodes.
NcclStated Prologue::stated() const {
    NcclStated stated;
    stated.collective = collective_;
    if (ranks_.empty()) return stated;
    stated.gpus = *ranks_.rbegin() + 1;
    if (static_cast<std::int64_t>(ranks_.size()) == *stated.gpus && !hosts_.empty())
        stated.nodes = static_cast<std::int64_t>(hosts_.size());
    return stated;
}

}  // namespace rehearse
