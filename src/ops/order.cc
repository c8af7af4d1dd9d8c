#include <sturnus/ops/arithmetic.h>
#include <sturnus/ops/creation.h>
#include <sturnus/ops/gather.h>
#include <sturnus/ops/order.h>
#include <sturnus/ops/shape.h>
#include <sturnus/ops/take.h>
#include <sturnus/runtime/host_order.h>

#include <cmath>
#include <limits>

#include "src/ops/elementwise.h"

namespace sturnus {
namespace internal {
namespace {

// x[position] along an axis, which stays.
Array one_along(const Array& x, std::int64_t axis, std::int64_t position) {
  Axes start(x.shape().size(), 0), stop = x.shape();
  start[static_cast<std::size_t>(axis)] = position;
  stop[static_cast<std::size_t>(axis)] = position + 1;
  return slice(x, start, stop);
}

// Inputs: the keys, values that follow them, and last the positions along the axis, so that the
// derivative knows who went where.
struct Sort {
  static constexpr std::string_view name = "sort";
  std::int64_t axis;
  bool descending, nan_first;

  ArrayTypes infer(const Arrays& x) const {
    require_real("sort", x[0].type());
    for (const Array& values : x) {
      if (values.shape() == x[0].shape()) continue;
      throw ShapeError(message("sort",
                               "the keys are " + x[0].type().str() +
                                   ", values to sort with them are " + values.type().str(),
                               "Give them one shape"));
    }
    return types_of(x);
  }
  Arrays jvp(const Arrays& x, const Arrays& y, const Arrays& dx) const {
    Axes others = complement(x[0].rank(), {axis});
    Shape wide = x[0].shape();
    wide.push_back(1);
    Array from = reshape_to(y.back(), wide);
    Arrays tangents(x.size());
    for (std::size_t i = 0; i + 1 < x.size(); i++) {
      if (dx[i].empty()) continue;
      if (x[i].size() == 0) {
        tangents[i] = dx[i];
        continue;
      }
      tangents[i] = gather(
          dx[i], from,
          {.collapsed = {axis}, .x_batch = others, .indices_batch = others, .start_map = {axis}},
          Shape(x[i].shape().size(), 1), {.inside = true});
    }
    return tangents;
  }
  Arrays batch(const Arrays& x, const Mask& mapped, std::int64_t n) const {
    Arrays wide;
    for (std::size_t i = 0; i < x.size(); i++) wide.push_back(with_mapped_axis(x[i], mapped[i], n));
    return make_all(Sort{axis + 1, descending, nan_first}, wide);
  }
  void lower(Emitter& emitter, const Node& node) const {
    Arrays elements;
    for (const ArrayType& type : node.types) {
      for (int side : {0, 1}) {
        int index = 2 * static_cast<int>(elements.size() / 2) + side;
        elements.push_back(parameter(index, {type.dtype, {}}));
      }
    }
    const Array &a = elements[0], &b = elements[1];
    Array before = descending ? a > b : a < b;
    if (is_floating(a.dtype())) {
      const Array &number = nan_first ? b : a, &nan = nan_first ? a : b;
      Array is_number = number == number, is_nan = nan != nan;
      before = before | (is_number & is_nan);
    }
    emitter.line(node, "sort", emitter.names_of(node.inputs), types_of(node.inputs),
                 emitter.region(elements, {before}),
                 mlir_integer("dimension", axis) + ", is_stable = true");
  }
};

// The elements of given ascending ranks along an axis. Without ranks there is a second input, which
// has the rank of one element in each row.
struct OrderStatistic {
  static constexpr std::string_view name = "order_statistic";
  std::int64_t axis;
  Axes ranks;

  bool in_rows() const { return ranks.empty(); }
  std::int64_t count() const { return in_rows() ? 1 : static_cast<std::int64_t>(ranks.size()); }

