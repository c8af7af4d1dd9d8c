// The loss of an ensemble by loops over plain numbers: what its tests compare with. Networks are of
// tanh; derivatives go through the layers as Taylor coefficients.
#pragma once

#include <sturnus/inference/ensembles/published.h>

#include <algorithm>
#include <cmath>
#include <string_view>
#include <vector>

#include "tests/inference/host.h"

namespace sturnus {

struct HostLayer {
  std::size_t in = 0, out = 0;
  Doubles w, b;
};

struct HostMember {
  std::vector<HostLayer> layers;
  Doubles lambda;
};

/// A value with its first and second derivative along a line.
struct Taylor {
  double value = 0, first = 0, second = 0;
};

/// The members of an ensemble, apart.
inline std::vector<HostMember> host_members(const Member& members) {
  auto count = static_cast<std::size_t>(members.lambda.shape()[0]);
  std::vector<HostMember> result(count);
  auto part = [&](const Doubles& all, std::size_t i) {
    auto own = static_cast<std::ptrdiff_t>(all.size() / count);
    auto first = all.begin() + own * static_cast<std::ptrdiff_t>(i);
    return Doubles(first, first + own);
  };
  for (const Dense& layer : members.network) {
    Doubles w = doubles(layer.w), b = doubles(layer.b);
    for (std::size_t i = 0; i < count; i++) {
      result[i].layers.push_back({static_cast<std::size_t>(layer.w.shape()[1]),
                                  static_cast<std::size_t>(layer.w.shape()[2]), part(w, i),
                                  part(b, i)});
    }
  }
  Doubles lambda = doubles(members.lambda);
  for (std::size_t i = 0; i < count; i++) result[i].lambda = part(lambda, i);
  return result;
}

/// The state with other lambda.
inline EnsembleState with_lambda(const Ensemble& ensemble, const EnsembleState& state,
                                 const Array& lambda) {
  Member members = ensemble.members(state);
  members.lambda = lambda;
  return ensemble.with_members(state, members);
}

/// All numbers of a member, in the order of its leaves.
inline std::vector<double*> numbers_of(HostMember& member) {
  std::vector<double*> result;
  auto add = [&](Doubles& values) {
    for (double& value : values) result.push_back(&value);
  };
  for (HostLayer& layer : member.layers) add(layer.w), add(layer.b);
  add(member.lambda);
  return result;
}

struct HostTerms {
  double data = 0, residual = 0, prior = 0, repulsion = 0;
  double total() const { return data + residual + prior + repulsion; }
};

struct HostEnsemble {
  const Ensemble& ensemble;
  std::vector<HostMember> members;
  Doubles points;            // of all members together, or of one after the other
  double residual_weight;    // at this iteration
  bool repulsion_is_active;  // at this iteration
  double data_weight = 1, prior_weight = 1, repulsion_weight = 1;  // at this iteration

  const Problem& problem() const { return ensemble.problem(); }
  const EnsembleOptions& options() const { return ensemble.options(); }
  std::size_t inputs() const { return problem().low.size(); }
  std::size_t outputs() const { return problem().data.outputs; }

  /// The outputs of a member at a point, along a direction.
  std::vector<Taylor> field(const HostMember& member, const double* x,
                            const Doubles& direction) const {
    const Network& network = options().network;
    std::vector<Taylor> h;
    for (std::size_t i = 0; i < inputs(); i++) {
      double range = problem().high[i] - problem().low[i];
      h.push_back({2 * (x[i] - problem().low[i]) / range - 1, 2 * direction[i] / range, 0});
    }
    for (std::size_t l = 0; l < member.layers.size(); l++) {
      const HostLayer& layer = member.layers[l];
      std::vector<Taylor> next(layer.out);
      for (std::size_t o = 0; o < layer.out; o++) {
        Taylor& a = next[o];
        a.value = layer.b[o];
        for (std::size_t i = 0; i < layer.in; i++) {
          double w = layer.w[i * layer.out + o];
          a.value += w * h[i].value;
          a.first += w * h[i].first;
          a.second += w * h[i].second;
        }
        if (l + 1 == member.layers.size()) continue;
        double y = std::tanh(a.value), slope = 1 - y * y;
        a = {y, slope * a.first, slope * a.second - 2 * y * slope * a.first * a.first};
      }
      h = next;
    }
    auto [low, high] = network.output_range.value();
    double half = (high - low) / 2;
    for (Taylor& f : h) {
      f = {low + half * (f.value + 1), half * f.first, half * f.second};
    }
    return h;
  }
  double value(const HostMember& m, const double* x, std::size_t output = 0) const {
    return field(m, x, Doubles(inputs(), 0))[output].value;
  }

  /// The residuals of the four published equations, by the problem's name.
  Doubles residual(const HostMember& m, const double* x) const {
    const Doubles& p = m.lambda;
    if (problem().name == "advection") return {field(m, x, {1, p[0]})[0].first};
    std::vector<Taylor> f = field(m, x, {1});
    if (problem().name == "exponential") return {f[0].first - p[0] * f[0].value};
    if (problem().name == "oscillator") {
      return {f[0].second + 2 * p[1] * p[0] * f[0].first + p[0] * p[0] * f[0].value};
    }
    return {f[0].first - f[0].value * (p[0] - p[1] * f[1].value),
            f[1].first + f[1].value * (p[2] - p[3] * f[0].value)};
  }

  /// Where member i has the equation imposed.
  Doubles points_of(std::size_t i) const {
    if (!options().collocation.per_member) return points;
    auto own = static_cast<std::ptrdiff_t>(points.size() / members.size());
    auto first = points.begin() + own * static_cast<std::ptrdiff_t>(i);
    return {first, first + own};
  }

