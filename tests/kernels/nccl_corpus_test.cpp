// Every log of the public collection ($REHEARSE_DATA/nccl) against its index, and what is left of each when it is cut
// or damaged.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include "kernels/calibration/nccl_log.hpp"

namespace rehearse {
namespace {

namespace fs = std::filesystem;

std::string corpus_folder() {
    const char* folder = std::getenv("REHEARSE_DATA");
    return std::string(folder == nullptr ? REHEARSE_SOURCE_DIR "/../shared/data" : folder) + "/nccl/";
}

std::string slurp_file(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
}

// The index quotes cells that hold commas.
std::vector<std::string> cells_of(const std::string& line) {
    std::vector<std::string> cells{""};
    bool quoted = false;
    for (const char c : line) {
        if (c == '"') quoted = !quoted;
        else if (c == ',' && !quoted) cells.emplace_back();
        else cells.back() += c;
    }
    return cells;
}

using Entry = std::map<std::string, std::string>;

std::vector<Entry> index_entries() {
    std::istringstream text(slurp_file(corpus_folder() + "index.csv"));
    std::vector<std::string> names;
    std::vector<Entry> entries;
    for (std::string line; std::getline(text, line);) {
        const std::vector<std::string> cells = cells_of(line);
        if (names.empty()) names = cells;
        else if (cells.size() == names.size()) {
            Entry& entry = entries.emplace_back();
            for (std::size_t i = 0; i < cells.size(); ++i) entry[names[i]] = cells[i];
        }
    }
    return entries;
}

class NcclCorpus : public ::testing::Test {
protected:
    void SetUp() override {
        if (!fs::exists(corpus_folder() + "index.csv"))
            GTEST_SKIP() << corpus_folder() << " isn't there; set REHEARSE_DATA";
        entries_ = index_entries();
        ASSERT_GE(entries_.size(), 40U);
    }
    std::vector<Entry> entries_;
};

TEST_F(NcclCorpus, HoldsTheRowsCollectivesAndGpusOfItsIndex) {
    for (const Entry& entry : entries_) {
        const std::string name = entry.at("file");
        const NcclLog log = parse_nccl_log(slurp_file(corpus_folder() + name), name, {});
        EXPECT_EQ(log.rows(), std::stoul(entry.at("rows"))) << name;
        ASSERT_EQ(log.runs.size(), 1U) << name;
        EXPECT_EQ(log.runs[0].collective, entry.at("collective")) << name;
        EXPECT_EQ(log.runs[0].gpus.value_or(0), std::stoll(entry.at("gpus"))) << name;
        EXPECT_EQ(log.runs[0].nodes.value_or(0), std::stoll(entry.at("nodes"))) << name;
        for (const NcclNote& note : log.unparsed) ADD_FAILURE() << name << ":" << note.line << ": " << note.reason;
        for (const NcclNote& note : log.findings) ADD_FAILURE() << name << ":" << note.line << ": " << note.reason;
    }
}

// Without the names of the files, the rows alone tell the collective, and never a wrong number of GPUs.
TEST_F(NcclCorpus, NeedsNoNamesOfFilesForWhatTheRowsSay) {
    std::size_t known = 0;
    for (const Entry& entry : entries_) {
        const NcclLog log = parse_nccl_log(slurp_file(corpus_folder() + entry.at("file")), "pasted.log", {});
        const NcclRun& run = log.runs.at(0);
        EXPECT_EQ(run.collective, entry.at("collective")) << entry.at("file");
        EXPECT_EQ(run.gpus.value_or(std::stoll(entry.at("gpus"))), std::stoll(entry.at("gpus"))) << entry.at("file");
        EXPECT_EQ(run.nodes.value_or(std::stoll(entry.at("nodes"))), std::stoll(entry.at("nodes"))) << entry.at("file");
        known += run.gpus ? 1 : 0;
    }
    EXPECT_GE(known * 4, entries_.size() * 3);
}

std::vector<NcclRow> rows_of(const NcclLog& log) {
    std::vector<NcclRow> rows;
    for (const NcclRun& run : log.runs) rows.insert(rows.end(), run.rows.begin(), run.rows.end());
    std::sort(rows.begin(), rows.end(), [](const NcclRow& a, const NcclRow& b) { return a.line < b.line; });
    return rows;
}

// A prefix of a log holds the first of its rows and nothing else.
TEST_F(NcclCorpus, LosesOnlyTheLastRowsWhenALogIsCut) {
    for (const Entry& entry : entries_) {
        const std::string text = slurp_file(corpus_folder() + entry.at("file"));
        const std::vector<NcclRow> whole = rows_of(parse_nccl_log(text, "x.log", {}));
        const std::size_t step = text.size() > 4000 ? 23 : 3;
        for (std::size_t end = 0; end < text.size(); end += step) {
            const NcclLog log = parse_nccl_log(std::string_view(text).substr(0, end), "x.log", {});
            const std::vector<NcclRow> rows = rows_of(log);
            ASSERT_LE(rows.size(), whole.size()) << entry.at("file") << " cut at " << end;
            const bool first = std::equal(rows.begin(), rows.end(), whole.begin());
            ASSERT_TRUE(first) << entry.at("file") << " cut at " << end;
            ASSERT_TRUE(!rows.empty() || !no_row_fault(log, text.substr(0, end)).wrong.empty());
        }
    }
}

// One damaged byte damages one line (two, where the byte was or becomes the line break between them).
TEST_F(NcclCorpus, KeepsTheOtherRowsWhenAByteIsDamaged) {
    for (const Entry& entry : entries_) {
        const std::string text = slurp_file(corpus_folder() + entry.at("file"));
        const std::vector<NcclRow> whole = rows_of(parse_nccl_log(text, "x.log", {}));
        for (std::size_t at = 0; at < text.size(); at += 101) {
            for (const char damage : {'\x01', '\x02', '\x10', '\x20', '\x40', '\x80'}) {
                std::string damaged = text;
                damaged[at] = static_cast<char>(damaged[at] ^ damage);
                const std::vector<NcclRow> rows = rows_of(parse_nccl_log(damaged, "x.log", {}));
                ASSERT_LE(rows.size(), whole.size()) << entry.at("file") << " damaged at " << at;
                const auto strange = std::count_if(rows.begin(), rows.end(), [&](NcclRow row) {
                    return std::none_of(whole.begin(), whole.end(), [&](const NcclRow& other) {
                        row.line = other.line;  // a new line break moves the others
                        return row == other;
                    });
                });
                ASSERT_LE(strange, 1) << entry.at("file") << " damaged at " << at;
            }
        }
    }
}

}  // namespace
}  // namespace rehearse
