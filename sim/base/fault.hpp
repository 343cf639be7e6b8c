// A fault in the user's input, and the one grammar in which every such fault is printed:
//     file:line:col: path.of.key: what is wrong (what was expected); what to do
// All faults of one input are collected and thrown together as InputError (exit code 2).
#pragma once

#include <cstddef>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace rehearse {

struct Place {
    std::string file;
    int line = 0;    // one-based; 0 = unknown
    int column = 0;  // one-based; 0 = unknown
};

struct Fault {
    Place place;
    std::string path;      // dotted key, "" = whole file
    std::string wrong;     // what is wrong
    std::string expected;  // what was expected, "" = left out
    std::string todo;      // what to do, "" = left out
};

std::string to_string(const Fault& fault);

class InputError : public std::runtime_error {
public:
    explicit InputError(std::vector<Fault> faults);
    const std::vector<Fault>& faults() const { return faults_; }

private:
    std::vector<Fault> faults_;
};

// Collects the faults of one input. Example: FaultList faults; ...add as you find them...; faults.throw_if_any();
// Of an input with more than `kept_most` faults the first ones are kept and the others are counted.
class FaultList {
public:
    static constexpr std::size_t kept_most = 100;

    void add(Fault fault);
    bool empty() const { return faults_.empty(); }
    std::size_t size() const { return faults_.size() + left_out_; }
    const std::vector<Fault>& faults() const { return faults_; }
    // Throws InputError with all faults, in the order of file, line and column.
    void throw_if_any() const;

private:
    std::vector<Fault> faults_;
    std::size_t left_out_ = 0;
};

// The text in double quotes, fit for one line of a terminal: control characters escaped, long text cut in the middle.
std::string in_quotes(std::string_view text);

}  // namespace rehearse
