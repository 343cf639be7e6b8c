// Each oddity of logs of nccl-tests by a small text. A row of 8 GPUs: size s, time t, algbw = s / t, busbw = 7/4 algbw.
#include "kernels/calibration/nccl_log.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rehearse {
namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;

const std::string header =
    "#       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   busbw "
    "#wrong\n";
// 1 MiB in 100 us is 10.49 GB/s, 18.35 on the bus; in 50 us 20.97 and 36.70.
const std::string row_1 =
    "     1048576        262144     float     sum      -1   100.0   10.49   18.35      0   50.00   20.97   36.70      "
    "0\n";
const std::string row_2 =
    "     2097152        524288     float     sum      -1   100.0   20.97   36.70      0   50.00   41.94   73.40      "
    "0\n";

NcclLog read(const std::string& text, const NcclHints& hints = {}) { return parse_nccl_log(text, "some.log", hints); }

NcclRun only_run(const NcclLog& log) {
    EXPECT_THAT(log.runs, SizeIs(1));
    EXPECT_THAT(log.unparsed, SizeIs(0));
    EXPECT_THAT(log.findings, SizeIs(0));
    return log.runs.empty() ? NcclRun{} : log.runs[0];
}

TEST(NcclLog, ReadsARowWithBothSides) {
    const NcclRun run = only_run(read(header + row_1));
    ASSERT_THAT(run.rows, SizeIs(1));
    const NcclRow& row = run.rows[0];
    EXPECT_EQ(row.line, 2);
    EXPECT_EQ(row.size, 1048576);
    EXPECT_EQ(row.count, 262144);
    EXPECT_EQ(row.type, "float");
    EXPECT_EQ(row.redop, "sum");
    EXPECT_EQ(row.root, -1);
    EXPECT_EQ(row.out_of_place->time_us.value, 100);
    EXPECT_EQ(row.in_place->busbw.value, 36.7);
    EXPECT_EQ(row.in_place->wrong, 0);
    EXPECT_EQ(run.collective, "all_reduce");
    EXPECT_EQ(run.gpus, 8);  // 2 (n-1)/n = 1.75
    EXPECT_EQ(run.gpus_from, NcclOrigin::rows);
}

TEST(NcclLog, TakesOffWhatOtherProgramsPutInFront) {
    for (const std::string& prefix :
         {std::string("0: "), std::string(" 12: "), std::string("[1,0]<stdout>:"),
          std::string("[prterun-a@1,0]<stdout>: "), std::string("    "), std::string("> "), std::string("worker-0 | "),
          std::string("\x1b[32m"), std::string("2025-03-01T10:00:00Z "), std::string("\xc2\xa0")}) {
        const NcclRun run = only_run(read(prefix + header + prefix + row_1 + prefix + row_2));
        EXPECT_THAT(run.rows, SizeIs(2)) << prefix;
        EXPECT_EQ(run.gpus, 8) << prefix;
    }
}

TEST(NcclLog, ReadsHeadersWithoutHashAndLineEndsOfWindows) {
    const NcclRun run =
        only_run(read(" " + header.substr(1, header.size() - 2) + "\r\n" + row_1.substr(0, row_1.size() - 1) + "\r\n"));
    EXPECT_THAT(run.rows, SizeIs(1));
}

TEST(NcclLog, ReadsColumnsWithoutRootWithErrorsAndWithABlankOperation) {
    const std::string old =
        "#       size         count      type   redop     time   algbw   busbw  error     time   algbw   busbw  "
        "error\n";
    const NcclRun sum =
        only_run(read(old + "1048576 262144 float sum 100.0 10.49 18.35 2e-07 50.00 20.97 36.70 N/A\n"));
    EXPECT_EQ(sum.rows.at(0).out_of_place->wrong, 2e-07);
    EXPECT_FALSE(sum.rows[0].in_place->wrong.has_value());
    EXPECT_FALSE(sum.rows[0].root.has_value());
    // 7/8 of 10.49 is 9.18, and an in-place side that is wrong throughout is alltoall's.
    const NcclRun blank = only_run(read(old + "1048576 32768 float  100.0 10.49 9.18 0e+00 50.00 20.97 18.35 1e+00\n"));
    EXPECT_EQ(blank.rows.at(0).redop, "");
    EXPECT_EQ(blank.collective, "alltoall");
    EXPECT_EQ(blank.gpus, 8);
}

