#include <sturnus/inference/models/densities.h>
#include <sturnus/ops/activation.h>
#include <sturnus/ops/arithmetic.h>
#include <sturnus/ops/creation.h>
#include <sturnus/ops/rearrange.h>
#include <sturnus/ops/reduce.h>
#include <sturnus/ops/shape.h>
#include <sturnus/ops/softmax.h>
#include <sturnus/ops/special.h>
#include <sturnus/ops/transcendental.h>
#include <sturnus/ops/triangular.h>

#include <array>
#include <cmath>
#include <limits>
#include <numbers>

namespace sturnus {
namespace {

const double log_sqrt_two_pi = 0.5 * std::log(2 * std::numbers::pi);
const double log_pi = std::log(std::numbers::pi);
constexpr double infinity = std::numeric_limits<double>::infinity();

bool is_real(const Operand& x) {
  return !x.array.empty() && (x.array.dtype() == DType::f64 || x.array.dtype() == DType::f32 ||
                              x.array.dtype() == DType::f16 || x.array.dtype() == DType::bf16);
}

/// All as arrays of the widest real type among them; f32 if there is none. A number would be f32
/// on its own, and its logarithm no more precise than that.
template <class... Operands>
std::array<Array, sizeof...(Operands)> in_one_type(const Operands&... operands) {
  DType dtype = DType::f32;
  for (const Operand* x : {&operands...}) {
    if (is_real(*x) && x->array.dtype() == DType::f64) dtype = DType::f64;
  }
  auto array_of = [&](const Operand& x) {
    return x.array.empty() ? Array(*x.number, dtype) : convert(x, dtype);
  };
  return {array_of(operands)...};
}

/// `value` where x is inside, and -infinity elsewhere. What is computed there must be finite, since
/// a derivative of 0 times infinity is none: see `inside`.
Array within(const Array& is_inside, const Array& value) {
  return where(is_inside, value, -infinity);
}

/// x where it is inside, and elsewhere a harmless number.
Array inside(const Array& is_inside, const Array& x, double harmless) {
  return where(is_inside, x, harmless);
}

Array is_count(const Array& n) { return (n >= 0.0) & (floor(n) == n); }

Array standard_normal(const Array& z) { return -0.5 * square(z) - log_sqrt_two_pi; }

}  // namespace

Array normal_log_density(Operand x, Operand mean, Operand sd) {
  auto [at, m, s] = in_one_type(x, mean, sd);
  return standard_normal((at - m) / s) - log(s);
}

Array log_normal_log_density(Operand x, Operand mean, Operand sd) {
  auto [at, m, s] = in_one_type(x, mean, sd);
  Array positive = at > 0.0;
  Array log_x = log(inside(positive, at, 1));
  return within(positive, standard_normal((log_x - m) / s) - log(s) - log_x);
}

Array half_normal_log_density(Operand x, Operand sd) {
  auto [at, s] = in_one_type(x, sd);
  Array positive = at >= 0.0;
  return within(positive, standard_normal(at / s) - log(s) + std::numbers::ln2);
}

Array uniform_log_density(Operand x, Operand low, Operand high) {
  auto [at, a, b] = in_one_type(x, low, high);
  return within((at >= a) & (at <= b), -log(b - a));
}

Array exponential_log_density(Operand x, Operand rate) {
  auto [at, r] = in_one_type(x, rate);
  return within(at >= 0.0, log(r) - r * at);
}

Array gamma_log_density(Operand x, Operand shape, Operand rate) {
  auto [at, a, r] = in_one_type(x, shape, rate);
  Array positive = at > 0.0;
  Array safe = inside(positive, at, 1);
  return within(positive, a * log(r) - lgamma(a) + (a - 1.0) * log(safe) - r * safe);
}

Array inverse_gamma_log_density(Operand x, Operand shape, Operand scale) {
  auto [at, a, s] = in_one_type(x, shape, scale);
  Array positive = at > 0.0;
  Array safe = inside(positive, at, 1);
  return within(positive, a * log(s) - lgamma(a) - (a + 1.0) * log(safe) - s / safe);
}

Array beta_log_density(Operand x, Operand a, Operand b) {
  auto [at, p, q] = in_one_type(x, a, b);
  Array between = (at > 0.0) & (at < 1.0);
  Array safe = inside(between, at, 0.5);
  return within(between, lgamma(p + q) - lgamma(p) - lgamma(q) + (p - 1.0) * log(safe) +
                             (q - 1.0) * log1p(-safe));
}

Array weibull_log_density(Operand x, Operand shape, Operand scale) {
  auto [at, a, s] = in_one_type(x, shape, scale);
  Array positive = at > 0.0;
  Array log_ratio = log(inside(positive, at, 1)) - log(s);
  return within(positive, log(a) - log(s) + (a - 1.0) * log_ratio - exp(a * log_ratio));
}

Array cauchy_log_density(Operand x, Operand center, Operand scale) {
  auto [at, c, s] = in_one_type(x, center, scale);
  return -log_pi - log(s) - log1p(square((at - c) / s));
}

Array half_cauchy_log_density(Operand x, Operand scale) {
  auto [at, s] = in_one_type(x, scale);
  return within(at >= 0.0, std::numbers::ln2 - log_pi - log(s) - log1p(square(at / s)));
}

Array student_t_log_density(Operand x, Operand degrees, Operand center, Operand scale) {
  auto [at, n, c, s] = in_one_type(x, degrees, center, scale);
  Array half = 0.5 * (n + 1.0);
  return lgamma(half) - lgamma(0.5 * n) - 0.5 * (log(n) + log_pi) - log(s) -
         half * log1p(square((at - c) / s) / n);
}

Array laplace_log_density(Operand x, Operand center, Operand scale) {
  auto [at, c, s] = in_one_type(x, center, scale);
  return -abs(at - c) / s - log(2.0 * s);
}

Array bernoulli_logit_log_density(Operand x, Operand logit) {
  auto [at, t] = in_one_type(x, logit);
  return within((at == 0.0) | (at == 1.0), at * log_sigmoid(t) + (1.0 - at) * log_sigmoid(-t));
}

Array poisson_log_density(Operand count, Operand rate) {
  auto [n, r] = in_one_type(count, rate);
  Array whole = is_count(n);
  Array safe = inside(whole, n, 0);
  return within(whole, safe * log(r) - r - lgamma(safe + 1.0));
}

Array binomial_logit_log_density(Operand count, Operand trials, Operand logit) {
  auto [k, n, t] = in_one_type(count, trials, logit);
  Array possible = is_count(k) & is_count(n) & (k <= n);
  Array safe = inside(possible, k, 0), all = inside(possible, n, 0);
  Array ways = lgamma(all + 1.0) - lgamma(safe + 1.0) - lgamma(all - safe + 1.0);
  return within(possible, ways + safe * log_sigmoid(t) + (all - safe) * log_sigmoid(-t));
}

Array negative_binomial_log_density(Operand count, Operand mean, Operand shape) {
  auto [n, m, a] = in_one_type(count, mean, shape);
  Array whole = is_count(n);
  Array safe = inside(whole, n, 0);
  Array ways = lgamma(safe + a) - lgamma(safe + 1.0) - lgamma(a);
  return within(whole, ways + safe * (log(m) - log(m + a)) - a * log1p(m / a));
}

Array categorical_logit_log_density(Operand x, Operand logits) {
  auto [at, t] = in_one_type(x, logits);
  Array places = arange(t.shape().back(), t.dtype());
  Array is_it = expand_dims(at, -1) == places;
  Array value = sum(where(is_it, log_softmax(t, -1), 0.0), -1);
  return within(any(is_it, -1), value);
}

Array multinomial_logit_log_density(Operand counts, Operand logits) {
  auto [n, t] = in_one_type(counts, logits);
  Array whole = is_count(n), safe = inside(whole, n, 0);
  Array terms = safe * log_softmax(t, -1) - lgamma(safe + 1.0);
  return within(all(whole, -1), lgamma(sum(safe, -1) + 1.0) + sum(terms, -1));
}

Array dirichlet_log_density(Operand x, Operand concentration) {
  auto [at, a] = in_one_type(x, concentration);
  Array positive = at > 0.0;
  Array terms = within(positive, (a - 1.0) * log(inside(positive, at, 1)));
  return sum(terms, -1) + lgamma(sum(a, -1)) - sum(lgamma(a), -1);
}

Array multivariate_normal_log_density(Operand x, Operand mean, Operand cholesky) {
  auto [at, m, l] = in_one_type(x, mean, cholesky);
  Array deviation = at - m;
  std::int64_t size = l.shape().back();
  // A stack of vectors beside one matrix is a matrix of right-hand sides.
  Array z;
  if (l.rank() == 2 && deviation.rank() > 1) {
    Array columns = transpose(reshape(deviation, {-1, size}));
    z = reshape(transpose(triangular_solve(l, columns)), deviation.shape());
  } else {
    z = triangular_solve(l, deviation);
  }
  return sum(standard_normal(z), -1) - sum(log(diagonal(l)), -1);
}

}  // namespace sturnus
