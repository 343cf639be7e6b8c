// Threads in step: what one did before a meeting all see after it, and a failure reaches the caller.
#include <gtest/gtest.h>

#include <stdexcept>
#include <vector>

#include "sim/engine/parallel/process_group.hpp"
#include "sim/engine/parallel/worker_team.hpp"

namespace rehearse {
namespace {

// Each writes its own cell and reads its neighbour's a meeting later; more members than cores make headway too.
TEST(WorkerTeam, SeesWhatTheOthersDidBeforeTheMeeting) {
    for (const std::uint32_t size : {1u, 2u, 5u}) {
        WorkerTeam team(size);
        std::vector<int> cells(size, 0);
        std::vector<int> wrong(size, 0);
        for (int call = 0; call < 3; ++call) {
            team.run([&](std::uint32_t member) {
                for (int step = 0; step < 200; ++step) {
                    const int before = cells[(member + 1) % size];
                    team.meet();
                    ++cells[member];
                    team.meet();
                    if (cells[(member + 1) % size] != before + 1) ++wrong[member];
                    team.meet();
                }
            });
        }
        EXPECT_EQ(cells, std::vector<int>(size, 600));
        EXPECT_EQ(wrong, std::vector<int>(size, 0));
    }
}

TEST(WorkerTeam, ThrowsWhatAMemberThrew) {
    WorkerTeam team(3);
    const auto fail = [&](std::uint32_t member) {
        if (member == 2) throw std::runtime_error("member 2");
        for (int step = 0; step < 10; ++step) team.meet();
    };
    EXPECT_THROW(team.run(fail), std::runtime_error);
    int calls[3] = {0, 0, 0};
    team.run([&](std::uint32_t member) {  // and is good for another call
        team.meet();
        ++calls[member];
    });
    EXPECT_EQ(calls[0] + calls[1] + calls[2], 3);
}

TEST(ProcessGroup, NeedsMpi) {
    if (ProcessGroup::is_available()) GTEST_SKIP() << "built with MPI";
    EXPECT_ANY_THROW(ProcessGroup());
}

}  // namespace
}  // namespace rehearse
