// A sweep of a net scenario: its runs one after the other, one results folder with the comparison (net_results.hpp).
#pragma once

#include "scenarios/net/net.hpp"

namespace rehearse {

// Every run is read and checked before the first one starts. As net(): false when a run had flows that never end.
bool net_sweep(const NetRequest& request, const NetScenario& asked);

}  // namespace rehearse
