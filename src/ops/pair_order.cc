#include <sturnus/functional/control_flow.h>
#include <sturnus/ops/arithmetic.h>
#include <sturnus/ops/creation.h>
#include <sturnus/ops/order.h>
#include <sturnus/ops/pair_order.h>
#include <sturnus/ops/reduce.h>
#include <sturnus/ops/shape.h>
#include <sturnus/ops/take.h>
#include <sturnus/runtime/host_order.h>

#include <limits>
#include <vector>

#include "src/ops/elementwise.h"
#include "src/ops/structural.h"

namespace sturnus {
namespace internal {
namespace {

constexpr std::int64_t all_pairs_up_to = 200;
constexpr double infinity = std::numeric_limits<double>::infinity();

std::int64_t pairs_of(std::int64_t n) { return n * (n - 1) / 2; }

// The derivative of the distance y: all pairs at that distance share it.
Array change_of_distance(const Array& x, const Array& y, const Array& dx) {
  auto gaps = [](const Array& a) { return expand_dims(a, -1) - expand_dims(a, -2); };
  Array gap = gaps(x);
  std::int64_t n = x.shape().back();
  Array once = expand_dims(arange(n), 1) < expand_dims(arange(n), 0);
  Array chosen = once & (abs(gap) == expand_dims(expand_dims(y, -1), -1));
  Axes last = {gap.rank() - 2, gap.rank() - 1};
  Array weight = converted(chosen, y.dtype());
  return sum_over(weight * sign(gap) * gaps(dx), last) / maximum(sum_over(weight, last), 1.0);
}

// Inputs: the elements, and the rank for each row along the last axis.
struct PairOrderStatistic {
  static constexpr std::string_view name = "pair_order_statistic";

  ArrayType infer(const Arrays& x) const { return {x[0].dtype(), x[1].shape()}; }
  Array jvp(const Arrays& x, const Array& y, const Arrays& dx) const {
    return change_of_distance(x[0], y, dx[0]);
  }
  Array batch(const Arrays& x, const Mask& mapped, std::int64_t n) const {
    return make(*this,
                {with_mapped_axis(x[0], mapped[0], n), with_mapped_axis(x[1], mapped[1], n)});
  }
  void lower(Emitter& emitter, const Node& node) const {
    const Array &x = node.inputs[0], &rank = node.inputs[1];
    bool real = x.dtype() == DType::f32 || x.dtype() == DType::f64;
    if (real && emitter.calls_host()) return emitter.host_call(node, host_pair_order_name, "");
    bool few = x.shape().back() <= all_pairs_up_to;
    emitter.expand(node, {few ? among_all(x, rank) : by_counting(x, rank)});
  }

  static Array among_all(const Array& x, const Array& rank);
  static Array by_counting(const Array& x, const Array& rank);
};

Array PairOrderStatistic::among_all(const Array& x, const Array& rank) {
  std::vector<int> first, second;
  for (int i = 0; i < x.shape().back(); i++) {
    for (int j = i + 1; j < x.shape().back(); j++) {
      first.push_back(i);
      second.push_back(j);
    }
  }
  Array distance = abs(take(x, array(first), -1) - take(x, array(second), -1));
  return order_statistic(where(is_nan(distance), infinity, distance), rank, -1);
}

// The answer's bits are found from the highest to the lowest. How many pairs are nearer than a
// candidate is counted on sorted elements, where those near to i are neighbours: by bisection.
Array PairOrderStatistic::by_counting(const Array& elements, const Array& rank) {
  bool wide = elements.dtype() == DType::f64;
  DType real = wide ? DType::f64 : DType::f32, whole = wide ? DType::i64 : DType::i32;
  int highest = wide ? 62 : 30;
  Array x = converted(elements, real);
  std::int64_t n = x.shape().back();
  Array finite = is_finite(x);
  Array count = sum(convert(finite, DType::i32), Over({-1}, true));
  Array sorted = sort(where(finite, x, infinity));
  Array own = broadcast_to(arange(n), x.shape());
  int halvings = 1;
  while ((std::int64_t{1} << halvings) <= n) halvings++;

  // Exclusive end of the j with x_j - x_i < distance, for each i.
  auto near_end = [&](const Array& distance) {
    Array end = own;
    for (int k = halvings - 1; k >= 0; k--) {
      Array trial = end + static_cast<int>(std::int64_t{1} << k);
      Array there = take_along_axis(sorted, minimum(trial, n) - 1, -1);
      end = where((trial <= count) & (there - sorted < distance), trial, end);
    }
    return end;
  };
  auto body = [&](const Array& i, const Array& found) {
    Array candidate = found | shift_left(full_like(found, 1), convert(highest - i, whole));
    Array end = near_end(expand_dims(bitcast(candidate, real), -1));
    return where(sum(maximum(end - own - 1, 0), -1) <= rank, candidate, found);
  };
  Array found = fori_loop(0, highest + 1, body, zeros(rank.shape(), whole));
  Array distance = bitcast(found, real);
  // Devices take numbers below the smallest normal one for 0, so that all of these are found there.
  double smallest =
      wide ? std::numeric_limits<double>::min() : double{std::numeric_limits<float>::min()};
  distance = where(distance < smallest, 0.0, distance);
  // In i32 up to 65,000 elements.
  Array some = squeeze(count, {-1});
  Array pairs = shift_right(some, 1) * ((some - 1) | 1);
  return converted(where(rank < pairs, distance, infinity), elements.dtype());
}

struct PairMedianOp {
  static constexpr std::string_view name = "pair_median";

