#include "models/compute/non_negative_fit.hpp"

#include <Eigen/Dense>
#include <cmath>

#include "sim/base/checks.hpp"

namespace rehearse {

namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr double smallest_gain = 1e-11;  // of a coefficient that is let in, for unit columns and a unit target

class ActiveSet {
public:
    ActiveSet(const MatrixXd& a, const VectorXd& b)
        : a_(a), b_(b), x_(VectorXd::Zero(a.cols())), free_(static_cast<std::size_t>(a.cols()), false) {}

    VectorXd solve() {
        // Each pass lets one coefficient in; a cycle would need rounding errors, and ends here.
        for (Eigen::Index pass = 0; pass < 3 * a_.cols() && let_in(); ++pass) settle();
        return x_;
    }

private:
    bool let_in() {
        const VectorXd gain = a_.transpose() * (b_ - a_ * x_);
        Eigen::Index best = -1;
        for (Eigen::Index j = 0; j < gain.size(); ++j) {
            if (is_free(j) || gain[j] <= smallest_gain) continue;
            if (best < 0 || gain[j] > gain[best]) best = j;
        }
        if (best < 0) return false;
        free_[static_cast<std::size_t>(best)] = true;
        return true;
    }

    // Goes to the minimum over the free coefficients; those that reach zero on the way are free no longer.
    void settle() {
        while (true) {
            const VectorXd target = minimum_of_free();
            double part = 1;
            for (Eigen::Index j = 0; j < x_.size(); ++j) {
                if (is_free(j) && target[j] <= 0) part = std::min(part, x_[j] / (x_[j] - target[j]));
            }
            x_ += part * (target - x_);
            if (part == 1) return;
            for (Eigen::Index j = 0; j < x_.size(); ++j) {
                if (!is_free(j) || x_[j] > 1e-14) continue;
                x_[j] = 0;
                free_[static_cast<std::size_t>(j)] = false;
            }
        }
    }

    VectorXd minimum_of_free() const {
        std::vector<Eigen::Index> chosen;
        for (Eigen::Index j = 0; j < x_.size(); ++j) {
            if (is_free(j)) chosen.push_back(j);
        }
        MatrixXd part(a_.rows(), static_cast<Eigen::Index>(chosen.size()));
        for (std::size_t i = 0; i < chosen.size(); ++i) part.col(static_cast<Eigen::Index>(i)) = a_.col(chosen[i]);
        const VectorXd found = part.colPivHouseholderQr().solve(b_);
        VectorXd all = VectorXd::Zero(x_.size());
        for (std::size_t i = 0; i < chosen.size(); ++i) all[chosen[i]] = found[static_cast<Eigen::Index>(i)];
        return all;
    }

    bool is_free(Eigen::Index j) const { return free_[static_cast<std::size_t>(j)]; }

    const MatrixXd& a_;
    const VectorXd& b_;
    VectorXd x_;
    std::vector<bool> free_;
};

}  // namespace

std::vector<double> fit_non_negative(const std::vector<std::vector<double>>& rows, const std::vector<double>& targets) {
    REHEARSE_CHECK(!rows.empty() && !rows.front().empty(), "a fit needs rows and coefficients");
    REHEARSE_CHECK(rows.size() == targets.size(), "a fit has one target for each row");
    MatrixXd a(rows.size(), rows.front().size());
    VectorXd b = VectorXd::Map(targets.data(), static_cast<Eigen::Index>(targets.size()));
    for (std::size_t i = 0; i < rows.size(); ++i) {
        REHEARSE_CHECK(rows[i].size() == rows.front().size(), "the rows of a fit are of one length");
        a.row(static_cast<Eigen::Index>(i)) =
            VectorXd::Map(rows[i].data(), static_cast<Eigen::Index>(rows[i].size())).transpose();
    }
    REHEARSE_CHECK(a.allFinite() && b.allFinite(), "the figures of a fit are finite");
    const auto or_one = [](double norm) { return norm > 0 ? norm : 1.0; };
    VectorXd columns = a.colwise().norm().transpose();
    columns = columns.unaryExpr(or_one);
    const double size = or_one(b.norm());
    a.array().rowwise() /= columns.transpose().array();
    b /= size;
    const VectorXd x = (ActiveSet(a, b).solve().array() / columns.array() * size).matrix();
    return {x.data(), x.data() + x.size()};
}

std::vector<double> fit_non_negative_relative(std::vector<std::vector<double>> rows,
                                              const std::vector<double>& targets) {
    REHEARSE_CHECK(rows.size() == targets.size(), "a fit has one target for each row");
    for (std::size_t i = 0; i < rows.size(); ++i) {
        REHEARSE_CHECK(targets[i] > 0, "a relative error needs a positive target");
        for (double& figure : rows[i]) figure /= targets[i];
    }
    return fit_non_negative(rows, std::vector<double>(rows.size(), 1.0));
}

}  // namespace rehearse
