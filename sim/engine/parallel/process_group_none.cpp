// ProcessGroup of a build without MPI: this process alone, and no way to make one.
#include <cstdlib>

#include "sim/base/checks.hpp"
#include "sim/engine/parallel/process_group.hpp"

namespace rehearse {

bool ProcessGroup::is_available() { return false; }

ProcessGroup::ProcessGroup() { REHEARSE_CHECK(is_available(), "a process group needs a build with MPI"); }
ProcessGroup::~ProcessGroup() = default;

std::int64_t ProcessGroup::exchange(std::int64_t earliest, std::span<const Box>, std::span<Box>) { return earliest; }
std::int64_t ProcessGroup::least(std::int64_t value) { return value; }
std::int64_t ProcessGroup::greatest(std::int64_t value) { return value; }
void ProcessGroup::add_up(std::span<std::uint64_t>) {}
void ProcessGroup::abort(int exit_code) { std::exit(exit_code); }

}  // namespace rehearse
