#include "models/workload/lower.hpp"

#include <algorithm>

#include "models/workload/dual_pipe.hpp"

namespace rehearse {

namespace {

class Lowering {
public:
    Lowering(const TrainingSpec& training, std::uint32_t stage, const StageIndex& index)
        : training_(training), index_(index), stage_(stage),
          stages_(static_cast<std::uint32_t>(training.parallel.pipeline)),
          chunks_(static_cast<std::uint32_t>(training.parallel.chunks())),
          micro_batches_(static_cast<std::uint32_t>(training.micro_batches())) {
        if (!training.parallel.is_dual()) schedule_ = build_schedule(stage, stages_, chunks_, micro_batches_);
    }

    Program run() {
        begin_step();
        if (training_.parallel.is_dual()) {
            dual_passes();
        } else if (is_on(training_.technique.overlap_pipeline)) {
            decoupled_passes();
        } else {
            coupled_passes();
        }
        end_step();
        return std::move(program_);
    }

private:
    bool data_group() const { return data_shards(training_.parallel) > 1; }
    bool expert_group() const { return !index_.expert_scatter.empty(); }
    bool overlap_data() const { return is_on(training_.technique.overlap_data) && data_group(); }
    bool first_block(const Pass& pass) const { return stage_ == 0 && pass.chunk == 0; }
    bool last_block(const Pass& pass) const { return stage_ + 1 == stages_ && pass.chunk + 1 == chunks_; }
    bool receives(const Pass& pass) const {
        return pass.phase == Phase::forward ? !first_block(pass) : !last_block(pass);
    }
    bool sends(const Pass& pass) const { return pass.phase == Phase::forward ? !last_block(pass) : !first_block(pass); }

    Instruction& emit(Op op, std::uint32_t index) {
        Instruction instruction;
        instruction.op = op;
        instruction.index = index;
        return program_.instructions.emplace_back(instruction);
    }
    Instruction& emit_for(Op op, std::uint32_t index, const Pass& pass) {
        Instruction& instruction = emit(op, index);
        instruction.phase = pass.phase;
        instruction.chunk = static_cast<std::uint16_t>(pass.chunk);
        instruction.micro_batch = pass.micro_batch;
        return instruction;
    }
    void emit_work(std::uint32_t work, Part part) { emit(Op::work, work).part = part; }
    void emit_message(Op op, const Pass& pass) {
        const bool with_next = (pass.phase == Phase::forward) == (op == Op::send);
        emit_for(op, 0, pass).direction = with_next ? Direction::to_next : Direction::to_previous;
    }
    void post(std::uint32_t collective, GroupFamily family) {
        emit(Op::collective, collective).family = family;
        ++program_.collectives[static_cast<std::size_t>(family)];
    }
    void await(std::uint32_t sequence, GroupFamily family) { emit(Op::await, sequence).family = family; }
    void post_and_await(std::uint32_t collective, GroupFamily family) {
        post(collective, family);
        await(program_.collectives[static_cast<std::size_t>(family)] - 1, family);
    }

    // MegaScale prefetches the parameter all-gathers: the first one runs beside the data loading and what else the host
    // does between two steps. That is the end of the optimizer step: its launch, the gradient norm, logging,
    // scheduling.
    void begin_step() {
        if (overlap_data() && training_.parallel.zero > 0) {
            for (std::size_t i = 0; i < index_.gather.size(); ++i) {
                post(index_.gather[i], GroupFamily::data);
                if (expert_group()) post(index_.expert_gather[i], GroupFamily::expert_data);
            }
        }
        emit_work(index_.step, Part::optimizer);
        for (const StageIndex::Wait& wait : index_.policies) emit_work(wait.work, wait.part);
        emit_work(index_.input, Part::data);
    }

    // Before the first forward of a chunk, and behind its last weight gradients.
    void await_weights(std::uint32_t chunk) {
        if (!overlap_data() || training_.parallel.zero == 0) return;
        await(chunk, GroupFamily::data);
        if (expert_group()) await(chunk, GroupFamily::expert_data);
    }
    void reduce_gradients(std::uint32_t chunk) {
        if (!overlap_data()) return;
        post(index_.scatter[chunk], GroupFamily::data);
        if (expert_group()) post(index_.expert_scatter[chunk], GroupFamily::expert_data);
    }

    void compute(const Pass& pass) {
        if (pass.phase == Phase::forward && pass.micro_batch == 0) await_weights(pass.chunk);
        const auto& works = pass.phase == Phase::forward ? index_.forward : index_.backward;
        emit_for(Op::work, works[pass.chunk], pass).part = Part::compute;
        if (pass.phase == Phase::backward && pass.micro_batch + 1 == micro_batches_) reduce_gradients(pass.chunk);
    }

    void decoupled_passes() {
        for (const Pass& pass : schedule_.passes) {
            if (receives(pass)) emit_message(Op::receive, pass);
            compute(pass);
            if (sends(pass)) emit_message(Op::send, pass);
        }
        if (stages_ > 1) emit(Op::flush, 0);
    }

