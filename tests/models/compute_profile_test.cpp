// write_profile() of a profile is a file that reads as the same profile, numbers and provenance alike.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>

#include "models/compute/profile_keys.hpp"
#include "tests/sim/temporary_folder.hpp"

namespace rehearse {
namespace {

class ShippedProfile : public testing::TestWithParam<const char*> {};

TEST_P(ShippedProfile, ReadsAsItWasWritten) {
    const DeviceProfile first =
        read_profile(std::string(REHEARSE_SOURCE_DIR) + "/models/compute/profiles/" + GetParam() + ".yaml");
    const std::string text = write_profile(first);
    const TemporaryFolder folder;
    const std::string path = (folder.path() / "profile.yaml").string();
    std::ofstream(path, std::ios::binary) << text;
    const DeviceProfile again = read_profile(path);
    EXPECT_EQ(write_profile(again), text);
    ASSERT_EQ(again.notes.size(), first.notes.size());
    for (const ProfileNote& note : first.notes) {
        const auto same = [&](const ProfileNote& other) {
            return other.key == note.key && other.value == note.value && other.provenance == note.provenance &&
                   other.source == note.source;
        };
        EXPECT_EQ(std::count_if(again.notes.begin(), again.notes.end(), same), 1) << note.key;
    }
    EXPECT_EQ(again.tiles.size(), first.tiles.size());
    EXPECT_EQ(again.local_links.size(), first.local_links.size());
}

INSTANTIATE_TEST_SUITE_P(Library, ShippedProfile, testing::Values("megascale-ampere", "a100-sxm-80g"));

}  // namespace
}  // namespace rehearse
