// Which pages the coming step will use: a multi-layer perceptron with one hidden layer, shared by all pages and trained
// online on what happened. For each page it sees
//     x = (share of tokens in the last step, smoothed share, steps since the last use, free share of the budget)
// and says the probability of a use, sigmoid(v . tanh(W x + b) + c). Training is plain gradient descent on the logistic
// loss, page by page in their order; the first weights are drawn from the seed. Equal inputs give equal predictions.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace rehearse {

struct PredictorSpec {
    double rate = 0.05;    // of learning
    double keep = 0.9;     // of the smoothed share per step
};

class AccessPredictor {
public:
    static constexpr std::size_t inputs = 4, hidden = 8;

    AccessPredictor(std::uint32_t pages, std::uint64_t seed, const PredictorSpec& spec = {});

    // For the coming step; `free_share` of the page budget now.
    std::span<const float> predict(double free_share);
    // What the step used: tokens per page. Trains on the last prediction, then remembers.
    void learn(std::span<const std::uint64_t> tokens);
    double loss() const { return loss_; }  // logistic loss of the last step, mean over pages

private:
    struct History {
        double last = 0, smooth = 0, age = 8;
    };
    using Inputs = std::array<double, inputs>;
    double forward(const Inputs& x, std::array<double, hidden>& h) const;
    void train(const Inputs& x, double wanted);

    PredictorSpec spec_;
    std::vector<History> history_;
    std::vector<Inputs> seen_;  // of the last prediction
    std::vector<float> probability_;
    std::array<std::array<double, inputs>, hidden> w_{};
    std::array<double, hidden> b_{}, v_{};
    double c_ = 0, loss_ = 0;
};

}  // namespace rehearse