  Doubles values_at(const HostMember& m, const Doubles& x) const {
    Doubles result;
    for (std::size_t k = 0; k < x.size(); k += inputs()) {
      for (std::size_t o = 0; o < outputs(); o++) result.push_back(value(m, &x[k], o));
    }
    return result;
  }

  Doubles seen(Seen what, std::size_t i, HostMember m) const {
    switch (what) {
      case Seen::data_values:
        return values_at(m, problem().data.x);
      case Seen::collocation_values:
        return values_at(m, points_of(i));
      case Seen::point_values:
        return values_at(m, options().repulsion.points);
      case Seen::parameters:
        return m.lambda;
      case Seen::data_gradients: {
        Doubles result;
        const Doubles& x = problem().data.x;
        for (std::size_t k = 0; k < x.size(); k += inputs()) {
          for (std::size_t o = 0; o < outputs(); o++) {
            for (std::size_t axis = 0; axis < inputs(); axis++) {
              Doubles along(inputs(), 0);
              along[axis] = 1;
              result.push_back(field(m, &x[k], along)[o].first);
            }
          }
        }
        return result;
      }
      case Seen::weights: {
        m.lambda.clear();
        Doubles result;
        for (double* number : numbers_of(m)) result.push_back(*number);
        return result;
      }
    }
    return {};
  }

  /// ln sum_j exp(-sum_k ((v_k - v_jk) / h_k)^2 / 2) with v_j and h of the members as they are.
  static double log_kernels(const Doubles& v, const std::vector<Doubles>& all, bool with_norm) {
    Doubles sums(all.size(), 0);
    double norm = 0;
    for (std::size_t k = 0; k < v.size(); k++) {
      Doubles distances;
      for (std::size_t i = 0; i < all.size(); i++) {
        for (std::size_t j = 0; j < i; j++) distances.push_back(std::abs(all[i][k] - all[j][k]));
      }
      std::sort(distances.begin(), distances.end());
      double h = (distances[(distances.size() - 1) / 2] + 1e-7) /
                 std::sqrt(std::log(static_cast<double>(all.size())));
      for (std::size_t j = 0; j < all.size(); j++) {
        sums[j] -= 0.5 * std::pow((v[k] - all[j][k]) / h, 2);
      }
      norm += std::log(h);
    }
    double total = 0;
    for (double exponent : sums) total += std::exp(exponent);
    return std::log(total) - (with_norm ? norm : 0);
  }

  /// What member i sees of the density when it is `own`.
  double repulsion(std::size_t i, const HostMember& own) const {
    const Repulsion& repulsion = options().repulsion;
    std::vector<std::vector<Doubles>> blocks;  // by kind and member; the last one is `own`
    for (Seen what : repulsion.seen) {
      std::vector<Doubles> block;
      for (std::size_t j = 0; j < members.size(); j++) block.push_back(seen(what, j, members[j]));
      block.push_back(seen(what, i, own));
      blocks.push_back(block);
    }
    if (repulsion.factorization == Factorization::joint) {
      for (std::size_t b = 1; b < blocks.size(); b++) {
        for (std::size_t j = 0; j < blocks[b].size(); j++) {
          blocks[0][j].insert(blocks[0][j].end(), blocks[b][j].begin(), blocks[b][j].end());
        }
      }
      blocks.resize(1);
    }
    double total = 0;
    for (std::vector<Doubles> block : blocks) {
      Doubles v = block.back();
      block.pop_back();
      if (repulsion.factorization != Factorization::full) {
        total += log_kernels(v, block, false);
        continue;
      }
      for (std::size_t k = 0; k < v.size(); k++) {
        std::vector<Doubles> column;
        for (const Doubles& row : block) column.push_back({row[k]});
        total += log_kernels({v[k]}, column, true);
      }
    }
    return total;
  }

  /// The loss of member i when it is `own` and the others stay.
  HostTerms terms(std::size_t i, const HostMember& own) const {
    const Samples& data = problem().data;
    auto measured = static_cast<double>(data.y.size());
    double rho = 2 * problem().noise_sd * problem().noise_sd / measured;
    HostTerms result;
    Doubles f = values_at(own, data.x);
    for (std::size_t k = 0; k < f.size(); k++) {
      result.data += data_weight * std::pow(f[k] - data.y[k], 2) / measured;
    }
    Doubles at = points_of(i);
    for (std::size_t k = 0; k < at.size(); k += inputs()) {
      for (double r : residual(own, &at[k])) {
        result.residual += residual_weight * r * r / static_cast<double>(at.size() / inputs());
      }
    }
    if (problem().name != "exponential") {
      for (double p : own.lambda)
        result.prior += prior_weight * rho * 1000 * std::pow(std::min(0.0, p), 2);
    }
    if (repulsion_is_active && !options().repulsion.seen.empty()) {
      double factor =
          options().repulsion.factorization == Factorization::full ? 1 / std::sqrt(measured) : 1;
      result.repulsion = repulsion_weight * factor * rho * repulsion(i, own);
    }
    return result;
  }
  HostTerms terms(std::size_t i) const { return terms(i, members[i]); }
};

inline Problem published_problem(Experiment experiment) {
  return problem_of(published_data(experiment, 0));
}

/// The published settings with a small network and few members.
inline EnsembleOptions small_options(Experiment experiment, std::string_view variant) {
  EnsembleOptions options = published_training(experiment, variant).options;
  options.network.hidden = {4, 3};
  options.members = 6;
  options.collocation.points = 8;
  return options;
}

}  // namespace sturnus
