#include <fmt/format.h>

#include <algorithm>

#include "scenarios/results.hpp"
#include "sim/trace/trace_writer.hpp"

namespace rehearse {

namespace {

std::string_view stream_name(SpanStream stream) {
    constexpr std::string_view names[] = {"compute", "tensor", "pipeline", "data"};
    return names[static_cast<std::size_t>(stream)];
}

// "F c2 m7": forward of chunk 2 for micro-batch 7. Parts that belong to no pass carry their own name.
std::string span_name(const Span& span) {
    const bool of_a_pass = span.part == Part::compute || span.part == Part::tp_exposed ||
                           span.part == Part::pp_exposed || span.part == Part::bubble;
    if (!of_a_pass) return std::string(name(span.part));
    return fmt::format("{} c{} m{}", span.phase == Phase::forward ? "F" : "B", span.chunk, span.micro_batch);
}

}  // namespace

void write_trace(const std::string& path, const Timeline& timeline, const Workload& workload) {
    TraceWriter trace(path);
    std::vector<RankId> ranks;
    for (const Span& span : timeline.spans) ranks.push_back(span.rank);
    std::sort(ranks.begin(), ranks.end());
    ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
    for (const RankId rank : ranks) {
        const Coordinate at = workload.layout.coordinate(rank);
        trace.name_process(rank.value, fmt::format("rank {} (stage {}, replica {})", rank.value, at.pipeline, at.data),
                           rank.value);
        for (std::uint8_t stream = 0; stream < 4; ++stream)
            trace.name_thread(rank.value, stream, stream_name(static_cast<SpanStream>(stream)), stream);
    }
    for (const Span& span : timeline.spans)
        trace.slice({span.rank.value, static_cast<std::int64_t>(span.stream), span_name(span), name(span.part),
                     span.begin, span.end - span.begin},
                    {{"phase", span.phase == Phase::forward ? "forward" : "backward"}});
    trace.close();
}

}  // namespace rehearse
