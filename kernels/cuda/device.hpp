// Is there a GPU here, and which?
#pragma once

#include <cstdint>
#include <string>

namespace rehearse::kernels {

struct DeviceProbe {
    int count = 0;
    std::string absent;  // why there is none; empty if there is one

    // Of device 0.
    std::string name;
    int compute_capability = 0;  // 90 is sm_90
    std::int64_t memory_bytes = 0;
    int multiprocessors = 0;
    std::int64_t clock_khz = 0, memory_clock_khz = 0;
    int driver_version = 0, runtime_version = 0, cublas_version = 0;  // as the libraries number them
};

// Never throws for want of a GPU: a driver that is missing or too old (error 35) and no device (100) both mean none.
DeviceProbe probe_device();

}  // namespace rehearse::kernels
