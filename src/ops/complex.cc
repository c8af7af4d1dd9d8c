#include <sturnus/ops/arithmetic.h>
#include <sturnus/ops/complex.h>
#include <sturnus/ops/creation.h>
#include <sturnus/ops/transcendental.h>

#include <numbers>

#include "src/ops/elementwise.h"

namespace sturnus {
namespace internal {
namespace {

// One of the two parts.
struct PartOf {
  static constexpr std::string_view name = "complex_part";
  using Family = Elementwise;
  bool imaginary;
  std::string_view title() const { return imaginary ? "imag" : "real"; }
  ArrayType infer(const Arrays& x) const { return {real_type(x[0].dtype()), x[0].shape()}; }
  Array simplify(const Arrays& x) const;
  Array jvp(const Arrays&, const Array&, const Arrays& dx) const { return make(*this, {dx[0]}); }
  Array transpose(const Array& ct, const Arrays&, const Mask&) const;
  void lower(Emitter& emitter, const Node& node) const { emitter.line(node, title(), ""); }
};

struct Complex {
  static constexpr std::string_view name = "complex", hlo = "complex";
  using Family = Elementwise;
  ArrayType infer(const Arrays& x) const {
    ArrayType type = common_type(name, x);
    if (complex_type(type.dtype) == type.dtype) {
      throw DtypeError(message("make_complex",
                               "the parts are " + type.str() + ", but must be of f32 or f64",
                               "Convert them first"));
    }
    return {complex_type(type.dtype), type.shape};
  }
  Array simplify(const Arrays& x) const {
    auto *re = as<PartOf>(x[0]), *im = as<PartOf>(x[1]);
    if (re == nullptr || im == nullptr || re->imaginary || !im->imaginary) return {};
    const Array& whole = x[0].node()->inputs[0];
    return whole.same(x[1].node()->inputs[0]) ? whole : Array();
  }
  Array jvp(const Arrays& x, const Array&, const Arrays& dx) const {
    Array re = dx[0].empty() ? zeros_of(x[0].type()) : dx[0];
    Array im = dx[1].empty() ? zeros_of(x[1].type()) : dx[1];
    return make(*this, {re, im});
  }
  // Re(ct (da + i db)) = Re(ct) da - Im(ct) db.
  Arrays transpose(const Array& ct, const Arrays&, const Mask& linear) const {
    Arrays result(2);
    if (linear[0]) result[0] = real(ct);
    if (linear[1]) result[1] = -imag(ct);
    return result;
  }
};

Array PartOf::simplify(const Arrays& x) const {
  if (!is_complex(x[0].dtype())) return imaginary ? zeros_of(x[0].type()) : x[0];
  if (auto value = splat(x[0])) return full(imaginary ? 0 : *value, infer(x));
  return as<Complex>(x[0]) != nullptr ? x[0].node()->inputs[imaginary ? 1 : 0] : Array();
}

Array PartOf::transpose(const Array& ct, const Arrays&, const Mask&) const {
  Array zero = zeros_of(ct.type());
  return imaginary ? make(Complex{}, {zero, -ct}) : make(Complex{}, {ct, zero});
}

}  // namespace
}  // namespace internal

using internal::Blame;

Array make_complex(Operand re, Operand im) {
  Blame blame(re.where, "make_complex");
  auto [x, y] = internal::promote("make_complex", re, im);
  if (!internal::is_inexact(x.dtype())) {
    x = internal::converted(x, DType::f32);
    y = internal::converted(y, DType::f32);
  }
  return internal::make(internal::Complex{}, {x, y});
}

Array real(Operand x) {
  Blame blame(x.where, "real");
  return internal::make(internal::PartOf{false}, {internal::to_array(x)});
}

Array imag(Operand x) {
  Blame blame(x.where, "imag");
  return internal::make(internal::PartOf{true}, {internal::to_array(x)});
}

Array conj(Operand operand) {
  Blame blame(operand.where, "conj");
  Array x = internal::to_array(operand);
  if (!is_complex(x.dtype())) return x;
  Array re = real(x);
  Array im = imag(x);
  return make_complex(re, -im);
}

Array angle(Operand operand) {
  Blame blame(operand.where, "angle");
  Array x = internal::to_floating(operand);
  if (is_complex(x.dtype())) return imag(log(x));
  Array half_turn = where(x < 0.0, std::numbers::pi, zeros_like(x));
  return where(is_nan(x), x, half_turn);
}

}  // namespace sturnus
