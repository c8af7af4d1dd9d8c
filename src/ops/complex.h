// Complex numbers: c64 and c128. Arithmetic, products, exp, log, sqrt, sines, hyperbolic sines,
// their inverses and the like take them as they take real numbers; transpositions do not conjugate.
//
// Derivatives: the gradient g of a real function f of z = x + iy is df/dx - i df/dy, so that
// df = Re(g dz). It is 2 conj(z) for |z|^2: to descend, go along -conj(g). This is JAX's
// convention.
#pragma once

#include <sturnus/functional/array.h>

namespace sturnus {

/// re + i im, for real parts (integers become f32). StableHLO: complex. Throws ShapeError when
/// their shapes do not fit, DtypeError for parts of f16, bf16 or a complex type.
Array make_complex(Operand re, Operand im);
/// The parts; those of a real number are itself and 0. StableHLO: real, imag.
Array real(Operand x);
Array imag(Operand x);
/// real(x) - i imag(x).
Array conj(Operand x);
/// The argument: x = |x| exp(i angle(x)), from -pi to pi. 0 for 0, where it has no derivative.
Array angle(Operand x);

}  // namespace sturnus
