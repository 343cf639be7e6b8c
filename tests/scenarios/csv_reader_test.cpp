// CSV files of other tools: what is read, and where the faults of a row are placed.
#include "scenarios/validation/csv_reader.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "scenarios/validation/calibration.hpp"
#include "tests/scenarios/program.hpp"
#include "tests/sim/temporary_folder.hpp"

namespace rehearse {
namespace {

using ::testing::HasSubstr;

class CsvTest : public ::testing::Test {
protected:
    // "LINE:COLUMN: path: wrong ..." of every fault, as the program prints them; "" when all is well.
    template <class Read>
    std::string faults_of(const std::string& text, const Read& read) {
        const std::string path = folder_.file("rows.csv", text);
        try {
            read(path);
        } catch (const InputError& error) {
            return error.what();
        }
        return "";
    }
    TemporaryFolder folder_;
};

TEST_F(CsvTest, ReadsWhatSpreadsheetsWrite) {
    const std::string text = "\xef\xbb\xbf\"gpus\", note ,\"time, ns\"\r\n8,\"a, b\",  12.5 \r\n\r\n \"2\" ,,\"3\"\r\n";
    FaultList faults;
    const CsvReader csv(folder_.file("rows.csv", text), {"time, ns", "gpus", "note"}, faults);
    ASSERT_EQ(csv.rows().size(), 2U);
    EXPECT_EQ(csv.positive(csv.rows()[0], 0), 12.5);
    EXPECT_EQ(csv.whole(csv.rows()[0], 1), 8);
    EXPECT_EQ(csv.rows()[0].cells[2].text, "a, b");
    EXPECT_EQ(csv.rows()[1].line, 4);
    EXPECT_EQ(csv.whole(csv.rows()[1], 1), 2);
    EXPECT_EQ(csv.positive(csv.rows()[1], 0), 3);
    EXPECT_EQ(csv.rows()[1].cells[2].text, "");
    EXPECT_TRUE(faults.empty());
    FaultList quotes;
    const CsvReader quoted(folder_.file("rows.csv", "a,b\n\"say \"\"x\"\"\",\"open\n"), {"a"}, quotes);
    ASSERT_EQ(quoted.rows().size(), 1U);
    EXPECT_EQ(quoted.rows()[0].cells[0].text, "say \"x\"");
    EXPECT_THAT(to_string(quotes.faults().at(0)), HasSubstr("rows.csv:2:13: a quote is opened and not closed"));
}

TEST_F(CsvTest, EveryFaultIsPlacedAtItsCell) {
    FaultList faults;
    const std::string path = folder_.file("rows.csv", "a,b\n1,x\n1.5,2\n7\nnan,-3\n");
    const CsvReader csv(path, {"a", "b"}, faults);
    for (const CsvRow& row : csv.rows()) {
        csv.whole(row, 0);
        csv.positive(row, 1);
    }
    std::string all;
    for (const Fault& fault : faults.faults()) all += to_string(fault) + "\n";
    EXPECT_THAT(all, HasSubstr("rows.csv:2:3: b: \"x\" is not a positive number"));
    EXPECT_THAT(all, HasSubstr("rows.csv:3:1: a: \"1.5\" is not a whole number"));
    EXPECT_THAT(all, HasSubstr("rows.csv:4:1: b: cell is missing"));
    EXPECT_THAT(all, HasSubstr("rows.csv:5:1: a: \"nan\" is not a positive number"));
    EXPECT_THAT(all, HasSubstr("rows.csv:5:5: b: \"-3\" is not a positive number"));
    FaultList columns;
    CsvReader(path, {"a", "bb"}, columns);
    CsvReader(folder_.file("twice.csv", "a,b,a\n"), {"a"}, columns);
    CsvReader((folder_.path() / "none.csv").string(), {"a"}, columns);
    CsvReader(folder_.file("empty.csv", ""), {"a"}, columns);
    all.clear();
    for (const Fault& fault : columns.faults()) all += to_string(fault) + "\n";
    EXPECT_THAT(all, HasSubstr("rows.csv:1:1: bb: column is missing"));
    EXPECT_THAT(all, HasSubstr("twice.csv:1:1: a: column stands twice"));
    EXPECT_THAT(all, HasSubstr("none.csv: the file cannot be read"));
    EXPECT_THAT(all, HasSubstr("empty.csv: the file is empty"));
}

// t = 2 latency + 2 (n - 1) / n size / bus with latency 5 us and bus 100 GB/s: 10 us + 1.5 size / 100 GB/s for n = 4.
TEST_F(CsvTest, TwoSizesOfAnAllReduceGiveLatencyAndRate) {
    const std::string path =
        folder_.file("rows.csv", "gpus, size_bytes, time_ns\n4,1000000,25000\n4,100000000,1510000\n");
    const std::vector<LocalLink> links = fit_local_links(path);
    ASSERT_EQ(links.size(), 1U);
    EXPECT_EQ(links[0].gpus, 4);
    EXPECT_NEAR(links[0].latency.seconds(), 5e-6, 1e-11);
    EXPECT_NEAR(static_cast<double>(links[0].bus.value), 800e9, 800e9 * 1e-9);
}

TEST_F(CsvTest, RowsThatDetermineNoLinkAreFaults) {
    const auto fit = [&](const std::string& rows) {
        return faults_of("gpus,size_bytes,time_ns\n" + rows, [](const std::string& path) { fit_local_links(path); });
    };
    EXPECT_THAT(fit("4,1000000,25000\n4,oops,1510000\n1,5,5\n\n4,100000000\n"),
                ::testing::AllOf(HasSubstr("rows.csv:3:3: size_bytes: \"oops\" is not"),
                                 HasSubstr("rows.csv:4:1: gpus: an all-reduce of one GPU (at least 2)"),
                                 HasSubstr("rows.csv:6:1: time_ns: cell is missing")));
    EXPECT_THAT(fit("4,1000000,25000\n"), HasSubstr("rows.csv:2:1: group of 4 GPUs: one size alone does not tell"));
    EXPECT_THAT(fit("2,1000,10\n2,2000,15\n4,1000,1e6\n4,1000000,1e3\n"),
                HasSubstr("rows.csv:4:1: group of 4 GPUs: the times do not grow with the size"));
    EXPECT_THAT(fit("4,1000,500\n4,1000000,500\n"), HasSubstr("do not grow with the size"));
    EXPECT_THAT(fit(""), HasSubstr("rows.csv: no measured row"));
    folder_.file("bad.csv", "gpus,size_bytes,time_ns\n4,1000,500\n");
    const ProgramResult result =
        run_rehearse({"calibrate", "fit", "a100-sxm-80g", "--all-reduce", "bad.csv"}, folder_.path());
    EXPECT_EQ(result.exit_code, 2);
    EXPECT_EQ(result.out, "");
    EXPECT_THAT(result.err, HasSubstr("bad.csv:2:1: "));
}

// Columns in the order of the header below. The second row has layers that pp does not divide, the third heads that do
// not divide hidden and degrees whose product is not gpus.
TEST_F(CsvTest, AStepThatMakesNoScenarioIsAFaultOfItsRow) {
    const std::string header = "gpus,global_batch,micro_batch,hidden,heads,layers,seq,tp,dp,pp,iteration_ms\n";
    const std::string good = "8,16,2,1024,16,8,512,2,2,2,100\n";
    folder_.file("steps.csv", header + good + "8,16,2,1024,16,9,512,2,2,2,100\n16,16,2,1000,16,8,512,2,2,2,100\n");
    const ProgramResult result = run_rehearse({"validate", "a100-steps", "--data", "steps.csv"}, folder_.path());
    EXPECT_EQ(result.exit_code, 2);
    EXPECT_EQ(result.out, "");
    EXPECT_THAT(result.err, HasSubstr("steps.csv:3:16: layers: "));
    EXPECT_THAT(result.err, HasSubstr("steps.csv:4:"));
    EXPECT_EQ(result.err.find("--set"), std::string::npos) << result.err;
    EXPECT_EQ(result.err.find("a100_step.yaml"), std::string::npos) << result.err;
    folder_.file("steps.csv", "\xef\xbb\xbf" + header + good);
    const ProgramResult marked = run_rehearse({"validate", "a100-steps", "--data", "steps.csv"}, folder_.path());
    EXPECT_EQ(marked.exit_code, 0) << marked.err;
    EXPECT_THAT(marked.out, HasSubstr("1 rows: MAPE"));
}

}  // namespace
}  // namespace rehearse
