// Router traces: what is counted, and that no line can do more harm than be missing.
#include "scenarios/reading/router_trace.hpp"

#include <gtest/gtest.h>

#include <numeric>
#include <sstream>

namespace rehearse {
namespace {

RouterTrace read(const std::string& text, std::uint32_t experts = 4) {
    std::istringstream lines(text);
    return read_router_trace(lines, "trace.jsonl", experts);
}

std::string line(int step, int layer, int rank, const std::string& indices, int tokens) {
    std::ostringstream text;
    text << R"({"step": )" << step << R"(, "block": "decoder", "layer": )" << layer << R"(, "rank": )" << rank
         << R"(, "num_tokens": )" << tokens << R"(, "topk_indices": )" << indices << "}\n";
    return text.str();
}

const std::string good = line(3, 1, 0, "[[0, 1], [0, 2]]", 2);

TEST(RouterTrace, CountsAssignmentsPerStepLayerAndExpert) {
    const RouterTrace trace =
        read(good + line(3, 1, 1, "[[0, 3]]", 1) + line(3, 0, 0, "[[2, 3]]", 1) + line(7, 1, 0, "[[1, 2]]", 1));
    EXPECT_TRUE(trace.faults.empty());
    EXPECT_EQ(trace.top_k, 2U);
    EXPECT_EQ(trace.lines, 4);
    EXPECT_EQ(trace.tokens, 5);
    EXPECT_EQ(trace.steps, (std::vector<std::int64_t>{3, 7}));
    EXPECT_EQ(trace.layers, (std::vector<std::string>{"decoder.0", "decoder.1"}));
    const std::vector<double> expected{0, 0, 1, 1, 3, 1, 1, 1, 0, 0, 0, 0, 0, 1, 1, 0};  // step 7 has no layer 0
    EXPECT_EQ(trace.recorded.counts, expected);
    RoutingSpec spec;
    spec.kind = RoutingKind::recorded;
    spec.recorded = trace.recorded;
    EXPECT_EQ(expert_shares(spec, 4, 1, 0, 1), (std::vector<double>{0.5, 1.0 / 6, 1.0 / 6, 1.0 / 6}));
    FaultList faults;
    check_routing(spec, 4, trace.top_k, "routing", faults);
    EXPECT_TRUE(faults.empty());
}

TEST(RouterTrace, ABadLineIsNamedAndTheRestIsCounted) {
    struct Case {
        std::string text, wrong;
    };
    const std::vector<Case> cases{
        {R"({"step": 3, "layer": 1, "ra)", "no JSON object"},                                // cut off
        {std::string("\x00\xff\xfe\x01", 4), "no JSON object"},                              // binary
        {"[1, 2]", "no JSON object"},
        {R"({"step": 3, "layer": 1})", "no field"},
        {line(1, -1, 0, "[[0, 1]]", 1), "\"layer\" is"},
        {R"({"step": 1e99, "layer": 0, "rank": 0, "num_tokens": 0, "topk_indices": []})", "\"step\" is"},
        {line(9, 1, 0, "[[0, 4]]", 1), "chooses expert"},                                    // experts are 0 to 3
        {line(9, 1, 0, "[[0, -1]]", 1), "chooses expert"},
        {line(9, 1, 0, "[[0, \"1\"]]", 1), "chooses expert"},
        {line(9, 1, 0, "[[1, 1]]", 1), "twice"},
        {line(9, 1, 0, "[[0, 1, 2]]", 1), "lists 3 experts"},                                // k was 2
        {line(9, 1, 0, "[[0, 1, 2, 3, 0]]", 1), "lists 5 experts"},                          // k > experts
        {line(9, 1, 0, "[[0, 1]]", 2), "2 tokens are said and 1 listed"},
        {line(9, 1, 0, "7", 1), "1 tokens are said and 0 listed"},
        {line(9, 1, 0, "[7]", 1), "lists no experts"},
        {good, "a second time"},
        {std::string(100'000, '['), "no JSON object"},                                       // deep nesting
        {std::string((16 << 20) + 1, 'x'), "too long"},
    };
    for (const Case& c : cases) {
        std::string text = c.text;
        if (text.back() != '\n') text += '\n';
        const RouterTrace trace = read(good + text + line(4, 1, 0, "[[0, 3]]", 1));
        ASSERT_EQ(trace.faults.size(), 1U) << c.text.substr(0, 100);
        EXPECT_EQ(trace.faults.faults()[0].place.line, 2) << c.text.substr(0, 100);
        EXPECT_NE(trace.faults.faults()[0].wrong.find(c.wrong), std::string::npos) << trace.faults.faults()[0].wrong;
        EXPECT_EQ(trace.lines, 2);
        EXPECT_EQ(trace.steps, (std::vector<std::int64_t>{3, 4}));
        EXPECT_EQ(std::accumulate(trace.recorded.counts.begin(), trace.recorded.counts.end(), 0.0), 6);
    }
}

TEST(RouterTrace, EmptyAndMissingFilesAreOneFault) {
    EXPECT_EQ(read("").faults.size(), 1U);
    EXPECT_TRUE(read("").recorded.counts.empty());
    const RouterTrace missing = read_router_trace("no/such/trace.jsonl", 4);
    ASSERT_EQ(missing.faults.size(), 1U);
    EXPECT_EQ(missing.faults.faults()[0].place.file, "no/such/trace.jsonl");
}

TEST(RouterTrace, LinesMayBeEmptyEndWithCarriageReturnsOrLackTheLastEnd) {
    std::string text = "\n" + good + "\r\n" + line(4, 1, 0, "[[0, 3]]", 1);
    text.pop_back();
    EXPECT_EQ(read(text).lines, 2);
    EXPECT_TRUE(read(text).faults.empty());
}

}  // namespace
}  // namespace rehearse
