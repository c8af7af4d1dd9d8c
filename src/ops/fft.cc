#include <sturnus/ops/arithmetic.h>
#include <sturnus/ops/complex.h>
#include <sturnus/ops/creation.h>
#include <sturnus/ops/fft.h>
#include <sturnus/ops/rearrange.h>
#include <sturnus/ops/shape.h>

#include "src/ops/elementwise.h"
#include "src/ops/random_words.h"

namespace sturnus {
namespace internal {
namespace {

struct Fft {
  static constexpr std::string_view name = "fft", hlo = "fft";
  std::string kind;  // FFT, IFFT, RFFT, IRFFT
  Shape lengths;     // of the real side, along the last axes

  std::string attributes() const {
    return "fft_type = #stablehlo<fft_type " + kind + ">, " + mlir_integers("fft_length", lengths);
  }
  ArrayType infer(const Arrays& x) const {
    ArrayType type = x[0].type();
    if (kind == "RFFT") {
      type.dtype = complex_type(type.dtype);
      type.shape.back() = lengths.back() / 2 + 1;
    } else if (kind == "IRFFT") {
      type.dtype = real_type(type.dtype);
      type.shape.back() = lengths.back();
    }
    return type;
  }
  Array simplify(const Arrays& x) const { return x[0].size() == 0 ? zeros_of(infer(x)) : Array(); }
  Array jvp(const Arrays&, const Array&, const Arrays& dx) const { return make(*this, {dx[0]}); }
  Array transpose(const Array& ct, const Arrays& x, const Mask&) const;
  Array batch(const Arrays& x, const Mask&, std::int64_t) const { return make(*this, x); }
};

// fft and ifft are symmetric matrices. The others follow from Re(ct dy), written out:
// rfft reads only the first columns of that matrix, irfft counts the entries that stand for their
// conjugates twice.
Array Fft::transpose(const Array& ct, const Arrays& x, const Mask&) const {
  if (kind == "RFFT") {
    Shape none(ct.shape().size(), 0), missing = none;
    missing.back() = lengths.back() - ct.shape().back();
    Array padded = pad(ct, Array(0.0, ct.dtype()), none, missing);
    return real(make(Fft{"FFT", lengths}, {padded}));
  }
  if (kind == "IRFFT") {
    Array spectrum = conj(make(Fft{"RFFT", lengths}, {ct}));
    Array k = iota(x[0].shape(), -1);
    std::int64_t n = lengths.back();
    // Twice entry k is 0 or n for those that are their own conjugates.
    Array twice = k + k;
    Array alone = (twice == 0) | (twice == n);
    double scale = 1 / static_cast<double>(product(lengths));
    Array once = full(scale, {ct.dtype(), k.shape()}), counted_twice = once + once;
    Array weight = select(alone, once, counted_twice);
    return spectrum * weight;
  }
  return make(*this, {ct});
}

Shape last_extents(std::string_view function, const Operand& operand, int axes) {
  Array x = to_array(operand);
  if (axes < 1 || axes > 3 || axes > x.rank()) {
    throw ShapeError(message(function, std::to_string(axes) + " axes of " + x.type().str(),
                             "Transform the last 1, 2 or 3, and no more than there are"));
  }
  Shape extents(x.shape().end() - axes, x.shape().end());
  if (product(extents) == 0) {
    throw ShapeError(message(function,
                             x.type().str() + " has no element along the transformed axes",
                             "Give it some, or treat the empty case apart"));
  }
  return extents;
}

// As c64 or c128.
Array to_complex(const Operand& operand) {
  Array x = to_floating(operand);
  if (is_complex(x.dtype())) return x;
  return converted(x, x.dtype() == DType::f64 ? DType::c128 : DType::c64);
}

}  // namespace
}  // namespace internal

using internal::Axes;
using internal::Blame;

Array fft(Operand operand, int axes) {
  Blame blame(operand.where, "fft");
  Array x = internal::to_complex(operand);
  return internal::make(internal::Fft{"FFT", internal::last_extents("fft", operand, axes)}, {x});
}

Array ifft(Operand operand, int axes) {
  Blame blame(operand.where, "ifft");
  Array x = internal::to_complex(operand);
  return internal::make(internal::Fft{"IFFT", internal::last_extents("ifft", operand, axes)}, {x});
}

Array rfft(Operand operand, int axes) {
  Blame blame(operand.where, "rfft");
  Array x = internal::to_floating(operand);
  if (is_complex(x.dtype())) {
    throw DtypeError(internal::message("rfft", x.type().str() + " is not real", "Use fft"));
  }
  if (x.dtype() != DType::f64) x = internal::converted(x, DType::f32);
  return internal::make(internal::Fft{"RFFT", internal::last_extents("rfft", operand, axes)}, {x});
}

Array irfft(Operand operand, int axes, std::int64_t n) {
  Blame blame(operand.where, "irfft");
  Array x = internal::to_complex(operand);
  Shape lengths = internal::last_extents("irfft", operand, axes);
  lengths.back() = n != 0 ? n : 2 * (lengths.back() - 1);
  if (lengths.back() < 1 || lengths.back() / 2 + 1 != x.shape().back()) {
    throw ShapeError(internal::message(
        "irfft", std::to_string(lengths.back()) + " entries from " + x.type().str(),
        "Give n / 2 + 1 entries for n"));
  }
  return internal::make(internal::Fft{"IRFFT", lengths}, {x});
}

namespace {

// k / (n spacing) for whole numbers k, whose range is not that of the type.
Array frequencies(std::string_view function, const Array& k, std::int64_t n, double spacing,
                  DType dtype) {
  internal::check_floating(function, dtype);
  return convert(convert(k, DType::f64) / (static_cast<double>(n) * spacing), dtype);
}

void require_samples(std::string_view function, std::int64_t n) {
  if (n >= 1) return;
  throw ShapeError(
      internal::message(function, "there are " + std::to_string(n) + " samples", "Give 1 or more"));
}

// Axes rolled by half of their extents, forward or back.
Array shifted_by_half(std::string_view function, const Operand& operand, const Over& over,
                      bool forward) {
  Array x = internal::to_array(operand);
  Axes axes = internal::iota_axes(x.rank());
  if (over.axes) axes = internal::checked_axes(function, x.type(), *over.axes);
  for (std::int64_t axis : axes) {
    std::int64_t half = x.shape()[static_cast<std::size_t>(axis)] / 2;
    x = roll(x, forward ? half : -half, static_cast<int>(axis));
  }
  return x;
}

}  // namespace

Array fftfreq(std::int64_t n, double spacing, DType dtype, Where where) {
  Blame blame(where, "fftfreq");
  require_samples("fftfreq", n);
  Array i = arange(n, DType::i64);
  Array k = sturnus::where(i < (n + 1) / 2, i, i - n);
  return frequencies("fftfreq", k, n, spacing, dtype);
}

Array rfftfreq(std::int64_t n, double spacing, DType dtype, Where where) {
  Blame blame(where, "rfftfreq");
  require_samples("rfftfreq", n);
  return frequencies("rfftfreq", arange(n / 2 + 1, DType::i64), n, spacing, dtype);
}

Array fftshift(Operand x, Over over) {
  Blame blame(x.where, "fftshift");
  return shifted_by_half("fftshift", x, over, true);
}

Array ifftshift(Operand x, Over over) {
  Blame blame(x.where, "ifftshift");
  return shifted_by_half("ifftshift", x, over, false);
}

}  // namespace sturnus
