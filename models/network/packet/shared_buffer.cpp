#include "models/network/packet/shared_buffer.hpp"

#include <algorithm>

#include "sim/base/checks.hpp"
#include "sim/base/fault.hpp"

namespace rehearse {

std::int64_t pfc_response_quanta(Bandwidth rate) {
    struct Row {
        std::int64_t gigabits, quanta;
    };
    // sonic-net/SONiC doc/qos/dynamically-headroom-calculation.md
    constexpr Row rows[] = {{10, 67}, {25, 80}, {40, 118}, {50, 147}, {100, 394}, {200, 453}, {400, 905}};
    const std::int64_t gigabits = (rate.value + 999'999'999) / 1'000'000'000;
    for (const Row& row : rows) {
        if (gigabits <= row.gigabits) return row.quanta;
    }
    return (905 * gigabits + 399) / 400;
}

Bytes pfc_headroom(const HeadroomInput& input) {
    REHEARSE_CHECK(input.wire_min > Bytes{0} && input.cell > Bytes{0}, "packets and cells have bytes");
    const auto cells = [&](Bytes wire) { return (wire.value + input.cell.value - 1) / input.cell.value; };
    const Bytes on_cable = input.rate * input.loop;
    const std::int64_t wire = 2 * input.wire_max.value + on_cable.value + input.response_quanta * 64;
    const auto charged = [&](Bytes packet) {  // the wire bytes cut into such packets, one more begun
        return (wire / packet.value + 1) * cells(packet) * input.cell.value;
    };
    return Bytes{std::max(charged(input.wire_max), charged(input.wire_min))};
}

void check_reserved(Bytes reserved, Bytes pool, std::int64_t classes) {
    FaultList faults;
    const std::string room = std::to_string(pool.value) + " B of memory";
    if (reserved > pool) {
        faults.add(
            {.place = {},
             .path = "models.network.packet.pfc.headroom",
             .wrong = "headrooms and reserves fill the buffer of a switch: " + std::to_string(reserved.value) + " B",
             .expected = "no more than its " + room,
             .todo = "lower buffer.reserve or pfc.headroom, or take fewer classes"});
    }
    if (classes > 8) {
        faults.add({.place = {},
                    .path = "models.network.packet.classes",
                    .wrong = std::to_string(classes) + " classes under PFC",
                    .expected = "at most 8",
                    .todo = "take flow_control: cbfc, which has 32"});
    }
    faults.throw_if_any();
}

}  // namespace rehearse
