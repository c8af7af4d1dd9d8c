// Fourier transforms over the last axes: 1, 2 or 3 of them.
#pragma once

#include <sturnus/functional/array.h>

namespace sturnus {

/// y[k] = sum over j of x[j] exp(-2 pi i j k / n), over the last `axes` axes. Real numbers become
/// complex. StableHLO: fft. Throws ShapeError when x has fewer axes, or none of its elements.
Array fft(Operand x, int axes = 1);
/// The inverse of fft: exp(+2 pi i j k / n), divided by the number of elements. Throws as fft does.
Array ifft(Operand x, int axes = 1);
/// The first n / 2 + 1 entries of fft along the last axis of a real x: the others are conjugates.
/// Throws as fft does, and DtypeError when x is complex.
Array rfft(Operand x, int axes = 1);
/// The inverse of rfft: real, with n entries along the last axis; 2 (m - 1) for m entries of x
/// unless n is given. Throws as fft does, and ShapeError unless x has n / 2 + 1 entries there.
Array irfft(Operand x, int axes = 1, std::int64_t n = 0);

}  // namespace sturnus
