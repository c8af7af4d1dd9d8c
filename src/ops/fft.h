// Fourier transforms over the last axes: 1, 2 or 3 of them. For another axis put it last with
// moveaxis.
#pragma once

#include <sturnus/functional/array.h>
#include <sturnus/ops/reduce.h>

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

/// The frequencies that belong to the n entries of fft for samples `spacing` apart: 0, 1, 2, ... up
/// to the middle, then the negative ones up to -1, divided by n spacing; and those of the n / 2 + 1
/// entries of rfft, none of them negative. Throw ShapeError when n < 1, DtypeError for a type that
/// is not floating point.
Array fftfreq(std::int64_t n, double spacing = 1, DType dtype = DType::f32,
              Where where = Where::here());
Array rfftfreq(std::int64_t n, double spacing = 1, DType dtype = DType::f32,
               Where where = Where::here());
/// The entries of fft with frequency 0 moved to position n / 2 of each axis (all axes unless some
/// are given), so that frequencies ascend; and the inverse. Throw ShapeError for an axis that x
/// does not have, or that is named twice.
Array fftshift(Operand x, Over over = {});
Array ifftshift(Operand x, Over over = {});

}  // namespace sturnus
