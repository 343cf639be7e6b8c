// Bytes of collectives that never reach the network model, against closed forms. A tensor of S bytes gathered or
// reduce-scattered over t ranks in a ring: each sends (t - 1) / t S, and twice that when it is all-reduced. One NVLink
// hop crosses two links, GPU to switch and switch to GPU.
#include "runtime/priced_traffic.hpp"

#include <gtest/gtest.h>

#include "models/workload/volume.hpp"

namespace rehearse {
namespace {

constexpr double layers = 4, hidden = 1024, sequence = 512, batch = 2, micro_batches = 3;

TrainingSpec training(std::int64_t tensor, std::int64_t data, std::int64_t context = 1) {
    TrainingSpec spec;
    spec.model = {.layers = 4, .hidden = 1024, .heads = 8, .ffn = 0, .vocab = 32768, .sequence = 512};
    spec.micro_batch = 2;
    spec.batch_global = 2 * 3 * data;
    spec.parallel.tensor = tensor;
    spec.parallel.data = data;
    spec.parallel.context = context;
    spec.parallel.sequence = Switch::on;
    return spec;
}

struct Job {
    explicit Job(const TrainingSpec& spec) : workload(build_workload(spec)), cluster(make_cluster()) {
        std::vector<GpuId> gpus;
        for (std::uint32_t i = 0; i < workload.layout.rank_count(); ++i) gpus.emplace_back(i);
        const Placement placement(std::move(gpus), cluster.gpu_count());
        const Router router(cluster, {}, 1);
        NetworkSpec network;
        network.framing = Framing::none;
        traffic.bytes.assign(cluster.links().size(), 0.0);
        traffic.busy_seconds.assign(cluster.links().size(), 0.0);
        add_priced_traffic(workload, placement, router, network, traffic);
    }
    static Cluster make_cluster() {
        ClusterSpec spec;
        spec.hosts = 4;
        return build_cluster(spec);
    }
    // Of one GPU: what goes into the switch of its tier; equal to what comes back.
    double sent(std::uint32_t gpu, LinkTier tier) const {
        double out = 0, in = 0;
        const VertexId vertex = cluster.gpu_vertex(GpuId{gpu});
        for (std::uint32_t i = 0; i < traffic.bytes.size(); ++i) {
            const Link& link = cluster.link(LinkId{i});
            if (link.tier != tier) continue;
            if (link.from == vertex) out += traffic.bytes[i];
            if (link.to == vertex) in += traffic.bytes[i];
            EXPECT_DOUBLE_EQ(traffic.busy_seconds[i], traffic.bytes[i] / link.rate.bytes_per_second());
        }
        EXPECT_DOUBLE_EQ(in, out);
        return out;
    }
    double total(LinkTier tier) const {
        double sum = 0;
        for (std::uint32_t i = 0; i < traffic.bytes.size(); ++i)
            if (cluster.link(LinkId{i}).tier == tier) sum += traffic.bytes[i];
        return sum;
    }
    Workload workload;
    Cluster cluster;
    LinkTraffic traffic;
};

// Passes of one micro-batch with sequence parallelism: per layer 4 forward, 6 backward (row gradients, input again,
// input gradients, of two blocks); one of the embedding, one forward and one backward of the head. The loss all-reduces
// three fp32 numbers per token: two passes of 12 bytes where an activation has 2 h.
double tensor_bytes(double t, double c) {
    const double tokens = batch * sequence / c;
    return micro_batches * (t - 1) / t * ((10 * layers + 3) * 2 * tokens * hidden + 2 * 12 * tokens);
}

// Facts of the paper's model: the tensor has 50.3 MB, of which a GPU sends 44.0 MB.
TEST(PricedTraffic, AllGatherOfTheMegascaleModel) {
    ParallelSpec parallel;
    parallel.tensor = 8;
    const LocalCollective gather{LocalCollectiveKind::all_gather, 2.0 * 2048 * 12288};
    EXPECT_EQ(local_volume(gather, parallel).sent_per_member, Bytes{44'040'192});
    const LocalCollective reduce{LocalCollectiveKind::all_reduce, 2.0 * 2048 * 12288};
    EXPECT_EQ(local_volume(reduce, parallel).sent_per_member, Bytes{2 * 44'040'192});
}

TEST(PricedTraffic, TensorCollectivesLoadTheNvlinkOfTheirGpus) {
    for (const std::int64_t tensor : {1, 2, 8}) {
        const Job job(training(tensor, 16 / tensor * 2));  // data groups cross nodes: they go through the network model
        const double expected = tensor_bytes(static_cast<double>(tensor), 1);
        EXPECT_NEAR(job.sent(0, LinkTier::nvlink), expected, 1e-9 * expected);
        EXPECT_NEAR(job.sent(13, LinkTier::nvlink), expected, 1e-9 * expected);
        EXPECT_NEAR(job.total(LinkTier::nvlink), 32 * 2 * expected, 1e-6 * expected);
        EXPECT_EQ(job.total(LinkTier::host), 0);
    }
}

// One node: gradients of P parameters are all-reduced over d ranks, 2 (d - 1) / d x 2 P bytes sent by each.
TEST(PricedTraffic, DataGroupsInsideANodeUseItsNvlink) {
    const Job job(training(1, 8));
    const double parameters = job.workload.training.model.parameters();
    const double expected = 2 * 7.0 / 8 * 2 * parameters;
    EXPECT_NEAR(job.sent(3, LinkTier::nvlink), expected, 1e-3 * expected);  // position embedding, uncut norms
}

// Keys and values, 2 x 2 n h / t bytes per exchange, c - 1 exchanges forward and as many of twice that backward. With
// tensor 8 the next context rank is on another node, behind the NIC of each GPU.
TEST(PricedTraffic, ContextExchangesCrossNodesByTheirOwnNics) {
    const double t = 8, c = 4, tokens = batch * sequence / c;
    const Job job(training(8, 1, 4));
    const double exchanged = micro_batches * layers * (c - 1) * (2 + 4) * 2 * tokens * hidden / t;
    EXPECT_NEAR(job.sent(0, LinkTier::nvlink), tensor_bytes(t, c), 10);
    EXPECT_NEAR(job.sent(0, LinkTier::pcie), exchanged, 10);
    EXPECT_NEAR(job.total(LinkTier::host), 32 * 2 * exchanged, 1000);
}

// A tensor group of 16 spans two nodes: rings enter and leave a node through each of its NICs in turn.
TEST(PricedTraffic, TensorGroupsBeyondTheNodeLoadTheirNics) {
    const Job job(training(16, 2));
    const double expected = tensor_bytes(16, 1);
    EXPECT_NEAR(job.total(LinkTier::pcie), 4 * 2 * expected, 1e-6 * expected);  // four nodes, out and in
}

}  // namespace
}  // namespace rehearse
