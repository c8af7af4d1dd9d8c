#include <sturnus/functional/control_flow.h>
#include <sturnus/functional/evaluate.h>
#include <sturnus/functional/op.h>
#include <sturnus/ops/arithmetic.h>
#include <sturnus/ops/creation.h>
#include <sturnus/ops/reduce.h>
#include <sturnus/ops/rejection.h>
#include <sturnus/ops/shape.h>
#include <sturnus/ops/special.h>
#include <sturnus/ops/transcendental.h>

#include <boost/math/quadrature/gauss.hpp>
#include <cmath>
#include <numbers>
#include <vector>

#include "src/ops/elementwise.h"
#include "src/ops/random_words.h"

namespace sturnus {
namespace internal {
namespace {

// ------------------------------------------------------------------------------- trial and error

// One value for each element, and whether it is accepted.
struct Trials {
  Array round;  // u32[]
  Array value;
  Array accepted;
};

// Repeats `trial` with new keys until all elements are accepted. It gives proposals and whether
// they are accepted, from twice two random words for each element.
template <class Trial>
Array until_accepted(const Words& keys, const Array& start, const Array& settled,
                     const Trial& trial) {
  Trials first{Array(0, DType::u32), start, settled};
  auto step = [&](const Trials& now) {
    Array twice = 2 * now.round;
    Words one = hashed_number(keys, twice);
    Words two = hashed_number(keys, twice + 1);
    auto [value, accepted] = trial(one, two);
    return Trials{now.round + 1, select(now.accepted, now.value, value), now.accepted | accepted};
  };
  auto open = [](const Trials& now) { return any(!now.accepted); };
  return sturnus::while_loop(open, step, first).value;
}

// ---------------------------------------------------------------------------------------- gamma

// Nodes and weights on [0, 1], denser near 0.
struct Rule {
  std::vector<double> nodes, weights;
};

const Rule& rule() {
  using Gauss = boost::math::quadrature::gauss<double, 30>;
  static const Rule made = [] {
    Rule rule;
    for (auto [low, high] : {std::pair(0.0, 0.25), std::pair(0.25, 1.0)}) {
      for (std::size_t i = 0; i < Gauss::abscissa().size(); i++) {
        for (int side : {-1, 1}) {
          double node = side * Gauss::abscissa()[i];
          rule.nodes.push_back(low + (high - low) * (1 + node) / 2);
          rule.weights.push_back((high - low) / 2 * Gauss::weights()[i]);
        }
      }
    }
    return rule;
  }();
  return made;
}

// dy/da = -(dF/da) / F' for the distribution function F(y; a) of the logarithm y = log x of a gamma
// variable. With s = y -+ w this is, for whichever side has the smaller integral,
//   integral over w > 0 of (psi(a) - y + w) exp(-a w + x (1 - exp(-w)))   where x <= a,
//   integral over w > 0 of (y + w - psi(a)) exp( a w - x (exp(w) - 1))    where x > a.
Array slope_of_log_gamma(const Array& y, const Array& a) {
  Array x = exp(y);
  Array below = x <= a;
  Array direction = where(below, -1.0, ones_of(y.type()));
  // Beyond `reach` the integrand is smaller than exp(-40).
  Array scale = 40.0 / where(below, a, x);
  Array reach = where(below, scale, 0.0) + sqrt(2.0 * scale);
  auto count = static_cast<std::int64_t>(rule().nodes.size());
  Shape wide = prepended(count, y.shape());
  auto along = [&](const std::vector<double>& numbers) {
    return broadcast(convert(array(numbers), y.dtype()), wide, {0});
  };
  auto repeated = [&](const Array& z) { return broadcast(z, wide, iota_axes(z.rank(), 1)); };
  Array w = along(rule().nodes) * repeated(reach * direction);
  Array exponent = repeated(a) * w - repeated(x) * expm1(w);
  Array distance = repeated(direction * (y - digamma(a))) + abs(w);
  Array integrand = along(rule().weights) * (distance * exp(exponent));
  return reach * sum(integrand, 0);
}

// Inputs: two words of a key, and a >= 1, for each element. The result is the logarithm of a gamma
// variable (G. Marsaglia and W. Tsang, A simple method for generating gamma variables, ACM TOMS 26,
// 2000).
struct LogGamma {
  static constexpr std::string_view name = "log_gamma_sample";
  ArrayType infer(const Arrays& x) const { return x[2].type(); }
  Array jvp(const Arrays& x, const Array& y, const Arrays& dx) const {
    return dx[2] * slope_of_log_gamma(y, x[2]);
  }
  Array batch(const Arrays& x, const Mask& mapped, std::int64_t n) const {
    Arrays wide;
    for (std::size_t i = 0; i < x.size(); i++) wide.push_back(with_mapped_axis(x[i], mapped[i], n));
    return make(*this, wide);
  }
  void lower(Emitter& emitter, const Node& node) const {
    const Array& a = node.inputs[2];
    DType dtype = a.dtype();
    Array d = a - 1.0 / 3;
    Array c = rsqrt(9.0 * d);
    auto trial = [&](const Words& one, const Words& two) {
      Array z = unit_normal(one, dtype);
      Array u = unit_uniform(two, dtype);
      Array root = 1.0 + c * z;
      Array inside = root > 0.0;
      Array log_root = log(where(inside, root, 1.0));
      Array cube = root * root * root;
      Array bound = 0.5 * (z * z) + d * (1.0 - cube + 3.0 * log_root);
      return std::pair(3.0 * log_root, inside & (log(u) < bound));
    };
    Array none = zeros_of({DType::boolean, a.shape()});
    Array drawn = until_accepted({node.inputs[0], node.inputs[1]}, zeros_of(a.type()), none, trial);
    emitter.expand(node, {log(d) + drawn});
  }
};

// -------------------------------------------------------------------------------------- poisson

struct Arrivals {
  Array round;  // u32[]
  Array count, time, over;
};

// Counts the arrivals of a Poisson process before time `rate`.
Array poisson_by_arrivals(const Words& keys, const Array& rate, const Array& settled) {
  DType dtype = rate.dtype();
  Arrivals first{Array(0, DType::u32), zeros_of(rate.type()), zeros_of(rate.type()), settled};
  auto step = [&](const Arrivals& now) {
    Array wait = -log1p(-unit_uniform(hashed_number(keys, now.round), dtype));
    Array time = now.time + wait;
    Array over = now.over | (time > rate);
    return Arrivals{now.round + 1, select(over, now.count, now.count + 1.0), time, over};
  };
  auto open = [](const Arrivals& now) { return any(!now.over); };
  return sturnus::while_loop(open, step, first).count;
}

// log(rate^k exp(-rate) / k!) without the cancellation of its parts.
Array log_poisson(const Array& k, const Array& rate) {
  Array safe = maximum(k, 1.0);
  Array r = 1.0 / (safe * safe);
  Array tail = (1.0 / 12 - r * (1.0 / 360 - r * (1.0 / 1260 - r * (1.0 / 1680)))) / safe;
  Array off = (safe - rate) / rate;
  Array deviance = rate * ((1.0 + off) * log1p(off) - off);
  Array large = -deviance - 0.5 * log(2 * std::numbers::pi * safe) - tail;
  Array factorial = zeros_of(k.type());
  for (int j = 2; j < 10; j++) {
    factorial = factorial + where(k >= static_cast<double>(j), std::log(j), zeros_of(k.type()));
  }
  Array small = k * log(rate) - rate - factorial;
  return where(k < 10.0, small, large);
}

// Transformed rejection (W. Hörmann, The transformed rejection method for generating Poisson random
// variables, Insurance: Mathematics and Economics 12, 1993), for rates of 10 and more.
Array poisson_by_rejection(const Words& keys, const Array& rate, const Array& settled) {
  DType dtype = rate.dtype();
  Array b = 0.931 + 2.53 * sqrt(rate);
  Array a = -0.059 + 0.02483 * b;
  Array inverse_alpha = 1.1239 + 1.1328 / (b - 3.4);
  Array quick = 0.9277 - 3.6224 / (b - 2.0);
  auto trial = [&](const Words& one, const Words& two) {
    Array u = unit_uniform(one, dtype) - 0.5;
    Array v = unit_uniform(two, dtype);
    Array us = 0.5 - abs(u);
    Array k = floor((2.0 * a / us + b) * u + rate + 0.43);
    Array at_once = (us >= 0.07) & (v <= quick);
    Array never = (k < 0.0) | ((us < 0.013) & (v > us));
    Array height = log(v * inverse_alpha / (a / (us * us) + b));
    Array by_density = height <= log_poisson(k, rate);
    return std::pair(k, at_once | (by_density & ~never));
  };
  return until_accepted(keys, zeros_of(rate.type()), settled, trial);
}

// -------------------------------------------------------------------------------------- shapes

// A parameter repeated to the shape of the result.
Array parameter_of(std::string_view function, const Operand& operand,
                   const std::optional<Shape>& shape) {
  Array a = to_floating(operand);
  return shape ? broadcast_to_shape(function, a, *shape) : a;
}

// Trials of a parameter that makes no sense would go on for ever.
Array is_usable(const Array& parameter) { return is_finite(parameter) & (parameter >= 0.0); }

Array log_gamma_of(const Key& key, const Array& given) {
  Array usable = is_usable(given), a = where(usable, given, 1.0);
  Words keys = hashed_positions("gamma", key, a.shape());
  // A variable of a < 1 is one of a + 1, times u^(1/a).
  Array is_small = a < 1.0;
  Array raised = where(is_small, a + 1.0, a);
  Array sample = make(LogGamma{}, {keys.first, keys.second, raised});
  Array last = full(4294967295.0, {DType::u32, {}});
  Array wait = log1p(-unit_uniform(hashed_number(keys, last), a.dtype()));
  Array value = where(is_small, sample + wait / where(is_small, a, 1.0), sample);
  return where(usable, value, where(given > 0.0, given, std::nan("")));
}

}  // namespace
}  // namespace internal

using internal::as_one_program;
using internal::Blame;

Array loggamma(const Key& key, Operand a, std::optional<Shape> shape) {
  Blame blame(a.where, "loggamma");
  return as_one_program(
      [&] { return internal::log_gamma_of(key, internal::parameter_of("loggamma", a, shape)); });
}

Array gamma(const Key& key, Operand a, std::optional<Shape> shape) {
  Blame blame(a.where, "gamma");
  return as_one_program(
      [&] { return exp(internal::log_gamma_of(key, internal::parameter_of("gamma", a, shape))); });
}

Array beta(const Key& key, Operand a, Operand b, std::optional<Shape> shape) {
  Blame blame(a.where, "beta");
  return as_one_program([&] {
    auto [x, y] = internal::promote("beta", internal::to_floating(a), b);
    auto [first, second] = split(key);
    Array left = loggamma(first, x, shape);
    Array right = loggamma(second, y, shape);
    return sigmoid(left - right);
  });
}

Array dirichlet(const Key& key, Operand a, std::optional<Shape> shape) {
  Blame blame(a.where, "dirichlet");
  return as_one_program([&] {
    Array weights = internal::to_floating(a);
    if (weights.rank() == 0) {
      throw ShapeError(internal::message("dirichlet", "the parameter is " + weights.type().str(),
                                         "Give one number for each part, along the last axis"));
    }
    if (shape) shape->push_back(weights.shape().back());
    Array logs = loggamma(key, weights, shape);
    Array parts = exp(logs - stop_gradient(max(logs, {{-1}, true})));
    return parts / sum(parts, {{-1}, true});
  });
}

Array student_t(const Key& key, Operand degrees, std::optional<Shape> shape) {
  Blame blame(degrees.where, "student_t");
  return as_one_program([&] {
    Array half = 0.5 * internal::parameter_of("student_t", degrees, shape);
    auto [for_normal, for_gamma] = split(key);
    Array z = normal(for_normal, half.shape(), half.dtype());
    Array log_gamma = loggamma(for_gamma, half);
    return z * sqrt(half) * exp(-0.5 * log_gamma);
  });
}

Array chi_square(const Key& key, Operand degrees, std::optional<Shape> shape) {
  Blame blame(degrees.where, "chi_square");
  return as_one_program([&] {
    Array half = 0.5 * internal::parameter_of("chi_square", degrees, shape);
    return 2.0 * gamma(key, half);
  });
}

Array poisson(const Key& key, Operand rate, std::optional<Shape> shape) {
  Blame blame(rate.where, "poisson");
  return as_one_program([&] {
    Array given = stop_gradient(internal::parameter_of("poisson", rate, shape));
    Array usable = internal::is_usable(given), mean = where(usable, given, 0.0);
    internal::Words keys = internal::hashed_positions("poisson", key, mean.shape());
    Array is_small = mean < 10.0;
    Array few = internal::poisson_by_arrivals(keys, where(is_small, mean, 0.0), !is_small);
    Array many = internal::poisson_by_rejection(keys, where(is_small, 10.0, mean), is_small);
    return where(usable, convert(where(is_small, few, many), DType::i32), -1);
  });
}

}  // namespace sturnus
