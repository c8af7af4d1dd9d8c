#include <sturnus/ops/arithmetic.h>
#include <sturnus/ops/reduce.h>

#include <cmath>
#include <limits>

#include "src/ops/dot.h"
#include "src/ops/elementwise.h"

namespace sturnus {
namespace internal {

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
    if (is_complex(x[0].dtype())) {
      throw DtypeError(std::string(title()) + ": " + x[0].type().str() + " has no order" +
                       where_text() + ". Compare abs or real of it");
    }
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

}  // namespace
}  // namespace internal

using internal::Blame;

Array sum(Operand x, Over over) {
  Blame blame(x.where);
  auto reduced = internal::resolve("sum", x, over);
  // Counting booleans is what people mean.
  if (reduced.x.dtype() == DType::boolean) reduced.x = convert(reduced.x, DType::i32);
  return internal::finish(internal::sum_over(reduced.x, reduced.axes), reduced, over);
}

Array mean(Operand x, Over over) {
  Blame blame(x.where);
  Array y = internal::to_floating(x);
  auto reduced = internal::resolve("mean", y, over);
  double count =
      static_cast<double>(internal::product(internal::picked(reduced.x.shape(), reduced.axes)));
  return internal::finish(internal::sum_over(reduced.x, reduced.axes) / count, reduced, over);
}

Array max(Operand x, Over over) {
  Blame blame(x.where);
  auto reduced = internal::resolve("max", x, over);
  Array y = internal::make(internal::Extreme{true, reduced.axes}, {reduced.x});
  return internal::finish(y, reduced, over);
}

Array min(Operand x, Over over) {
  Blame blame(x.where);
  auto reduced = internal::resolve("min", x, over);
  Array y = internal::make(internal::Extreme{false, reduced.axes}, {reduced.x});
  return internal::finish(y, reduced, over);
}

}  // namespace sturnus
