// SegmentWriter: appends operators and collectives to the segments of a Work. A collective closes the segment that it
// stands at the end of.
#pragma once

#include "models/workload/element_costs.hpp"
#include "models/workload/operators.hpp"

namespace rehearse {

class SegmentWriter {
public:
    explicit SegmentWriter(Work& work) : work_(work) {}
    std::uint16_t add_region(const HostRegion& region);  // following segments belong to it

protected:
    // Sizes are rounded to whole numbers.
    Operator& gemm(const char* name, double m, double n, double k, std::int64_t output_bytes = 2);
    Operator& memory(const char* name, double bytes, std::int64_t kernels);
    Operator& passes(const char* name, PassCount count, double elements);  // of two bytes
    Operator& add(Operator op);
    std::size_t mark();  // index that the next operator will have in its segment
    std::size_t last();  // index of the last operator, 0 in an empty segment
    void close(const LocalCollective& collective);
    void close(LocalCollectiveKind kind, double bytes, Hiding hiding, std::size_t partner);
    LocalCollective* collective_before();  // of the segment before the one under construction; nullptr: there is none
    void enter_layer(std::uint32_t layer);   // whose expert loads act on what follows: a new segment begins
    std::uint32_t layer_ = no_layer;  // of the segments opened from now on

private:
    Segment& open();  // the segment under construction

    Work& work_;
    bool open_ = false;
    std::uint16_t region_ = 0;
};

}  // namespace rehearse