TEST(NcclLog, ReadsColumnsOfRootWithoutOperationAndOfNeither) {
    const NcclRun broadcast =
        only_run(read("# size count type root time algbw busbw error time algbw busbw error\n"
                      "1048576 262144 float 0 100.0 10.49 10.49 0e+00 50.00 20.97 20.97 0e+00\n",
                      {{}, {}, "broadcast"}));
    EXPECT_EQ(broadcast.rows.at(0).root, 0);
    EXPECT_EQ(broadcast.collective, "broadcast");
    EXPECT_FALSE(broadcast.gpus.has_value());  // its factor is 1 for any number
    const NcclRun half =
        only_run(read("# size count type redop root time algbw busbw time algbw busbw\n"
                      "1048576 524288 half sum -1 100.0 10.49 18.35 50.00 20.97 36.70\n"));
    EXPECT_EQ(half.rows.at(0).type, "half");
    EXPECT_FALSE(half.rows[0].out_of_place->wrong.has_value());
    EXPECT_THAT(read("# size count type redop root time algbw busbw #wrong\n"
                     "1048576 524288 half sum -1 100.0 10.49 18.35 0\n")
                    .runs,
                SizeIs(1));
}

// Once all_gather printed size (n-1)/n / time as both rates: 1 MiB 3/4 / 100 us = 7.86 on 4 GPUs.
TEST(NcclLog, KnowsTheOldDefinitionOfAllGather) {
    const std::string columns = "# size count type time algbw busbw error time algbw busbw error\n";
    const NcclRun old = only_run(read(columns + "1048576 65536 float 100.0 7.86 7.86 0e+00 50.00 15.73 15.73 0e+00\n"));
    EXPECT_EQ(old.collective, "all_gather");
    EXPECT_EQ(old.gpus, 4);
    EXPECT_EQ(old.definition, AlgbwDefinition::moved);
    const NcclRun now =
        only_run(read(columns + "1048576 65536 float 100.0 10.49 7.86 0e+00 50.00 20.97 15.73 0e+00\n"));
    EXPECT_EQ(now.definition, AlgbwDefinition::size);
}

TEST(NcclLog, KeepsZeroSizeRowsAndRatesRoundedToNothing) {
    const NcclRun run = only_run(read(header + "0 0 float sum -1 5.70 0.00 0.00 0 5.54 0.00 0.00 0\n"
                                               "256 8 float sum -1 24.01 0.01 0.01 0 23.18 0.01 0.01 0\n"));
    EXPECT_THAT(run.rows, SizeIs(2));
    EXPECT_EQ(run.collective, "reduce_scatter");
    EXPECT_EQ(run.gpus, 8);
    const NcclLog empty = read(header + "0 0 float sum -1 5.70 0.00 0.00 0 5.54 0.00 0.00 0\n");
    EXPECT_EQ(empty.runs.at(0).collective, "unknown");
}

TEST(NcclLog, PassesOverMessagesOfNcclBetweenRows) {
    const std::string message = "node01:195:195 [0] NCCL INFO Launch mode Parallel\n";
    const NcclRun run = only_run(read(header + message + row_1 + message + "NCCL version 2.19.3+cuda12.2\n" + row_2));
    EXPECT_THAT(run.rows, SizeIs(2));
}

// nccl-tests prints a row in pieces, and a message can come between any two.
TEST(NcclLog, JoinsRowsThatMessagesTearApart) {
    const std::string message = "node01:195:201 [0] NCCL INFO Channel 00/0 : 0[0] -> 1[1] via P2P/IPC\n";
    const NcclRun run =
        only_run(read(header + "     1048576        262144     float     sum      -1" + message + message +
                      "   100.0   10.49   18.35      0" + message + "   50.00   20.97   36.70      0\n" + row_2));
    ASSERT_THAT(run.rows, SizeIs(2));
    EXPECT_EQ(run.rows[0].in_place->time_us.value, 50);
    const NcclLog open = read(header + "     1048576        262144     float     sum      -1" + message + row_2);
    EXPECT_EQ(open.rows(), 1U);
    ASSERT_THAT(open.unparsed, SizeIs(1));
    EXPECT_EQ(open.unparsed[0].line, 2);
    // Cells that belong to another row make no row.
    const NcclLog wrong = read(header + "     1048576        262144     float     sum      -1" + message +
                               "   100.0   20.97   36.70      0   50.00   41.94   73.40      0\n");
    EXPECT_EQ(wrong.rows(), 0U);
}

// A terminal of 80 columns, or a message that begins with a line break of its own.
TEST(NcclLog, JoinsRowsThatLineBreaksTearApart) {
    std::string wrapped;
    for (const std::string& line : {header, row_1, row_2}) wrapped += line.substr(0, 80) + "\n" + line.substr(80);
    const NcclLog log = read(wrapped);
    EXPECT_EQ(log.rows(), 2U);
    EXPECT_TRUE(log.unparsed.empty());
    const std::string start = "1048576 262144 float sum -1\n", rest = "100.0 10.49 18.35 0 50.00 20.97 36.70 0\n";
    EXPECT_EQ(only_run(read(header + start + "\nnode01:1:2 [0] net.cc:12 NCCL WARN no plugin\n" + rest)).rows.size(),
              1U);
    const NcclLog twice = read(header + start + start + rest);
    EXPECT_EQ(twice.rows(), 1U);
    EXPECT_EQ(twice.unparsed.size(), 1U);
}

