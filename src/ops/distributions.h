// Random numbers from distributions that are a function of uniform numbers; those that are drawn by
// rejection are in rejection.h. A given key gives the numbers that jax.random gives for it, where
// nothing else is said.
//
// Without a shape there is one number for each element of the parameters; with one, the parameters
// are repeated to it. Numbers are f32 where the parameters have no floating-point type.
//
// All functions throw ShapeError when the key is a stack of keys, when the shape has a negative
// extent, and when parameters do not fit it, DtypeError when the type of the numbers is not
// floating point.
#pragma once

#include <sturnus/ops/random.h>

#include <optional>

namespace sturnus {

/// Density exp(-x) for x >= 0: -log(1 - u).
Array exponential(const Key& key, const Shape& shape = {}, DType dtype = DType::f32,
                  Where where = Where::here());
/// Density exp(-|x|) / 2.
Array laplace(const Key& key, const Shape& shape = {}, DType dtype = DType::f32,
              Where where = Where::here());
/// Distribution function 1 / (1 + exp(-x)).
Array logistic(const Key& key, const Shape& shape = {}, DType dtype = DType::f32,
               Where where = Where::here());
/// Distribution function exp(-exp(-x)): -log(-log u).
Array gumbel(const Key& key, const Shape& shape = {}, DType dtype = DType::f32,
             Where where = Where::here());
/// Density 1 / (pi (1 + x^2)): tan(pi (u - 1/2)).
Array cauchy(const Key& key, const Shape& shape = {}, DType dtype = DType::f32,
             Where where = Where::here());
/// Normal with mean 0 and variance 1, conditional on low < x < high, which fit the shape by
/// broadcasting; however far out both are: density proportional to exp(-x^2 / 2) there. Throws
/// Error for numbers unless low < high.
Array truncated_normal(const Key& key, Operand low, Operand high, const Shape& shape,
                       DType dtype = DType::f32);
Array truncated_normal(const Key& key, Operand low, Operand high);
/// -1 or 1.
Array rademacher(const Key& key, const Shape& shape = {}, DType dtype = DType::f32,
                 Where where = Where::here());
/// Points uniform in the ball |x| < 1 of `dimensions`, which become the last axis. Not JAX's.
Array ball(const Key& key, std::int64_t dimensions, const Shape& shape = {},
           DType dtype = DType::f32, Where where = Where::here());

/// Normal with a mean vector and a covariance matrix: mean + cholesky(covariance) z. The shape is
/// that without the last axis; without one it is that of the mean and the stack of matrices.
Array multivariate_normal(const Key& key, Operand mean, Operand covariance,
                          std::optional<Shape> shape = {});
/// true with a probability. Throws Error for a number that is not from 0 to 1.
Array bernoulli(const Key& key, Operand probability = 0.5, std::optional<Shape> shape = {});
/// Index i with a probability proportional to exp(logits[..., i]), as i32: the largest of logits
/// plus Gumbel numbers. The shape is that without the last axis. Throws ShapeError when there is no
/// logit.
Array categorical(const Key& key, Operand logits, std::optional<Shape> shape = {});

/// 0, ..., count - 1 in random order, as i32.
Array permutation(const Key& key, std::int64_t count, Where where = Where::here());
/// x in random order along an axis; what stands beside each other in other axes stays together.
Array permutation(const Key& key, const Array& x, int axis = 0, Where where = Where::here());

struct ChoiceOptions {
  bool replace = true;                ///< Whether one may be chosen more than once.
  std::optional<Array> weights = {};  ///< Proportional to the probabilities; all equal without.
  int axis = 0;                       ///< Of an array: the axis along which is chosen.
};
/// Indices below `count`, as i32.
/// Throws ShapeError when more are asked for than there are, or the weights are not [count].
Array choice(const Key& key, std::int64_t count, const Shape& shape = {},
             const ChoiceOptions& options = {}, Where where = Where::here());
/// Elements of x, or slices of it along an axis, which is replaced by `shape`: x[..., i, ...] with
/// such indices i.
Array choice(const Key& key, const Array& x, const Shape& shape = {},
             const ChoiceOptions& options = {}, Where where = Where::here());

}  // namespace sturnus
