// A timeline in the Chrome trace event format, gzipped, which Perfetto and chrome://tracing open.
//
// Processes are nodes or ranks, threads are streams; slices of one thread must nest or be disjoint (viewers move others
// to an overflow track). Times are microseconds with six decimals, so the picosecond survives. Events are written as
// they come, in any order; only a buffer is held in memory.
//
//     TraceWriter trace(folder.file("timeline.json.gz"));
//     trace.name_process(0, "rank 0");
//     trace.name_thread(0, 1, "tensor");
//     trace.slice({0, 1, "all-reduce", "comm", start, duration}, {{"bytes", 4096}, {"group", "tp0"}});
//     trace.counter(0, "queue", now, {{"bytes", 65536}});
//     trace.close();
//
// Errors: OutputError.
#pragma once

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "sim/base/units.hpp"
#include "sim/trace/gzip_file.hpp"

namespace rehearse {

// One named value of a slice or counter; kept as finished JSON.
struct TraceArg {
    template <std::integral T>
    TraceArg(std::string_view name, T number) : key(name), json(std::to_string(number)) {}
    TraceArg(std::string_view name, double number);  // not finite: null
    TraceArg(std::string_view name, std::string_view text);
    TraceArg(std::string_view name, const char* text) : TraceArg(name, std::string_view(text)) {}
    TraceArg(std::string_view name, const std::string& text) : TraceArg(name, std::string_view(text)) {}

    std::string key;
    std::string json;
};

struct TraceSlice {
    std::int64_t process = 0;
    std::int64_t thread = 0;
    std::string_view name;
    std::string_view category;
    SimTime start;
    SimDuration duration;
};

class TraceWriter {
public:
    explicit TraceWriter(const std::string& path);

    // Names appear in the viewer, sorted by `rank` when it is given.
    void name_process(std::int64_t process, std::string_view name, std::int64_t rank = 0);
    void name_thread(std::int64_t process, std::int64_t thread, std::string_view name, std::int64_t rank = 0);
    void slice(const TraceSlice& slice, const std::vector<TraceArg>& args = {});
    void instant(std::int64_t process, std::int64_t thread, std::string_view name, SimTime at);
    // One chart per (process, name), one line per argument.
    void counter(std::int64_t process, std::string_view name, SimTime at, const std::vector<TraceArg>& values);
    // An arrow from the slice that covers (process, thread, from) to the one that covers the other three.
    struct End {
        std::int64_t process = 0;
        std::int64_t thread = 0;
        SimTime at;
    };
    void arrow(std::string_view name, const End& from, const End& to);

    std::int64_t events() const { return events_; }
    void close();  // finishes the JSON; without it the file is cut short, which viewers still open

private:
    void begin_event();

    GzipFile file_;
    std::string line_;
    std::int64_t events_ = 0;
    std::int64_t arrows_ = 0;
};

// The text as a JSON string with its quotes.
std::string json_string(std::string_view text);

}  // namespace rehearse
