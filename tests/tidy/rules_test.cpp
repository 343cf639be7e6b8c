// The checker checked: each rule on a sample that breaks it and on the nearest sample that does not.
#include "tests/tidy/rules.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "tests/tidy/source.hpp"

namespace rehearse::tidy {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

const std::set<std::string> known = {
    "sim/base/units.hpp",      "sim/config/parse.hpp",    "sim/engine/clock.hpp", "topology/cluster.hpp",
    "topology/detail/csr.hpp", "models/network/flow.hpp", "runtime/simulate.hpp", "scenarios/run.hpp",
    "kernels/gate.hpp",        "tests/tidy/source.hpp",   "reports/x.hpp"};

Findings includes(const std::string& path, const std::string& header) {
    return check_includes(make_source(path, "#include " + header + "\n"), known);
}

TEST(TidySource, SeparatesCodeFromCommentsAndLiterals) {
    const SourceFile file =
        make_source("a.cpp", "int n = 1'000; // one \"thousand\"\nf(\"// no\", '\\'', '{'); /* x\ny */ g();\n");
    ASSERT_THAT(file.code, SizeIs(3));
    EXPECT_EQ(trim(file.code[0]), "int n = 1'000;");
    EXPECT_EQ(trim(file.comments[0]), "// one \"thousand\"");
    EXPECT_EQ(trim(file.code[1]), "f(\"     \", '  ', ' ');");
    EXPECT_EQ(trim(file.code[2]), "g();");
    EXPECT_EQ(trim(file.comments[2]), "y */");
}

TEST(TidySource, BlanksRawStrings) {
    const SourceFile file = make_source("a.cpp", "auto s = R\"x(rand( \" // )x\"; int after;\nint next;");
    EXPECT_EQ(file.code[0].find("rand"), std::string::npos);
    EXPECT_NE(file.code[0].find("; int after;"), std::string::npos);
    EXPECT_EQ(file.code[1], "int next;");
}

TEST(TidySource, WordsDoNotTouchIdentifiers) {
    EXPECT_EQ(find_word("srand(1) + rand(2)", "rand("), 11U);
    EXPECT_EQ(find_word("static_assert(x)", "assert("), std::string_view::npos);
    EXPECT_EQ(find_word("std::formatter f", "std::format"), std::string_view::npos);
}

TEST(TidyIncludes, PointDownwards) {
    EXPECT_THAT(includes("scenarios/run.cpp", "\"runtime/simulate.hpp\""), IsEmpty());
    EXPECT_THAT(includes("runtime/simulate.cpp", "\"models/network/flow.hpp\""), IsEmpty());
    EXPECT_THAT(includes("tests/x/y_test.cpp", "\"scenarios/run.hpp\""), IsEmpty());
    EXPECT_THAT(includes("models/a.cpp", "\"runtime/simulate.hpp\""), SizeIs(1));
    EXPECT_THAT(includes("sim/engine/a.cpp", "\"topology/cluster.hpp\""), SizeIs(1));
    EXPECT_THAT(includes("sim/base/a.cpp", "\"sim/engine/clock.hpp\""), SizeIs(1));
    EXPECT_THAT(includes("runtime/a.cpp", "\"tests/tidy/source.hpp\""), SizeIs(1));
    EXPECT_THAT(includes("scenarios/a.cpp", "\"reports/x.hpp\""), SizeIs(1));
}

TEST(TidyIncludes, KernelsSeeBaseAndConfigOnly) {
    EXPECT_THAT(includes("kernels/a.cu", "\"sim/base/units.hpp\""), IsEmpty());
    EXPECT_THAT(includes("kernels/a.cpp", "\"sim/config/parse.hpp\""), IsEmpty());
    EXPECT_THAT(includes("kernels/a.cpp", "\"sim/engine/clock.hpp\""), SizeIs(1));
    EXPECT_THAT(includes("models/a.cpp", "\"kernels/gate.hpp\""), IsEmpty());
    EXPECT_THAT(includes("topology/a.cpp", "\"kernels/gate.hpp\""), SizeIs(1));
}

TEST(TidyIncludes, DetailIsPrivateToItsFolder) {
    EXPECT_THAT(includes("topology/router.cpp", "\"topology/detail/csr.hpp\""), IsEmpty());
    EXPECT_THAT(includes("models/a.cpp", "\"topology/detail/csr.hpp\""), SizeIs(1));
}

TEST(TidyIncludes, AreRootRelative) {
    EXPECT_THAT(includes("sim/base/a.cpp", "\"units.hpp\""), SizeIs(1));
    EXPECT_THAT(includes("sim/base/a.cpp", "\"../base/units.hpp\""), SizeIs(1));
}

TEST(TidyIncludes, ThirdPartyHeadersStayInTheirFolders) {
    EXPECT_THAT(includes("models/a.cpp", "<fmt/format.h>"), IsEmpty());
    EXPECT_THAT(includes("sim/base/rng.cpp", "<Random123/philox.h>"), IsEmpty());
    EXPECT_THAT(includes("models/a.cpp", "<Random123/philox.h>"), SizeIs(1));
    EXPECT_THAT(includes("sim/config/a.cpp", "<yaml-cpp/yaml.h>"), IsEmpty());
    EXPECT_THAT(includes("scenarios/a.cpp", "<yaml-cpp/yaml.h>"), SizeIs(1));
    EXPECT_THAT(includes("topology/detail/a.cpp", "<boost/graph/graphml.hpp>"), IsEmpty());
    EXPECT_THAT(includes("topology/a.cpp", "<boost/graph/graphml.hpp>"), SizeIs(1));
    EXPECT_THAT(includes("runtime/a.cpp", "<nlohmann/json.hpp>"), SizeIs(1));
    EXPECT_THAT(includes("sim/engine/parallel/a.cpp", "<thread>"), IsEmpty());
    EXPECT_THAT(includes("models/a.cpp", "<thread>"), SizeIs(1));
    EXPECT_THAT(includes("scenarios/a.cpp", "<gtest/gtest.h>"), SizeIs(1));
    EXPECT_THAT(includes("models/a.cpp", "<surprise/library.hpp>"), SizeIs(1));
    EXPECT_THAT(includes("models/a.cpp", "<vector>"), IsEmpty());
    EXPECT_THAT(includes("models/a.cpp", "<random>"), SizeIs(1));
}

TEST(TidyIncludes, CommentedIncludesDoNotCount) {
    EXPECT_THAT(check_includes(make_source("models/a.cpp", "// #include <thread>\n"), known), IsEmpty());
}

std::string function_of(int lines) {
    std::string text = "namespace a {\nint f(int x) {\n";
    for (int i = 0; i < lines - 2; ++i) text += "    if (x) { x += 1; }\n";
    return text + "}\n}\n";
}

TEST(TidySizes, LongFunctionsAreFound) {
    EXPECT_THAT(check_functions(make_source("a.cpp", function_of(function_lines_most))), IsEmpty());
    const Findings findings = check_functions(make_source("a.cpp", function_of(function_lines_most + 1)));
    ASSERT_THAT(findings, SizeIs(1));
    EXPECT_EQ(findings[0].line, 2);
    EXPECT_THAT(findings[0].wrong, HasSubstr("int f has 81 lines"));
}

TEST(TidySizes, ClassesAndTablesMayBeLong) {
    const std::string filler(100, '\n');
    EXPECT_THAT(check_functions(make_source("a.cpp", "class A {" + filler + "void f() {}\n};")), IsEmpty());
    EXPECT_THAT(check_functions(make_source("a.cpp", "const int table[] = {" + filler + "};")), IsEmpty());
    EXPECT_THAT(check_functions(make_source("a.cpp", "template <class T>\nstruct B {" + filler + "};")), IsEmpty());
}

TEST(TidySizes, MembersTemplatesAndConstructorsCount) {
    const std::string filler(100, '\n');
    EXPECT_THAT(check_functions(make_source("a.cpp", "class A {\nvoid f() const {" + filler + "}\n};")), SizeIs(1));
    EXPECT_THAT(check_functions(make_source("a.cpp", "template <class T>\nT f(T x) {" + filler + "}")), SizeIs(1));
    EXPECT_THAT(check_functions(make_source("a.cpp", "A::A(int x) : x_{x}, y_(x) {" + filler + "}")), SizeIs(1));
    const std::string macro = "#define M(x) {\n";
    EXPECT_THAT(check_functions(make_source("a.cpp", macro + "void f(int x = {}) {" + filler + "}")), SizeIs(1));
}

TEST(TidySizes, ColumnsCountCharactersNotBytes) {
    std::string wide;
    for (int i = 0; i < columns_most; ++i) wide += "\xC3\xA9";
    EXPECT_THAT(check_columns(make_source("a.cpp", wide)), IsEmpty());
    EXPECT_THAT(check_columns(make_source("a.cpp", wide + "x")), SizeIs(1));
}

TEST(TidySizes, FileLengthAndSpread) {
    const SourceFile most = make_source("a.cpp", std::string(file_lines_most, '\n'));
    const SourceFile over = make_source("b.cpp", std::string(file_lines_most + 1, '\n'));
    EXPECT_THAT(check_file_length(most), IsEmpty());
    EXPECT_THAT(check_file_length(over), SizeIs(1));
    std::vector<SourceFile> files(10, make_source("c.cpp", std::string(100, '\n')));
    EXPECT_THAT(check_length_spread(files), IsEmpty());
    files[0] = most;
    EXPECT_THAT(check_length_spread(files), SizeIs(1));  // one of ten is the ninth decile
    files.assign(3, make_source("c.cpp", std::string(file_lines_median + 1, '\n')));
    EXPECT_THAT(check_length_spread(files), SizeIs(1));
}

std::size_t constructs(const std::string& path, const std::string& text) {
    return check_constructs(make_source(path, text)).size();
}

TEST(TidyConstructs, BannedWordsAreFoundInCodeOnly) {
    EXPECT_EQ(constructs("models/a.cpp", "int x = rand();"), 1U);
    EXPECT_EQ(constructs("models/a.cpp", "std::mt19937 engine;"), 1U);
    EXPECT_EQ(constructs("models/a.cpp", "// rand() is banned\nprint(\"rand()\");"), 0U);
    EXPECT_EQ(constructs("models/a.hpp", "using namespace std;"), 1U);
    EXPECT_EQ(constructs("tests/x/a_test.cpp", "using namespace rehearse;"), 0U);
    EXPECT_EQ(constructs("models/a.cpp", "auto t = std::chrono::system_clock::now();"), 1U);
    EXPECT_EQ(constructs("scenarios/results.cpp", "auto t = std::chrono::system_clock::now();"), 0U);
    EXPECT_EQ(constructs("models/a.cpp", "std::map<const Flow*, int> order;"), 1U);
    EXPECT_EQ(constructs("models/a.cpp", "std::map<FlowId, const Flow*> flows;"), 0U);
    EXPECT_EQ(constructs("models/a.cpp", "std::normal_distribution<double> d;"), 1U);
}

TEST(TidyConstructs, UnorderedContainersAreForLookup) {
    const auto count = [](const char* text) { return check_unordered(make_source("models/a.cpp", text)).size(); };
    EXPECT_EQ(count("std::unordered_map<int, int> cache_;"), 1U);
    EXPECT_EQ(count("std::unordered_map<int, int> cache_;  // lookup only"), 0U);
    EXPECT_EQ(count("// lookup only: never walked\nstd::unordered_map<int, int> cache_;"), 0U);
    EXPECT_EQ(count("std::unordered_map<int, int> cache_;  // lookup only\nfor (auto& [k, v] : cache_) f(k);"), 1U);
    EXPECT_EQ(count("std::unordered_set<int> seen;  // lookup only\nauto it = seen.begin();"), 1U);
    EXPECT_EQ(count("std::unordered_set<int> seen;  // lookup only\nfor (int x : seen_list) f(x);"), 0U);
}

TEST(TidyConstructs, BooleanParametersInHeaders) {
    const auto count = [](const char* text) { return check_parameters(make_source("models/a.hpp", text)).size(); };
    EXPECT_EQ(count("void f(bool fast);"), 1U);
    EXPECT_EQ(count("void f(int n,\n       bool fast);"), 1U);
    EXPECT_EQ(count("bool f(int n);\nstruct S { bool on = true; };"), 0U);
    EXPECT_EQ(count("template <class T, bool fast>\nvoid f(T x);"), 0U);
    EXPECT_EQ(count("std::function<void(bool)> done;"), 0U);
}

TEST(TidyConstructs, DeadCodeAndNotesToSelf) {
    const auto count = [](const std::string& text) { return check_comments(make_source("models/a.cpp", text)).size(); };
    EXPECT_EQ(count("// return x + 1;"), 1U);
    EXPECT_EQ(count("//flow.start(at);"), 1U);
    EXPECT_EQ(count("// for (int i = 0; i < n; ++i) {"), 1U);
    EXPECT_EQ(count("// The first wins;"), 0U);
    EXPECT_EQ(count("// Bytes left = size - sent;"), 1U);
    EXPECT_EQ(count("// It ends (see run.cpp);"), 0U);
    EXPECT_EQ(count("// Under one switch 200 + 1,600 = 1,800 ns;"), 0U);
    EXPECT_EQ(count("//     Bytes b = rate * time;"), 0U);
    EXPECT_EQ(count(std::string("int x;  // TO") + "DO: later"), 1U);
}

TEST(TidyConstructs, LayoutAndPaths) {
    EXPECT_THAT(check_layout(make_source("a.cpp", "\tint x;\nint y; \nint z;\r\n")), SizeIs(3));
    EXPECT_THAT(check_layout(make_source("Makefile", "a:\n\tb\n")), IsEmpty());
    EXPECT_THAT(check_paths(make_source("a.md", std::string("see /wo") + "rk/x")), SizeIs(1));
    EXPECT_THAT(check_paths(make_source("a.md", std::string("see ../sha") + "red/data/x.csv")), IsEmpty());
    EXPECT_THAT(check_paths(make_source("a.md", std::string("see ../sha") + "red/facts")), SizeIs(1));
}

TEST(TidyFindings, NamePlaceFaultAndReason) {
    EXPECT_EQ(to_string({"a.cpp", 3, "a tab", "widths differ"}), "a.cpp:3: a tab (widths differ)");
}

}  // namespace
}  // namespace rehearse::tidy
