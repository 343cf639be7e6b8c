#include "sim/config/parse_yaml.hpp"

#include <fmt/format.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <sstream>
#include <utility>

#include "sim/config/utf8.hpp"

namespace rehearse {

namespace {

// Thrown out of the parser when going on makes no sense.
struct GiveUp {
    Fault fault;
};

// Builds the tree from yaml-cpp's events. Working from events and not from YAML::Node shows duplicate keys, keeps marks
// exact and bounds memory before it is used.
class TreeBuilder final : public YAML::EventHandler {
public:
    TreeBuilder(Place source, FaultList& faults) : source_(std::move(source)), faults_(faults) {}

    void OnDocumentStart(const YAML::Mark& mark) override {
        if (documents_++ > 0) throw GiveUp{fault_at(mark, "a second document begins", "one document per file")};
    }
    void OnDocumentEnd() override {}
    void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
        add(make(mark, ConfigNode::Kind::null), mark, anchor, 0);
    }
    void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
        const auto found = anchors_.find(anchor);
        if (found == anchors_.end())
            throw GiveUp{fault_at(mark, "the alias stands inside the node that it names", "no cycles")};
        count_nodes(mark, found->second.nodes);
        check_levels(mark, stack_.size() + found->second.levels);
        add(found->second.node, mark, 0, found->second.levels);
    }
    void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  const std::string& value) override {
        check_tag(mark, tag);
        ConfigNode node = make(mark, ConfigNode::Kind::scalar);
        node.text = value;
        add(std::move(node), mark, anchor, 0);
    }
    void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                         YAML::EmitterStyle::value) override {
        open(mark, tag, anchor, ConfigNode::Kind::list);
    }
    void OnSequenceEnd() override { close(); }
    void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                    YAML::EmitterStyle::value) override {
        open(mark, tag, anchor, ConfigNode::Kind::map);
    }
    void OnMapEnd() override { close(); }

    ConfigNode take_root() { return std::move(root_); }
    Place place_of(const YAML::Mark& mark) const {
        if (source_.line == 0 || mark.is_null()) return source_;
        return {source_.file, mark.line + 1, mark.column + 1};  // yaml-cpp counts from zero
    }

