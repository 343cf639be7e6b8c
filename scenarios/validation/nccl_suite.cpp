#include "scenarios/validation/measured_suite.hpp"
#include "scenarios/validation/nccl_clusters.hpp"

namespace rehearse {

namespace {

void predict_tables(const std::vector<NcclCheck>& checks, const std::vector<NcclCosts>& sets, RowChoice choice,
                    FigurePredictions& errors) {
    for (const NcclCheck& check : checks) {
        const std::vector<NcclSample> samples = nccl_samples(check.table, choice);
        errors[check.quantity] = 100 * geometric_mean_error(nccl_ratios(sets, samples, check.forced));
    }
}

FigurePredictions predict_nccl(const PublishedTable&) {
    FigurePredictions errors;
    for (const NcclCluster& cluster : nccl_clusters()) {
        predict_tables(cluster.checks, fit_cluster(cluster, RowChoice::all), RowChoice::all, errors);
        if (cluster.odd_sizes.empty()) continue;
        predict_tables(cluster.odd_sizes, fit_cluster(cluster, RowChoice::even), RowChoice::odd, errors);
    }
    return errors;
}

}  // namespace

SuiteEntry nccl_suite() {
    return measured_suite("nccl", "NCCL's all-reduce on clusters of H100 and A100, larger node counts predicted",
                          "nccl", predict_nccl);
}

}  // namespace rehearse
