#include "sim/trace/trace_writer.hpp"

#include <fmt/format.h>

#include <cmath>
#include <iterator>

namespace rehearse {

namespace {

template <class... Args>
void append(std::string& line, fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(line), format, std::forward<Args>(args)...);
}

// Picoseconds as microseconds: six decimals, exact.
void append_time(std::string& line, std::string_view key, std::int64_t ps) {
    const bool negative = ps < 0;
    const std::uint64_t size = negative ? 0 - static_cast<std::uint64_t>(ps) : static_cast<std::uint64_t>(ps);
    append(line, ",\"{}\":{}{}.{:06}", key, negative ? "-" : "", size / 1'000'000, size % 1'000'000);
}

void append_args(std::string& line, const std::vector<TraceArg>& args) {
    if (args.empty()) return;
    line += ",\"args\":{";
    for (std::size_t i = 0; i < args.size(); ++i)
        append(line, "{}{}:{}", i == 0 ? "" : ",", json_string(args[i].key), args[i].json);
    line += '}';
}

}  // namespace

std::string json_string(std::string_view text) {
    std::string out = "\"";
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        if (c == '"' || c == '\\') out += {'\\', c};
        else if (byte < 0x20 || byte == 0x7f) append(out, "\\u{:04x}", static_cast<unsigned>(byte));
        else out += c;
    }
    out += '"';
    return out;
}

TraceArg::TraceArg(std::string_view name, double number)
    : key(name), json(std::isfinite(number) ? fmt::format("{}", number) : "null") {}
TraceArg::TraceArg(std::string_view name, std::string_view text) : key(name), json(json_string(text)) {}

TraceWriter::TraceWriter(const std::string& path) : file_(path) {
    file_.write("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[");
}

// Leaves line_ at the separator; the caller appends the object and writes the line.
void TraceWriter::begin_event() { line_ = events_++ == 0 ? "\n" : ",\n"; }

void TraceWriter::name_process(std::int64_t process, std::string_view name, std::int64_t rank) {
    begin_event();
    append(line_, R"({{"ph":"M","name":"process_name","pid":{},"args":{{"name":{}}}}})", process, json_string(name));
    append(line_,
           ",\n"
           R"({{"ph":"M","name":"process_sort_index","pid":{},"args":{{"sort_index":{}}}}})",
           process, rank);
    file_.write(line_);
}

void TraceWriter::name_thread(std::int64_t process, std::int64_t thread, std::string_view name, std::int64_t rank) {
    begin_event();
    append(line_, R"({{"ph":"M","name":"thread_name","pid":{},"tid":{},"args":{{"name":{}}}}})", process, thread,
           json_string(name));
    append(line_,
           ",\n"
           R"({{"ph":"M","name":"thread_sort_index","pid":{},"tid":{},"args":{{"sort_index":{}}}}})",
           process, thread, rank);
    file_.write(line_);
}

void TraceWriter::slice(const TraceSlice& slice, const std::vector<TraceArg>& args) {
    begin_event();
    append(line_, R"({{"ph":"X","pid":{},"tid":{},"name":{})", slice.process, slice.thread, json_string(slice.name));
    if (!slice.category.empty()) append(line_, ",\"cat\":{}", json_string(slice.category));
    append_time(line_, "ts", slice.start.value);
    append_time(line_, "dur", slice.duration.value);
    append_args(line_, args);
    line_ += '}';
    file_.write(line_);
}

void TraceWriter::instant(std::int64_t process, std::int64_t thread, std::string_view name, SimTime at) {
    begin_event();
    append(line_, R"({{"ph":"i","s":"t","pid":{},"tid":{},"name":{})", process, thread, json_string(name));
    append_time(line_, "ts", at.value);
    line_ += '}';
    file_.write(line_);
}

void TraceWriter::counter(std::int64_t process, std::string_view name, SimTime at,
                          const std::vector<TraceArg>& values) {
    begin_event();
    append(line_, R"({{"ph":"C","pid":{},"name":{})", process, json_string(name));
    append_time(line_, "ts", at.value);
    append_args(line_, values);
    line_ += '}';
    file_.write(line_);
}

void TraceWriter::arrow(std::string_view name, const End& from, const End& to) {
    ++arrows_;
    begin_event();
    append(line_, R"({{"ph":"s","cat":"arrow","id":{},"pid":{},"tid":{},"name":{})", arrows_, from.process, from.thread,
           json_string(name));
    append_time(line_, "ts", from.at.value);
    append(line_,
           "}},\n"
           R"({{"ph":"f","bp":"e","cat":"arrow","id":{},"pid":{},"tid":{},"name":{})",
           arrows_, to.process, to.thread, json_string(name));
    append_time(line_, "ts", to.at.value);
    line_ += '}';
    file_.write(line_);
}

void TraceWriter::close() {
    file_.write("\n]}\n");
    file_.close();
}

}  // namespace rehearse
