// This machine, as a calibration file names it.
#pragma once

#include <string>
#include <vector>

#include "kernels/calibration/calibration_file.hpp"

namespace rehearse {

std::string local_device_name();  // of the processor, as the system calls it
CalibrationDevice local_device(std::int64_t cores);
std::vector<SoftwareVersion> local_software();  // what products and calls are made of

}  // namespace rehearse
