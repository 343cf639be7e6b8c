// One line of progress with the time left, rewritten in place; shown on a terminal only, so logs stay clean.
//
//     Progress progress(stderr, ProgressMode::terminal_only);
//     progress.update(0.25, "step 2 of 8, 12.4 M events/s");   //  25 %  ETA 0:42  step 2 of 8, 12.4 M events/s
//     progress.finish();                                       // wipes the line
//
// update() may be called often: it writes ten times a second at most. Wall-clock time is used here for the display
// alone and reaches no result.
#pragma once

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>

namespace rehearse {

enum class ProgressMode : std::uint8_t {
    terminal_only,  // a terminal that is not "dumb"
    always,
    never,
};

// "0:07", "12:03", "3:00:00".
std::string clock_text(double seconds);

class Progress {
public:
    Progress(std::FILE* stream, ProgressMode mode);
    ~Progress() { finish(); }
    Progress(const Progress&) = delete;
    Progress& operator=(const Progress&) = delete;

    void update(double fraction, std::string_view text);  // fraction of the work done, 0 to 1
    void finish();

private:
    using Clock = std::chrono::steady_clock;

    std::FILE* stream_;
    bool shown_;
    bool dirty_ = false;  // a line stands on the screen
    Clock::time_point began_;
    Clock::time_point written_;
};

}  // namespace rehearse
