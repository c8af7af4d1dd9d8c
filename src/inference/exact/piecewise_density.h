// A probability density in one or two dimensions, found by adaptive quadrature and kept as
// polynomials.
#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <vector>

#include "src/inference/problems/numpy_random.h"

namespace sturnus {

/// A density on a box, cut into cells on each of which a tensor product of Legendre polynomials
/// through Gauss nodes agrees with it to about 1e-10 of its peak. Integrals, marginals, quantiles
/// and draws are all read off these polynomials; the given function is not called again.
class PiecewiseDensity {
 public:
  struct Axis {
    double low, high;
    /// Cells to begin with: so many that a mode shows at their nodes, if only as a rise towards it.
    int cells;
  };
  /// A Gauss node with its share of the total mass.
  struct Node {
    std::array<double, 2> x;
    double weight;
  };

  /// Any function to whose exponential the density is proportional. It takes both coordinates; in
  /// one dimension the second is meaningless.
  using LogDensity = std::function<double(double, double)>;
  PiecewiseDensity(const LogDensity& log_density, const std::vector<Axis>& axes);

  /// log of the integral of exp(log_density) over the box.
  double log_total() const { return log_total_; }
  /// Gauss nodes, 10, 20 or 30 per axis and cell: the heaviest of them, so that what is left out
  /// weighs less than `left_out`; what is kept weighs 1.
  std::vector<Node> nodes(std::size_t per_axis, double left_out) const;

  double density(std::size_t axis, double x) const;
  double cdf(std::size_t axis, double x) const;
  double quantile(std::size_t axis, double probability) const;
  std::array<double, 2> draw(NumpyRandom& random) const;

  std::size_t cells() const { return cells_.size(); }

 private:
  struct Range {
    double low, high;
    double length() const { return high - low; }
    double at(double unit) const { return low + 0.5 * (unit + 1) * (high - low); }  // from [-1, 1]
    double unit(double x) const { return 2 * (x - low) / (high - low) - 1; }
  };
  struct Cell {
    std::array<Range, 2> box;
    double log_max;                    // largest log density at a node
    double log_bound;                  // what it may rise to between the nodes
    std::array<double, 2> rise;        // of log_max above the next nodes
    std::array<double, 2> tail;        // the last coefficients along each axis
    std::vector<double> coefficients;  // of P_k(x) P_l(y)
    double mass = 0;                   // share of the total
  };

  Cell evaluate(const LogDensity& log_density, std::array<Range, 2> box) const;
  std::vector<double> coefficients_at(const Cell& cell, double u) const;
  std::vector<double> marginal_coefficients(const Cell& cell, std::size_t axis) const;

  std::size_t nodes_[2];  // per axis: one in a dimension that is not there
  std::array<Range, 2> box_;
  std::vector<Cell> cells_;
  std::vector<double> cumulative_;  // mass of cells 0 to i
  double log_total_ = 0;
};

}  // namespace sturnus
