// What the cross checks find: faults that stop a scenario and warnings that do not, each at the place of its key.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sim/base/fault.hpp"
#include "sim/config/config_node.hpp"

namespace rehearse {

class Findings {
public:
    explicit Findings(const ConfigNode& written) : written_(&written) {}

    void fault(std::string_view key, std::string wrong, std::string expected, std::string todo = "") {
        faults_.add(
            {find_place(*written_, key), std::string(key), std::move(wrong), std::move(expected), std::move(todo)});
    }
    void fault(Fault found) {
        found.place = find_place(*written_, found.path);
        faults_.add(std::move(found));
    }
    void warning(std::string_view key, std::string wrong, std::string todo = "") {
        warnings_.push_back("warning: " + to_string(Fault{find_place(*written_, key), std::string(key),
                                                          std::move(wrong), "", std::move(todo)}));
    }
    bool is_written(std::string_view key) const { return has_key(*written_, key); }
    bool sound() const { return faults_.empty(); }
    void throw_if_any() const { faults_.throw_if_any(); }
    const std::vector<std::string>& warnings() const { return warnings_; }

private:
    const ConfigNode* written_;
    FaultList faults_;
    std::vector<std::string> warnings_;
};

// Runs a step; faults that name a key get the place where the scenario wrote it.
template <class Step>
auto located(const ConfigNode& written, const Step& step) {
    try {
        return step();
    } catch (const InputError& error) {
        Findings findings(written);
        for (const Fault& fault : error.faults()) findings.fault(fault);
        findings.throw_if_any();
        throw;
    }
}

}  // namespace rehearse
