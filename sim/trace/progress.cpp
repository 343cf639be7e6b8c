#include "sim/trace/progress.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace rehearse {

namespace {

bool smart_terminal(std::FILE* stream) {
    const char* kind = std::getenv("TERM");
    return isatty(fileno(stream)) != 0 && kind != nullptr && std::string_view(kind) != "dumb";
}

}  // namespace

std::string clock_text(double seconds) {
    if (!(seconds < 1e7)) return "-";  // more than 115 days, or no number
    const auto whole = static_cast<std::int64_t>(std::ceil(std::max(seconds, 0.0)));
    const std::int64_t hours = whole / 3600, minutes = whole / 60 % 60, rest = whole % 60;
    return hours > 0 ? fmt::format("{}:{:02}:{:02}", hours, minutes, rest) : fmt::format("{}:{:02}", minutes, rest);
}

Progress::Progress(std::FILE* stream, ProgressMode mode)
    : stream_(stream),
      shown_(mode == ProgressMode::always || (mode == ProgressMode::terminal_only && smart_terminal(stream))),
      began_(Clock::now()),
      written_(began_ - std::chrono::hours(1)) {}

void Progress::update(double fraction, std::string_view text) {
    if (!shown_) return;
    const Clock::time_point now = Clock::now();
    if (now - written_ < std::chrono::milliseconds(100)) return;
    written_ = now;
    dirty_ = true;
    const double done = std::clamp(std::isfinite(fraction) ? fraction : 0.0, 0.0, 1.0);
    const double elapsed = std::chrono::duration<double>(now - began_).count();
    const std::string left = done > 0 ? clock_text(elapsed / done * (1 - done)) : "-";
    fmt::print(stream_, "\r\x1b[K{:3.0f} %  ETA {}  {}", std::floor(100 * done), left, text);
    std::fflush(stream_);
}

void Progress::finish() {
    if (!dirty_) return;
    dirty_ = false;
    fmt::print(stream_, "\r\x1b[K");
    std::fflush(stream_);
}

}  // namespace rehearse
