// Invariants inside, faults at the door.
//
// REHEARSE_CHECK(condition, message) stays on in every build: a broken invariant throws InvariantBroken with the place
// and the sentence; main prints it with the command that reproduces the run and exits with 1.
#pragma once

#include <stdexcept>
#include <string>

namespace rehearse {

struct InvariantBroken : std::logic_error {
    using std::logic_error::logic_error;
};

[[noreturn]] void throw_invariant_broken(const char* file, int line, const char* condition, const std::string& message);

}  // namespace rehearse

#define REHEARSE_CHECK(condition, message)                                                     \
    do {                                                                                       \
        if (!(condition)) [[unlikely]]                                                         \
            ::rehearse::throw_invariant_broken(__FILE__, __LINE__, #condition, (message));     \
    } while (false)
