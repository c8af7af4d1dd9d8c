#include <sturnus/functional/evaluate.h>
#include <sturnus/ops/arithmetic.h>
#include <sturnus/ops/creation.h>
#include <sturnus/ops/cumulative.h>
#include <sturnus/ops/distributions.h>
#include <sturnus/ops/dot.h>
#include <sturnus/ops/order.h>
#include <sturnus/ops/reduce.h>
#include <sturnus/ops/shape.h>
#include <sturnus/ops/special.h>
#include <sturnus/ops/take.h>
#include <sturnus/ops/transcendental.h>
#include <sturnus/ops/triangular.h>

#include <cmath>
#include <limits>
#include <numbers>

#include "src/ops/limits.h"
#include "src/ops/matrices.h"
#include "src/ops/promotion.h"
#include "src/ops/quick_erf_inv.h"
#include "src/ops/random_words.h"
#include "src/ops/scaled_erfc.h"
#include "src/ops/structural.h"

namespace sturnus {
namespace internal {
namespace {

// The order of `count` things after as many sorts by random keys as make a tie in all of them
// unlikely, as JAX does.
Array shuffled(Key key, Array x, std::int64_t axis) {
  auto count = static_cast<double>(x.shape()[static_cast<std::size_t>(axis)]);
  double most = std::numeric_limits<std::uint32_t>::max();
  int rounds = static_cast<int>(std::ceil(3 * std::log(std::max(1.0, count)) / std::log(most)));
  for (int i = 0; i < rounds; i++) {
    auto [next, now] = split(key);
    key = next;
    Array keys = bits(now, {static_cast<std::int64_t>(count)});
    x = sort_by_key(broadcast(keys, x.shape(), {axis}), {x}, static_cast<int>(axis))[1];
  }
  return x;
}

// Indices with probabilities in proportion to weights: the first whose running sum reaches a
// number that is uniform up to the sum of all, as JAX does.
Array drawn_by_sums(const Key& key, const Array& weights, const Shape& shape) {
  Array sums = cumsum(to_floating(weights));
  Array u = uniform(key, shape, 0.0, 1.0, sums.dtype());
  Array reached = (1.0 - u) * max(sums);
  Array before = sums < expand_dims(reached, -1);
  return sum(convert(before, DType::i32), -1);
}

// One end of a truncated normal distribution. That of a number is computed in f64.
struct Bound {
  Array at, erf;
  Bound(std::string_view function, const Operand& bound, DType dtype, const Shape& shape)
      : at(converted(to_array(function, bound, dtype), dtype)) {
    constexpr double root = std::numbers::sqrt2;
    erf =
        bound.number ? Array(std::erf(bound.number->real / root), dtype) : sturnus::erf(at / root);
    at = broadcast_to_shape(function, at, shape);
    erf = broadcast_to_shape(function, erf, shape);
  }
};

// A normal number between low, which is positive, and high, from t uniform in [0, 1). What lies
// beyond s > low, as a share of what lies beyond low, falls as exp(-((s - low) (s + low)) / 2), and
// a little faster: its logarithm is inverted by Newton's method, from the right.
Array tail_normal(const Array& low, const Array& high, const Array& t) {
  Array from = low / std::numbers::sqrt2;
  Array first = scaled_erfc(from);
  auto log_share = [&](const Array& s) {
    return log(scaled_erfc(from + s) / first) - s * (2.0 * from + s);
  };
  // Beyond 40 there is nothing.
  Array span = minimum(high / std::numbers::sqrt2 - from, 40.0);
  Array drawn = log1p(t * expm1(log_share(span)));
  auto newton = [&](const Array& s) {
    Array slope = 2.0 * std::numbers::inv_sqrtpi / scaled_erfc(from + s);
    return s + (log_share(s) - drawn) / slope;
  };
  Array s = -drawn / (sqrt(from * from - drawn) + from);
  for (int i = 0; i < 3; i++) s = newton(s);
  // The last step alone has the derivatives of all.
  s = newton(stop_gradient(s));
  return low + std::numbers::sqrt2 * s;
}

}  // namespace
}  // namespace internal

using internal::as_one_program;
using internal::Blame;

Array exponential(const Key& key, const Shape& shape, DType dtype, Where where) {
  Blame blame(where, "exponential");
  internal::check_floating("exponential", dtype);
  return as_one_program([&] { return -log1p(-uniform(key, shape, 0.0, 1.0, dtype)); });
}

Array laplace(const Key& key, const Shape& shape, DType dtype, Where where) {
  Blame blame(where, "laplace");
  internal::check_floating("laplace", dtype);
  return as_one_program([&] {
    double low = -1 + internal::limits_of(dtype).epsilon / 2;
    Array u = uniform(key, shape, low, 1.0, dtype);
    Array size = log1p(-abs(u));
    return sign(u) * size;
  });
}

Array logistic(const Key& key, const Shape& shape, DType dtype, Where where) {
  Blame blame(where, "logistic");
  internal::check_floating("logistic", dtype);
  return as_one_program([&] {
    Array u = uniform(key, shape, internal::limits_of(dtype).tiny, 1.0, dtype);
    Array low = log(u);
    return low - log1p(-u);
  });
}

Array gumbel(const Key& key, const Shape& shape, DType dtype, Where where) {
  Blame blame(where, "gumbel");
  internal::check_floating("gumbel", dtype);
  return as_one_program([&] {
    Array u = uniform(key, shape, internal::limits_of(dtype).tiny, 1.0, dtype);
    return -log(-log(u));
  });
}

Array cauchy(const Key& key, const Shape& shape, DType dtype, Where where) {
  Blame blame(where, "cauchy");
  internal::check_floating("cauchy", dtype);
  return as_one_program([&] {
    Array u = uniform(key, shape, internal::limits_of(dtype).epsilon, 1.0, dtype);
    Array angle = std::numbers::pi * (u - 0.5);
    Array opposite = sin(angle);
    return opposite / cos(angle);
  });
}

Array truncated_normal(const Key& key, Operand low, Operand high, const Shape& shape, DType dtype) {
  Blame blame(low.where, "truncated_normal");
  internal::check_floating("truncated_normal", dtype);
  if (low.number && high.number && !(low.number->real < high.number->real)) {
    throw Error(internal::message("truncated_normal",
                                  "low is " + low.number->str() + ", high is " + high.number->str(),
                                  "Make low smaller than high"));
  }
  return as_one_program([&] {
    Array unit = uniform(key, shape, 0.0, 1.0, dtype);
    internal::Limits limits = internal::limits_of(dtype);
    internal::Bound a("truncated_normal", low, dtype, shape),
        b("truncated_normal", high, dtype, shape);
    // Near the ends of erf there are few numbers, and the ends themselves are infinitely far.
    double last = 1 - limits.epsilon / 2;
    Array u = clamp(-last, internal::between(a.erf, b.erf, unit), last);
    Array x = std::numbers::sqrt2 * internal::quick_erf_inv(u);
    constexpr double far = 2;
    bool on_right = !low.number || low.number->real > far;
    bool on_left = !high.number || high.number->real < -far;
    if (on_right || on_left) {
      // What lies far on the left is mirrored.
      Array right = a.at > far, left = b.at < -far;
      Array from = where(right, a.at, where(left, -b.at, far));
      Array to = where(right, b.at, where(left, -a.at, far + 1));
      Array beyond = internal::tail_normal(internal::widened(from), internal::widened(to),
                                           internal::widened(unit));
      beyond = convert(beyond, dtype);
      x = where(right, beyond, where(left, -beyond, x));
    }
    // Rounding must not reach the limits themselves.
    auto inwards = [&limits](const Array& limit, double direction) {
      Array moved = limit * (1.0 + sign(limit) * (direction * limits.epsilon));
      return stop_gradient(where(limit == 0.0, direction * limits.tiny, moved));
    };
    return clamp(inwards(a.at, 1), x, inwards(b.at, -1));
  });
}

Array truncated_normal(const Key& key, Operand low, Operand high) {
  Blame blame(low.where, "truncated_normal");
  auto [a, b] = internal::promote("truncated_normal", internal::to_floating(low), high);
  return truncated_normal(key, low, high, a.shape(), a.dtype());
}

Array rademacher(const Key& key, const Shape& shape, DType dtype, Where where) {
  Blame blame(where, "rademacher");
  return as_one_program([&] {
    Array heads = convert(bernoulli(key, 0.5, shape), dtype);
    return 2 * heads - 1;
  });
}

Array ball(const Key& key, std::int64_t dimensions, const Shape& shape, DType dtype, Where where) {
  Blame blame(where, "ball");
  internal::check_floating("ball", dtype);
  return as_one_program([&] {
    auto [for_direction, for_radius] = split(key);
    Shape points = shape;
    points.push_back(dimensions);
    Array direction = normal(for_direction, points, dtype);
    Shape one_each = shape;
    one_each.push_back(1);
    Array volume = uniform(for_radius, one_each, 0.0, 1.0, dtype);
    Array radius = pow(volume, 1.0 / static_cast<double>(dimensions));
    Array length = sqrt(sum(direction * direction, {{-1}, true}));
    return direction * (radius / length);
  });
}

Array multivariate_normal(const Key& key, Operand mean, Operand covariance,
                          std::optional<Shape> shape) {
  Blame blame(mean.where, "multivariate_normal");
  return as_one_program([&] {
    Array centre = internal::to_array(mean);
    Array square = internal::to_square_matrices("multivariate_normal", covariance);
    if (centre.rank() == 0 || centre.shape().back() != internal::rows_of(square)) {
      throw ShapeError(internal::message("multivariate_normal",
                                         "the mean " + centre.type().str() +
                                             " does not fit the covariance " +
                                             internal::to_array(covariance).type().str(),
                                         "Give as many entries as the covariance has rows"));
    }
    internal::require_real("multivariate_normal", centre.type());
    DType dtype = internal::promoted(centre.dtype(), square.dtype());
    centre = internal::converted(centre, dtype);
    Array l = cholesky(internal::converted(square, dtype));
    Shape means(centre.shape().begin(), centre.shape().end() - 1);
    Shape stack = internal::broadcast_shapes("multivariate_normal", {l.dtype(), means},
                                             {l.dtype(), internal::stack_of(l)});
    Shape drawn = shape.value_or(stack);
    drawn.push_back(internal::rows_of(l));
    Array z = normal(key, drawn, l.dtype());
    Array moved = squeeze(matmul(l, expand_dims(z, -1)), {-1});
    return centre + moved;
  });
}

Array bernoulli(const Key& key, Operand probability, std::optional<Shape> shape) {
  Blame blame(probability.where, "bernoulli");
  const std::optional<Number>& known = probability.number;
  if (known && (known->kind == Number::Kind::complex || !(known->real >= 0 && known->real <= 1))) {
    throw Error(internal::message("bernoulli", "the probability is " + known->str(),
                                  "Give a number from 0 to 1"));
  }
  return as_one_program([&] {
    Array p = internal::to_floating(probability);
    if (shape) p = internal::broadcast_to_shape("bernoulli", p, *shape);
    return uniform(key, p.shape(), 0.0, 1.0, p.dtype()) < p;
  });
}

Array categorical(const Key& key, Operand logits, std::optional<Shape> shape) {
  Blame blame(logits.where, "categorical");
  return as_one_program([&] {
    Array weights = internal::to_floating(logits);
    if (weights.rank() == 0 || weights.shape().back() == 0) {
      throw ShapeError(internal::message("categorical", "logits are " + weights.type().str(),
                                         "Give one logit for each index, along the last axis"));
    }
    Shape each(weights.shape().begin(), weights.shape().end() - 1);
    Shape drawn = shape.value_or(each);
    drawn.push_back(weights.shape().back());
    Array score = gumbel(key, drawn, weights.dtype());
    return argmax(score + weights, -1);
  });
}

Array permutation(const Key& key, std::int64_t count, Where where) {
  Blame blame(where, "permutation");
  internal::checked_shape("permutation", {count});
  return as_one_program([&] { return internal::shuffled(key, arange(count), 0); });
}

Array permutation(const Key& key, const Array& x, int axis, Where where) {
  Blame blame(where, "permutation");
  std::int64_t at = internal::checked_axis("permutation", x.type(), axis);
  return as_one_program([&] { return internal::shuffled(key, x, at); });
}

Array choice(const Key& key, std::int64_t count, const Shape& shape, const ChoiceOptions& options,
             Where where) {
  Blame blame(where, "choice");
  std::int64_t wanted = internal::product(internal::checked_shape("choice", shape));
  if (count < 1 && wanted > 0) {
    throw ShapeError(internal::message(
        "choice", ArrayType{DType::i32, shape}.str() + " from " + std::to_string(count) + " things",
        "Give some to choose from"));
  }
  if (!options.replace && wanted > count) {
    throw ShapeError(internal::message(
        "choice",
        ArrayType{DType::i32, shape}.str() + " without repetition from " + std::to_string(count),
        "Ask for no more than there are, or set .replace"));
  }
  if (options.weights && options.weights->shape() != Shape{count}) {
    throw ShapeError(internal::message("choice",
                                       "weights are " + options.weights->type().str() +
                                           ", there are " + std::to_string(count) +
                                           " things to choose from",
                                       "Give one weight for each"));
  }
  return as_one_program([&] {
    if (options.replace) {
      if (!options.weights) return randint(key, shape, 0, count);
      return internal::drawn_by_sums(key, *options.weights, shape);
    }
    Array order;
    if (options.weights) {
      // The largest of logits plus Gumbel numbers, one after another.
      Array logits = log(*options.weights);
      Array score = gumbel(key, {count}, logits.dtype());
      order = argsort(-(score + logits), 0);
    } else {
      order = permutation(key, count);
    }
    return internal::reshape_to(slice(order, {0}, {wanted}), shape);
  });
}

Array choice(const Key& key, const Array& x, const Shape& shape, const ChoiceOptions& options,
             Where where) {
  Blame blame(where, "choice");
  std::int64_t axis = internal::checked_axis("choice", x.type(), options.axis);
  return as_one_program([&] {
    Array indices = choice(key, x.shape()[static_cast<std::size_t>(axis)], shape, options, where);
    return take(x, indices, static_cast<int>(axis));
  });
}

}  // namespace sturnus
