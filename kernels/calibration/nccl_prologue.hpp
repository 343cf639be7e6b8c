// What nccl-tests says before a table: its version, the program, one line per rank.
#pragma once

#include <set>
#include <string>
#include <string_view>

#include "kernels/calibration/nccl_infer.hpp"
#include "kernels/calibration/nccl_line.hpp"

namespace rehearse {

// The collective whose program a text names ("./build/all_gather_perf -b 8"), "" = none, or more than one.
std::string collective_in(std::string_view text);

enum class Said : unsigned char { nothing, prologue, library, end };  // library: the version of NCCL

class Prologue {
public:
    Said what(const LogLine& line) const;
    void take(const LogLine& line);

    NcclStated stated() const;
    std::string device() const { return device_; }
    std::string version() const { return version_; }
    std::string library() const { return library_; }

private:
    void take_rank(const LogLine& line);

    std::string collective_, device_, version_, library_;
    std::set<std::int64_t> ranks_;
    std::set<std::string> hosts_;
};

}  // namespace rehearse
