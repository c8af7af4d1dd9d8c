#include <sturnus/functional/evaluate.h>
#include <sturnus/ops/arithmetic.h>
#include <sturnus/ops/complex.h>
#include <sturnus/ops/creation.h>
#include <sturnus/ops/dot.h>
#include <sturnus/ops/reduce.h>
#include <sturnus/ops/shape.h>
#include <sturnus/ops/transcendental.h>
#include <sturnus/runtime/host_sum.h>

#include <cmath>
#include <limits>
#include <optional>

#include "src/ops/associative.h"
#include "src/ops/elementwise.h"

namespace sturnus {
namespace internal {

namespace {

// The sum over `axes` as a chain of additions.
Array added_up(const Array& x, Axes axes) {
  std::sort(axes.begin(), axes.end());
  Array total = x;
  for (auto axis = axes.rbegin(); axis != axes.rend(); ++axis) {
    auto at = static_cast<std::size_t>(*axis);
    Shape start(total.shape().size(), 0), stop = total.shape(), rest = total.shape();
    rest.erase(rest.begin() + *axis);
    Array sum;
    for (std::int64_t i = 0; i < total.shape()[at]; i++) {
      start[at] = i;
      stop[at] = i + 1;
      Array term = reshape_to(slice(total, start, stop), rest);
      sum = sum.empty() ? term : sum + term;
    }
    total = sum;
  }
  return total;
}

// The call of the host's sum that this is, if it is one: over neighbouring axes, and XLA would not
// do it on the way, without a kernel of its own.
std::optional<SumExtents> as_host_sum(const Array& x, Axes axes, bool many_rows) {
  constexpr std::int64_t terms_on_the_way = 32;
  std::sort(axes.begin(), axes.end());
  SumExtents extents{1, 1, 1};
  for (std::int64_t axis = 0; axis < x.rank(); axis++) {
    std::int64_t extent = x.shape()[static_cast<std::size_t>(axis)];
    if (contains(axes, axis)) {
      extents.terms *= extent;
    } else {
      (axis < axes.front() ? extents.outer : extents.inner) *= extent;
    }
  }
  bool neighbours = axes.back() - axes.front() + 1 == std::ssize(axes);
  bool real = x.dtype() == DType::f32 || x.dtype() == DType::f64;
  bool alone = many_rows || extents.terms > terms_on_the_way;
  if (!real || !neighbours || !alone || x.size() == 0) return {};
  return extents;
}

}  // namespace

struct Sum {
  static constexpr std::string_view name = "sum";
  Axes axes;
  ArrayType infer(const Arrays& x) const {
    return {x[0].dtype(), picked(x[0].shape(), complement(x[0].rank(), axes))};
  }
  Array simplify(const Arrays& x) const {
    const Array& from = x[0];
    if (axes.empty()) return from;
    double count = static_cast<double>(product(picked(from.shape(), axes)));
    if (auto value = splat(from); value && is_floating(from.dtype())) {
      return full(*value * count, infer(x));
    }
    Axes left = complement(from.rank(), axes);
    if (auto* inner = as<Broadcast>(from); inner != nullptr && is_floating(from.dtype())) {
      // A sum along axes that were only repeated is a product.
      for (std::int64_t axis : axes) {
        if (contains(inner->axes, axis)) return {};
      }
      Axes kept;
      for (std::int64_t axis : inner->axes) kept.push_back(position(left, axis));
      const Array& source = from.node()->inputs[0];
      return broadcast(source * full(count, source.type()), infer(x).shape, kept);
    }
    if (auto* inner = as<Permute>(from)) {
      Axes below = picked(inner->permutation, axes);
      std::sort(below.begin(), below.end());
      Axes rest = complement(from.rank(), below);
      Axes order;
      for (std::int64_t axis : left) {
        order.push_back(position(rest, inner->permutation[static_cast<std::size_t>(axis)]));
      }
      return permute(sum_over(from.node()->inputs[0], below), order);
    }
    return {};
  }
  Array jvp(const Arrays&, const Array&, const Arrays& dx) const { return sum_over(dx[0], axes); }
  Array transpose(const Array& ct, const Arrays& x, const Mask&) const {
    return broadcast(ct, x[0].shape(), complement(x[0].rank(), axes));
  }
  Array batch(const Arrays& x, const Mask&, std::int64_t) const {
    return sum_over(x[0], shifted(axes, 1));
  }
  void lower(Emitter& emitter, const Node& node) const {
    const Array& x = node.inputs[0];
    if (Array wide = widened(x); !wide.same(x)) {
      return emitter.expand(node, {converted(sum_over(wide, axes), x.dtype())});
    }
    bool rows = axes == Axes{x.rank() - 1} && x.rank() > 1;
    bool many_rows = rows && x.size() > few_elements;
    if (auto extents = as_host_sum(x, axes, many_rows); extents && emitter.calls_host()) {
      return emitter.host_call(node, host_sum_name, host_sum_parameter(*extents));
    }
    if (many_rows && is_floating(x.dtype()) && emitter.platform() == "cpu") {
      // XLA's CPU compiler adds up a row one by one, but a product with ones it vectorises. Sums of
      // few elements it does on the way, without a kernel of their own.
      Array ones = ones_of({x.dtype(), {x.shape().back()}});
      return emitter.expand(node, {dot_general(x, ones, {{}, {}, {x.rank() - 1}, {0}})});
    }
    // A reduction is the end of a kernel on GPUs; additions are not.
    std::int64_t terms = product(picked(x.shape(), axes));
    if (terms > 0 && terms <= 4 && emitter.platform() == "cuda") {
      return emitter.expand(node, {added_up(x, axes)});
    }
    DType dtype = node.types[0].dtype;
    std::string zero = emitter.constant(mlir_number(0, dtype), {dtype, {}});
    emitter.line(node, "reduce", {emitter.name_of(node.inputs[0]), zero},
                 {node.inputs[0].type(), {dtype, {}}}, emitter.binary_region("add", dtype),
                 mlir_integers("dimensions", axes));
  }
};

Array sum_over(const Array& x, Axes axes) { return make(Sum{std::move(axes)}, {x}); }

namespace {

// The largest element, or the smallest.
struct Extreme {
  static constexpr std::string_view name = "extreme";
  bool largest;
  Axes axes;
  std::string_view title() const { return largest ? "max" : "min"; }
  ArrayType infer(const Arrays& x) const {
    require_real(title(), x[0].type());
    return {x[0].dtype(), picked(x[0].shape(), complement(x[0].rank(), axes))};
  }
  Array simplify(const Arrays& x) const { return axes.empty() ? x[0] : Array(); }
  Array jvp(const Arrays& x, const Array& y, const Arrays& dx) const {
    Array all = broadcast(y, x[0].shape(), complement(x[0].rank(), axes));
    Array at = convert(x[0] == all, x[0].dtype());
    Array count = sum_over(at, axes);
    return sum_over(dx[0] * at, axes) / count;
  }
  Array batch(const Arrays& x, const Mask&, std::int64_t) const {
    return make(Extreme{largest, shifted(axes, 1)}, x);
  }
  void lower(Emitter& emitter, const Node& node) const {
    DType dtype = node.types[0].dtype;
    std::string first = emitter.constant(first_value(dtype), {dtype, {}});
    emitter.line(node, "reduce", {emitter.name_of(node.inputs[0]), first},
                 {node.inputs[0].type(), {dtype, {}}},
                 emitter.binary_region(largest ? "maximum" : "minimum", dtype),
                 mlir_integers("dimensions", axes));
  }
  // What every element beats.
  std::string first_value(DType dtype) const {
    if (is_floating(dtype)) {
      double infinity = std::numeric_limits<double>::infinity();
      return mlir_number(largest ? -infinity : infinity, dtype);
    }
    int bits = static_cast<int>(8 * size_of(dtype));
    if (dtype == DType::boolean) return largest ? "false" : "true";
    bool is_signed = dtype <= DType::i64;
    if (largest) return is_signed ? "-" + power_of_two(bits - 1) : "0";
    return is_signed ? std::to_string(std::numeric_limits<std::int64_t>::max() >> (64 - bits))
                     : std::to_string(std::numeric_limits<std::uint64_t>::max() >> (64 - bits));
  }
  static std::string power_of_two(int exponent) {
    return std::to_string(std::uint64_t{1} << exponent);
  }
};

struct Prod {
  static constexpr std::string_view name = "prod";
  Axes axes;
  ArrayType infer(const Arrays& x) const {
    return {x[0].dtype(), picked(x[0].shape(), complement(x[0].rank(), axes))};
  }
  Array simplify(const Arrays& x) const { return axes.empty() ? x[0] : Array(); }
  // By the product rule on a tree of products, since y / x[i] fails where x[i] is 0.
  Array jvp(const Arrays& x, const Array& y, const Arrays& dx) const {
    if (x[0].size() == 0) return {};
    Axes left = complement(x[0].rank(), axes), order = left;
    order.insert(order.end(), axes.begin(), axes.end());
    Shape flat = y.shape();
    flat.push_back(product(picked(x[0].shape(), axes)));
    Array values = reshape_to(permute(x[0], order), flat);
    Array tangents = reshape_to(permute(dx[0], order), flat);
    Combine rule = [](const Arrays& a, const Arrays& b) {
      Array first = a[1] * b[0], second = b[1] * a[0];
      return Arrays{a[0] * b[0], first + second};
    };
    return reshape_to(tree_reduce({values, tangents}, y.rank(), rule)[1], y.shape());
  }
  Array batch(const Arrays& x, const Mask&, std::int64_t) const {
    return make(Prod{shifted(axes, 1)}, x);
  }
  void lower(Emitter& emitter, const Node& node) const {
    DType dtype = node.types[0].dtype;
    std::string one = emitter.constant(mlir_number(1, dtype), {dtype, {}});
    emitter.line(node, "reduce", {emitter.name_of(node.inputs[0]), one},
                 {node.inputs[0].type(), {dtype, {}}}, emitter.binary_region("multiply", dtype),
                 mlir_integers("dimensions", axes));
  }
};

struct Reduced {
  Array x;
  Axes axes;
  Shape kept;  // the shape with the reduced axes as 1
};

Reduced resolve(std::string_view function, const Operand& operand, const Over& over) {
  Reduced result{to_array(operand), {}, {}};
  const Array& x = result.x;
  result.axes = over.axes ? checked_axes(function, x.type(), *over.axes) : iota_axes(x.rank());
  result.kept = x.shape();
  for (std::int64_t axis : result.axes) result.kept[static_cast<std::size_t>(axis)] = 1;
  return result;
}

Array finish(Array y, const Reduced& reduced, const Over& over) {
  return over.keep ? reshape_to(y, reduced.kept) : y;
}

double count_of(const Reduced& reduced) {
  return static_cast<double>(product(picked(reduced.x.shape(), reduced.axes)));
}

// |x|^2, which is real.
Array squared_size(const Array& x) {
  if (!is_complex(x.dtype())) return x * x;
  Array re = real(x), im = imag(x);
  return re * re + im * im;
}

// The mean squared distance from the mean.
Array variance(const Reduced& reduced, double correction) {
  Array x = widened(reduced.x);
  Axes left = complement(x.rank(), reduced.axes);
  Array mean = sum_over(x, reduced.axes) / count_of(reduced);
  Array distance = x - broadcast(mean, x.shape(), left);
  return sum_over(squared_size(distance), reduced.axes) / (count_of(reduced) - correction);
}

// y, computed from x, in the type of x or of its parts.
Array rounded_like(const Array& x, const Array& y) { return converted(y, real_type(x.dtype())); }

// sqrt with the derivative 0 at 0.
Array sqrt_of_squares(const Array& x) {
  Array is_zero = x == 0.0;
  Array root = sqrt(where(is_zero, 1.0, x));
  return where(is_zero, 0.0, root);
}

Array any_or_all(std::string_view function, bool is_any, const Operand& operand, const Over& over) {
  Blame blame(operand.where, function);
  auto reduced = resolve(function, operand, over);
  Array holds = reduced.x.dtype() == DType::boolean ? reduced.x : reduced.x != 0;
  return finish(make(Extreme{is_any, reduced.axes}, {holds}), reduced, over);
}

// The positions at which `at` holds, smallest first; `extent` where there are none.
Array first_position(const Array& at, std::int64_t axis) {
  auto extent = static_cast<double>(at.shape()[static_cast<std::size_t>(axis)]);
  Array position = iota(at.shape(), static_cast<int>(axis));
  return make(Extreme{false, {axis}}, {where(at, position, full(extent, position.type()))});
}

Array position_of_extreme(std::string_view function, bool largest, const Array& x, int axis,
                          bool keep) {
  require_real(function, x.type());
  std::int64_t at = checked_axis(function, x.type(), axis);
  auto extent = x.shape()[static_cast<std::size_t>(at)];
  require_elements(function, x.type(), {at});
  return as_one_program([&] {
    Array fixed = is_floating(x.dtype()) ? stop_gradient(x) : x;
    Array best = make(Extreme{largest, {at}}, {fixed});
    Array wide = broadcast(best, x.shape(), complement(x.rank(), {at}));
    Array result = first_position(fixed == wide, at);
    if (is_floating(x.dtype())) {
      Array nan = first_position(fixed != fixed, at);
      result = where(nan < static_cast<int>(extent), nan, result);
    }
    Shape kept = x.shape();
    kept[static_cast<std::size_t>(at)] = 1;
    return keep ? reshape_to(result, kept) : result;
  });
}

}  // namespace
}  // namespace internal

using internal::Blame;

Array sum(Operand x, Over over) {
  Blame blame(x.where, "sum");
  auto reduced = internal::resolve("sum", x, over);
  // Counting booleans is what people mean.
  if (reduced.x.dtype() == DType::boolean) reduced.x = convert(reduced.x, DType::i32);
  return internal::finish(internal::sum_over(reduced.x, reduced.axes), reduced, over);
}

Array mean(Operand x, Over over) {
  Blame blame(x.where, "mean");
  Array y = internal::to_floating(x);
  auto reduced = internal::resolve("mean", y, over);
  Array total = internal::sum_over(internal::widened(y), reduced.axes);
  Array average = internal::converted(total / internal::count_of(reduced), y.dtype());
  return internal::finish(average, reduced, over);
}

Array max(Operand x, Over over) {
  Blame blame(x.where, "max");
  auto reduced = internal::resolve("max", x, over);
  internal::require_elements("max", reduced.x.type(), reduced.axes);
  Array y = internal::make(internal::Extreme{true, reduced.axes}, {reduced.x});
  return internal::finish(y, reduced, over);
}

Array min(Operand x, Over over) {
  Blame blame(x.where, "min");
  auto reduced = internal::resolve("min", x, over);
  internal::require_elements("min", reduced.x.type(), reduced.axes);
  Array y = internal::make(internal::Extreme{false, reduced.axes}, {reduced.x});
  return internal::finish(y, reduced, over);
}

Array prod(Operand x, Over over) {
  Blame blame(x.where, "prod");
  auto reduced = internal::resolve("prod", x, over);
  if (reduced.x.dtype() == DType::boolean) reduced.x = convert(reduced.x, DType::i32);
  Array y = internal::make(internal::Prod{reduced.axes}, {reduced.x});
  return internal::finish(y, reduced, over);
}

Array var(Operand x, Over over, double correction) {
  Blame blame(x.where, "var");
  auto reduced = internal::resolve("var", internal::to_floating(x), over);
  return internal::as_one_program([&] {
    Array squared = internal::variance(reduced, correction);
    return internal::finish(internal::rounded_like(reduced.x, squared), reduced, over);
  });
}

Array stddev(Operand x, Over over, double correction) {
  Blame blame(x.where, "stddev");
  auto reduced = internal::resolve("stddev", internal::to_floating(x), over);
  return internal::as_one_program([&] {
    Array squared = internal::variance(reduced, correction);
    Array root = internal::sqrt_of_squares(squared);
    return internal::finish(internal::rounded_like(reduced.x, root), reduced, over);
  });
}

Array any(Operand x, Over over) { return internal::any_or_all("any", true, x, over); }
Array all(Operand x, Over over) { return internal::any_or_all("all", false, x, over); }

Array argmax(Operand x) {
  Blame blame(x.where, "argmax");
  Array y = internal::to_array(x);
  return internal::position_of_extreme("argmax", true, internal::reshape_to(y, {y.size()}), 0,
                                       false);
}
Array argmax(Operand x, int axis, bool keep) {
  Blame blame(x.where, "argmax");
  return internal::position_of_extreme("argmax", true, internal::to_array(x), axis, keep);
}
Array argmin(Operand x) {
  Blame blame(x.where, "argmin");
  Array y = internal::to_array(x);
  return internal::position_of_extreme("argmin", false, internal::reshape_to(y, {y.size()}), 0,
                                       false);
}
Array argmin(Operand x, int axis, bool keep) {
  Blame blame(x.where, "argmin");
  return internal::position_of_extreme("argmin", false, internal::to_array(x), axis, keep);
}

Array norm(Operand x, Over over, double order) {
  Blame blame(x.where, "norm");
  auto reduced = internal::resolve("norm", internal::to_floating(x), over);
  bool largest = order == std::numeric_limits<double>::infinity();
  if (order != 1 && order != 2 && !largest) {
    throw Error(internal::message("norm", "the order is " + internal::shortest_text(order),
                                  "Give 1, 2 or infinity"));
  }
  if (largest) internal::require_elements("norm", reduced.x.type(), reduced.axes);
  return internal::as_one_program([&] {
    Array x = internal::widened(reduced.x);
    Array size = order == 2 ? internal::squared_size(x) : abs(x);
    Array y = largest ? internal::make(internal::Extreme{true, reduced.axes}, {size})
                      : internal::sum_over(size, reduced.axes);
    if (order == 2) y = internal::sqrt_of_squares(y);
    return internal::finish(internal::rounded_like(reduced.x, y), reduced, over);
  });
}

}  // namespace sturnus
