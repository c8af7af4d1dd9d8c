// Random numbers that are drawn by rejection, in a loop that ends when every element is accepted.
// Each element draws under its own key, so that it does not depend on the others. Not JAX's
// numbers.
//
// Without a shape there is one number for each element of the parameters; with one, the parameters
// are repeated to it. Numbers are f32 where the parameters have no floating-point type.
//
// Functions throw ShapeError when the key is a stack of keys, when the parameters do not fit the
// shape, and when it has a negative extent or 2^32 elements or more; and DtypeError for complex
// parameters. Where there is no such distribution (NaN, a < 0) numbers are NaN, counts -1.
#pragma once

#include <sturnus/ops/random.h>

#include <optional>

namespace sturnus {

/// Density x^(a-1) exp(-x) / Gamma(a), by the method of Marsaglia and Tsang. The derivative in a is
/// that of the quantile (implicit reparametrisation), so that the mean of f(x) over samples has the
/// derivative of the mean; the method itself, which decides by a, has no such derivative.
Array gamma(const Key& key, Operand a, std::optional<Shape> shape = {});
/// Its logarithm, which does not underflow for small a.
Array loggamma(const Key& key, Operand a, std::optional<Shape> shape = {});
/// Density proportional to x^(a-1) (1-x)^(b-1). Throws ShapeError also when a and b do not fit
/// together.
Array beta(const Key& key, Operand a, Operand b, std::optional<Shape> shape = {});
/// Points on the simplex with density proportional to the product of x[i]^(a[i]-1), along the last
/// axis; the shape is that without it. Throws ShapeError also when a is a scalar.
Array dirichlet(const Key& key, Operand a, std::optional<Shape> shape = {});
/// Student's t with n = `degrees` of freedom: density proportional to
/// (1 + x^2 / n)^(-(n + 1) / 2).
Array student_t(const Key& key, Operand degrees, std::optional<Shape> shape = {});
/// The sum of n = `degrees` squares of normal numbers: density proportional to
/// x^(n / 2 - 1) exp(-x / 2).
Array chi_square(const Key& key, Operand degrees, std::optional<Shape> shape = {});
/// Counts k with mean r = `rate`, as i32: probability r^k exp(-r) / k!. Counts beyond 2^31 - 1 are
/// that number. Not differentiable in the rate.
Array poisson(const Key& key, Operand rate, std::optional<Shape> shape = {});

}  // namespace sturnus
