#include "models/network/packet/congestion_parameters.hpp"

namespace rehearse {

namespace {

constexpr double megabit = 1e6;

struct EcnRow {
    std::int64_t gigabits;  // 0: whatever the rate
    std::int64_t mark_min, mark_max;
    double probability;
};
constexpr EcnRow sonic_row{0, 1 << 20, 2 << 20, 0.05};       // sonic-buildimage qos_config.j2, lossless classes
constexpr EcnRow paper_row{0, 5'000, 200'000, 0.01};         // DCQCN at 40G, as SIGCOMM'16 quotes it
constexpr EcnRow hpcc_row{25, 100'000, 400'000, 0.20};       // alibaba-edu/High-Precision-Congestion-Control, per 25G
constexpr EcnRow simai_rows[] = {                            // aliyun/SimAI SimAI.conf
    {100, 400'000, 1'600'000, 0.2}, {200, 300'000, 1'200'000, 0.8}, {400, 800'000, 3'200'000, 0.2}};

EcnSpec spec_of(const EcnRow& row, double scale) {
    const auto scaled = [scale](std::int64_t bytes) {
        return Bytes{detail::round_to_int64(static_cast<double>(bytes) * scale)};
    };
    EcnSpec spec;
    spec.enabled = Switch::on;
    spec.mark_min = scaled(row.mark_min);
    spec.mark_max = scaled(row.mark_max);
    spec.mark_probability = Ratio{row.probability};
    return spec;
}

double times(Bandwidth rate, std::int64_t gigabits) {
    return static_cast<double>(rate.value) / static_cast<double>(gigabits_per_second(gigabits).value);
}

}  // namespace

EcnSpec ecn_profile(EcnSet set, Bandwidth rate) {
    switch (set) {
        case EcnSet::sonic:
            return spec_of(sonic_row, 1);
        case EcnSet::dcqcn_paper:
            return spec_of(paper_row, 1);
        case EcnSet::hpcc_repository:
            return spec_of(hpcc_row, times(rate, hpcc_row.gigabits));
        case EcnSet::simai:
            break;
    }
    for (const EcnRow& row : simai_rows) {
        if (rate <= gigabits_per_second(row.gigabits)) return spec_of(row, 1);
    }
    return spec_of(simai_rows[2], times(rate, simai_rows[2].gigabits));
}

// | | paper | hpcc_repository | connectx |
// |---|---|---|---|
// | g | 1/256 | 1/256 | 1 - 1019/1024 |
// | alpha at first | 1 | 1 | 1023/1024 |
// | alpha period | 55 us | 1 us ("vendor") | 1 us |
// | gap between cuts | 50 us | 4 us | 4 us |
// | increase timer | 55 us | 300 us | 300 us |
// | byte counter | 10 MB | none | 32,767 x 64 B |
// | F | 5 | 1 | 1 |
// | Rai, Rhai | 40, 400 Mb/s | 5, 50 Mb/s per 25G of line rate | 5, 50 Mb/s |
// | CNP gap | 50 us | none: every ACK echoes | 2 us |
// | target of cuts in a row | the last one's | the first one's | the first one's |
//
// paper: Zhu et al., SIGCOMM'15, as recalled in later work. hpcc_repository: alibaba-edu ns-3 code, its "vendor"
// timers. connectx: an mlxconfig dump of ConnectX firmware on a public mailing list. The last row is recalled:
// EcnClampTgtRate false in the repository, CLAMP_TGT_RATE 0 and CLAMP_TGT_RATE_AFTER_TIME_INC 1 in the firmware. The
// least rate, 100 Mb/s, is the repository's for all.
DcqcnParameters dcqcn_parameters(DcqcnSet set, Bandwidth line_rate) {
    DcqcnParameters p;
    p.rate_min = 100 * megabit;
    switch (set) {
        case DcqcnSet::paper:
            p.g = 1.0 / 256;
            p.alpha_period = microseconds(55);
            p.cut_gap = microseconds(50);
            p.increase_period = microseconds(55);
            p.byte_counter = Bytes{10'000'000};
            p.fast_stages = 5;
            p.increase = 40 * megabit;
            p.increase_hyper = 400 * megabit;
            p.cnp_gap = microseconds(50);
            break;
        case DcqcnSet::hpcc_repository:
            p.g = 1.0 / 256;
            p.alpha_period = microseconds(1);
            p.cut_gap = microseconds(4);
            p.increase_period = microseconds(300);
            p.increase = 5 * megabit * times(line_rate, 25);
            p.increase_hyper = 50 * megabit * times(line_rate, 25);
            p.echo = Switch::on;
            p.clamp_target = Switch::off;
            break;
        case DcqcnSet::connectx:
            p.g = 5.0 / 1024;
            p.alpha_first = 1023.0 / 1024;
            p.alpha_period = microseconds(1);
            p.cut_gap = microseconds(4);
            p.increase_period = microseconds(300);
            p.byte_counter = Bytes{32'767 * 64};
            p.increase = 5 * megabit;
            p.increase_hyper = 50 * megabit;
            p.cnp_gap = microseconds(2);
            p.clamp_target = Switch::off;
            break;
    }
    return p;
}

}  // namespace rehearse
