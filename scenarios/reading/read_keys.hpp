// The visitor of scenario_keys.hpp that reads: absent keys leave their defaults, every fault goes to one list.
#pragma once

#include <type_traits>
#include <utility>

#include "scenarios/net/sweep.hpp"
#include "scenarios/reading/scenario_keys.hpp"

namespace rehearse {

class ReadKeys {
public:
    // `folder` is that of the scenario file, where profiles are looked for first. All must outlive the visitor.
    ReadKeys(Reader& root, std::string folder, FaultList& faults)
        : at_(&root), folder_(std::move(folder)), faults_(&faults) {}

    template <class Body>
    void section(std::string_view key, const Body& body, std::string_view required = "") {
        if (!required.empty()) at_->require(key, required);
        if (!required.empty() && !at_->has(key)) return;  // one fault, not one for each key of the section
        Reader child = at_->child(key);
        Reader* const above = std::exchange(at_, &child);
        body();
        child.finish();
        at_ = above;
    }
    template <class Body>
    void part(std::string_view key, Switch, const Body& body) {
        section(key, body);
    }
    template <class T>
    void value(std::string_view key, T& value, const KeyNote& note = {}) {
        if (!note.required.empty()) at_->require(key, note.required);
        if constexpr (std::is_same_v<T, std::int64_t>) at_->read(key, value, note.range);
        else at_->read(key, value);
    }
    template <class E>
    void word(std::string_view key, E& value, const Words<E>& words, std::string_view required = "") {
        if (!required.empty()) at_->require(key, required);
        at_->read_enum(key, value, words);
    }
    template <class E>
    void rare_word(std::string_view key, E& value, const Words<E>& words) {
        word(key, value, words);
    }
    template <class T, class Body>
    void one_or_list(std::string_view key, std::vector<T>& items, const Body& body) {
        if (at_->has(key)) return list(key, items, body);
        items.clear();
        body(items.emplace_back());
    }
    template <class T, class Body>
    void list(std::string_view key, std::vector<T>& items, const Body& body) {
        items.clear();
        for (Reader& child : at_->children(key)) {
            Reader* const above = std::exchange(at_, &child);
            body(items.emplace_back());
            child.finish();
            at_ = above;
        }
    }
    void rate(std::string_view key, Bandwidth& rate);
    void byte_rate(std::string_view key, Bandwidth& rate, const KeyNote& = {});
    void duration(std::string_view key, SimDuration& duration);
    void flag(std::string_view key, bool& value);
    void share(std::string_view key, Ratio& value, double most);
    void fault(std::string_view key, const char* wrong, const char* expected) { at_->fault(key, wrong, expected); }

    void chip(std::string_view key, FabricSpec& fabric);  // its name sets ports and rate; their own keys come after it
    void rank_order(std::string_view key, ParallelSpec& parallel);
    void replicas(std::string_view key, std::int64_t& data);    // absent: what the GPUs leave
    void window(std::string_view key, std::int64_t& window);    // tokens; "off" reads better than 0
    void profile(std::string_view key, ModelsSpec& models);     // and the file that it names
    void slice(std::string_view key, SliceSpec& slice);         // slice_text.hpp
    void trace(std::string_view key, PatternSpec& pattern);     // and the flows in the file that it names
    void sweep(std::string_view key, std::vector<SweepAxis>& axes);
    void routing_source(std::string_view key, RoutingSpec& routing, std::int64_t experts);  // a router trace
    void ablation(std::string_view key, std::vector<AblationGroup>& groups);  // their form; check_ablation() the rest

private:
    void out_of_range(std::string_view key, const std::string& expected);

    Reader* at_;
    std::string folder_;
    FaultList* faults_;
};

}  // namespace rehearse
