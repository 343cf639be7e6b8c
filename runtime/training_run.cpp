#include "runtime/training_run.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "runtime/transfer_token.hpp"

namespace rehearse {

namespace {

constexpr std::size_t index_of(Part part) { return static_cast<std::size_t>(part); }
constexpr std::size_t index_of(Direction direction) { return static_cast<std::size_t>(direction); }

// Each rank has one route in each direction.
constexpr std::uint64_t route_key(std::uint32_t sender, Direction direction) {
    return (std::uint64_t{sender} << 1 | index_of(direction)) + 1;
}

// A receive names the neighbour; what the previous stage sent travels to_next, and that direction's inbox is read.
constexpr Direction inbox_of(const Instruction& receive) {
    return receive.direction == Direction::to_previous ? Direction::to_next : Direction::to_previous;
}

// Of a work. The host's synchronisation after an exchange is a work of the pipeline: its device computes nothing.
constexpr SpanStream stream_of(Part part) {
    return part == Part::pp_exposed ? SpanStream::pipeline : SpanStream::compute;
}

}  // namespace

std::vector<std::uint32_t> hosts_of_ranks(const Placement& placement, const Cluster& cluster) {
    std::vector<std::uint32_t> index(cluster.node_count(), no_index), hosts(placement.rank_count());
    std::uint32_t count = 0;
    for (std::uint32_t rank = 0; rank < placement.rank_count(); ++rank) {
        std::uint32_t& host = index[cluster.node_of(placement.gpu(RankId{rank})).value];
        if (host == no_index) host = count++;
        hosts[rank] = host;
    }
    return hosts;
}

TrainingRun::TrainingRun(const TrainingRunInputs& inputs, NetworkModel& network) : in_(inputs), network_(network) {
    const RankLayout& layout = in_.workload.layout;
    const std::uint32_t n = layout.rank_count();
    REHEARSE_CHECK(in_.placement.rank_count() == n, "placement and layout disagree on the number of ranks");
    ranks_.resize(n);
    parts_.resize(n);
    last_arrivals_.resize(n);
    sampled_.resize(n);
    for (RankId rank : in_.sampled) sampled_[rank.value] = 1;
    local_size_ = layout.group_size(GroupFamily::local);
    local_groups_.resize(layout.group_count(GroupFamily::local));
    for (std::uint32_t group = 0; group < local_groups_.size(); ++group) {
        local_groups_[group].first = static_cast<std::uint32_t>(local_members_.size());
        for (RankId member : layout.members(GroupFamily::local, group)) {
            local_members_.push_back(member.value);
            ranks_[member.value].local_group = group;
        }
    }
    const std::vector<std::uint32_t> hosts = hosts_of_ranks(in_.placement, in_.cluster);
    for (std::uint32_t rank = 0; rank < n; ++rank) {
        ranks_[rank].stage = layout.coordinate(RankId{rank}).pipeline;
        ranks_[rank].speed = in_.variation.host_factor(hosts[rank]);
        ranks_[rank].neighbour[index_of(Direction::to_next)] = layout.next_stage(RankId{rank}).value;
        ranks_[rank].neighbour[index_of(Direction::to_previous)] = layout.previous_stage(RankId{rank}).value;
    }
    for (std::size_t family = 0; family < group_family_count; ++family) {
        for (const Program& program : in_.workload.programs) {
            per_group_[family] = std::max(per_group_[family], program.collectives[family]);
        }
        if (per_group_[family] == 0) continue;
        const std::uint32_t groups = layout.group_count(static_cast<GroupFamily>(family));
        collectives_[family].resize(std::size_t{groups} * per_group_[family]);
    }
}

// Ranks are called up by their messages, in no order of memory. What the next ones will touch is fetched while the
// present one runs: first the message, then its receiver, then what that will want to send. (Inlined by force: the
// compiler takes a call of a function that only fetches for useless.)
[[gnu::always_inline]] inline void TrainingRun::fetch_ahead() {
    std::size_t ahead = 0;
    for (const std::uint64_t token : network_.upcoming()) {
        const std::size_t step = ahead++;
        if (CollectiveToken::is(token)) continue;
        const Message& message = messages_[static_cast<std::uint32_t>(token)];
        if (step >= 2) {
            __builtin_prefetch(&message);
            continue;
        }
        const RankCursor& receiver = ranks_[message.receiver];
        if (step == 1) {
            __builtin_prefetch(&receiver);
            network_.expect(route_key(message.receiver, message.direction));
            __builtin_prefetch(&parts_[message.receiver]);
            __builtin_prefetch(&parts_[message.receiver].back());
        } else {
            __builtin_prefetch(&ranks_[receiver.neighbour[index_of(message.direction)]]);
            const auto& [next, previous] = receiver.first_lane;
            for (const std::uint32_t held : {receiver.outbox, next.head, previous.head}) {
                if (held != no_index) __builtin_prefetch(&messages_[held]);
            }
        }
    }
}

Timeline TrainingRun::run() {
    for (auto rank = static_cast<std::uint32_t>(ranks_.size()); rank-- > 0;) runnable_.push_back(rank);
    std::vector<Completion> done;
    while (true) {
        while (!runnable_.empty()) {
            const std::uint32_t rank = runnable_.back();
            runnable_.pop_back();
            advance_rank(rank);
        }
        const SimTime next = network_.next_event_time();
        if (next == never) break;
        done.clear();
        network_.advance(next, done);
        fetch_ahead();
        for (const Completion& completion : done) deliver(completion);
    }
    check_all_finished();

    Timeline timeline;
    for (const RankCursor& rank : ranks_) timeline.end = std::max(timeline.end, rank.now);
    for (std::uint32_t rank = 0; rank < ranks_.size(); ++rank) {
        parts_[rank][index_of(Part::straggler_wait)] += timeline.end - ranks_[rank].now;
        fingerprint_.add(static_cast<std::uint64_t>(ranks_[rank].now.value));
    }
    timeline.parts = std::move(parts_);
    timeline.spans = std::move(spans_);
    timeline.last_arrivals = std::move(last_arrivals_);
    timeline.traffic = network_.traffic();
    timeline.packets = network_.packet_share();
    timeline.events = instructions_ + network_.events();
    timeline.fingerprint = fingerprint_.value();
    return timeline;
}

void TrainingRun::advance_rank(std::uint32_t rank) {
    RankCursor& cursor = ranks_[rank];
    const std::vector<Instruction>& program = in_.workload.programs[cursor.stage].instructions;
    cursor.waiting = Waiting::nothing;
    while (cursor.next < program.size()) {
        const Instruction& instruction = program[cursor.next];
        bool goes_on = true;
        switch (instruction.op) {
            case Op::work: goes_on = run_work(rank, instruction); break;
            case Op::send: send(rank, instruction); break;
            case Op::offer: offer(rank, instruction); break;
            case Op::receive: goes_on = receive(rank, instruction); break;
            case Op::flush: goes_on = flush(rank); break;
            case Op::collective: post(rank, instruction); break;
            case Op::await: goes_on = await(rank, instruction); break;
        }
        if (!goes_on) return;
        ++cursor.next;
        ++instructions_;
    }
    cursor.waiting = Waiting::finished;
}

// A work with collectives is run for the whole local group by the member that arrives last; the others become runnable
// behind it. A work without is the rank's own affair: nobody waits, and nobody is set back to before the last arrival.
bool TrainingRun::run_work(std::uint32_t rank, const Instruction& instruction) {
    RankCursor& cursor = ranks_[rank];
    if (local_size_ == 1 || !in_.prices[instruction.index].meets()) {
        execute_work({&rank, 1}, instruction);
        return true;
    }
    LocalGroup& group = local_groups_[cursor.local_group];
    if (++group.arrived < local_size_) {
        cursor.waiting = Waiting::local_group;
        return false;
    }
    group.arrived = 0;
    execute_work({&local_members_[group.first], local_size_}, instruction);
    for (std::uint32_t i = local_size_; i-- > 0;) {
        const std::uint32_t member = local_members_[group.first + i];
        if (member == rank) continue;
        const RankCursor& other = ranks_[member];
        REHEARSE_CHECK(other.next == cursor.next && other.stage == cursor.stage,
                       fmt::format("ranks {} and {} of one local group run different instructions", rank, member));
        ++ranks_[member].next;
        ++instructions_;
        runnable_.push_back(member);
    }
    return true;
}

void TrainingRun::execute_work(std::span<const std::uint32_t> members, const Instruction& instruction) {
    const std::uint32_t counter = ranks_[members[0]].next;
    begins_.clear();
    factors_.clear();
    for (const std::uint32_t member : members) {
        begins_.push_back(ranks_[member].now);
        factors_.push_back(ranks_[member].speed * in_.variation.jitter_factor(member, counter));
    }
    const PricedWork& work = in_.prices[instruction.index];
    for (const PricedSegment& segment : work.segments) {
        const SimDuration* own = segment.members == PricedSegment::no_members ? nullptr
                                                                             : work.of_member[segment.members].data();
        SimTime latest;
        for (std::size_t i = 0; i < members.size(); ++i) {
            RankCursor& cursor = ranks_[members[i]];
            const SimDuration mean = own == nullptr ? segment.compute : own[i];
            const SimDuration time = factors_[i] == 1.0 ? mean : mean * Ratio{factors_[i]};
            parts_[members[i]][index_of(instruction.part)] += time;
            cursor.now = cursor.now + time;
            latest = std::max(latest, cursor.now);
        }
        // Members with times of their own meet at a hidden collective too: it ends with the rows of the last one.
        if (segment.communication.value == 0 && (own == nullptr || segment.collective.value == 0)) continue;
        for (std::size_t i = 0; i < members.size(); ++i) {
            RankCursor& cursor = ranks_[members[i]];
            PartTimes& parts = parts_[members[i]];
            const SimTime computed = cursor.now;
            parts[index_of(Part::straggler_wait)] += latest - computed;
            parts[index_of(segment.part)] += segment.communication;
            cursor.now = latest + segment.communication;
            if (!sampled_[members[i]]) continue;
            add_span(members[i], stream_of(instruction.part), instruction.part, instruction, begins_[i], computed);
            add_span(members[i], SpanStream::tensor, Part::straggler_wait, instruction, computed, latest);
            add_span(members[i], SpanStream::tensor, segment.part, instruction, latest, cursor.now);
            begins_[i] = cursor.now;
        }
    }
    for (std::size_t i = 0; i < members.size(); ++i) {
        if (!sampled_[members[i]]) continue;
        add_span(members[i], stream_of(instruction.part), instruction.part, instruction, begins_[i],
                 ranks_[members[i]].now);
    }
}

void TrainingRun::send(std::uint32_t rank, const Instruction& instruction) {
    const std::size_t d = index_of(instruction.direction);
    RankCursor& sender = ranks_[rank];
    const std::uint32_t peer = sender.neighbour[d];
    RankCursor& receiver = ranks_[peer];
    while (sender.outbox != no_index && messages_[sender.outbox].arrived <= sender.now) {
        const std::uint32_t done = sender.outbox;  // let go of sends that are through, so that the pool stays small
        sender.outbox = messages_[done].outbox_next;
        messages_.release(done);
    }
    if (sender.outbox == no_index) sender.outbox_tail = no_index;
    const std::uint32_t index = messages_.make();
    Message& message = messages_[index];
    message.posted = sender.now;
    message.sender = rank;
    message.receiver = peer;
    message.direction = instruction.direction;
    message.lane = instruction.lane;
    Inbox& inbox = receiver.inbox(instruction.direction, instruction.lane);
    if (inbox.tail == no_index) {
        inbox.head = index;
    } else {
        messages_[inbox.tail].inbox_next = index;
    }
    inbox.tail = index;
    if (sender.outbox_tail == no_index) {
        sender.outbox = index;
    } else {
        messages_[sender.outbox_tail].outbox_next = index;
    }
    sender.outbox_tail = index;

    if (in_.workload.programs[sender.stage].rendezvous == Rendezvous::none) {
        start_message(index, sender.now);
    } else if (receiver.offered[d] != never) {
        start_message(index, std::max(sender.now, receiver.offered[d]));
        receiver.offered[d] = never;
    }
}

// Posts a receive. A batched exchange offers at most one message per direction, so one time per direction is enough.
void TrainingRun::offer(std::uint32_t rank, const Instruction& instruction) {
    RankCursor& cursor = ranks_[rank];
    const auto d = index_of(inbox_of(instruction));
    std::uint32_t index = cursor.inbox(inbox_of(instruction), instruction.lane).head;
    while (index != no_index && messages_[index].sent != never) index = messages_[index].inbox_next;
    if (index == no_index) {
        REHEARSE_CHECK(cursor.offered[d] == never, "two receives of one direction are posted before a message came");
        cursor.offered[d] = cursor.now;
    } else {
        start_message(index, std::max(messages_[index].posted, cursor.now));
    }
}

void TrainingRun::start_message(std::uint32_t index, SimTime at) {
    Message& message = messages_[index];
    message.sent = at;
    const GpuId gpus[2] = {in_.placement.gpu(RankId{message.sender}), in_.placement.gpu(RankId{message.receiver})};
    TransferRequest request;
    request.gpus = gpus;
    request.size = std::max(Bytes{1}, in_.workload.stage_message);
    request.efficiency = in_.profile.network_efficiency.value;
    request.group_key = route_key(message.sender, message.direction);
    request.token = index;
    request.kind = TrafficKind::pipeline;
    network_.start(at + in_.profile.message_latency, request);
}

bool TrainingRun::receive(std::uint32_t rank, const Instruction& instruction) {
    RankCursor& cursor = ranks_[rank];
    Inbox& inbox = cursor.inbox(inbox_of(instruction), instruction.lane);
    const std::uint32_t index = inbox.head;
    if (index == no_index || messages_[index].arrived == never) {
        cursor.waiting = Waiting::message;
        return false;
    }
    const Message& message = messages_[index];
    wait_until(rank, std::min(message.sent, message.arrived), Part::bubble, instruction);
    wait_until(rank, message.arrived, Part::pp_exposed, instruction);
    inbox.head = message.inbox_next;
    if (inbox.head == no_index) inbox.tail = no_index;
    messages_.release(index);
    return true;
}

bool TrainingRun::flush(std::uint32_t rank) {
    RankCursor& cursor = ranks_[rank];
    const Instruction instruction;
    while (cursor.outbox != no_index) {
        Message& message = messages_[cursor.outbox];
        if (message.arrived == never) {
            message.sender_waits = true;
            cursor.waiting = Waiting::own_send;
            return false;
        }
        wait_until(rank, message.arrived, Part::pp_exposed, instruction);
        const std::uint32_t index = cursor.outbox;
        cursor.outbox = message.outbox_next;
        messages_.release(index);
    }
    cursor.outbox_tail = no_index;
    return true;
}

void TrainingRun::deliver(const Completion& completion) {
    fingerprint_.add(completion.token);
    fingerprint_.add(static_cast<std::uint64_t>(completion.at.value));
    if (CollectiveToken::is(completion.token)) {
        const auto [family, group, sequence] = CollectiveToken::unpack(completion.token);
        return finish_collective(family, group, sequence, completion.at);
    }
    const auto index = static_cast<std::uint32_t>(completion.token);
    Message& message = messages_[index];
    message.arrived = completion.at;
    RankCursor& receiver = ranks_[message.receiver];
    const bool first = receiver.inbox(message.direction, message.lane).head == index;
    if (receiver.waiting == Waiting::message && first) {
        receiver.waiting = Waiting::nothing;
        runnable_.push_back(message.receiver);
    }
    if (message.sender_waits) {
        ranks_[message.sender].waiting = Waiting::nothing;
        runnable_.push_back(message.sender);
    }
}

void TrainingRun::wait_until(std::uint32_t rank, SimTime until, Part part, const Instruction& instruction) {
    RankCursor& cursor = ranks_[rank];
    if (until <= cursor.now) return;
    parts_[rank][index_of(part)] += until - cursor.now;
    if (sampled_[rank]) {
        const SpanStream stream = part == Part::dp_exposed || part == Part::straggler_wait ? SpanStream::data
                                                                                           : SpanStream::pipeline;
        add_span(rank, stream, part, instruction, cursor.now, until);
    }
    cursor.now = until;
}

void TrainingRun::add_span(std::uint32_t rank, SpanStream stream, Part part, const Instruction& instruction,
                           SimTime begin, SimTime end) {
    if (begin == end) return;
    const std::uint32_t work = instruction.op == Op::work ? instruction.index : no_index;
    spans_.push_back({RankId{rank}, stream, part, instruction.phase, instruction.chunk, instruction.micro_batch, begin,
                      end, work});
}

void TrainingRun::check_all_finished() const {
    constexpr const char* reason[] = {"nothing", "its local group", "a message", "its own send", "a group collective"};
    std::string blocked;
    std::size_t count = 0;
    for (std::uint32_t rank = 0; rank < ranks_.size(); ++rank) {
        if (ranks_[rank].waiting == Waiting::finished) continue;
        if (++count <= 8) {
            blocked += fmt::format("; rank {} at instruction {} waits for {}", rank, ranks_[rank].next,
                                   reason[static_cast<std::size_t>(ranks_[rank].waiting)]);
        }
    }
    REHEARSE_CHECK(count == 0, fmt::format("deadlock: {} of {} ranks are blocked{}", count, ranks_.size(), blocked));
}

}  // namespace rehearse
