#include "scenarios/calibrate/sweep.hpp"

#include <algorithm>
#include <cmath>
#include <set>
#include <string_view>

#include "kernels/cpu/row_calls.hpp"
#include "sim/base/checks.hpp"

namespace rehearse {

namespace {

SampleShape bytes_of(double bytes) { return {{"bytes", std::llround(bytes)}}; }

SampleShape product_of(const Operator& op, std::int64_t calls, std::int64_t m, std::int64_t k) {
    return {{"batch", op.batch * calls}, {"m", m}, {"n", op.n}, {"k", k}};
}

// As the kernels call them: every expert of a shape of the sweep has the same rows, and they make equal calls.
SampleShape calls_of(const Operator& op) {
    const bool adds_up = op.output_bytes == 8;
    const std::vector<std::int64_t> calls = adds_up ? kernels::gradient_rows(kernels::padded(op.k, kernels::depth_pad))
                                                    : kernels::product_rows(kernels::padded(op.m, kernels::depth_pad));
    REHEARSE_CHECK(std::set<std::int64_t>(calls.begin(), calls.end()).size() == 1, "calls of a sweep differ");
    const auto count = static_cast<std::int64_t>(calls.size());
    return adds_up ? product_of(op, count, op.m, calls.front()) : product_of(op, count, calls.front(), op.k);
}

// What an operation measures; an empty name: nothing that is priced.
CalibrationSample sample_of(const Operation& operation) {
    CalibrationSample sample;
    sample.precision = "bf16";
    if (operation.kind == OperationKind::wait) return sample;
    if (operation.kind == OperationKind::exchange) {
        const std::string_view name = operation.name;
        sample.what = name == "dispatch" || name == "combine" ? "all_to_all" : operation.name;
        std::replace(sample.what.begin(), sample.what.end(), '-', '_');
        std::replace(sample.what.begin(), sample.what.end(), ' ', '_');
        sample.kind = SampleKind::collective;
        sample.shape = bytes_of(operation.bytes);
        sample.shape.emplace_back("ranks", operation.ranks);
        if (operation.ranks < 2) sample.what.clear();
        return sample;
    }
    const Operator& op = *operation.op;
    switch (op.kind) {
        case OperatorKind::gemm:
            if (operation.is_cut) break;
            sample.what = op.expert_rows != ExpertRows::none ? "grouped gemm" : "gemm";
            if (op.output_bytes == 8) sample.what += " wgrad";
            else if (std::string_view(op.name).ends_with("dgrad")) sample.what += " dgrad";
            sample.shape = op.expert_rows != ExpertRows::none ? calls_of(op) : product_of(op, 1, op.m, op.k);
            break;
        case OperatorKind::attention:
            sample.what = op.name;
            sample.shape = {{"flops", std::llround(op.flops.value)}, {"bytes", std::llround(op.bytes)}};
            break;
        case OperatorKind::memory:
            sample.what = op.name;
            sample.shape = bytes_of(op.bytes);
            break;
        case OperatorKind::host: break;
    }
    return sample;
}

}  // namespace

std::vector<SweepShape> sweep_shapes(SweepSize size) {
    if (size == SweepSize::quick) return {{64, 64, 4, 2, 64}, {128, 128, 4, 2, 128}, {128, 64, 4, 2, 64, 2}};
    return {
        {128, 128, 4, 1, 128},   {128, 256, 8, 2, 256},   {128, 64, 16, 4, 192},   {256, 256, 4, 2, 256},
        {256, 512, 8, 2, 512},   {256, 1024, 8, 2, 256},  {512, 512, 8, 1, 512},   {512, 1024, 4, 2, 256},
        {512, 256, 16, 4, 128},  {384, 704, 4, 1, 384},   {576, 320, 8, 2, 192},   {768, 1152, 4, 1, 128},
        {192, 384, 2, 1, 256},   {320, 320, 2, 1, 512},   {320, 896, 4, 2, 256},   {448, 448, 2, 1, 256},
        {448, 224, 16, 2, 256},  {640, 640, 4, 1, 192},   {640, 320, 8, 1, 128},   {384, 192, 24, 2, 192},
        {192, 512, 8, 4, 256},   {512, 384, 16, 1, 128},  {256, 640, 2, 2, 256},   {576, 512, 2, 1, 512},
        {256, 256, 8, 2, 256, 2}, {256, 512, 4, 2, 512, 4}, {512, 512, 8, 2, 256, 4}, {512, 512, 4, 2, 512, 3},
    };
}

TrainingSpec sweep_training(const SweepShape& shape, std::int64_t ranks) {
    TrainingSpec training;
    training.model.kind = ModelKind::moe;
    training.model.layers = 3;  // so that a layer does not find in the cache what it left there
    training.model.hidden = shape.hidden;
    training.model.heads = shape.hidden / 64;
    training.model.vocab = 2 * shape.hidden;
    training.model.sequence = shape.tokens;
    training.model.experts.routed = shape.experts;
    training.model.experts.top_k = shape.top_k;
    training.model.experts.ffn = shape.inner;
    training.parallel.data = ranks;
    training.parallel.expert = ranks;
    training.batch_global = ranks;
    training.technique.operators = OperatorSet::efficient;
    training.technique.exchange = ExchangeChoice::direct;
    training.technique.stream_first = shape.refills > 0 ? 0.6 / static_cast<double>(shape.refills) : 0;
    if (shape.refills > 0) training.technique.stream_chunk = 1.0 / static_cast<double>(shape.refills);
    training.gradient_bytes = 4;
    return training;
}

std::vector<CalibrationSample> samples_of(const LiveReport& report) {
    std::vector<CalibrationSample> samples;
    std::vector<double> occurrences;  // in a step
    const double ranks = static_cast<double>(report.times.size());
    for (std::size_t i = 0; i < report.operations.size(); ++i) {
        CalibrationSample sample = sample_of(report.operations[i]);
        if (sample.what.empty()) continue;
        for (std::size_t step = 0; step < report.step_seconds.size(); ++step) {
            double sum = 0;
            for (const std::vector<OperationTimes>& rank : report.times) sum += rank[i].end[step] - rank[i].begin[step];
            sample.seconds.push_back(sum / ranks);
        }
        const auto same = std::find_if(samples.begin(), samples.end(), [&](const CalibrationSample& other) {
            return label_of(other) == label_of(sample);
        });
        const auto at = same - samples.begin();
        if (same == samples.end()) {
            samples.push_back(std::move(sample));
            occurrences.push_back(1);
            continue;
        }
        ++occurrences[static_cast<std::size_t>(at)];
        for (std::size_t step = 0; step < sample.seconds.size(); ++step) same->seconds[step] += sample.seconds[step];
    }
    for (std::size_t i = 0; i < samples.size(); ++i) {
        for (double& seconds : samples[i].seconds)  // to the clock's resolution
            seconds = std::max(1.0, std::round(1e9 * seconds / occurrences[i])) * 1e-9;
    }
    return samples;
}

std::vector<CalibrationSample> pace_samples(const Pace& pace) {
    CalibrationSample compute, memory;
    compute.what = "compute probe";
    compute.shape = {{"flops", 2 * PaceProbe::rows * PaceProbe::side * PaceProbe::side}};
    compute.seconds = {pace.compute};
    memory.what = "memory probe";
    memory.shape = bytes_of(3.0 * PaceProbe::array * sizeof(LiveElement));
    memory.seconds = {pace.memory};
    return {compute, memory};
}

}  // namespace rehearse