  ArrayTypes infer(const Arrays& x) const {
    Shape rows(x[0].shape().begin(), x[0].shape().end() - 1);
    return {{x[0].dtype(), rows}, {DType::i32, rows}};
  }
  Arrays jvp(const Arrays& x, const Arrays& y, const Arrays& dx) const {
    return {change_of_distance(x[0], y[0], dx[0]), Array()};
  }
  Arrays batch(const Arrays& x, const Mask&, std::int64_t) const { return make_all(*this, x); }
  void lower(Emitter& emitter, const Node& node) const {
    const Array& x = node.inputs[0];
    std::int64_t n = x.shape().back();
    bool real = x.dtype() == DType::f32 || x.dtype() == DType::f64;
    if (!real || !emitter.calls_host()) return emitter.expand(node, by_rank(x));
    // Columns need not become rows first.
    auto* turned = as<Permute>(x);
    Axes first_last = joined(iota_axes(x.rank() - 1, 1), {0});
    bool columns = turned != nullptr && turned->permutation == first_last;
    const Array& from = columns ? x.node()->inputs[0] : x;
    std::int64_t stride = columns ? x.size() / n : 1;
    emitter.host_call(node, host_pair_median_name, host_pair_median_parameter(n, stride),
                      {emitter.name_of(from)}, {from.type()});
  }

  static Arrays by_rank(const Array& x) {
    Array count = sum(convert(is_finite(x), DType::i32), -1);
    // In i32 up to 65,000 elements.
    Array pairs = shift_right(count, 1) * ((count - 1) | 1);
    Array rank = shift_right_arithmetic(pairs - 1, 1);
    return {where(rank >= 0, pair_order_statistic(x, rank), 0.0), count};
  }
};

}  // namespace
}  // namespace internal

Array pair_order_statistic(Operand operand, const Array& k) {
  internal::Blame blame(operand.where, "pair_order_statistic");
  Array x = internal::to_floating(operand);
  internal::require_real("pair_order_statistic", x.type());
  internal::checked_axis("pair_order_statistic", x.type(), -1);
  Shape rows(x.shape().begin(), x.shape().end() - 1);
  std::int64_t n = x.shape().back();
  if (k.shape() != rows || !is_integer(k.dtype()) || n < 2) {
    throw ShapeError(
        internal::message("pair_order_statistic",
                          "the ranks are " + k.type().str() + ", the elements " + x.type().str(),
                          "Give a whole number for each row of at least 2 elements"));
  }
  Array ranks = clamp(convert(k, DType::i32), 0, internal::pairs_of(n) - 1);
  return internal::make(internal::PairOrderStatistic{}, {x, ranks});
}

PairMedian pair_median(Operand operand) {
  internal::Blame blame(operand.where, "pair_median");
  Array x = internal::to_floating(operand);
  internal::require_real("pair_median", x.type());
  internal::checked_axis("pair_median", x.type(), -1);
  if (x.shape().back() < 2) {
    throw ShapeError(internal::message("pair_median", "the elements are " + x.type().str(),
                                       "Give rows of at least 2"));
  }
  Arrays result = internal::make_all(internal::PairMedianOp{}, {x});
  return {result[0], result[1]};
}

}  // namespace sturnus
