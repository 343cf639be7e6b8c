#include "sim/base/fault.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>
#include <utility>

namespace rehearse {

std::string to_string(const Fault& fault) {
    const Place& place = fault.place;
    std::string text = place.file;
    if (place.line > 0) text = fmt::format("{}:{}:{}", text, place.line, place.column);
    if (!text.empty()) text += ": ";
    if (!fault.path.empty()) text += fmt::format("{}: ", fault.path);
    text += fault.wrong;
    if (!fault.expected.empty()) text += fmt::format(" ({})", fault.expected);
    if (!fault.todo.empty()) text += fmt::format("; {}", fault.todo);
    return text;
}

namespace {

std::string join(const std::vector<Fault>& faults) {
    std::string text;
    for (const Fault& fault : faults) text += fmt::format("{}{}", text.empty() ? "" : "\n", to_string(fault));
    return text;
}

}  // namespace

InputError::InputError(std::vector<Fault> faults) : std::runtime_error(join(faults)), faults_(std::move(faults)) {}

void FaultList::add(Fault fault) {
    if (faults_.size() < kept_most) faults_.push_back(std::move(fault));
    else ++left_out_;
}

void FaultList::throw_if_any() const {
    if (faults_.empty()) return;
    std::vector<Fault> sorted = faults_;
    const auto key = [](const Fault& f) { return std::tie(f.place.file, f.place.line, f.place.column); };
    std::stable_sort(sorted.begin(), sorted.end(), [&](const Fault& a, const Fault& b) { return key(a) < key(b); });
    if (left_out_ > 0) {
        Fault rest;
        rest.wrong = fmt::format("{} more faults are not shown", left_out_);
        sorted.push_back(std::move(rest));
    }
    throw InputError(std::move(sorted));
}

std::string in_quotes(std::string_view text) {
    constexpr std::size_t shown_most = 80;
    constexpr std::size_t kept_each_end = 30;
    const auto append = [](std::string& out, std::string_view part) {
        for (const char c : part) {
            const auto byte = static_cast<unsigned char>(c);
            if (byte >= 0x20 && byte != 0x7f) out += c;
            else out += fmt::format("\\x{:02x}", static_cast<unsigned>(byte));
        }
    };
    std::string out = "\"";
    if (text.size() <= shown_most) {
        append(out, text);
    } else {
        append(out, text.substr(0, kept_each_end));
        out += "...";
        append(out, text.substr(text.size() - kept_each_end));
    }
    return out + "\"";
}

}  // namespace rehearse
