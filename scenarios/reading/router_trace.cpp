#include "scenarios/reading/router_trace.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <initializer_list>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <tuple>

#include "sim/base/checks.hpp"

namespace rehearse {

namespace {

using Json = nlohmann::json;

constexpr std::size_t line_bytes_most = 16 << 20;
constexpr std::size_t cells_most = 1 << 27;  // counts in memory, 1 GiB

struct Wrong {  // what is wrong with a line
    std::string wrong, expected;
};

using LayerKey = std::pair<std::string, std::int64_t>;  // block, number

struct TraceLine {
    std::int64_t step = 0, rank = 0;
    LayerKey layer;
    std::vector<std::uint32_t> experts;  // chosen ones, of all tokens
    std::uint32_t top_k = 0;
    std::int64_t tokens = 0;
};

const Json& field(const Json& object, std::initializer_list<const char*> spellings) {
    for (const char* key : spellings) {
        if (const auto found = object.find(key); found != object.end()) return *found;
    }
    throw Wrong{fmt::format("no field \"{}\"", *spellings.begin()), "step, layer, rank, num_tokens and topk_indices"};
}

std::int64_t whole(const Json& object, std::initializer_list<const char*> spellings) {
    const Json& value = field(object, spellings);
    if (!value.is_number_integer() || value < 0 || value > INT32_MAX)
        throw Wrong{fmt::format("\"{}\" is {}", *spellings.begin(), in_quotes(value.dump(-1, ' ', true))),
                    "a whole number, not negative"};
    return value.get<std::int64_t>();
}

std::string block_of(const Json& object) {
    const auto found = object.find("block");
    if (found == object.end() || found->is_null()) return "";
    return found->is_string() ? found->get<std::string>() : std::to_string(whole(object, {"block"}));
}

void add_token(const Json& chosen, std::size_t token, std::uint32_t experts, TraceLine& line) {
    if (!chosen.is_array() || chosen.empty())
        throw Wrong{fmt::format("token {} lists no experts", token), "a list of expert numbers"};
    if (chosen.size() > experts)
        throw Wrong{fmt::format("token {} lists {} experts", token, chosen.size()), fmt::format("at most {}", experts)};
    if (line.top_k == 0) line.top_k = static_cast<std::uint32_t>(chosen.size());
    if (chosen.size() != line.top_k)
        throw Wrong{fmt::format("token {} lists {} experts", token, chosen.size()),
                    fmt::format("{}, as tokens before", line.top_k)};
    const std::size_t first = line.experts.size();
    for (const Json& expert : chosen) {
        if (!expert.is_number_integer() || expert < 0 || expert >= experts)
            throw Wrong{fmt::format("token {} chooses expert {}", token, in_quotes(expert.dump(-1, ' ', true))),
                        fmt::format("0 to {}", experts - 1)};
        line.experts.push_back(expert.get<std::uint32_t>());
    }
    std::vector<std::uint32_t> sorted(line.experts.begin() + static_cast<std::ptrdiff_t>(first), line.experts.end());
    std::sort(sorted.begin(), sorted.end());
    if (std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end())
        throw Wrong{fmt::format("token {} chooses an expert twice", token), "different experts"};
}

// Throws Wrong. `top_k` is that of the lines before; 0 = this is the first.
TraceLine parse_line(const std::string& text, std::uint32_t experts, std::uint32_t top_k) {
    const Json object = Json::parse(text, nullptr, false);
    if (!object.is_object()) throw Wrong{fmt::format("no JSON object: {}", in_quotes(text)), "one object a line"};
    TraceLine line;
    line.step = whole(object, {"step"});
    line.layer = {block_of(object), whole(object, {"layer"})};
    line.rank = whole(object, {"rank"});
    line.top_k = top_k;
    line.tokens = whole(object, {"num_tokens", "token_count", "tokens"});
    const Json& chosen = field(object, {"topk_indices", "topk_index", "topk", "indices"});
    if (!chosen.is_array() || chosen.size() != static_cast<std::size_t>(line.tokens))
        throw Wrong{fmt::format("{} tokens are said and {} listed", line.tokens, chosen.is_array() ? chosen.size() : 0),
                    "a list of experts for each token"};
    for (std::size_t i = 0; i < chosen.size(); ++i) add_token(chosen[i], i, experts, line);
    return line;
}

// Counts lines one by one, and makes the table at the end.
class TraceCounter {
public:
    explicit TraceCounter(std::uint32_t experts) : experts_(experts) { trace_.recorded.experts = experts; }

