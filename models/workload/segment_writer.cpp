#include "models/workload/segment_writer.hpp"

#include <cmath>

namespace rehearse {

std::uint16_t SegmentWriter::add_region(const HostRegion& region) {
    open_ = false;
    work_.regions.push_back(region);
    region_ = static_cast<std::uint16_t>(work_.regions.size() - 1);
    return region_;
}

Segment& SegmentWriter::open() {
    if (!open_) {
        Segment& segment = work_.segments.emplace_back();
        segment.region = region_;
        segment.layer = layer_;
        open_ = true;
    }
    return work_.segments.back();
}

void SegmentWriter::enter_layer(std::uint32_t layer) {
    open_ = open_ && layer == layer_;
    layer_ = layer;
}

std::size_t SegmentWriter::mark() { return open().operators.size(); }

void SegmentWriter::close(const LocalCollective& collective) {
    open().collective = collective;
    open_ = false;
}

LocalCollective* SegmentWriter::collective_before() {
    open();
    return work_.segments.size() > 1 ? &work_.segments[work_.segments.size() - 2].collective : nullptr;
}

std::size_t SegmentWriter::last() {
    const std::size_t next = mark();
    return next == 0 ? 0 : next - 1;
}

void SegmentWriter::close(LocalCollectiveKind kind, double bytes, Hiding hiding, std::size_t partner) {
    LocalCollective collective;
    collective.kind = kind;
    collective.bytes = bytes;
    collective.hiding = hiding;
    collective.partner = partner;
    close(collective);
}

Operator& SegmentWriter::add(Operator op) { return open().operators.emplace_back(op); }

Operator& SegmentWriter::gemm(const char* name, double m, double n, double k, std::int64_t output_bytes) {
    Operator op;
    op.kind = OperatorKind::gemm;
    op.name = name;
    op.m = std::llround(m);
    op.n = std::llround(n);
    op.k = std::llround(k);
    op.output_bytes = output_bytes;
    return add(op);
}

Operator& SegmentWriter::passes(const char* name, PassCount count, double elements) {
    return memory(name, 2 * count.passes * elements, count.kernels);
}

Operator& SegmentWriter::memory(const char* name, double bytes, std::int64_t kernels) {
    Operator op;
    op.name = name;
    op.bytes = bytes;
    op.kernels = kernels;
    return add(op);
}

}  // namespace rehearse
