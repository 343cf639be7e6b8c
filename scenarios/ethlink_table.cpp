#include "scenarios/ethlink_table.hpp"

#include <fmt/format.h>

#include "scenarios/reading/words.hpp"
#include "sim/base/units_text.hpp"
#include "sim/trace/table.hpp"

namespace rehearse {

namespace {

std::string cross_over_line(const EthLinkSpec& spec, Urgency urgency, std::string_view who) {
    const Bytes size = cross_over(spec, urgency);
    if (size == Bytes{0}) return fmt::format("{}: RDMA at every size\n", who);
    return fmt::format("{}: load/store up to {}, RDMA beyond\n", who, format(size));
}

std::string parameters(const EthLinkSpec& spec) {
    return fmt::format(
        "{} a link, {} framing; published: packets below 2 KB (here {}), latency below 1 us (here {})\n"
        "assumed: RDMA setup {}, completion {}, posting {}; load/store packets of {}, {} compute units with {} "
        "outstanding each\n\n",
        format(spec.rate), word_for(framing_words, spec.framing), format(spec.mtu), format(spec.latency),
        format(spec.setup), format(spec.completion), format(spec.post), format(spec.store), spec.units,
        format(spec.outstanding));
}

}  // namespace

std::string ethlink_table(const EthLinkSpec& spec) {
    constexpr EthLinkSemantics rdma = EthLinkSemantics::rdma, load_store = EthLinkSemantics::load_store;
    Table table({"message", "RDMA us", "load/store us", "RDMA unit us", "load/store unit us", "urgent", "hidden"});
    const auto word = [&](Bytes size, Urgency urgency) {
        return choose_semantics(spec, size, urgency) == rdma ? "RDMA" : "load/store";
    };
    const auto microseconds_of = [](double seconds) { return fmt::format("{:.3f}", seconds * 1e6); };
    for (std::int64_t bytes = 64; bytes <= std::int64_t{1} << 24; bytes *= 4) {
        const Bytes size{bytes};
        table.add({format(size), microseconds_of(transfer_time(spec, rdma, size).seconds()),
                   microseconds_of(transfer_time(spec, load_store, size).seconds()),
                   microseconds_of(compute_unit_seconds(spec, rdma, size)),
                   microseconds_of(compute_unit_seconds(spec, load_store, size)), word(size, Urgency::urgent),
                   word(size, Urgency::hidden)});
    }
    return parameters(spec) + table.render(TableFormat::text) + "\n" +
           cross_over_line(spec, Urgency::urgent, "a message that somebody waits for") +
           cross_over_line(spec, Urgency::hidden, "a message hidden behind compute");
}

}  // namespace rehearse