    // Messages of DualPipe are always decoupled.
    void dual_passes() {
        for (const DualPass& pass : build_dual_pipe(stage_, stages_, micro_batches_)) {
            const Pass forward{Phase::forward, pass.chunk, pass.forward};
            const Pass backward{Phase::backward, pass.backward_chunk(), pass.backward};
            if (pass.has_forward() && pass.forward == 0) await_weights(pass.chunk);
            if (pass.has_forward()) dual_message(Op::receive, forward);
            if (pass.has_backward()) dual_message(Op::receive, backward);
            emit_for(Op::work, dual_work(pass), pass.has_forward() ? forward : backward).part = Part::compute;
            if (pass.has_forward()) dual_message(Op::send, forward);
            if (pass.has_backward()) dual_message(Op::send, backward);
            if (pass.has_weights() && pass.backward + 1 == micro_batches_ / 2) reduce_gradients(backward.chunk);
        }
        emit(Op::flush, 0);
    }

    std::uint32_t dual_work(const DualPass& pass) const {
        switch (pass.work) {
            case DualWork::forward: return index_.forward[pass.chunk];
            case DualWork::backward: return index_.backward[pass.chunk];
            case DualWork::backward_input: return index_.backward_input[pass.chunk];
            case DualWork::weights: return index_.weights[pass.chunk];
            case DualWork::pair: break;
        }
        return index_.pair[pass.chunk];
    }

    // With the neighbour that holds the stage of the model behind this one, or before it; none at the model's ends.
    void dual_message(Op op, const Pass& pass) {
        const std::uint32_t lane = lane_of(stage_, stages_, pass.chunk);
        const bool is_behind = (pass.phase == Phase::forward) == (op == Op::send);
        if (model_stage_of(stage_, stages_, pass.chunk) == (is_behind ? stages_ - 1 : 0)) return;
        Instruction& message = emit_for(op, 0, pass);
        message.direction = is_behind == (lane == 0) ? Direction::to_next : Direction::to_previous;
        message.lane = static_cast<std::uint8_t>(lane);
    }

    // Megatron-LM 285068c8: after each unit (one pass; a forward-backward pair in the steady phase of the interleaved
    // schedule) one batched exchange sends what was made and receives what the next unit needs, waits for all of it and
    // synchronises the device.
    void coupled_passes() {
        program_.rendezvous = Rendezvous::offered;
        const auto& passes = schedule_.passes;
        std::size_t begin = 0;
        exchange(passes, 0, 0, unit_end(0));
        while (begin < passes.size()) {
            const std::size_t end = unit_end(begin);
            for (std::size_t i = begin; i < end; ++i) compute(passes[i]);
            exchange(passes, begin, end, end < passes.size() ? unit_end(end) : end);
            begin = end;
        }
    }

    std::size_t unit_end(std::size_t begin) const {
        const auto& passes = schedule_.passes;
        const bool pair = chunks_ > 1 && begin >= schedule_.warmup && begin + 1 < passes.size() &&
                          passes[begin].phase == Phase::forward;
        return begin + (pair ? 2 : 1);
    }

    void exchange(const std::vector<Pass>& passes, std::size_t begin, std::size_t end, std::size_t next_end) {
        const std::size_t before = program_.instructions.size();
        for (std::size_t i = end; i < next_end; ++i) {
            if (receives(passes[i])) emit_message(Op::offer, passes[i]);
        }
        for (std::size_t i = begin; i < end; ++i) {
            if (sends(passes[i])) emit_message(Op::send, passes[i]);
        }
        for (std::size_t i = end; i < next_end; ++i) {
            if (receives(passes[i])) emit_message(Op::receive, passes[i]);
        }
        if (program_.instructions.size() == before) return;
        emit(Op::flush, 0);
        emit_work(index_.exchange, Part::pp_exposed);
    }

    // The last one first: it ends last, so that waiting for its latecomers is not taken for communication.
    void await_last(GroupFamily family) {
        const std::uint32_t posted = program_.collectives[static_cast<std::size_t>(family)];
        for (std::uint32_t i = posted; i-- > posted - chunks_;) await(i, family);
    }

    // Kind moe has an output layer of its own.
    bool holds_embedding() const {
        return training_.model.kind == ModelKind::gpt && stages_ > 1 && (stage_ == 0 || stage_ + 1 == stages_);
    }

    void end_step() {
        if (overlap_data()) {
            if (holds_embedding()) post(index_.embedding_reduce, GroupFamily::embedding);
            await_last(GroupFamily::data);
            if (expert_group()) await_last(GroupFamily::expert_data);
            if (holds_embedding()) await(0, GroupFamily::embedding);
        } else {
            // Megatron-LM reduces the shared embedding before the gradient buffers.
            if (holds_embedding()) post_and_await(index_.embedding_reduce, GroupFamily::embedding);
            if (data_group()) post_and_await(index_.scatter.front(), GroupFamily::data);
            if (expert_group()) post_and_await(index_.expert_scatter.front(), GroupFamily::expert_data);
        }
        if (training_.parallel.tensor * training_.parallel.pipeline > 1)
            post_and_await(index_.norm, GroupFamily::model);
        emit_work(index_.optimizer, Part::optimizer);
        if (!overlap_data() && data_group() && training_.parallel.zero > 0) {
            post_and_await(index_.gather.front(), GroupFamily::data);
            if (expert_group()) post_and_await(index_.expert_gather.front(), GroupFamily::expert_data);
        }
    }

    const TrainingSpec& training_;
    const StageIndex& index_;
    std::uint32_t stage_, stages_, chunks_, micro_batches_;
    StageSchedule schedule_;
    Program program_;
};

}  // namespace

Program lower_stage(const TrainingSpec& training, std::uint32_t stage, const StageIndex& index) {
    return Lowering(training, stage, index).run();
}

}  // namespace rehearse
