#include "src/inference/exact/piecewise_density.h"

#include <sturnus/runtime/error.h>

#include <algorithm>
#include <boost/math/quadrature/gauss.hpp>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <string>
#include <utility>

#include "src/inference/exact/bracketed_newton.h"

namespace sturnus {
namespace {

constexpr std::size_t order = 20;
constexpr double tolerance = 1e-10;  // of the peak
constexpr double negligible = -45;   // log of a density relative to the peak
constexpr std::size_t most_cells = 30000;
constexpr double infinity = std::numeric_limits<double>::infinity();

/// P_0, ..., P_order at u.
std::array<double, order + 1> legendre(double u) {
  std::array<double, order + 1> p;
  p[0] = 1;
  p[1] = u;
  for (std::size_t k = 1; k < order; ++k) {
    double n = static_cast<double>(k);
    p[k + 1] = ((2 * n + 1) * u * p[k] - n * p[k - 1]) / (n + 1);
  }
  return p;
}

/// Nodes and weights on [-1, 1].
struct Rule {
  std::vector<double> x, weight;
};

/// The Gauss rule with an even number of nodes.
template <unsigned n>
Rule gauss_rule() {
  using Gauss = boost::math::quadrature::gauss<double, n>;
  Rule rule;
  for (double side : {-1.0, 1.0}) {
    for (std::size_t i = 0; i < n / 2; ++i) {
      rule.x.push_back(side * Gauss::abscissa()[i]);
      rule.weight.push_back(Gauss::weights()[i]);
    }
  }
  return rule;
}

const Rule& rule(std::size_t n) {
  static const std::map<std::size_t, Rule> rules = {{1, Rule{{0}, {2}}},
                                                    {10, gauss_rule<10>()},
                                                    {order, gauss_rule<order>()},
                                                    {30, gauss_rule<30>()}};
  return rules.at(n);
}

/// Nodes in ascending order, so that neighbours are neighbours, and the matrix from values at them
/// to Legendre coefficients.
struct Transform {
  std::vector<double> x;
  std::vector<double> matrix;  // [coefficient][node]

