// The numbers of a DeviceProfile by their dotted key: one table for reading, writing and fitting.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "models/compute/profile.hpp"

namespace rehearse {

using ProfileNumber = std::variant<Ratio*, SimDuration*, Bandwidth*, Bytes*, FlopRate*, std::int64_t*, double*>;

// What a file may say, both ends allowed, in the units of get_number(). The ranges are wide: they keep out slips of the
// unit and what no step of 106 days (units.hpp) could hold.
struct ProfileRange {
    double low = 0;
    double high = 0;
};

struct ProfileEntry {
    std::string key;       // "gemm.efficiency"
    ProfileNumber number;  // points into the profile
    ProfileRange range;
};

// Every number outside the lists (gemm.tiles, nvlink.groups), in file order.
std::vector<ProfileEntry> profile_entries(DeviceProfile& profile);

// The number as a plain double (seconds, bit/s, bytes, FLOP/s) and back; for fits.
double get_number(const ProfileEntry& entry);
void set_number(const ProfileEntry& entry, double value);
std::string text_of(const ProfileEntry& entry);
bool in_range(const ProfileEntry& entry);
std::string range_text(const ProfileEntry& entry);  // "0 ps to 1 min"

// The whole file: every number with its provenance; read_profile() of it gives the same profile.
std::string write_profile(DeviceProfile profile);

}  // namespace rehearse
