// `rehearse sensitivity`: one change of the scenario at a time, what it does to the step, and why.
//
//     doubled sizes         layers, hidden, sequence, batch, GPUs, ...
//     halved rates          NVLink, NIC, PCIe, switch ports; peak, memory and NVLink groups of the device profile
//     switched techniques   overlaps, parallel block, window, operators, ZeRO, recomputation, ...
//
// difference = step time changed / step time as written - 1, both with the seed of the scenario. Below `noticeable` a
// change had no effect, and its reason says what bounds the step instead; otherwise the reason names the parts of the
// breakdown that moved most. Every reason is made from the figures of the two runs: breakdown, bytes and utilisation of
// links, degrees, fingerprint. A change that cannot run (memory, divisibility) has its first fault as reason.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "models/metrics/metrics.hpp"
#include "scenarios/scenario.hpp"

namespace rehearse {

inline constexpr double noticeable = 1e-3;  // relative difference of step times

// What a change should do to the step time, from what it is: more work, less bandwidth, a technique made for speed.
enum class Expected : std::uint8_t { slower, faster, either };

// What the program knows of a key: how it is changed and what it acts on.
struct Lever {
    enum class Act : std::uint8_t { doubled, halved, switched };
    std::string key;  // of the scenario, or "profile." and a number of the device profile
    Act act = Act::doubled;
    Expected expected = Expected::either;  // of switched levers: of switching it on
    std::vector<Part> parts;               // of the step that it acts on
    std::optional<LinkTier> tier;          // whose links it acts on
    std::string group;                     // degree (training.parallel.*) of the group it acts on; "" = none
};
const std::vector<Lever>& levers();

struct Change {
    Lever lever;                         // key alone when the program knows no more
    std::string from, to;                // as text
    std::vector<std::string> overrides;  // as of --set
    Expected expected = Expected::either;
};

// The changes of all levers that apply to the scenario, in order of levers().
std::vector<Change> standard_changes(const ValidScenario& scenario);
// "key=value" as a change. InputError without "=".
Change change_of(const ValidScenario& scenario, const std::string& text);

// What one run of a scenario showed.
struct Showing {
    Metrics metrics;
    std::uint64_t fingerprint = 0;
    std::array<double, link_tier_count> busiest{};  // utilisation of the busiest link of each tier, 0 to 1
};

struct Effect {
    Change change;
    std::optional<Showing> after;  // none: it cannot run
    double difference = 0;
    std::string reason;
};

// Why the step is what it is after a change that runs; `degree` is that of the lever's group.
std::string reason_of(const Change& change, std::int64_t degree, const Showing& before, const Showing& after);

struct Sensitivity {
    std::string scenario;
    std::uint64_t seed = 0;
    Showing before;
    std::vector<Effect> effects;
};

struct SensitivityRequest {
    std::string path;
    std::vector<std::string> overrides;
    std::vector<std::string> changes;  // "key=value"; none = the standard ones
    std::string json_path;             // "" = none
    std::int64_t threads = 1;          // changes simulated side by side; 0 = as many as the machine has
};
Sensitivity measure_sensitivity(const SensitivityRequest& request);

std::string sensitivity_text(const Sensitivity& sensitivity);
std::string sensitivity_json(const Sensitivity& sensitivity);  // schema_version 1

// Prints, and writes the JSON. InputError when the scenario as written, or a key of a change, is unsound.
void sensitivity_command(const SensitivityRequest& request);

}  // namespace rehearse