TEST(NcclLog, TellsSeveralOutputsApart) {
    const std::string gather = "1048576 32768 float none -1 100.0 10.49 9.18 0 50.00 20.97 18.35 0\n";
    const NcclLog in_turn = read("./all_reduce_perf -b 1M\n" + header + row_1 + row_2 + "# Avg bus bandwidth : 4\n" +
                                 "./all_gather_perf -b 1M\n" + header + gather);
    ASSERT_THAT(in_turn.runs, SizeIs(2));
    EXPECT_EQ(in_turn.runs[0].collective, "all_reduce");
    EXPECT_EQ(in_turn.runs[0].collective_from, NcclOrigin::stated);
    EXPECT_EQ(in_turn.runs[1].collective, "all_gather");
    EXPECT_EQ(in_turn.runs[1].collective_from, NcclOrigin::stated);
    const NcclLog under_one_header = read(header + row_1 + gather + row_2);
    ASSERT_THAT(under_one_header.runs, SizeIs(2));
    EXPECT_THAT(under_one_header.runs[0].rows, SizeIs(2));
    // Without MPI each process measures alone and prints its own table.
    const NcclLog mixed = read("0: " + header + "1: " + header + "1: " + row_1 + "0: " + row_1 + "0: " + row_2);
    ASSERT_THAT(mixed.runs, SizeIs(2));
    EXPECT_EQ(mixed.rows(), 3U);
}

TEST(NcclLog, ReadsRanksNodesDeviceAndVersions) {
    std::string ranks = "# nccl-tests version 2.18.3 nccl-headers=23004 nccl-library=23004\n";
    for (int rank = 0; rank < 8; ++rank)
        ranks += "#  Rank  " + std::to_string(rank) + " Group  0 Pid   100 on  node0" + std::to_string(rank / 4) +
                 " device  0 [0000:19:00] NVIDIA H100 80GB HBM3\n";
    const NcclRun run = only_run(read(ranks + "NCCL version 2.26.2+cuda12.8\n" + header + row_1));
    EXPECT_EQ(run.gpus, 8);
    EXPECT_EQ(run.gpus_from, NcclOrigin::stated);
    EXPECT_EQ(run.nodes, 2);
    EXPECT_EQ(run.device, "NVIDIA H100 80GB HBM3");
    EXPECT_EQ(run.version, "2.18.3");
    EXPECT_EQ(run.library, "2.26.2+cuda12.8");
    // Rates of 8 GPUs under a list of 2: the list isn't this table's.
    const NcclLog other =
        read("# Rank 0 Pid 1 on a device 0 [0x1] K80\n# Rank 1 Pid 2 on a device 1 [0x2] K80\n" + header + row_1);
    EXPECT_EQ(other.runs.at(0).gpus, 8);
    ASSERT_THAT(other.findings, SizeIs(1));
    EXPECT_THAT(other.findings[0].reason, HasSubstr("says 2 GPUs"));
}

TEST(NcclLog, TakesHintsOnlyForWhatTheRowsLeaveOpen) {
    const std::string small = "64 16 float sum -1 14.50 0.00 0.01 0 14.39 0.00 0.01 0\n";
    EXPECT_FALSE(only_run(read(header + small)).gpus.has_value());
    EXPECT_EQ(only_run(read(header + small, {16, 2, ""})).gpus, 16);
    const NcclLog named = parse_nccl_log(header + small, "runs/allreduce_32gpus_4nodes.txt", {});
    EXPECT_EQ(named.runs.at(0).gpus, 32);
    EXPECT_EQ(named.runs[0].nodes, 4);
    EXPECT_EQ(named.runs[0].gpus_from, NcclOrigin::file_name);
    const NcclLog contrary = read(header + row_1, {16, {}, "all_gather"});
    EXPECT_EQ(contrary.runs.at(0).gpus, 8);
    EXPECT_EQ(contrary.runs[0].collective, "all_reduce");
}

TEST(NcclLog, ReportsRatesThatContradictTheTimeAndKeepsThem) {
    const NcclLog log = read(header + row_2 + "1048576 262144 float sum -1 100.0 11.49 18.35 0 50.00 20.97 36.70 0\n");
    ASSERT_EQ(log.rows(), 2U);
    EXPECT_EQ(log.runs[0].rows[1].out_of_place->algbw.value, 11.49);
    ASSERT_THAT(log.findings, SizeIs(1));
    EXPECT_EQ(log.findings[0].line, 3);
    EXPECT_THAT(log.findings[0].reason, HasSubstr("algbw 11.49"));
    EXPECT_THAT(read(header + row_1 + "# Out of bounds values : 3 FAILED\n").findings, SizeIs(1));
}

