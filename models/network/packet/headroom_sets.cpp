#include "models/network/packet/headroom_sets.hpp"

#include <fmt/format.h>

#include "sim/base/fault.hpp"
#include "sim/base/units_text.hpp"

namespace rehearse {

namespace {

struct Row {
    HeadroomSet set;
    std::int64_t gigabits, metres, bytes;
};

// By set, then rate, then length. Tomahawk 5's 400G rows are for 5 and 30 m, 300 m, 500 m.
constexpr Row rows[] = {{HeadroomSet::sonic_th5, 400, 30, 425'958},     {HeadroomSet::sonic_th5, 400, 300, 839'216},
                        {HeadroomSet::sonic_th5, 400, 500, 1'136'396},  {HeadroomSet::sonic_th5, 800, 5, 724'662},
                        {HeadroomSet::sonic_th5, 800, 300, 1'621'536},  {HeadroomSet::sonic_th6, 400, 5, 464'520},
                        {HeadroomSet::sonic_th6, 400, 40, 490'980},     {HeadroomSet::sonic_th6, 400, 300, 686'280},
                        {HeadroomSet::sonic_th6, 800, 5, 797'580},      {HeadroomSet::sonic_th6, 800, 40, 850'080},
                        {HeadroomSet::sonic_th6, 800, 300, 1'239'840},  {HeadroomSet::sonic_th6, 1600, 5, 1'463'700},
                        {HeadroomSet::sonic_th6, 1600, 40, 1'568'280},  {HeadroomSet::sonic_th6, 1600, 300, 2'346'960}};
constexpr std::int64_t ps_per_metre = 5'000;

}  // namespace

Bytes shipped_headroom(HeadroomSet set, Bandwidth rate, SimDuration latency) {
    for (const Row& row : rows) {
        if (row.set == set && rate.value <= row.gigabits * 1'000'000'000 && latency.value <= row.metres * ps_per_metre)
            return Bytes{row.bytes};
    }
    throw InputError({Fault{{}, "models.network.packet.pfc.headroom_set",
                            fmt::format("no headroom for a link of {} and {} of latency ({} m)", format(rate),
                                        format(latency), latency.value / ps_per_metre),
                            "one of its rates and lengths (headroom_sets.hpp)", "take formula, or set pfc.headroom"}});
}

}  // namespace rehearse
