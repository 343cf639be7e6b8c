// For builds that found no MPI (kernels/CMakeLists.txt).
#include <cstdlib>

#include "kernels/communicator/mpi_ranks.hpp"
#include "sim/base/checks.hpp"

namespace rehearse {

bool MpiRanks::is_available() { return false; }
MpiRanks::MpiRanks() { REHEARSE_CHECK(is_available(), "this build has no MPI"); }
MpiRanks::~MpiRanks() = default;
void MpiRanks::abort(int exit_code) { std::exit(exit_code); }

}  // namespace rehearse