  ArrayType infer(const Arrays& x) const {
    ArrayType type = x[0].type();
    std::int64_t& extent = type.shape[static_cast<std::size_t>(axis)];
    for (std::int64_t rank : ranks) {
      if (rank >= 0 && rank < extent) continue;
      throw ShapeError(message("order_statistic",
                               "there is no element of rank " + std::to_string(rank) +
                                   " along axis " + std::to_string(axis) + " of " +
                                   x[0].type().str(),
                               "Ranks count from 0, the smallest"));
    }
    extent = count();
    return type;
  }
  Array jvp(const Arrays& x, const Array& y, const Arrays& dx) const {
    Arrays tangents;
    for (std::int64_t i = 0; i < count(); i++) {
      Array chosen = one_along(y, axis, i);
      Array all = broadcast_to_shape(name, chosen, x[0].shape());
      Array is_chosen = converted(x[0] == all, y.dtype());
      Array moved = sum_over(dx[0] * is_chosen, {axis});
      Array sharing = sum_over(is_chosen, {axis});
      tangents.push_back(reshape_to(moved / sharing, chosen.shape()));
    }
    return concatenate(tangents, static_cast<int>(axis));
  }
  Array batch(const Arrays& x, const Mask& mapped, std::int64_t n) const {
    Arrays wide;
    for (std::size_t i = 0; i < x.size(); i++) wide.push_back(with_mapped_axis(x[i], mapped[i], n));
    return make(OrderStatistic{axis + 1, ranks}, wide);
  }
  void lower(Emitter& emitter, const Node& node) const {
    const Arrays& x = node.inputs;
    bool bisect = emitter.platform() == "cpu" && bisection_is_faster(x[0]);
    if (!bisect) return emitter.expand(node, {by_sorting(x)});
    if (!emitter.calls_host()) return emitter.expand(node, {by_bisection(emitter, x)});
    if (axis == x[0].rank() - 1) {
      return emitter.host_call(node, host_order_name, host_order_parameter(ranks));
    }
    emitter.expand(node, {along_last(x)});
  }

