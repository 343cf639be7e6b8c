// Ranks as processes that mpirun started: the communicator of all of them. Built without MPI there is none, and
// everything else works.
#pragma once

#include <memory>

#include "kernels/communicator/communicator.hpp"

namespace rehearse {

class MpiRanks {
public:
    static bool is_available();  // built with MPI

    // Begins and ends MPI: once per program. Needs is_available().
    MpiRanks();
    ~MpiRanks();
    MpiRanks(const MpiRanks&) = delete;
    MpiRanks& operator=(const MpiRanks&) = delete;

    Communicator& communicator() { return *world_; }
    // Ends all processes. Not collective: for an error that the others don't know of.
    [[noreturn]] void abort(int exit_code);

private:
    std::unique_ptr<Communicator> world_;
};

}  // namespace rehearse
