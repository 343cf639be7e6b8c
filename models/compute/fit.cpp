#include "models/compute/fit.hpp"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <limits>

#include "sim/base/checks.hpp"

namespace rehearse {

namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

class Fit {
public:
    Fit(const std::vector<FitParameter>& parameters, const ResidualFunction& residuals, const ResidualFunction& model,
        const FitOptions& options)
        : parameters_(parameters), residuals_(residuals), model_(model), options_(options) {}

    VectorXd start() const {
        VectorXd x(parameters_.size());
        for (std::size_t i = 0; i < parameters_.size(); ++i) {
            const FitParameter& p = parameters_[i];
            REHEARSE_CHECK(p.low < p.high, "fit parameter " + p.key + " has no range");
            x[i] = std::clamp((p.start - p.low) / (p.high - p.low), 0.0, 1.0);
        }
        return x;
    }

    FitResult run() {
        VectorXd x = start();
        VectorXd r = evaluate(residuals_, x);
        double best = cost(r), damping = 1e-3;
        MatrixXd jacobian;
        for (int iteration = 0; iteration < options_.iterations; ++iteration) {
            jacobian = differentiate(x);
            const double before = best;
            for (int attempt = 0; attempt < 5; ++attempt) {
                const VectorXd candidate = step(x, r, jacobian, damping);
                if ((candidate - x).cwiseAbs().maxCoeff() < 1e-7) break;
                const VectorXd trial = evaluate(residuals_, candidate);
                if (cost(trial) < best) {
                    x = candidate;
                    r = trial;
                    best = cost(trial);
                    damping = std::max(damping / 5, 1e-9);
                    break;
                }
                damping *= 8;
            }
            if (before - best <= options_.cost_tolerance * before) break;
        }
        return finish(x, r, jacobian, best);
    }

    std::vector<double> values(const VectorXd& x) const {
        std::vector<double> v(parameters_.size());
        for (std::size_t i = 0; i < v.size(); ++i)
            v[i] = parameters_[i].low + x[i] * (parameters_[i].high - parameters_[i].low);
        return v;
    }

    VectorXd evaluate(const ResidualFunction& function, const VectorXd& x) {
        const std::vector<double> r = function(values(x));
        if (&function == &residuals_) ++evaluations_;
        const VectorXd result = Eigen::Map<const VectorXd>(r.data(), static_cast<Eigen::Index>(r.size()));
        REHEARSE_CHECK(result.allFinite(), "a residual of the fit is not finite");
        return result;
    }

private:
    double cost(const VectorXd& r) const {
        const double f = options_.loss_scale;
        double total = 0;
        for (const double value : r) total += 2 * f * f * (std::sqrt(1 + value * value / (f * f)) - 1);
        return total;
    }

    // Weight of a residual in the iteratively re-weighted step: rho'(r) / (2 r).
    VectorXd weights(const VectorXd& r) const {
        return r.unaryExpr(
            [f = options_.loss_scale](double value) { return 1 / std::sqrt(1 + value * value / (f * f)); });
    }

public:
    MatrixXd differentiate(const VectorXd& x) {
        const VectorXd base = evaluate(model_, x);
        MatrixXd jacobian(base.size(), x.size());
        for (Eigen::Index i = 0; i < x.size(); ++i) {
            VectorXd moved = x;
            const double h = x[i] + options_.step <= 1 ? options_.step : -options_.step;
            moved[i] += h;
            jacobian.col(i) = (evaluate(model_, moved) - base) / h;
        }
        return jacobian;
    }

    // Parameters that sit on a bound and would leave it are held; the rest move.
    VectorXd step(const VectorXd& x, const VectorXd& r, const MatrixXd& jacobian, double damping) const {
        REHEARSE_CHECK(jacobian.rows() == r.size(), "the Jacobian's model has another number of residuals");
        const VectorXd w = weights(r);
        const VectorXd gradient = jacobian.transpose() * w.cwiseProduct(r);
        MatrixXd normal = jacobian.transpose() * w.asDiagonal() * jacobian;
        VectorXd right = -gradient;
        for (Eigen::Index i = 0; i < x.size(); ++i) {
            const bool held = (x[i] <= 0 && gradient[i] > 0) || (x[i] >= 1 && gradient[i] < 0);
            normal(i, i) += damping * (normal(i, i) + 1e-12);
            if (!held) continue;
            normal.row(i).setZero();
            normal.col(i).setZero();
            normal(i, i) = 1;
            right[i] = 0;
        }
        VectorXd moved = x + normal.ldlt().solve(right);
        return moved.cwiseMax(0.0).cwiseMin(1.0);
    }

private:
    FitResult finish(const VectorXd& x, const VectorXd& r, const MatrixXd& jacobian, double best) const {
        FitResult result;
        result.values = values(x);
        result.residuals.assign(r.data(), r.data() + r.size());
        result.cost = best;
        result.evaluations = evaluations_;
        const double freedom = std::max<double>(1, static_cast<double>(r.size() - x.size()));
        const MatrixXd normal = jacobian.transpose() * weights(r).asDiagonal() * jacobian;
        const MatrixXd covariance = normal.completeOrthogonalDecomposition().pseudoInverse() * (best / freedom);
        for (Eigen::Index i = 0; i < x.size(); ++i) {
            const double range = parameters_[i].high - parameters_[i].low;
            const bool known = normal(i, i) > 0 && covariance(i, i) > 0;
            result.standard_errors.push_back(known ? range * std::sqrt(covariance(i, i))
                                                   : std::numeric_limits<double>::infinity());
        }
        return result;
    }

    const std::vector<FitParameter>& parameters_;
    const ResidualFunction& residuals_;
    const ResidualFunction& model_;
    FitOptions options_;
    int evaluations_ = 0;
};

}  // namespace

FitResult fit_bounded(const std::vector<FitParameter>& parameters, const ResidualFunction& residuals,
                      const ResidualFunction& jacobian_model, const FitOptions& options) {
    return Fit(parameters, residuals, jacobian_model, options).run();
}

using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

LinearisedFit::LinearisedFit(std::vector<FitParameter> parameters, const ResidualFunction& residuals,
                             const ResidualFunction& jacobian_model, const FitOptions& options)
    : parameters_(std::move(parameters)), options_(options) {
    Fit fit(parameters_, residuals, jacobian_model, options_);
    const VectorXd r = fit.evaluate(residuals, fit.start());
    const RowMajor jacobian = fit.differentiate(fit.start());
    residuals_.assign(r.data(), r.data() + r.size());
    jacobian_.assign(jacobian.data(), jacobian.data() + jacobian.size());
}

std::vector<double> LinearisedFit::values_without(const std::vector<std::size_t>& left_out) const {
    const auto rows = static_cast<Eigen::Index>(residuals_.size());
    VectorXd r = Eigen::Map<const VectorXd>(residuals_.data(), rows);
    MatrixXd jacobian = Eigen::Map<const RowMajor>(jacobian_.data(), rows, rows == 0 ? 0 : jacobian_.size() / rows);
    for (const std::size_t row : left_out) {
        REHEARSE_CHECK(row < residuals_.size(), "no such residual");
        r[static_cast<Eigen::Index>(row)] = 0;
        jacobian.row(static_cast<Eigen::Index>(row)).setZero();
    }
    const ResidualFunction none;
    const Fit fit(parameters_, none, none, options_);
    return fit.values(fit.step(fit.start(), r, jacobian, 1e-9));
}

}  // namespace rehearse
