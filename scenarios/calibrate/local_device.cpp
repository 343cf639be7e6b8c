#include "scenarios/calibrate/local_device.hpp"

#include <fmt/format.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>

#include "kernels/cpu/gemm.hpp"

namespace rehearse {

namespace {

std::string cpu_entry(const std::string& wanted) {
    std::ifstream info("/proc/cpuinfo");
    for (std::string line; std::getline(info, line);) {
        const std::size_t colon = line.find(':');
        if (colon != line.npos && line.rfind(wanted, 0) == 0) return line.substr(std::min(colon + 2, line.size()));
    }
    return "";
}

std::string c_library() {
    char text[64] = "";
    return confstr(_CS_GNU_LIBC_VERSION, text, sizeof text) > 0 ? text : "unknown";
}

std::string kernel_release() {
    utsname name{};
    return uname(&name) == 0 ? fmt::format("{} {}", name.sysname, name.release) : "";
}

}  // namespace

std::string local_device_name() {
    const std::string name = cpu_entry("model name");
    return name.empty() ? "unknown processor" : name;
}

CalibrationDevice local_device(std::int64_t cores) {
    return {local_device_name(), DeviceKind::cpu, cores, kernel_release(), cpu_entry("cpu MHz") + " MHz"};
}

std::vector<SoftwareVersion> local_software() {
    return {{"compiler", __VERSION__}, {"oneDNN", kernels::gemm_library_version()},
            {"C library", c_library()}};
}

}  // namespace rehearse