TEST(NcclLog, ListsBrokenRowsWithLineAndReason) {
    const std::vector<std::pair<std::string, std::string>> broken{
        {"1048576 262144 float sum -1 100.0 10.49 18.35 0 50.00 20.97\n", "cells"},
        {"1048576 262144 float sum -1 -100.0 10.49 18.35 0 50.00 20.97 36.70 0\n", "time"},
        {"1048576 262144 float sum -1 100.0 nan 18.35 0 50.00 20.97 36.70 0\n", "rate"},
        {"1048576 262144 float sum x 100.0 10.49 18.35 0 50.00 20.97 36.70 0\n", "root"},
        {"1048577 262144 float sum -1 100.0 10.49 18.35 0 50.00 20.97 36.70 0\n", "multiple"},
        {"10485x6 262144 float sum -1 100.0 10.49 18.35 0 50.00 20.97 36.70 0\n", "whole numbers"},
        {"99999999999999999999 262144 float sum -1 100.0 10.49 18.35 0 50.00 20.97 36.70 0\n", "range"},
        {"1048576 262144 float3 sum -1 100.0 10.49 18.35 0 50.00 20.97 36.70 0\n", "type"},
        {"1048576 262144 float sum -1 N/A N/A N/A N/A N/A N/A N/A N/A\n", "no time"},
        {"node01: Test NCCL failure common.cu:958 'unhandled system error'\n", "failed"}};
    for (const auto& [line, reason] : broken) {
        const NcclLog log = read(header + line + row_2);
        EXPECT_EQ(log.rows(), 1U) << line;
        ASSERT_THAT(log.unparsed, SizeIs(1)) << line;
        EXPECT_EQ(log.unparsed[0].line, 2) << line;
        EXPECT_THAT(log.unparsed[0].reason, HasSubstr(reason)) << line;
    }
}

TEST(NcclLog, SaysThatTheTextEndsWithinARow) {
    const NcclLog log = read(header + "1048576 262144 float sum -1 100.0 10.49 18.35 0 50.00 20.97 36.70 N/");
    ASSERT_THAT(log.unparsed, SizeIs(1));
    EXPECT_THAT(log.unparsed[0].reason, HasSubstr("the text ends here"));
}

TEST(NcclLog, ReadsRowsWithoutHeaderOnlyWhereTheRatesAgree) {
    EXPECT_EQ(read(row_1).rows(), 1U);
    const NcclLog wrong = read("1048576 262144 float sum 0.100 10.49 18.35 0e+00 0.050 20.97 36.70 0e+00\n");  // in ms
    EXPECT_EQ(wrong.rows(), 0U);
    ASSERT_THAT(wrong.unparsed, SizeIs(1));
    EXPECT_THAT(wrong.unparsed[0].reason, HasSubstr("header"));
}

TEST(NcclLog, SaysWhyThereIsNoRow) {
    const auto why = [](const std::string& text) { return to_string(no_row_fault(read(text), text)); };
    EXPECT_THAT(why(""), HasSubstr("empty"));
    EXPECT_THAT(why(" \n\n"), HasSubstr("empty"));
    EXPECT_THAT(why("\x1f\x8b\x08zzzz"), HasSubstr("compressed"));
    EXPECT_THAT(why("\xff\xfe#"), HasSubstr("UTF-16"));
    EXPECT_THAT(why(std::string("\x7f"
                                "ELF\0\0\0\1",
                                8)),
                HasSubstr("binary"));
    EXPECT_THAT(why(header), HasSubstr("some.log:1:1: no row follows the header"));
    EXPECT_THAT(why("x\nnode01: Test CUDA failure common.cu:1 'out of memory'\n"),
                HasSubstr("some.log:2:1: no row; the run"));
    EXPECT_THAT(why("hello\n"), HasSubstr("begins with \"hello\""));
}

TEST(NcclLog, EndsOnAnyBytes) {
    EXPECT_EQ(read(std::string(200'000, '1')).rows(), 0U);
    EXPECT_EQ(read(std::string(200'000, '\0') + "\n" + header + row_1).rows(), 1U);
    EXPECT_EQ(read(header + std::string(100'000, ' ') + row_1 + std::string(3000, '[') + "\n" + row_2).rows(), 1U);
    EXPECT_EQ(read(header + row_1.substr(0, 20) + std::string(1, '\0') + row_1.substr(21)).rows(), 0U);
}

}  // namespace
}  // namespace rehearse
