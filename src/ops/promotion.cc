#include "src/ops/promotion.h"

#include <sturnus/ops/complex.h>

#include <algorithm>

#include "src/ops/elementwise.h"
#include "src/ops/structural.h"

namespace sturnus::internal {

DType promoted(DType a, DType b) {
  if (a == b) return a;
  if (a > b) std::swap(a, b);  // DType lists bool, signed, unsigned, floats, complex in this order
  if (a == DType::boolean) return b;
  if (is_complex(b)) return a == DType::f64 ? DType::c128 : b;
  if (is_floating(b)) return a == DType::f16 && b == DType::bf16 ? DType::f32 : b;
  bool one_sign = (a <= DType::i64) == (b <= DType::i64);
  if (one_sign) return b;
  // a is signed, b unsigned: the narrowest signed type that holds both.
  if (size_of(a) > size_of(b)) return a;
  switch (b) {
    case DType::u8:
      return DType::i16;
    case DType::u16:
      return DType::i32;
    case DType::u32:
      return DType::i64;
    default:
      return DType::f64;  // as in NumPy: no integer holds both, and f64 the most of them
  }
}

DType real_type(DType dtype) {
  if (dtype == DType::c64) return DType::f32;
  return dtype == DType::c128 ? DType::f64 : dtype;
}

DType complex_type(DType dtype) {
  if (dtype == DType::f32) return DType::c64;
  return dtype == DType::f64 ? DType::c128 : dtype;
}

Shape broadcast_shapes(std::string_view function, const ArrayType& a, const ArrayType& b) {
  const Shape& longer = a.shape.size() >= b.shape.size() ? a.shape : b.shape;
  const Shape& shorter = a.shape.size() >= b.shape.size() ? b.shape : a.shape;
  Shape shape = longer;
  std::size_t offset = longer.size() - shorter.size();
  for (std::size_t i = 0; i < shorter.size(); i++) {
    std::int64_t& extent = shape[offset + i];
    if (extent == shorter[i] || shorter[i] == 1) continue;
    if (extent != 1) {
      throw ShapeError(message(function, a.str() + " and " + b.str() + " do not fit together",
                               "Extents must be equal or 1, counted from the last axis"));
    }
    extent = shorter[i];
  }
  return shape;
}

Array to_array(std::string_view function, const Operand& operand, DType dtype) {
  if (!operand.number) return operand.array;
  check_number(function, *operand.number, dtype);
  return Array(*operand.number, dtype);
}

namespace {

DType default_dtype(const Number& number) {
  switch (number.kind) {
    case Number::Kind::boolean:
      return DType::boolean;
    case Number::Kind::integer:
      return DType::i32;
    case Number::Kind::real:
      return DType::f32;
    case Number::Kind::complex:
      return DType::c64;
  }
  return DType::f32;
}

// The element type that `operand` asks for beside an array of type `other`.
DType wish(const Operand& operand, DType other) {
  if (!operand.number) return promoted(operand.array.dtype(), other);
  switch (operand.number->kind) {
    case Number::Kind::boolean:
      return other;
    case Number::Kind::integer:
      return other == DType::boolean ? DType::i32 : other;
    case Number::Kind::real:
      return is_inexact(other) ? other : DType::f32;
    case Number::Kind::complex:
      return promoted(DType::c64, other);
  }
  return other;
}

}  // namespace

Array to_array(const Operand& operand) {
  if (!operand.number) return operand.array;
  return to_array("Array", operand, default_dtype(*operand.number));
}

Array converted(const Array& x, DType dtype) {
  if (x.dtype() == dtype) return x;
  bool loses_imaginary_part = is_complex(x.dtype()) && !is_complex(dtype);
  return loses_imaginary_part ? converted(real(x), dtype) : make(Convert{dtype}, {x});
}

Array broadcast_to_shape(std::string_view function, const Array& x, const Shape& shape) {
  if (x.shape() == shape) return x;
  Shape kept;
  Axes axes;
  std::size_t offset = shape.size() - x.shape().size();
  if (shape.size() >= x.shape().size()) {
    for (std::size_t i = 0; i < x.shape().size(); i++) {
      std::int64_t extent = x.shape()[i];
      if (extent != shape[offset + i] && extent != 1) offset = shape.size() + 1;  // does not fit
      if (offset > shape.size()) break;
      if (extent == 1 && shape[offset + i] != 1) continue;
      kept.push_back(extent);
      axes.push_back(static_cast<std::int64_t>(offset + i));
    }
  }
  if (offset > shape.size()) {
    throw ShapeError(message(
        function, x.type().str() + " does not fit into " + ArrayType{x.dtype(), shape}.str(),
        "Its extents must be equal or 1, counted from the last axis"));
  }
  return broadcast(reshape_to(x, kept), shape, axes);
}

std::pair<Array, Array> promote(std::string_view function, const Operand& a, const Operand& b) {
  DType dtype;
  if (!a.number) {
    dtype = wish(b, a.array.dtype());
  } else if (!b.number) {
    dtype = wish(a, b.array.dtype());
  } else {
    dtype = wish(b, default_dtype(*a.number));
  }
  Array left = converted(to_array(function, a, dtype), dtype);
  Array right = converted(to_array(function, b, dtype), dtype);
  if (left.shape() == right.shape()) return {left, right};
  Shape shape = broadcast_shapes(function, left.type(), right.type());
  left = broadcast_to_shape(function, left, shape);
  right = broadcast_to_shape(function, right, shape);
  return {left, right};
}

Array to_floating(const Operand& operand) {
  Array x = to_array(operand);
  return is_inexact(x.dtype()) ? x : converted(x, DType::f32);
}

Array widened(const Array& x) {
  return is_floating(x.dtype()) && size_of(x.dtype()) < 4 ? converted(x, DType::f32) : x;
}

}  // namespace sturnus::internal
