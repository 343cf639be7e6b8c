#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>

#include "sim/base/checks.hpp"
#include "sim/base/fault.hpp"
#include "sim/config/load_config.hpp"
#include "sim/trace/csv_writer.hpp"
#include "sim/trace/output_error.hpp"
#include "sim/trace/progress.hpp"
#include "sim/trace/result_folder.hpp"
#include "sim/trace/table.hpp"
#include "sim/trace/trace_writer.hpp"
#include "tests/sim/temporary_folder.hpp"

namespace rehearse {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

// The text of a .gz file, by the gzip program: an opinion other than our own.
std::string gunzip(const std::string& path) {
    std::FILE* pipe = popen(("gzip -dc '" + path + "'").c_str(), "r");
    std::string text;
    char piece[4096];
    while (const std::size_t n = std::fread(piece, 1, sizeof piece, pipe)) text.append(piece, n);
    EXPECT_EQ(pclose(pipe), 0);
    return text;
}

TEST(TraceWriter, WritesChromeEventsWithPicoseconds) {
    const TemporaryFolder folder;
    const std::string path = (folder.path() / "t.json.gz").string();
    TraceWriter trace(path);
    trace.name_process(3, "rank \"3\"", 3);
    trace.name_thread(3, 1, "tensor");
    trace.slice({3, 1, "all-reduce", "comm", SimTime{1'234'567'890'123}, SimDuration{81'920}},
                {{"bytes", 4096}, {"share", 0.5}, {"group", "tp\n0"}, {"bad", std::nan("")}});
    trace.counter(3, "queue", SimTime{5}, {{"bytes", 7}});
    trace.instant(3, 1, "pause", SimTime{1'000'000});
    trace.arrow("send", {3, 1, SimTime{0}}, {4, 1, SimTime{2'000'000}});
    trace.close();
    const std::string text = gunzip(path);
    EXPECT_THAT(text, HasSubstr(R"({"ph":"M","name":"process_name","pid":3,"args":{"name":"rank \"3\""}})"));
    EXPECT_THAT(text, HasSubstr(R"({"ph":"X","pid":3,"tid":1,"name":"all-reduce","cat":"comm","ts":1234567.890123,)"
                                R"("dur":0.081920,"args":{"bytes":4096,"share":0.5,"group":"tp\u000a0","bad":null}})"));
    EXPECT_THAT(text, HasSubstr(R"({"ph":"C","pid":3,"name":"queue","ts":0.000005,"args":{"bytes":7}})"));
    EXPECT_THAT(text, HasSubstr(R"({"ph":"i","s":"t","pid":3,"tid":1,"name":"pause","ts":1.000000})"));
    EXPECT_THAT(text,
                HasSubstr(R"({"ph":"f","bp":"e","cat":"arrow","id":1,"pid":4,"tid":1,"name":"send","ts":2.000000})"));
    // JSON is a subset of YAML: our reader checks the grammar.
    const ConfigNode root = parse_config(text, "t.json");
    EXPECT_EQ(root.find("traceEvents")->items.size(), 9u);
    EXPECT_EQ(root.find("displayTimeUnit")->text, "ns");
}

TEST(TraceWriter, AnEmptyTraceIsWhole) {
    const TemporaryFolder folder;
    const std::string path = (folder.path() / "t.json.gz").string();
    TraceWriter(path).close();
    EXPECT_EQ(parse_config(gunzip(path), "t.json").find("traceEvents")->items.size(), 0u);
}

TEST(TraceWriter, EqualEventsGiveEqualBytesAndManyAreStreamed) {
    const TemporaryFolder folder;
    const auto write = [&](const std::string& name) {
        const std::string path = (folder.path() / name).string();
        TraceWriter trace(path);
        for (std::int64_t i = 0; i < 30'000; ++i)
            trace.slice({i % 8, i % 3, "kernel", "compute", SimTime{i * 1'000}, SimDuration{999}});
        trace.close();
        return path;
    };
    const std::string a = write("a.gz"), b = write("b.gz");
    EXPECT_EQ(slurp(a), slurp(b));
    const std::string text = gunzip(a);
    EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 30'002);
}

TEST(TraceWriter, NamesAFileThatCannotBeMade) {
    EXPECT_THROW(TraceWriter("/nowhere/at/all.gz"), OutputError);
    if (access("/dev/full", W_OK) != 0) GTEST_SKIP() << "no /dev/full here";
    TraceWriter full("/dev/full");
    EXPECT_THROW(full.close(), OutputError);
}

TEST(CsvWriter, QuotesWhatNeedsIt) {
    const TemporaryFolder folder;
    const std::string path = (folder.path() / "t.csv").string();
    CsvWriter csv(path, {"name", "count", "x"});
    csv.row("plain", 7, 0.1);
    csv.row("a,b", std::int64_t{-9}, 1e300);
    csv.row(std::string("say \"hi\""), 0u, 2.0);
    csv.row("two\nlines", 1, -0.5);
    csv.row(" blank", "", "z");
    EXPECT_THROW(csv.row("too", "few"), InvariantBroken);
    csv.close();
    EXPECT_EQ(
        slurp(path),
        "name,count,x\nplain,7,0.1\n\"a,b\",-9,1e+300\n\"say \"\"hi\"\"\",0,2\n\"two\nlines\",1,-0.5\n\" blank\",,z\n");
    EXPECT_THROW(CsvWriter("/nowhere/t.csv", {"a"}), OutputError);
}

TEST(Table, AlignsNumbersToTheRight) {
    Table table({"layout", "gpus", "step"});
    table.add({"dense", "12288", "6.34 s"});
    table.add({"caf\xc3\xa9", "8", "-"});
    EXPECT_EQ(table.render(TableFormat::text),
              "layout   gpus    step\n"
              "------  -----  ------\n"
              "dense   12288  6.34 s\n"
              "caf\xc3\xa9        8       -\n");
    EXPECT_EQ(table.render(TableFormat::markdown),
              "| layout |  gpus |   step |\n"
              "| ------ | ----: | -----: |\n"
              "| dense  | 12288 | 6.34 s |\n"
              "| caf\xc3\xa9   |     8 |      - |\n");
    EXPECT_EQ(table.render(TableFormat::csv), "layout,gpus,step\ndense,12288,6.34 s\ncaf\xc3\xa9,8,-\n");
    EXPECT_THROW(table.add({"one"}), InvariantBroken);
    Table pipes({"a"});
    pipes.add({"x|y"});
    EXPECT_THAT(pipes.render(TableFormat::markdown), HasSubstr("x\\|y"));
}

TEST(Progress, WritesOnTerminalsOnly) {
    const TemporaryFolder folder;
    const std::string path = (folder.path() / "progress").string();
    std::FILE* file = std::fopen(path.c_str(), "w");
    {
        Progress quiet(file, ProgressMode::terminal_only);  // a file is no terminal
        quiet.update(0.5, "half");
        Progress never(file, ProgressMode::never);
        never.update(0.5, "half");
    }
    std::fflush(file);
    EXPECT_EQ(slurp(path), "");
    {
        Progress progress(file, ProgressMode::always);
        progress.update(0.25, "step 2");
        progress.update(0.26, "too soon");
    }
    std::fclose(file);
    EXPECT_THAT(slurp(path), testing::StartsWith("\r\x1b[K 25 %  ETA 0:"));
    EXPECT_THAT(slurp(path), testing::EndsWith("  step 2\r\x1b[K"));
    EXPECT_EQ(clock_text(6.2), "0:07");
    EXPECT_EQ(clock_text(723), "12:03");
    EXPECT_EQ(clock_text(10'800), "3:00:00");
    EXPECT_EQ(clock_text(std::nan("")), "-");
}

void put(const std::string& path, const std::string& text) { std::ofstream(path) << text; }

std::size_t entries_in(const fs::path& path) {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(path), fs::directory_iterator()));
}

TEST(ResultFolder, AppearsWholeOnPublish) {
    const TemporaryFolder base;
    const fs::path out = base.path() / "new" / "results";
    ResultFolder folder(out.string() + "/");
    put(folder.file("metrics.json"), "{}");
    put(folder.file("deep/er/links.csv"), "a\n");
    EXPECT_FALSE(fs::exists(out));
    folder.publish();
    EXPECT_EQ(slurp(out / "deep/er/links.csv"), "a\n");
    EXPECT_EQ(folder.file("metrics.json"), (fs::canonical(out) / "metrics.json").string());
    EXPECT_EQ(entries_in(out.parent_path()), 1u);  // nothing hidden is left
    EXPECT_THROW(folder.publish(), InvariantBroken);
}

const std::string result = "{\"schema_version\": 1";

TEST(ResultFolder, ReplacesOnlyResultsAndEmptyFolders) {
    const TemporaryFolder base;
    const fs::path out = base.path() / "out";
    for (const char* text : {"first", "second"}) {
        ResultFolder folder(out.string());
        put(folder.file("metrics.json"), result + text);
        folder.publish();
        EXPECT_EQ(slurp(out / "metrics.json"), result + text);
        EXPECT_TRUE(folder.kept().empty());
    }
    EXPECT_EQ(entries_in(base.path()), 1u);

    fs::create_directory(base.path() / "empty");
    ResultFolder onto_empty((base.path() / "empty").string());
    put(onto_empty.file("metrics.json"), "{}");
    onto_empty.publish();
    EXPECT_TRUE(fs::exists(base.path() / "empty/metrics.json"));

    base.file("precious/thesis.txt", "years");
    base.file("plain_file", "x");
    EXPECT_THROW(ResultFolder((base.path() / "precious").string()), InputError);
    EXPECT_THROW(ResultFolder((base.path() / "plain_file").string()), InputError);
    base.file("precious/metrics.json", "{\"accuracy\": 0.93}");  // of another program
    EXPECT_THROW(ResultFolder((base.path() / "precious").string()), InputError);
    EXPECT_EQ(slurp(base.path() / "precious/thesis.txt"), "years");
}

TEST(ResultFolder, KeepsWhatElseLiesInTheFolderItReplaces) {
    const TemporaryFolder base;
    base.file("out/metrics.json", result + "old");
    base.file("out/notes.txt", "mine");
    base.file("out/report/report.html", "page");
    fs::create_symlink("notes.txt", base.path() / "out/link");
    for (int run = 0; run < 2; ++run) {
        ResultFolder folder((base.path() / "out").string());
        put(folder.file("metrics.json"), result + "new");
        folder.publish();
        EXPECT_EQ(folder.kept(), (std::vector<std::string>{"link", "notes.txt", "report"}));
        EXPECT_EQ(slurp(base.path() / "out/metrics.json"), result + "new");
        EXPECT_EQ(slurp(base.path() / "out/notes.txt"), "mine");
        EXPECT_EQ(slurp(base.path() / "out/report/report.html"), "page");
        EXPECT_EQ(fs::read_symlink(base.path() / "out/link"), "notes.txt");
        EXPECT_EQ(entries_in(base.path()), 1u);
    }
}

TEST(ResultFolder, AFolderThatCannotBeMadeIsAFaultBeforeTheWork) {
    const TemporaryFolder base;
    base.file("file", "x");
    EXPECT_THROW(ResultFolder((base.path() / "file/out").string()), InputError);
    EXPECT_THROW(ResultFolder(""), InputError);
}

TEST(ResultFolder, MayBeNamedAtTheEnd) {
    const TemporaryFolder base;
    ResultFolder folder((base.path() / "running").string());
    put(folder.file("metrics.json"), result);
    folder.rename((base.path() / "named").string());
    folder.publish();
    EXPECT_EQ(slurp(base.path() / "named/metrics.json"), result);
    EXPECT_EQ(entries_in(base.path()), 1u);
}

TEST(ResultFolder, ChecksAgainBeforeItReplaces) {
    const TemporaryFolder base;
    ResultFolder folder((base.path() / "out").string());
    put(folder.file("metrics.json"), "{}");
    base.file("out/thesis.txt", "came while the run went on");
    EXPECT_THROW(folder.publish(), InputError);
    EXPECT_EQ(slurp(base.path() / "out/thesis.txt"), "came while the run went on");
}

TEST(ResultFolder, FollowsALinkToTheRealFolder) {
    const TemporaryFolder base;
    base.file("real/metrics.json", result);
    fs::create_directory_symlink(base.path() / "real", base.path() / "link");
    ResultFolder folder((base.path() / "link").string());
    put(folder.file("metrics.json"), "new");
    folder.publish();
    EXPECT_EQ(slurp(base.path() / "real/metrics.json"), "new");
    EXPECT_TRUE(fs::is_symlink(base.path() / "link"));
}

TEST(ResultFolder, WithoutPublishNothingIsLeft) {
    const TemporaryFolder base;
    {
        ResultFolder folder((base.path() / "out").string());
        put(folder.file("metrics.json"), "{}");
    }
    EXPECT_EQ(entries_in(base.path()), 0u);
}

TEST(ResultFolder, AKilledRunLeavesTheOldResult) {
    const TemporaryFolder base;
    base.file("out/metrics.json", result);
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
        ResultFolder folder((base.path() / "out").string());
        put(folder.file("metrics.json"), "half");
        kill(getpid(), SIGKILL);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFSIGNALED(status));
    EXPECT_EQ(slurp(base.path() / "out/metrics.json"), result);
    EXPECT_EQ(entries_in(base.path() / "out"), 1u);
}

}  // namespace
}  // namespace rehearse