  explicit Transform(std::size_t n) : x(rule(n).x), matrix(n * n) {
    std::vector<double> weight = rule(n).weight;
    std::reverse(x.begin(), x.begin() + n / 2);
    std::reverse(weight.begin(), weight.begin() + n / 2);
    for (std::size_t i = 0; i < n; ++i) {
      auto p = legendre(x[i]);
      for (std::size_t k = 0; k < n; ++k) {
        matrix[k * n + i] = (static_cast<double>(k) + 0.5) * weight[i] * p[k];
      }
    }
  }
};

const Transform& transform(std::size_t n) {
  static const Transform one(1), full(order);
  return n == 1 ? one : full;
}

/// The series sum_k c_k P_k(u) and its integral from -1.
double series_value(const std::vector<double>& c, double u) {
  auto p = legendre(u);
  return std::inner_product(c.begin(), c.end(), p.begin(), 0.0);
}

double series_integral(const std::vector<double>& c, double u) {
  auto p = legendre(u);
  double sum = c[0] * (u + 1);
  for (std::size_t k = 1; k < c.size(); ++k) {
    sum += c[k] * (p[k + 1] - p[k - 1]) / (2 * static_cast<double>(k) + 1);
  }
  return sum;
}

/// Where the integral from -1 reaches `share` of the whole.
double series_quantile(const std::vector<double>& c, double share) {
  auto excess = [&](double u) {
    return std::pair(series_integral(c, u) - share * 2 * c[0], series_value(c, u));
  };
  return bracketed_newton(excess, -1, 1);
}

}  // namespace

PiecewiseDensity::Cell PiecewiseDensity::evaluate(const LogDensity& log_density,
                                                  std::array<Range, 2> box) const {
  const Transform& transform0 = transform(nodes_[0]);
  const Transform& transform1 = transform(nodes_[1]);
  std::size_t n0 = nodes_[0], n1 = nodes_[1];
  std::vector<double> logs(n0 * n1);
  for (std::size_t i = 0; i < n0; ++i) {
    for (std::size_t j = 0; j < n1; ++j) {
      double x = box[0].at(transform0.x[i]), y = box[1].at(transform1.x[j]);
      logs[i * n1 + j] = log_density(x, y);
      if (!(logs[i * n1 + j] < infinity) || logs[i * n1 + j] == -infinity) {
        throw Error("PiecewiseDensity: the log density is " + std::to_string(logs[i * n1 + j]) +
                    " at (" + std::to_string(x) + ", " + std::to_string(y) +
                    "). It must be finite throughout: narrow the prior.");
      }
    }
  }
  Cell cell;
  cell.box = box;
  std::size_t top =
      static_cast<std::size_t>(std::max_element(logs.begin(), logs.end()) - logs.begin());
  cell.log_max = logs[top];
  // Between two nodes of a parabola the peak rises above the higher by at most an eighth of what
  // that one rises above its other neighbour.
  std::size_t i = top / n1, j = top % n1;
  cell.rise = {0, 0};
  auto rise_above = [&](std::size_t axis, std::size_t node) {
    cell.rise[axis] = std::max(cell.rise[axis], cell.log_max - logs[node]);
  };
  if (i > 0) rise_above(0, top - n1);
  if (i + 1 < n0) rise_above(0, top + n1);
  if (j > 0) rise_above(1, top - 1);
  if (j + 1 < n1) rise_above(1, top + 1);
  cell.log_bound = cell.log_max + cell.rise[0] + cell.rise[1];

  std::vector<double> values(n0 * n1);
  for (std::size_t k = 0; k < logs.size(); ++k) values[k] = std::exp(logs[k] - cell.log_max);

  std::vector<double> half(n0 * n1, 0.0);  // [coefficient along x][node along y]
  for (std::size_t k = 0; k < n0; ++k) {
    for (std::size_t i = 0; i < n0; ++i) {
      for (std::size_t j = 0; j < n1; ++j) {
        half[k * n1 + j] += transform0.matrix[k * n0 + i] * values[i * n1 + j];
      }
    }
  }
  cell.coefficients.assign(n0 * n1, 0.0);
  for (std::size_t k = 0; k < n0; ++k) {
    for (std::size_t l = 0; l < n1; ++l) {
      for (std::size_t j = 0; j < n1; ++j) {
        cell.coefficients[k * n1 + l] += transform1.matrix[l * n1 + j] * half[k * n1 + j];
      }
    }
  }
  cell.tail = {0, 0};
  for (std::size_t k = 0; k < n0; ++k) {
    for (std::size_t l = 0; l < n1; ++l) {
      double size = std::abs(cell.coefficients[k * n1 + l]);
      if (n0 > 1 && k + 2 >= n0) cell.tail[0] += size;
      if (n1 > 1 && l + 2 >= n1) cell.tail[1] += size;
    }
  }
  return cell;
}

PiecewiseDensity::PiecewiseDensity(const LogDensity& log_density, const std::vector<Axis>& axes)
    : nodes_{order, axes.size() == 2 ? order : 1}, box_{Range{0, 1}, Range{0, 1}} {
  std::array<int, 2> count = {1, 1};
  for (std::size_t a = 0; a < axes.size(); ++a) {
    box_[a] = {axes[a].low, axes[a].high};
    count[a] = axes[a].cells;
  }
  auto part = [&](std::size_t axis, int index) {
    auto edge = [&](int i) {
      return i == count[axis] ? box_[axis].high
                              : box_[axis].low + box_[axis].length() * i / count[axis];
    };
    return Range{edge(index), edge(index + 1)};
  };
  std::vector<Cell> open;  // a heap: the most promising cell first, so that the peak is found early
  auto promises_less = [](const Cell& a, const Cell& b) { return a.log_bound < b.log_bound; };
  double peak = -infinity;
  auto add = [&](Cell cell) {
    open.push_back(std::move(cell));
    peak = std::max(peak, open.back().log_max);
    std::push_heap(open.begin(), open.end(), promises_less);
  };
  for (int i = 0; i < count[0]; ++i) {
    for (int j = 0; j < count[1]; ++j) add(evaluate(log_density, {part(0, i), part(1, j)}));
  }
  // A cell is done when its polynomial's last coefficients, scaled by the height it may reach, are
  // small against the peak. The peak only grows, so what is done stays done. Coefficients that are
  // small already and that halving the cell does not shrink are rounding.
  std::size_t evaluated = open.size();
  while (!open.empty()) {
    std::pop_heap(open.begin(), open.end(), promises_less);
    Cell cell = std::move(open.back());
    open.pop_back();
    double height = std::exp(std::min(0.0, cell.log_bound - peak));
    if (height * (cell.tail[0] + cell.tail[1]) <= tolerance) {
      cells_.push_back(std::move(cell));
      continue;
    }
    if ((evaluated += 2) > most_cells) {
      throw Error("PiecewiseDensity: " + std::to_string(most_cells) +
                  " cells do not resolve the density. Its peak is too narrow for the prior's box: "
                  "narrow the prior or check the noise.");
    }
    // Halve the axis that is resolved worse; while the peak hides between nodes, the steeper one.
    auto need = [&](std::size_t axis) { return cell.tail[axis] * (1 + cell.rise[axis]); };
    std::size_t axis = need(0) >= need(1) ? 0 : 1;
    for (double end : {-1.0, 1.0}) {
      std::array<Range, 2> half = cell.box;
      (end < 0 ? half[axis].high : half[axis].low) = cell.box[axis].at(0);
      Cell part = evaluate(log_density, half);
      bool rounding = cell.tail[axis] < 1e-4 && part.tail[axis] > 0.25 * cell.tail[axis];
      if (rounding) part.tail[axis] = 0;
      if (cell.tail[1 - axis] == 0) part.tail[1 - axis] = 0;
      add(std::move(part));
    }
  }

  std::erase_if(cells_, [&](const Cell& cell) { return cell.log_max < peak + negligible; });
  double total = 0;
  for (Cell& cell : cells_) {
    double scale = std::exp(cell.log_max - peak);
    for (double& coefficient : cell.coefficients) coefficient *= scale;
    cell.mass = cell.coefficients[0] * cell.box[0].length() * cell.box[1].length();
    total += cell.mass;
  }
  double cumulative = 0;
  for (Cell& cell : cells_) {
    for (double& coefficient : cell.coefficients) coefficient /= total;
    cell.mass /= total;
    cumulative_.push_back(cumulative += cell.mass);
  }
  log_total_ = peak + std::log(total);
}

std::vector<PiecewiseDensity::Node> PiecewiseDensity::nodes(std::size_t per_axis,
                                                            double left_out) const {
  const Rule& rule0 = rule(per_axis);
  const Rule& rule1 = rule(nodes_[1] == 1 ? 1 : per_axis);
  std::vector<Node> nodes;
  for (const Cell& cell : cells_) {
    double area = 0.25 * cell.box[0].length() * cell.box[1].length();
    for (std::size_t i = 0; i < rule0.x.size(); ++i) {
      std::vector<double> series = coefficients_at(cell, rule0.x[i]);
      for (std::size_t j = 0; j < rule1.x.size(); ++j) {
        nodes.push_back(
            {{cell.box[0].at(rule0.x[i]), cell.box[1].at(rule1.x[j])},
             area * rule0.weight[i] * rule1.weight[j] * series_value(series, rule1.x[j])});
      }
    }
  }
  std::sort(nodes.begin(), nodes.end(),
            [](const Node& a, const Node& b) { return a.weight < b.weight; });
  auto first = nodes.begin();
  for (double sum = 0; first != nodes.end() && (sum += first->weight) < left_out;) ++first;
  nodes.erase(nodes.begin(), first);
  double kept = 0;
  for (const Node& node : nodes) kept += node.weight;
  for (Node& node : nodes) node.weight /= kept;
  return nodes;
}

/// Of the cell's density along the second axis, at one place of the first.
std::vector<double> PiecewiseDensity::coefficients_at(const Cell& cell, double u) const {
  auto p = legendre(u);
  std::vector<double> series(nodes_[1], 0.0);
  for (std::size_t k = 0; k < nodes_[0]; ++k) {
    for (std::size_t l = 0; l < nodes_[1]; ++l) {
      series[l] += p[k] * cell.coefficients[k * nodes_[1] + l];
    }
  }
  return series;
}

/// Of the cell's density integrated over the other axis; the other P_l, l > 0, integrate to
/// nothing.
std::vector<double> PiecewiseDensity::marginal_coefficients(const Cell& cell,
                                                            std::size_t axis) const {
  std::size_t stride = axis == 0 ? nodes_[1] : 1;
  std::vector<double> coefficients(nodes_[axis]);
  for (std::size_t k = 0; k < coefficients.size(); ++k) {
    coefficients[k] = cell.coefficients[k * stride] * cell.box[1 - axis].length();
  }
  return coefficients;
}

double PiecewiseDensity::density(std::size_t axis, double x) const {
  double sum = 0;
  for (const Cell& cell : cells_) {
    const Range& range = cell.box[axis];
    // A cell owns its lower edge; the box owns its upper one too.
    bool owns = range.low <= x && (x < range.high || (x == range.high && x == box_[axis].high));
    if (owns) sum += series_value(marginal_coefficients(cell, axis), range.unit(x));
  }
  return std::max(sum, 0.0);
}

double PiecewiseDensity::cdf(std::size_t axis, double x) const {
  double sum = 0;
  for (const Cell& cell : cells_) {
    const Range& range = cell.box[axis];
    if (x >= range.high) {
      sum += cell.mass;
    } else if (x > range.low) {
      sum +=
          0.5 * range.length() * series_integral(marginal_coefficients(cell, axis), range.unit(x));
    }
  }
  return std::clamp(sum, 0.0, 1.0);
}

double PiecewiseDensity::quantile(std::size_t axis, double probability) const {
  auto excess = [&](double x) { return std::pair(cdf(axis, x) - probability, density(axis, x)); };
  return bracketed_newton(excess, box_[axis].low, box_[axis].high);
}

std::array<double, 2> PiecewiseDensity::draw(NumpyRandom& random) const {
  double share = random.uniform() * cumulative_.back();
  auto found = std::upper_bound(cumulative_.begin(), cumulative_.end(), share);
  auto index = std::min(static_cast<std::size_t>(found - cumulative_.begin()), cells_.size() - 1);
  const Cell& cell = cells_[index];
  double u = series_quantile(marginal_coefficients(cell, 0), random.uniform());
  if (nodes_[1] == 1) return {cell.box[0].at(u), 0};

  double v = series_quantile(coefficients_at(cell, u), random.uniform());
  return {cell.box[0].at(u), cell.box[1].at(v)};
}

}  // namespace sturnus
