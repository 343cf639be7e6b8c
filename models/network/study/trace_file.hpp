// A trace of flows as comma-separated text: source, destination, bytes, start in picoseconds, one flow a line, with or
// without the header line src,dst,bytes,start_ps. Empty lines and lines that begin with # are left out.
#pragma once

#include <string>
#include <vector>

#include "models/network/study/pattern.hpp"
#include "sim/base/fault.hpp"

namespace rehearse {

// Faults go to the list, each at file:line:column. A flow to its own source is one.
std::vector<TraceFlow> parse_trace(const std::string& text, const std::string& file, FaultList& faults);

}  // namespace rehearse