  bool bisection_is_faster(const Array& x) const;
  // The same with the axis moved to the end, where the host wants it.
  Array along_last(const Arrays& x) const {
    Arrays moved = x;
    moved[0] = swapaxes(x[0], static_cast<int>(axis), -1);
    if (in_rows()) {
      Array ranks_there = expand_dims(x[1], static_cast<int>(axis));
      moved[1] = squeeze(swapaxes(ranks_there, static_cast<int>(axis), -1), {-1});
    }
    Array found = make(OrderStatistic{x[0].rank() - 1, ranks}, moved);
    return swapaxes(found, static_cast<int>(axis), -1);
  }
  Array by_sorting(const Arrays& x) const {
    auto along = static_cast<int>(axis);
    Array sorted = sort(x[0], along);
    if (in_rows()) return take_along_axis(sorted, expand_dims(x[1], along), along);
    Arrays parts;
    for (std::int64_t rank : ranks) parts.push_back(one_along(sorted, axis, rank));
    return concatenate(parts, static_cast<int>(axis));
  }
  Array by_bisection(Emitter& emitter, const Arrays& inputs) const;
  Array bisect(Emitter& emitter, const Array& keys, const Operand& rank) const;
};

// Measured on two cores, without the host's function: f32[25,300] 141 us against 1026 for a sort,
// f32[600,25] 181 against 1565, f32[400000] 3.0 ms against 98; f64[25] is the same for both,
// f64[25,300] 266 us against 937.
bool OrderStatistic::bisection_is_faster(const Array& x) const {
  return x.dtype() == DType::f32 || x.dtype() == DType::f64;
}

// The bits of a floating-point number as an integer, so that integers compare as the numbers do:
// the bits below the sign are flipped for negative ones. Its own inverse.
Array flipped(const Array& bits) {
  auto width = static_cast<int>(8 * size_of(bits.dtype()));
  Array sign = shift_right_arithmetic(bits, full(width - 1, bits.type()));
  Array below_sign = shift_right(full(-1, bits.type()), full(1, bits.type()));
  Array flips = sign & below_sign;
  return bits ^ flips;
}

Array count_along(const Array& condition, std::int64_t axis) {
  return sum_over(converted(condition, DType::i32), {axis});
}

// The key of a rank, bit by bit from the sign on: a bit is set if at most `rank` keys are smaller
// than what it makes. Exact after as many steps as there are bits.
Array OrderStatistic::bisect(Emitter& emitter, const Array& keys, const Operand& rank) const {
  auto width = static_cast<int>(8 * size_of(keys.dtype()));
  Axes others = complement(keys.rank(), {axis});
  ArrayType type{keys.dtype(), picked(keys.shape(), others)}, scalar{keys.dtype(), {}};
  Array highest = shift_left(full(1, scalar), full(width - 1, scalar));
  Array smallest = broadcast(highest, type.shape, {});
  Arrays start = {highest, smallest, keys};
  if (in_rows()) start.push_back(rank.array);
  Arrays end = emitter.loop(
      start, [&](const Arrays& all) { return all[0] != zeros_of(scalar); },
      [&](const Arrays& all) {
        // The sign bit of the smallest key is set, the others are not: xor makes each larger.
        Array raised = all[1] ^ broadcast(all[0], type.shape, {});
        Array below = all[2] < broadcast(raised, keys.shape(), others);
        Array fits = count_along(below, axis) <= (in_rows() ? Operand(all[3]) : rank);
        Array next = select(fits, raised, all[1]);
        Array bit = shift_right(all[0], full(1, scalar));
        Arrays later = all;
        later[0] = bit;
        later[1] = next;
        return later;
      });
  return end[1];
}

Array OrderStatistic::by_bisection(Emitter& emitter, const Arrays& inputs) const {
  const Array& x = inputs[0];
  DType integer = x.dtype() == DType::f32 ? DType::i32 : DType::i64;
  Array bits = flipped(bitcast(x, integer));
  Array largest = shift_right(full(-1, bits.type()), full(1, bits.type()));
  Array keys = select(is_nan(x), largest, bits);
  auto value_of = [&](const Array& key) {
    return expand_dims(bitcast(flipped(key), x.dtype()), static_cast<int>(axis));
  };
  if (in_rows()) return value_of(bisect(emitter, keys, inputs[1]));
  Axes others = complement(x.rank(), {axis});
  Arrays parts;
  Array key;
  for (std::size_t i = 0; i < ranks.size(); i++) {
    if (i > 0 && ranks[i] == ranks[i - 1] + 1) {
      // The next one is equal to the one before, or the smallest of those above.
      Array all = broadcast(key, keys.shape(), others);
      Array enough = count_along(keys <= all, axis) > ranks[i];
      Array above = min(select(keys > all, keys, largest), static_cast<int>(axis));
      key = select(enough, key, above);
    } else {
      key = bisect(emitter, keys, ranks[i]);
    }
    parts.push_back(value_of(key));
  }
  return concatenate(parts, static_cast<int>(axis));
}

Arrays sorted_with_positions(std::string_view function, Arrays arrays, int axis, bool descending,
                             bool nan_first = false) {
  ArrayType type = arrays[0].type();
  std::int64_t at = checked_axis(function, type, axis);
  arrays.push_back(iota(type.shape, static_cast<int>(at)));
  return make_all(Sort{at, descending, nan_first}, arrays);
}

// The reduced axes as one, the last one, and the shape to give to the result.
struct Ranked {
  Array x;
  Shape kept;
  std::int64_t count;
};

Ranked resolve(std::string_view function, const Operand& operand, const Over& over) {
  Array x = to_floating(operand);
  Axes axes = over.axes ? checked_axes(function, x.type(), *over.axes) : iota_axes(x.rank());
  Axes order = complement(x.rank(), axes);
  Ranked result;
  result.kept = picked(x.shape(), order);
  result.count = product(picked(x.shape(), axes));
  require_real(function, x.type());
  require_elements(function, x.type(), axes);
  Shape flat = result.kept;
  flat.push_back(result.count);
  order.insert(order.end(), axes.begin(), axes.end());
  result.x = reshape_to(permute(x, order), flat);
  if (over.keep) {
    result.kept = x.shape();
    for (std::int64_t axis : axes) result.kept[static_cast<std::size_t>(axis)] = 1;
  }
  return result;
}

// `y`, but NaN where there is one among the elements.
Array or_nan(const Array& x, const Array& y) {
  Array has_nan = count_along(is_nan(x), x.rank() - 1) > 0;
  return where(has_nan, std::numeric_limits<double>::quiet_NaN(), y);
}

// The quantile for a number q.
Array fixed_quantile(const Array& x, double q, std::int64_t count, Interpolation interpolation) {
  double position = q * static_cast<double>(count - 1);
  auto lower = static_cast<std::int64_t>(std::floor(position));
  double weight = position - static_cast<double>(lower);
  if (interpolation == Interpolation::lower) weight = 0;
  if (interpolation == Interpolation::higher) weight = weight > 0 ? 1 : 0;
  if (interpolation == Interpolation::nearest) {
    weight = std::nearbyint(position) - static_cast<double>(lower);
  }
  std::int64_t axis = x.rank() - 1;
  if (weight == 0 || weight == 1) {
    return order_statistic(x, lower + (weight == 1 ? 1 : 0), static_cast<int>(axis));
  }
  Array both = make(OrderStatistic{axis, {lower, lower + 1}}, {x});
  Array low = squeeze(one_along(both, axis, 0), {axis});
  Array high = squeeze(one_along(both, axis, 1), {axis});
  return low * (1 - weight) + high * weight;
}

// The quantiles for an array q, along new first axes.
Array varying_quantile(const Array& x, const Array& q, std::int64_t count,
                       Interpolation interpolation) {
  Array sorted = sort(x);
  double last = static_cast<double>(count - 1);
  // Numbers of 16 bits do not count far.
  bool precise = x.dtype() == DType::f64 || q.dtype() == DType::f64;
  Array place = converted(q, precise ? DType::f64 : DType::f32);
  Array position = clamp(0.0, place * last, last);
  auto element = [&](const Array& rank) {
    Array chosen = take(sorted, convert(rank, DType::i32), -1);
    // Axes of q, which came last, come first.
    Axes order = iota_axes(q.rank(), x.rank() - 1);
    for (std::int64_t i = 0; i + 1 < x.rank(); i++) order.push_back(i);
    return permute(chosen, order);
  };
  if (interpolation == Interpolation::lower) return element(floor(position));
  if (interpolation == Interpolation::higher) return element(ceil(position));
  if (interpolation == Interpolation::nearest) return element(round(position));
  Array low = element(floor(position)), high = element(ceil(position));
  Array weight = position - floor(position);
  weight = broadcast(weight, low.shape(), iota_axes(q.rank()));
  Array between = converted(low * (1.0 - weight) + high * weight, x.dtype());
  // Equal neighbours are the value itself: infinite ones have no weighted mean.
  return where(low == high, low, between);
}

}  // namespace
}  // namespace internal

using internal::Blame;
using internal::to_array;

Array sort(Operand x, int axis, bool descending) {
  Blame blame(x.where, "sort");
  return internal::sorted_with_positions("sort", {to_array(x)}, axis, descending)[0];
}

Array argsort(Operand x, int axis, bool descending) {
  Blame blame(x.where, "argsort");
  return internal::sorted_with_positions("argsort", {to_array(x)}, axis, descending)[1];
}

Arrays sort_by_key(Operand keys, const Arrays& values, int axis, bool descending) {
  Blame blame(keys.where, "sort_by_key");
  Arrays all = {to_array(keys)};
  all.insert(all.end(), values.begin(), values.end());
  all = internal::sorted_with_positions("sort_by_key", all, axis, descending);
  all.pop_back();
  return all;
}

std::pair<Array, Array> top_k(Operand operand, std::int64_t k) {
  Blame blame(operand.where, "top_k");
  Array x = to_array(operand);
  std::int64_t axis = internal::checked_axis("top_k", x.type(), -1);
  if (k < 0 || k > x.shape().back()) {
    throw ShapeError(internal::message(
        "top_k", std::to_string(k) + " elements along the last axis of " + x.type().str(),
        "Ask for no more than there are"));
  }
  Arrays all = internal::sorted_with_positions("top_k", {x}, static_cast<int>(axis), true, true);
  Shape start(x.shape().size(), 0), stop = x.shape();
  stop.back() = k;
  Array values = slice(all[0], start, stop);
  Array positions = slice(all[1], start, stop);
  return {values, positions};
}

Array order_statistic(Operand operand, std::int64_t k, int axis) {
  Blame blame(operand.where, "order_statistic");
  Array x = to_array(operand);
  std::int64_t at = internal::checked_axis("order_statistic", x.type(), axis);
  return squeeze(internal::make(internal::OrderStatistic{at, {k}}, {x}), {at});
}

Array order_statistic(Operand operand, const Array& k, int axis) {
  Blame blame(operand.where, "order_statistic");
  Array x = to_array(operand);
  std::int64_t at = internal::checked_axis("order_statistic", x.type(), axis);
  Shape rows = x.shape();
  rows.erase(rows.begin() + at);
  if (k.shape() != rows || !is_integer(k.dtype()) || x.shape()[static_cast<std::size_t>(at)] == 0) {
    throw ShapeError(internal::message("order_statistic",
                                       "the ranks are " + k.type().str() + ", the elements " +
                                           x.type().str() + " along axis " + std::to_string(at),
                                       "Give a whole number for each row of at least one element"));
  }
  Array ranks = clamp(convert(k, DType::i32), 0, x.shape()[static_cast<std::size_t>(at)] - 1);
  return squeeze(internal::make(internal::OrderStatistic{at, {}}, {x, ranks}), {at});
}

namespace {

Array quantile_of(const internal::Ranked& ranked, double q, Interpolation interpolation) {
  Array y = internal::fixed_quantile(ranked.x, q, ranked.count, interpolation);
  return internal::reshape_to(internal::or_nan(ranked.x, y), ranked.kept);
}

}  // namespace

Array median(Operand x, Over over) {
  Blame blame(x.where, "median");
  return quantile_of(internal::resolve("median", x, over), 0.5, Interpolation::linear);
}

Array quantile(Operand operand, Operand q, Over over, Interpolation interpolation) {
  Blame blame(operand.where, "quantile");
  internal::Ranked ranked = internal::resolve("quantile", operand, over);
  if (q.number) {
    double number = q.number->real;
    if (q.number->kind == Number::Kind::complex || !(number >= 0 && number <= 1)) {
      throw Error(
          internal::message("quantile", "q is " + q.number->str(), "Give a number from 0 to 1"));
    }
    return quantile_of(ranked, number, interpolation);
  }
  Array y = internal::varying_quantile(ranked.x, q.array, ranked.count, interpolation);
  y = internal::or_nan(ranked.x, y);
  Shape shape = q.array.shape();
  shape.insert(shape.end(), ranked.kept.begin(), ranked.kept.end());
  return internal::reshape_to(y, shape);
}

}  // namespace sturnus
