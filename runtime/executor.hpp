// Executor: the second interface crossed by virtual call. It runs the programs of a workload and reports what happened;
// one implementation simulates, another runs on local devices.
#pragma once

#include "models/workload/workload.hpp"
#include "runtime/timeline.hpp"

namespace rehearse {

class Executor {
public:
    virtual ~Executor() = default;
    virtual Timeline execute(const Workload& workload) = 0;
};

}  // namespace rehearse
