// Programs: what the ranks of one pipeline stage do in a step, in the order in which the host issues it.
//
// Training is SPMD, so all ranks of a stage share one program and keep only a cursor. Instructions act on the compute
// stream unless said; send and collective are asynchronous and act on their own streams, as CUDA streams do: the
// sends of a direction and lane in order among themselves, and so the collectives of a process group.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "models/workload/layout.hpp"
#include "models/workload/schedule.hpp"

namespace rehearse {

// Where the time of a rank went; the parts of breakdown_s in metrics.json. `optimizer` is the whole optimizer step: its
// kernels and the fixed host time of a step (profile: host.step). `other` is what no name fits; nothing does today.
enum class Part : std::uint8_t {
    compute, tp_exposed, pp_exposed, dp_exposed, ep_exposed, bubble, optimizer, data, straggler_wait, other,
};
inline constexpr std::size_t part_count = 10;
std::string_view name(Part part);

enum class Op : std::uint8_t {
    work,        // run works[index]; the ranks of the local group meet at each of its collectives
    send,        // post the activation (to the next stage) or its gradient (to the previous stage)
    offer,       // post a receive: with rendezvous a message moves only when both of its ends are posted
    receive,     // wait for the oldest message of that direction and lane not yet received
    flush,       // wait until every send since the last flush has arrived
    collective,  // post collectives[index] on its group; begins when the last member has posted
    await,       // wait for the index-th collective that this rank posted in `family`
};

enum class Direction : std::uint8_t { to_next, to_previous };
enum class Rendezvous : std::uint8_t { none, offered };

struct Instruction {
    Op op = Op::work;
    Part part = Part::compute;                  // work: what the compute time counts as
    Phase phase = Phase::forward;
    Direction direction = Direction::to_next;   // send, receive
    GroupFamily family = GroupFamily::data;     // collective, await
    std::uint8_t lane = 0;                      // send, receive: of DualPipe, 1 for what enters at the last rank
    std::uint16_t chunk = 0;
    std::uint32_t micro_batch = 0;
    std::uint32_t index = 0;
};

struct Program {
    std::vector<Instruction> instructions;
    std::uint32_t collectives[group_family_count] = {};  // posted per family
    // Whether messages wait for an `offer` of their receiver. Decoupled receives are posted early and need none.
    Rendezvous rendezvous = Rendezvous::none;
};

}  // namespace rehearse
