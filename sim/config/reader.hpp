// Typed reading of a ConfigNode: each getter leaves the default in place when its key is absent and otherwise checks
// and converts; every fault goes to one list with file, line, column and dotted key, so that the user sees all at once.
//
//     FaultList faults;
//     Reader root(tree, "", faults);
//     Reader node = root.child("node");
//     node.read("gpus", spec.gpus, at_least(1));
//     node.read("nvlink", spec.nvlink);
//     node.read_enum("hash", spec.hash, {{"crc32", HashFunction::crc32}, {"xor16", HashFunction::xor16}});
//     node.finish();                        // unknown keys, with the nearest known one
//     root.finish();
//     faults.throw_if_any();
//
// Numbers are decimal ("010", "0x8" and, for integers, "1e6" are refused) and not negative unless a range says so;
// quantities carry a unit (units_text.hpp); a Switch is on, off, true, false, yes or no. An empty value (`key:`) is a
// fault for a getter and an empty map for child(). The tree and the list must outlive the reader.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/base/fault.hpp"
#include "sim/base/switch.hpp"
#include "sim/base/units_text.hpp"
#include "sim/config/config_node.hpp"

namespace rehearse {

struct IntegerRange {  // both ends allowed
    std::int64_t min = 0;
    std::int64_t max = std::numeric_limits<std::int64_t>::max();
};
struct RealRange {  // both ends allowed
    double min = 0;
    double max = std::numeric_limits<double>::infinity();
};
constexpr IntegerRange at_least(std::int64_t min) { return {min, std::numeric_limits<std::int64_t>::max()}; }
constexpr IntegerRange any_integer() { return at_least(std::numeric_limits<std::int64_t>::min()); }
constexpr RealRange any_real() {
    return {-std::numeric_limits<double>::infinity(), std::numeric_limits<double>::infinity()};
}

class Reader {
public:
    // `path` is the dotted key of the node, "" for the root. A node that is neither a map nor null is a fault.
    Reader(const ConfigNode& node, std::string path, FaultList& faults);

    bool has(std::string_view key) const { return node_->find(key) != nullptr; }
    const ConfigNode& node() const { return *node_; }
    std::string path(std::string_view key) const;  // "a.b" + key
    const std::string& path() const { return path_; }
    Place place(std::string_view key) const;  // of the value; of this map when the key is absent
    std::vector<std::string> keys() const;    // in the order of the file; marks none as known

    Reader child(std::string_view key);                  // absent: an empty map
    std::vector<Reader> children(std::string_view key);  // a list of maps; absent: none

    void read(std::string_view key, std::string& value);
    void read(std::string_view key, std::int64_t& value, IntegerRange range = {});
    void read(std::string_view key, std::uint64_t& value);
    void read(std::string_view key, double& value, RealRange range = {});
    void read(std::string_view key, Switch& value);
    void read(std::string_view key, SimDuration& value);
    void read(std::string_view key, Bytes& value);
    void read(std::string_view key, Bandwidth& value);
    void read(std::string_view key, FlopRate& value);
    void read(std::string_view key, Ratio& value);

    // Lists replace the default as a whole; a single value stands for a list of one.
    void read(std::string_view key, std::vector<std::string>& values);
    void read(std::string_view key, std::vector<std::int64_t>& values, IntegerRange range = {});
    void read(std::string_view key, std::vector<double>& values, RealRange range = {});
    void read(std::string_view key, std::vector<SimDuration>& values);
    void read(std::string_view key, std::vector<Bytes>& values);
    void read(std::string_view key, std::vector<Bandwidth>& values);
    void read(std::string_view key, std::vector<Ratio>& values);

    template <class E>
    void read_enum(std::string_view key, E& value, std::initializer_list<std::pair<std::string_view, E>> names) {
        std::vector<std::string> words;
        for (const auto& name : names) words.emplace_back(name.first);
        if (const std::optional<std::size_t> at = choose(key, words)) value = (names.begin() + *at)->second;
    }
    template <class E>
    void read_enum(std::string_view key, std::vector<E>& values,
                   std::initializer_list<std::pair<std::string_view, E>> names) {
        std::vector<std::string> words;
        for (const auto& name : names) words.emplace_back(name.first);
        if (const auto chosen = choose_all(key, words)) {
            values.clear();
            for (const std::size_t at : *chosen) values.push_back((names.begin() + at)->second);
        }
    }

    // A fault when the key is absent; `why` completes "... is missing".
    void require(std::string_view key, std::string_view why = "");
    // A fault of the caller's own at this key.
    void fault(std::string_view key, std::string wrong, std::string expected = "", std::string todo = "");
    // The key is allowed and read in another way (through node()).
    void allow(std::string_view key) { use(key); }
    // Reports each key that nobody asked for. Call once, after the last read.
    void finish();

private:
    const ConfigNode* use(std::string_view key);  // marks the key as known
    std::optional<std::size_t> choose(std::string_view key, const std::vector<std::string>& words);
    std::optional<std::vector<std::size_t>> choose_all(std::string_view key, const std::vector<std::string>& words);
    template <class T, class Parse>
    void read_one(std::string_view key, T& value, const Parse& parse);
    template <class T, class Parse>
    void read_list(std::string_view key, std::vector<T>& values, const Parse& parse);
    template <class T, class Parse>
    bool convert(const ConfigNode& node, const std::string& path, T& value, const Parse& parse);

    const ConfigNode* node_;
    std::string path_;
    FaultList* faults_;
    std::vector<std::string> known_;
};

}  // namespace rehearse
