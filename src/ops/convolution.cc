#include <sturnus/ops/convolution.h>
#include <sturnus/ops/shape.h>

#include <algorithm>

#include "src/ops/elementwise.h"

namespace sturnus {
namespace internal {
namespace {

std::int64_t dilated(std::int64_t extent, std::int64_t distance) {
  return extent == 0 ? 0 : (extent - 1) * distance + 1;
}

// [batch, features, space...], [new features, features / groups, space...]. This form is closed:
// both transposes are again of it.
struct Convolution {
  static constexpr std::string_view name = "convolution", hlo = "convolution";
  Axes strides, low, high, x_dilation, kernel_dilation;
  std::int64_t groups;

  std::string attributes() const;
  ArrayType infer(const Arrays& x) const;
  Array jvp(const Arrays& x, const Array&, const Arrays& dx) const {
    Array left, right;
    if (!dx[0].empty()) left = make(*this, {dx[0], x[1]});
    if (!dx[1].empty()) right = make(*this, {x[0], dx[1]});
    return add_tangents(left, right);
  }
  Arrays transpose(const Array& ct, const Arrays& x, const Mask& linear) const;
  Array batch(const Arrays& x, const Mask& mapped, std::int64_t n) const;

  Array for_x(const Array& ct, const Arrays& x) const;
  Array for_kernel(const Array& ct, const Arrays& x) const;
};

std::string Convolution::attributes() const {
  std::string space, padding, reversal;
  for (std::size_t i = 0; i < strides.size(); i++) {
    space += ", " + std::to_string(i);
    padding +=
        (i == 0 ? "[" : ", [") + std::to_string(low[i]) + ", " + std::to_string(high[i]) + "]";
    reversal += i == 0 ? ": false" : ", false";
  }
  std::string count = std::to_string(strides.size());
  std::string numbers = strides.empty() ? "dense<>" : "dense<[" + padding + "]>";
  return "dimension_numbers = #stablehlo.conv<[b, f" + space + "]x[o, i" + space + "]->[b, f" +
         space + "]>, " + mlir_integer("batch_group_count", 1) + ", " +
         mlir_integer("feature_group_count", groups) + ", " +
         mlir_integers("window_strides", strides) + ", " +
         mlir_integers("lhs_dilation", x_dilation) + ", " +
         mlir_integers("rhs_dilation", kernel_dilation) + ", window_reversal = array<i1" +
         reversal + ">, padding = " + numbers + " : tensor<" + count + "x2xi64>";
}

ArrayType Convolution::infer(const Arrays& x) const {
  const Shape &from = x[0].shape(), &kernel = x[1].shape();
  auto fail = [&](const std::string& what) {
    throw ShapeError(message("convolution",
                             "x is " + x[0].type().str() + ", the kernel " + x[1].type().str() +
                                 ", in " + std::to_string(groups) +
                                 (groups == 1 ? " group" : " groups"),
                             what));
  };
  if (x[0].dtype() != x[1].dtype()) {
    throw DtypeError(message("convolution",
                             "operands are " + x[0].type().str() + " and " + x[1].type().str(),
                             "Convert one of them"));
  }
  std::size_t rank = strides.size() + 2;
  if (from.size() != rank || kernel.size() != rank) {
    fail("Give x batch and feature axes, the kernel both feature axes, then both the spatial axes");
  }
  if (groups < 1 || from[1] != kernel[1] * groups || kernel[0] % groups != 0) {
    fail("Axis 1 of x must be groups times axis 1 of the kernel, and groups divide its axis 0");
  }
  ArrayType type{x[0].dtype(), {from[0], kernel[0]}};
  for (std::size_t i = 0; i + 2 < rank; i++) {
    if (strides[i] < 1 || x_dilation[i] < 1 || kernel_dilation[i] < 1) {
      fail("Give strides and dilations of 1 or more");
    }
    std::int64_t room = dilated(from[i + 2], x_dilation[i]) + low[i] + high[i];
    std::int64_t window = dilated(kernel[i + 2], kernel_dilation[i]);
    type.shape.push_back(room < window ? 0 : (room - window) / strides[i] + 1);
  }
  return type;
}

// Axis `axis` of x, of extent count * rest, as two axes; the opposite.
Array split(const Array& x, std::int64_t axis, std::int64_t count) {
  Shape shape = x.shape();
  shape[static_cast<std::size_t>(axis)] /= count;
  shape.insert(shape.begin() + axis, count);
  return reshape_to(x, shape);
}
Array merge(const Array& x, std::int64_t axis) {
  Shape shape = x.shape();
  auto at = static_cast<std::size_t>(axis);
  shape[at + 1] *= shape[at];
  shape.erase(shape.begin() + axis);
  return reshape_to(x, shape);
}
Array swapped(const Array& x, std::size_t a, std::size_t b) {
  Axes order = iota_axes(x.rank());
  std::swap(order[a], order[b]);
  return permute(x, order);
}

Arrays Convolution::transpose(const Array& ct, const Arrays& x, const Mask& linear) const {
  return linear[0] ? Arrays{for_x(ct, x), {}} : Arrays{{}, for_kernel(ct, x)};
}

// The mirrored kernel, with features exchanged within each group, slides over the cotangent.
Array Convolution::for_x(const Array& ct, const Arrays& x) const {
  Convolution back{x_dilation, {}, {}, strides, kernel_dilation, groups};
  for (std::size_t i = 0; i < strides.size(); i++) {
    std::int64_t space = dilated(x[0].shape()[i + 2], x_dilation[i]);
    std::int64_t window = dilated(x[1].shape()[i + 2], kernel_dilation[i]);
    std::int64_t moved = dilated(ct.shape()[i + 2], strides[i]);
    back.low.push_back(window - low[i] - 1);
    back.high.push_back(space + window - 1 - moved - back.low.back());
  }
  Array mirrored = flip(x[1], iota_axes(static_cast<std::int64_t>(strides.size()), 2));
  Array kernel = merge(swapped(split(mirrored, 0, groups), 1, 2), 0);
  return make(back, {ct, kernel});
}

// The cotangent slides over x; batch and features change places.
Array Convolution::for_kernel(const Array& ct, const Arrays& x) const {
  Convolution back{kernel_dilation, low, {}, x_dilation, strides, groups};
  for (std::size_t i = 0; i < strides.size(); i++) {
    std::int64_t space = dilated(x[0].shape()[i + 2], x_dilation[i]);
    std::int64_t window = dilated(x[1].shape()[i + 2], kernel_dilation[i]);
    std::int64_t moved = dilated(ct.shape()[i + 2], strides[i]);
    back.high.push_back(moved - space + window - low[i] - 1);
  }
  // [batch, groups, features, ...] to [features, groups batch, ...].
  Array from = merge(swapped(split(x[0], 1, groups), 0, 2), 1);
  Array product = make(back, {from, swapped(ct, 0, 1)});
  return swapped(product, 0, 1);
}

Array Convolution::batch(const Arrays& x, const Mask& mapped, std::int64_t n) const {
  if (n == 0) {
    auto one = [&](std::size_t i) {
      Shape shape = x[i].shape();
      if (mapped[i]) shape.erase(shape.begin());
      return zeros_of({x[i].dtype(), shape});
    };
    Array left = one(0), right = one(1);
    ArrayType type = infer({left, right});
    return zeros_of({type.dtype, prepended(0, type.shape)});
  }
  if (!mapped[1]) return split(make(*this, {merge(x[0], 0), x[1]}), 0, n);
  if (mapped[0]) {
    // Each problem is a group of its own.
    Convolution wide = *this;
    wide.groups *= n;
    Array product = make(wide, {merge(swapped(x[0], 0, 1), 1), merge(x[1], 0)});
    return swapped(split(product, 1, n), 0, 1);
  }
  // New features of all problems, group by group: [groups, n, features / groups].
  Array kernel = merge(merge(swapped(split(x[1], 1, groups), 0, 1), 0), 0);
  Array product = split(split(make(*this, {x[0], kernel}), 1, groups), 2, n);
  Axes order = {2, 0, 1};
  for (std::int64_t i = 3; i < product.rank(); i++) order.push_back(i);
  return merge(permute(product, order), 2);
}

Axes or_else(const Axes& given, std::size_t count, std::int64_t value) {
  return given.empty() ? Axes(count, value) : given;
}

}  // namespace
}  // namespace internal

using internal::Axes;
using internal::Blame;

Array convolution(Operand operand, Operand kernel_operand, const ConvolutionOptions& options) {
  Blame blame(operand.where, "convolution");
  Array x = internal::to_floating(operand), kernel = internal::to_floating(kernel_operand);
  DType dtype = internal::promoted(x.dtype(), kernel.dtype());
  std::size_t space = x.shape().size() < 2 ? 0 : x.shape().size() - 2;
  Axes low, high;
  for (const auto& [before, behind] : options.padding) {
    low.push_back(before);
    high.push_back(behind);
  }
  internal::Convolution op{internal::or_else(options.strides, space, 1),
                           internal::or_else(low, space, 0),
                           internal::or_else(high, space, 0),
                           internal::or_else(options.x_dilation, space, 1),
                           internal::or_else(options.kernel_dilation, space, 1),
                           options.groups};
  for (const Axes* list : {&op.strides, &op.low, &op.x_dilation, &op.kernel_dilation}) {
    if (list->size() == space) continue;
    throw ShapeError(internal::message("convolution",
                                       "an option has " + std::to_string(list->size()) +
                                           " entries, " + x.type().str() + " has " +
                                           std::to_string(space) + " spatial axes",
                                       "Give one entry per spatial axis"));
  }
  return internal::make(op, {internal::converted(x, dtype), internal::converted(kernel, dtype)});
}

std::vector<std::pair<std::int64_t, std::int64_t>> same_padding(const Shape& x, const Shape& kernel,
                                                                const ConvolutionOptions& options) {
  std::size_t space = x.size() < 2 ? 0 : x.size() - 2;
  Axes strides = internal::or_else(options.strides, space, 1);
  Axes x_dilation = internal::or_else(options.x_dilation, space, 1);
  Axes kernel_dilation = internal::or_else(options.kernel_dilation, space, 1);
  std::vector<std::pair<std::int64_t, std::int64_t>> padding;
  for (std::size_t i = 0; i < space; i++) {
    std::int64_t extent = internal::dilated(x[i + 2], x_dilation[i]);
    std::int64_t window = internal::dilated(kernel.at(i + 2), kernel_dilation[i]);
    std::int64_t count = (extent + strides[i] - 1) / strides[i];
    std::int64_t total = std::max<std::int64_t>((count - 1) * strides[i] + window - extent, 0);
    padding.push_back({total / 2, total - total / 2});
  }
  return padding;
}

Array convolve(Operand operand, Operand other, ConvolveMode mode) {
  Blame blame(operand.where, "convolve");
  Array a = internal::to_floating(operand), v = internal::to_floating(other);
  if (a.rank() != 1 || v.rank() != 1 || a.size() == 0 || v.size() == 0) {
    throw ShapeError(internal::message("convolve",
                                       "operands are " + a.type().str() + " and " + v.type().str(),
                                       "Give vectors with elements"));
  }
  if (a.size() < v.size()) std::swap(a, v);
  std::int64_t overlap = v.size() - 1;
  std::pair<std::int64_t, std::int64_t> padding = {0, 0};
  if (mode == ConvolveMode::full) padding = {overlap, overlap};
  if (mode == ConvolveMode::same) padding = {overlap - overlap / 2, overlap / 2};
  Array kernel = internal::reshape_to(flip(v, {0}), {1, 1, v.size()});
  Array x = internal::reshape_to(a, {1, 1, a.size()});
  Array y = convolution(x, kernel, {.padding = {padding}});
  return internal::reshape_to(y, {y.size()});
}

}  // namespace sturnus