private:
    struct Frame {
        ConfigNode node;
        YAML::Mark mark;
        YAML::anchor_t anchor = 0;
        std::size_t nodes_before = 0;
        std::size_t levels = 1;                                 // of this node and what it holds
        std::map<std::string, int> lines;                       // of the keys seen, to name the first of a pair
        std::optional<std::pair<std::string, Place>> open_key;  // read, its value not yet
        bool keep_value = true;                                 // false for the value of a refused key
    };
    struct Anchored {
        ConfigNode node;
        std::size_t nodes;
        std::size_t levels;
    };

    Fault fault_at(const YAML::Mark& mark, std::string wrong, std::string expected) const {
        return {place_of(mark), "", std::move(wrong), std::move(expected), ""};
    }

    ConfigNode make(const YAML::Mark& mark, ConfigNode::Kind kind) {
        count_nodes(mark, 1);
        ConfigNode node;
        node.kind = kind;
        node.place = place_of(mark);
        return node;
    }

    void count_nodes(const YAML::Mark& mark, std::size_t more) {
        nodes_ += more;
        if (nodes_ > config_nodes_max)
            throw GiveUp{fault_at(mark, "too many nodes", fmt::format("at most {}", config_nodes_max))};
    }

    void check_levels(const YAML::Mark& mark, std::size_t levels) const {
        if (levels > static_cast<std::size_t>(config_levels_max))
            throw GiveUp{fault_at(mark, "nested too deeply", fmt::format("at most {} levels", config_levels_max))};
    }

    void check_tag(const YAML::Mark& mark, const std::string& tag) {
        // yaml-cpp says "?" for plain and "!" for quoted scalars, "" where nothing was said.
        if (!tag.empty() && tag != "?" && tag != "!")
            faults_.add(fault_at(mark, fmt::format("the tag {} is not supported", in_quotes(tag)), "plain text"));
    }

    void open(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor, ConfigNode::Kind kind) {
        check_tag(mark, tag);
        check_levels(mark, stack_.size() + 1);
        Frame frame;
        frame.nodes_before = nodes_;
        frame.node = make(mark, kind);
        frame.mark = mark;
        frame.anchor = anchor;
        stack_.push_back(std::move(frame));
    }

    void close() {
        Frame frame = std::move(stack_.back());
        stack_.pop_back();
        if (frame.anchor != 0) {
            const std::size_t nodes = nodes_ - frame.nodes_before;
            count_nodes(frame.mark, nodes);  // the copy that later aliases take from
            anchors_[frame.anchor] = {frame.node, nodes, frame.levels};
        }
        add(std::move(frame.node), frame.mark, 0, frame.levels);
    }

    void add(ConfigNode node, const YAML::Mark& mark, YAML::anchor_t anchor, std::size_t levels) {
        if (anchor != 0) anchors_[anchor] = {node, 1, levels};
        if (stack_.empty()) {
            root_ = std::move(node);
            return;
        }
        Frame& frame = stack_.back();
        frame.levels = std::max(frame.levels, levels + 1);
        if (frame.node.kind == ConfigNode::Kind::list) {
            frame.node.items.push_back(std::move(node));
        } else if (!frame.open_key) {
            add_key(frame, node, mark);
        } else {
            auto [key, place] = std::move(*frame.open_key);
            frame.open_key.reset();
            if (frame.keep_value) frame.node.entries.push_back({std::move(key), std::move(place), std::move(node)});
        }
    }

    void add_key(Frame& frame, const ConfigNode& key, const YAML::Mark& mark) {
        frame.open_key.emplace(key.text, place_of(mark));
        frame.keep_value = false;
        if (key.kind != ConfigNode::Kind::scalar) {
            faults_.add(fault_at(mark, fmt::format("a key is {}", describe(key.kind)), "a word"));
        } else if (key.text == "<<") {
            faults_.add({place_of(mark), "", "merge keys are not supported", "", "write the keys out, or use include"});
        } else if (const auto [seen, fresh] = frame.lines.emplace(key.text, mark.line + 1); !fresh) {
            faults_.add({place_of(mark), "", fmt::format("duplicate key {}", in_quotes(key.text)),
                         source_.line == 0 ? "" : fmt::format("first in line {}", seen->second),
                         "remove one of the two"});
        } else {
            frame.keep_value = true;
        }
    }

    Place source_;
    FaultList& faults_;
    ConfigNode root_;
    std::vector<Frame> stack_;
    std::map<YAML::anchor_t, Anchored> anchors_;
    std::size_t nodes_ = 0;
    int documents_ = 0;
};

// Line and column (in characters) of a byte; an option on the command line stays as it is.
Place place_in(const std::string& text, std::size_t at, const Place& source) {
    if (source.line == 0) return source;
    const auto begin = text.begin(), end = begin + static_cast<std::ptrdiff_t>(at);
    const auto line_begin = std::find(std::make_reverse_iterator(end), text.rend(), '\n').base();
    const auto begins_character = [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; };
    return {source.file, static_cast<int>(std::count(begin, end, '\n')) + 1,
            static_cast<int>(std::count_if(line_begin, end, begins_character)) + 1};
}

}  // namespace

ConfigNode parse_yaml(const std::string& text, const Place& source, FaultList& faults) {
    if (const std::size_t at = find_non_utf8(text); at < text.size()) {
        const auto byte = static_cast<unsigned>(static_cast<unsigned char>(text[at]));
        faults.add({place_in(text, at, source), "", fmt::format("the byte 0x{:02x} is not UTF-8", byte),
                    "expected text in UTF-8", "save it as UTF-8"});
        return {};
    }
    TreeBuilder builder(source, faults);
    try {
        std::istringstream stream(text);
        YAML::Parser parser(stream);
        while (parser.HandleNextDocument(builder)) {
        }
    } catch (const GiveUp& stop) {
        faults.add(stop.fault);
    } catch (const YAML::Exception& error) {
        faults.add({builder.place_of(error.mark), "", error.msg, "", ""});
    }
    ConfigNode root = builder.take_root();
    if (root.kind == ConfigNode::Kind::null) root.place = source;
    return root;
}

}  // namespace rehearse
