#include "sim/config/load_config.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <string_view>
#include <system_error>
#include <utility>

#include "sim/config/overrides.hpp"
#include "sim/config/parse_yaml.hpp"

namespace rehearse {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t files_max = 1'000;  // includes may fan out; this ends an explosion

// Lays `over` onto `base`. One pass over both: the keys of `over` are looked up in an index, so that files of many keys
// take no quadratic time.
void merge(ConfigNode& base, ConfigNode over) {
    if (base.kind != ConfigNode::Kind::map || over.kind != ConfigNode::Kind::map) {
        base = std::move(over);
        return;
    }
    std::map<std::string_view, std::size_t> index;
    for (std::size_t i = 0; i < over.entries.size(); ++i) index.emplace(over.entries[i].key, i);
    std::vector<bool> merged(over.entries.size(), false);
    for (ConfigEntry& old : base.entries) {
        const auto at = index.find(old.key);
        if (at == index.end()) continue;
        merge(old.value, std::move(over.entries[at->second].value));
        merged[at->second] = true;
    }
    for (std::size_t i = 0; i < over.entries.size(); ++i) {
        if (!merged[i]) base.entries.push_back(std::move(over.entries[i]));
    }
    base.place = over.place;
}

class Loader {
public:
    explicit Loader(FaultList& faults) : faults_(faults) {}

    ConfigNode load_file(const std::string& path, const Place& asked_at) {
        std::string text;
        const std::string why = read_text(path, text);
        if (why.empty()) return load_text(text, path);
        const Place file{path, 0, 0};
        if (asked_at.line == 0) faults_.add({file, "", "cannot read the file", why, ""});
        else faults_.add({asked_at, "include", fmt::format("cannot read {}", in_quotes(path)), why, ""});
        return {};
    }

    ConfigNode load_text(const std::string& text, const std::string& name) {
        ConfigNode own = parse_yaml(text, {name, 1, 1}, faults_);
        if (own.kind == ConfigNode::Kind::null) own.kind = ConfigNode::Kind::map;  // an empty file sets nothing
        if (own.kind != ConfigNode::Kind::map) {
            faults_.add(
                {own.place, "", fmt::format("the file holds {}", describe(own.kind)), "expected a map of keys", ""});
            return {};
        }
        const auto entry = std::find_if(own.entries.begin(), own.entries.end(),
                                        [](const ConfigEntry& e) { return e.key == "include"; });
        if (entry == own.entries.end()) return own;
        const ConfigNode include = std::move(entry->value);
        own.entries.erase(entry);
        return merge_parts(include, std::move(own), name);
    }

private:
    // "" when read, otherwise the reason.
    static std::string read_text(const std::string& path, std::string& text) {
        std::error_code error;
        const fs::file_status status = fs::status(path, error);
        if (!fs::exists(status)) return "no such file";
        if (fs::is_directory(status)) return "it is a folder";
        std::ifstream file(path, std::ios::binary);
        if (!file) return std::strerror(errno);
        // In pieces up to the limit, so that pipes and files that grow are bounded too.
        std::array<char, 1 << 16> piece;
        while (file && text.size() <= static_cast<std::size_t>(config_bytes_max)) {
            file.read(piece.data(), static_cast<std::streamsize>(piece.size()));
            text.append(piece.data(), static_cast<std::size_t>(file.gcount()));
        }
        if (file.bad()) return "reading fails";
        if (text.size() > static_cast<std::size_t>(config_bytes_max))
            return fmt::format("it is larger than {} MiB", config_bytes_max >> 20);
        return "";
    }

    ConfigNode merge_parts(const ConfigNode& include, ConfigNode own, const std::string& name) {
        std::vector<ConfigNode> parts = include.items;
        if (include.kind == ConfigNode::Kind::scalar) parts = {include};
        ConfigNode all;
        all.kind = ConfigNode::Kind::map;
        open_.push_back(identity(name));
        for (const ConfigNode& part : parts) {
            if (part.kind != ConfigNode::Kind::scalar) {
                faults_.add(
                    {part.place, "include", fmt::format("an item is {}", describe(part.kind)), "expected a file", ""});
                continue;
            }
            merge_part(all, part, (fs::path(name).parent_path() / part.text).string());
        }
        open_.pop_back();
        if (include.kind == ConfigNode::Kind::null || include.kind == ConfigNode::Kind::map)
            faults_.add({include.place, "include", fmt::format("the value is {}", describe(include.kind)),
                         "expected a file or a list of files", ""});
        merge(all, std::move(own));
        return all;
    }

    void merge_part(ConfigNode& all, const ConfigNode& part, const std::string& path) {
        if (std::find(open_.begin(), open_.end(), identity(path)) != open_.end()) {
            faults_.add(
                {part.place, "include", fmt::format("{} includes itself", in_quotes(part.text)), "no cycles", ""});
            return;
        }
        if (++files_ > files_max) {
            if (files_ == files_max + 1)
                faults_.add({part.place, "include", "too many files", fmt::format("at most {}", files_max), ""});
            return;
        }
        ConfigNode loaded = load_file(path, part.place);
        if (loaded.kind == ConfigNode::Kind::map) merge(all, std::move(loaded));
    }

    static std::string identity(const std::string& path) {
        std::error_code error;
        const fs::path canonical = fs::weakly_canonical(path, error);
        return error ? path : canonical.string();
    }

    FaultList& faults_;
    std::vector<std::string> open_;  // files whose includes are being read
    std::size_t files_ = 0;
};

ConfigNode finish(ConfigNode root, const std::vector<std::string>& overrides, FaultList& faults) {
    faults.throw_if_any();
    apply_overrides(root, overrides, faults);
    faults.throw_if_any();
    return root;
}

}  // namespace

ConfigNode load_config(const std::string& path, const std::vector<std::string>& overrides) {
    FaultList faults;
    ConfigNode root = Loader(faults).load_file(path, {});
    return finish(std::move(root), overrides, faults);
}

ConfigNode parse_config(const std::string& text, const std::string& name, const std::vector<std::string>& overrides) {
    FaultList faults;
    ConfigNode root = Loader(faults).load_text(text, name);
    return finish(std::move(root), overrides, faults);
}

}  // namespace rehearse
