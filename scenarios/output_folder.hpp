// A results folder while it is made: Ctrl-C and SIGTERM take it away. Made before the threads of a simulation, which
// inherit the mask of signals.
#pragma once

#include <string>

#include "runtime/interrupt.hpp"
#include "sim/trace/result_folder.hpp"

namespace rehearse {

struct OutputFolder {
    explicit OutputFolder(const std::string& path) : folder(path) {}
    ResultFolder folder;
    Interrupt interrupt{[this] { folder.discard(); }};
};

}  // namespace rehearse