    void count(const std::string& text) {
        const TraceLine line = parse_line(text, experts_, trace_.top_k);
        if (seen_.count({line.step, line.layer, line.rank}) > 0)
            throw Wrong{
                fmt::format("step {}, layer {} of rank {} a second time", line.step, line.layer.second, line.rank),
                "one line for each step, block, layer and rank"};
        const std::size_t steps = steps_.size() + 1 - steps_.count(line.step);
        const std::size_t layers = layers_.size() + 1 - layers_.count(line.layer);
        if (steps * layers * experts_ > cells_most)
            throw Wrong{"the trace has too many steps and layers", fmt::format("at most {} counts in all", cells_most)};
        seen_.insert({line.step, line.layer, line.rank});
        steps_.insert(line.step);
        layers_.insert(line.layer);
        std::vector<double>& counts = counts_[{line.step, line.layer}];
        counts.resize(experts_);
        for (const std::uint32_t expert : line.experts) counts[expert] += 1;
        trace_.top_k = line.top_k;
        trace_.tokens += line.tokens;
        ++trace_.lines;
    }

    RouterTrace& trace() { return trace_; }

    RouterTrace finish() {
        trace_.steps.assign(steps_.begin(), steps_.end());
        for (const auto& [block, number] : layers_)
            trace_.layers.push_back(block.empty() ? std::to_string(number) : fmt::format("{}.{}", block, number));
        RecordedRouting& recorded = trace_.recorded;
        recorded.steps = static_cast<std::uint32_t>(steps_.size());
        recorded.layers = static_cast<std::uint32_t>(layers_.size());
        for (const std::int64_t step : steps_) {
            for (const LayerKey& layer : layers_) {
                const auto found = counts_.find({step, layer});
                const std::size_t row = recorded.counts.size();
                recorded.counts.resize(row + experts_, 0.0);
                if (found != counts_.end())
                    std::copy(found->second.begin(), found->second.end(),
                              recorded.counts.begin() + static_cast<std::ptrdiff_t>(row));
            }
        }
        return std::move(trace_);
    }

private:
    std::uint32_t experts_;
    RouterTrace trace_;
    std::set<std::tuple<std::int64_t, LayerKey, std::int64_t>> seen_;
    std::set<std::int64_t> steps_;
    std::set<LayerKey> layers_;
    std::map<std::pair<std::int64_t, LayerKey>, std::vector<double>> counts_;
};

enum class Line : std::uint8_t { read, too_long, none };

// The next line without its end; of one that is too long, nothing is kept.
Line next_line(std::istream& in, std::string& text) {
    text.clear();
    Line state = Line::none;
    for (int c = in.get(); c != std::istream::traits_type::eof(); c = in.get()) {
        if (state == Line::none) state = Line::read;
        if (c == '\n') return state;
        if (text.size() < line_bytes_most) text.push_back(static_cast<char>(c));
        else state = Line::too_long;
    }
    return state;
}

}  // namespace

RouterTrace read_router_trace(std::istream& lines, const std::string& name, std::uint32_t experts) {
    REHEARSE_CHECK(experts > 0, "a router has experts to choose from");
    TraceCounter counter(experts);
    FaultList& faults = counter.trace().faults;
    std::string text;
    int number = 0;
    for (Line state = next_line(lines, text); state != Line::none; state = next_line(lines, text)) {
        ++number;
        const auto fault = [&](const Wrong& wrong) {
            faults.add({{name, number, 0}, "", wrong.wrong, wrong.expected, ""});
        };
        if (state == Line::too_long) {
            fault({"the line is too long", fmt::format("at most {} MiB", line_bytes_most >> 20)});
        } else if (text.find_first_not_of(" \t\r") != text.npos) {
            try {
                counter.count(text);
            } catch (const Wrong& wrong) {
                fault(wrong);
            }
        }
    }
    if (number == 0) faults.add({{name, 0, 0}, "", "no line could be read", "a router trace in JSON lines", ""});
    return counter.finish();
}

RouterTrace read_router_trace(const std::string& path, std::uint32_t experts) {
    std::ifstream file(path, std::ios::binary);
    return read_router_trace(file, path, experts);
}

}  // namespace rehearse
