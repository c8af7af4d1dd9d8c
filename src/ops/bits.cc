// Logic, and bits of integers.
#include <sturnus/ops/arithmetic.h>

#include "src/ops/elementwise.h"

namespace sturnus {
namespace internal {
namespace {

struct Bitcast {
  static constexpr std::string_view name = "bitcast", hlo = "bitcast_convert";
  using Family = PiecewiseConstant;
  DType dtype;
  ArrayType infer(const Arrays& x) const {
    if (size_of(x[0].dtype()) != size_of(dtype)) {
      throw DtypeError(message("bitcast",
                               x[0].type().str() + " and " + std::string(name_of(dtype)) +
                                   " have elements of different sizes",
                               "Choose a type of the same size, or use convert"));
    }
    auto has_bits = [](DType type) { return type != DType::boolean && !is_complex(type); };
    if (x[0].dtype() != dtype && !(has_bits(x[0].dtype()) && has_bits(dtype))) {
      throw DtypeError(message(
          "bitcast",
          x[0].type().str() + " and " + std::string(name_of(dtype)) + " do not have the same bits",
          "Use convert for bool, real and imag for complex numbers"));
    }
    return {dtype, x[0].shape()};
  }
};

// Throws DtypeError unless x has bits to work on.
const Array& checked_bits(std::string_view name, const Array& x) {
  bool shifts = name.starts_with("shift");
  if (is_integer(x.dtype()) || (x.dtype() == DType::boolean && !shifts)) return x;
  if (shifts) require_numbers(name, x.type());
  throw DtypeError(message(
      name, "operands are " + x.type().str() + ", but bits and logic are of bool and integers",
      "Compare or convert them first, or use logical_and and its kin"));
}

Array bitwise(const char* hlo, const Operand& a, const Operand& b) {
  Blame blame(a.where);
  auto [x, y] = promote(hlo, a, b);
  checked_bits(hlo, x);
  return make(Stepwise{hlo}, {x, y});
}

Array bitwise_not(const Operand& x) {
  Blame blame(x.where);
  return make(Stepwise{"not"}, {checked_bits("not", to_array(x))});
}

Array truth(const Operand& x) {
  Array y = to_array(x);
  return y.dtype() == DType::boolean ? y : y != 0;
}

}  // namespace
}  // namespace internal

using internal::Blame;
using internal::truth;

Array operator&(Operand a, Operand b) { return internal::bitwise("and", a, b); }
Array operator|(Operand a, Operand b) { return internal::bitwise("or", a, b); }
Array operator^(Operand a, Operand b) { return internal::bitwise("xor", a, b); }
Array operator~(Operand x) { return internal::bitwise_not(x); }
Array operator!(Operand x) { return internal::bitwise_not(x); }

Array logical_and(Operand a, Operand b) {
  Blame blame(a.where, "logical_and");
  Array x = truth(a), y = truth(b);
  return x & y;
}
Array logical_or(Operand a, Operand b) {
  Blame blame(a.where, "logical_or");
  Array x = truth(a), y = truth(b);
  return x | y;
}
Array logical_xor(Operand a, Operand b) {
  Blame blame(a.where, "logical_xor");
  Array x = truth(a), y = truth(b);
  return x ^ y;
}
Array logical_not(Operand x) {
  Blame blame(x.where, "logical_not");
  return !truth(x);
}

Array shift_left(Operand x, Operand bits) { return internal::bitwise("shift_left", x, bits); }
Array shift_right(Operand x, Operand bits) {
  return internal::bitwise("shift_right_logical", x, bits);
}
Array shift_right_arithmetic(Operand x, Operand bits) {
  return internal::bitwise("shift_right_arithmetic", x, bits);
}

Array bitcast(Operand x, DType dtype) {
  Blame blame(x.where, "bitcast");
  return internal::make(internal::Bitcast{dtype}, {internal::to_array(x)});
}
}  // namespace sturnus
