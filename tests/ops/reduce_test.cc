// Reductions and running results against plain loops, at the edges, and their errors.
#include <gtest/gtest.h>
#include <sturnus/functional/control_flow.h>
#include <sturnus/functional/grad.h>
#include <sturnus/functional/graph.h>
#include <sturnus/functional/jit.h>
#include <sturnus/functional/reduce_by.h>
#include <sturnus/ops/arithmetic.h>
#include <sturnus/ops/creation.h>
#include <sturnus/ops/cumulative.h>
#include <sturnus/ops/reduce.h>
#include <sturnus/ops/shape.h>
#include <sturnus/ops/softmax.h>
#include <sturnus/ops/subscript.h>
#include <sturnus/ops/transcendental.h>

#include <cmath>
#include <complex>
#include <functional>
#include <limits>
#include <random>
#include <string>
#include <vector>

namespace sturnus {
namespace {

using Doubles = std::vector<double>;
constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

Doubles random_numbers(std::size_t count, unsigned seed = 1) {
  std::mt19937 generator(seed);
  std::uniform_real_distribution<double> uniform(-2, 2);
  Doubles values(count);
  for (double& value : values) value = uniform(generator);
  return values;
}

Doubles numbers(const Array& x) {
  auto values = convert(x, DType::f64).to_vector<double>();
  return {values.begin(), values.end()};
}

void expect_close(const Array& actual, const Doubles& expected, double tolerance = 1e-14) {
  Doubles values = numbers(actual);
  ASSERT_EQ(values.size(), expected.size());
  for (std::size_t i = 0; i < values.size(); i++) {
    if (!std::isfinite(expected[i])) {
      EXPECT_EQ(std::to_string(values[i]), std::to_string(expected[i])) << "element " << i;
    } else {
      double scale = std::max(1.0, std::abs(expected[i]));
      EXPECT_NEAR(values[i], expected[i], tolerance * scale) << "element " << i;
    }
  }
}

std::string message_of(const std::function<void()>& f) {
  try {
    f();
  } catch (const Error& error) {
    return error.what();
  }
  return "nothing was thrown";
}

struct Reduction {
  std::string name;
  std::function<Array(Operand, Over)> f;
  std::function<double(const Doubles&)> reference;
};

double mean_of(const Doubles& v) {
  double total = 0;
  for (double x : v) total += x;
  return total / static_cast<double>(v.size());
}

double squares_of(const Doubles& v, double center) {
  double total = 0;
  for (double x : v) total += (x - center) * (x - center);
  return total;
}

const std::vector<Reduction>& reductions() {
  static const std::vector<Reduction> list = {
      {"prod", prod,
       [](const Doubles& v) {
         double y = 1;
         for (double x : v) y *= x;
         return y;
       }},
      {"var", [](Operand x, Over over) { return var(x, over); },
       [](const Doubles& v) { return squares_of(v, mean_of(v)) / static_cast<double>(v.size()); }},
      {"unbiased stddev", [](Operand x, Over over) { return stddev(x, over, 1); },
       [](const Doubles& v) {
         return std::sqrt(squares_of(v, mean_of(v)) / (static_cast<double>(v.size()) - 1));
       }},
      {"any above 1", [](Operand x, Over over) { return any(x > 1.0, over); },
       [](const Doubles& v) { return *std::max_element(v.begin(), v.end()) > 1 ? 1.0 : 0.0; }},
      {"all below 1.5", [](Operand x, Over over) { return all(x < 1.5, over); },
       [](const Doubles& v) { return *std::max_element(v.begin(), v.end()) < 1.5 ? 1.0 : 0.0; }},
      {"norm", [](Operand x, Over over) { return norm(x, over); },
       [](const Doubles& v) { return std::sqrt(squares_of(v, 0)); }},
      {"norm of order 1", [](Operand x, Over over) { return norm(x, over, 1); },
       [](const Doubles& v) {
         double y = 0;
         for (double x : v) y += std::abs(x);
         return y;
       }},
      {"norm of order infinity", [](Operand x, Over over) { return norm(x, over, infinity); },
       [](const Doubles& v) {
         double y = 0;
         for (double x : v) y = std::max(y, std::abs(x));
         return y;
       }},
      {"logsumexp", logsumexp,
       [](const Doubles& v) {
         double y = 0;
         for (double x : v) y += std::exp(x);
         return std::log(y);
       }},
      // Associative, but a b is not b a.
      {"reduce to the first",
       [](Operand x, Over over) {
         auto first = [](Array a, Array b) { return where(a == 100.0, b, a); };
         return reduce(x, 100.0, first, over);
       },
       [](const Doubles& v) { return v[0]; }},
  };
  return list;
}

// The axes' elements in row-major order, for each index of the others.
TEST(Reduce, IsTheLoopOverItsAxes) {
  const Shape shape = {3, 4, 5};
  Doubles values = random_numbers(60);
  Array x = array(values, shape);
  auto at = [&](std::int64_t i, std::int64_t j, std::int64_t k) {
    return values[static_cast<std::size_t>((i * 4 + j) * 5 + k)];
  };
  for (const Reduction& reduction : reductions()) {
    SCOPED_TRACE(reduction.name);
    Doubles over_1, over_02;
    for (std::int64_t i = 0; i < 3; i++) {
      for (std::int64_t k = 0; k < 5; k++) {
        Doubles group;
        for (std::int64_t j = 0; j < 4; j++) group.push_back(at(i, j, k));
        over_1.push_back(reduction.reference(group));
      }
    }
    for (std::int64_t j = 0; j < 4; j++) {
      Doubles group;
      for (std::int64_t i = 0; i < 3; i++) {
        for (std::int64_t k = 0; k < 5; k++) group.push_back(at(i, j, k));
      }
      over_02.push_back(reduction.reference(group));
    }
    expect_close(reduction.f(x, {}), {reduction.reference(values)});
    expect_close(reduction.f(x, 1), over_1);
    expect_close(reduction.f(x, -2), over_1);
    expect_close(reduction.f(x, {{2, 0}}), over_02);
    EXPECT_EQ(reduction.f(x, {{-1, 0}, true}).shape(), (Shape{1, 4, 1}));
    EXPECT_EQ(reduction.f(x, 1).shape(), (Shape{3, 5}));
    EXPECT_NE(message_of([&] { reduction.f(x, 3); }).find("[3,4,5]"), std::string::npos);
  }
}

TEST(Reduce, OfNothing) {
  Array nothing = zeros({0, 2}, DType::f64);
  expect_close(prod(nothing, 0), {1, 1});
  expect_close(any(nothing, 0), {0, 0});
  expect_close(all(nothing, 0), {1, 1});
  expect_close(norm(nothing), {0});
  expect_close(norm(nothing, {}, 1), {0});
  expect_close(logsumexp(nothing, 0), {-infinity, -infinity});
  expect_close(reduce(nothing, 7.0, operator+, 0), {7, 7});
  EXPECT_EQ(cumsum(nothing).shape(), (Shape{0, 2}));
  EXPECT_EQ(cumprod(nothing, 0, true).shape(), (Shape{0, 2}));
  EXPECT_EQ(grad([](Array x) { return prod(x); })(zeros({0})).shape(), (Shape{0}));
}

TEST(Prod, DerivativesAreExactWithZeros) {
  auto f = [](Array x) { return prod(x); };
  auto second = [&](Array x) {
    return grad([&](Array y) { return sum(grad(f)(y) * array(Doubles{1, 2, 4})); })(x);
  };
  expect_close(grad(f)(array(Doubles{0, 2, 3})), {6, 0, 0});
  expect_close(grad(f)(array(Doubles{0, 0, 3})), {0, 0, 0});
  // Hessian of x y z times (1, 2, 4): (2 z + 4 y, z + 4 x, y + 2 x).
  expect_close(second(array(Doubles{0, 2, 3})), {14, 3, 2});
  expect_close(second(array(Doubles{0, 0, 3})), {6, 3, 0});
  expect_close(grad([](Array x) { return sum(cumprod(x)); })(array(Doubles{2, 0, 3, 5})),
               {1, 2 + 2 * 3 + 2 * 3 * 5, 0, 0});
}

TEST(Prod, OfIntegersAndBooleans) {
  Array x = array(std::vector<std::int32_t>{2, 3, 7});
  EXPECT_EQ(prod(x).item<std::int32_t>(), 42);
  EXPECT_EQ(prod(x > 2).item<std::int32_t>(), 0);
  EXPECT_EQ(sum(cumsum(x > 2)).item<std::int32_t>(), 3);
  EXPECT_EQ(sum(cumprod(x > 0)).item<std::int32_t>(),
            sum(cumprod(convert(x > 0, DType::i32))).item<std::int32_t>());
  EXPECT_TRUE(any(x).item<bool>());
}

TEST(Max, OfNanIsNan) {
  Array x = array(Doubles{1, nan, 3}), y = array(Doubles{nan, 1, 2});
  expect_close(max(x), {nan});
  expect_close(min(x), {nan});
  expect_close(maximum(x, y), {nan, nan, 3});
  expect_close(minimum(x, y), {nan, nan, 2});
}

TEST(Argmax, IsTheFirstAndNanWins) {
  struct Case {
    Doubles x;
    int largest, smallest;
  };
  const std::vector<Case> cases = {
      {{1, 3, 2, 3}, 1, 0},
      {{2, 1, 1, 2}, 0, 1},
      {{5}, 0, 0},
      {{-infinity, -infinity}, 0, 0},
      {{infinity, 1, infinity}, 0, 1},
      {{1, nan, 3, nan}, 1, 1},
      {{nan, 2}, 0, 0},
  };
  for (const Case& c : cases) {
    Array x = array(c.x);
    SCOPED_TRACE(to_string(x));
    EXPECT_EQ(argmax(x).item<std::int32_t>(), c.largest);
    EXPECT_EQ(argmin(x, -1).item<std::int32_t>(), c.smallest);
  }
  Array matrix = array({{1, 5, 2}, {7, 0, 7}});
  expect_close(argmax(matrix, 1), {1, 0});
  expect_close(argmax(matrix, 0), {1, 0, 1});
  EXPECT_EQ(argmax(matrix).item<std::int32_t>(), 3);
  EXPECT_EQ(argmin(matrix, 1, true).shape(), (Shape{2, 1}));
  EXPECT_EQ(argmin(array(std::vector<std::int32_t>{3, -5, 2})).item<std::int32_t>(), 1);
  EXPECT_NE(message_of([] {
              argmax(zeros({2, 0}), 1);
            }).find("argmax: f32[2,0] has no elements along the axes [1] to choose from"),
            std::string::npos);
}

TEST(Norm, DerivativeAtZeroIsZero) {
  Array zero = zeros({3}, DType::f64);
  for (double order : {1.0, 2.0, infinity}) {
    expect_close(grad([&](Array x) { return norm(x, {}, order); })(zero), {0, 0, 0});
  }
  expect_close(grad([](Array x) { return stddev(x); })(ones({3}, DType::f64)), {0, 0, 0});
  EXPECT_NE(message_of([&] { norm(zero, {}, 3); }).find("norm: the order is 3"), std::string::npos);
}

// With |x|^2, so that the results are real.
TEST(Reduce, OfComplexNumbers) {
  Array z = array(std::vector<std::complex<double>>{{1, 0}, {0, 1}, {3, -2}, {0, 0}});
  expect_close(norm(z), {std::sqrt(15.0)});
  expect_close(norm(z, {}, 1), {2 + std::sqrt(13.0)});
  expect_close(var(z), {15.0 / 4 - (16.0 + 1) / 16});
  expect_close(stddev(z), {std::sqrt(15.0 / 4 - 17.0 / 16)});
  EXPECT_EQ(norm(z).dtype(), DType::f64);
  EXPECT_EQ(var(zeros({2}, DType::c64)).dtype(), DType::f32);
}

// Each is rounded once, however many elements there are.
TEST(Reduce, OfManyNumbersOf16Bits) {
  constexpr std::int64_t count = 100000;
  for (DType dtype : {DType::f16, DType::bf16}) {
    Array one = ones({count}, dtype), large = full({count}, 1000, dtype);
    Array signs = convert(where(arange(count) % 2 == 0, 1, -1), dtype);
    auto of = [](auto f, const Array& x) {
      Array y = f(x);
      EXPECT_EQ(y.dtype(), x.dtype());
      return numbers(y)[0];
    };
    EXPECT_EQ(of([](Array x) { return mean(x); }, one), 1);
    EXPECT_EQ(of([](Array x) { return mean(x); }, large), 1000);
    EXPECT_EQ(of([](Array x) { return var(x); }, signs), 1);
    EXPECT_EQ(of([](Array x) { return stddev(x); }, signs), 1);
    auto rounded = [dtype](double x) { return numbers(Array(x, dtype))[0]; };
    EXPECT_EQ(of([](Array x) { return norm(x); }, one), rounded(std::sqrt(1e5)));
    EXPECT_EQ(of([](Array x) { return norm(x, {}, 1); }, 0.5 * one), rounded(5e4));
    EXPECT_EQ(of([](Array x) { return sum(x); }, 0.5 * one), rounded(5e4));
    EXPECT_EQ(of([](Array x) { return sum(reshape(x, {2, count / 2}), 1); }, one), rounded(5e4));
    EXPECT_EQ(of([](Array x) { return logsumexp(x); }, one), rounded(1 + std::log(1e5)));
    EXPECT_EQ(of([](Array x) { return cumsum(x)[-1]; }, ones({1001}, dtype)), rounded(1001));
  }
  EXPECT_EQ(jit([] { return mean(full({1000}, 1000, DType::f16)); })().dtype(), DType::f16);
  EXPECT_EQ(numbers(jit([] { return mean(full({1000}, 1000, DType::f16)); })())[0], 1000);
}

TEST(Logsumexp, AtTheLimits) {
  auto gradient = grad([](Array x) { return logsumexp(x); });
  struct Case {
    Doubles x;
    double value;
    Doubles slope;
  };
  const std::vector<Case> cases = {
      {{1000, 1000}, 1000 + std::log(2.0), {0.5, 0.5}},
      {{-1000, -1000}, -1000 + std::log(2.0), {0.5, 0.5}},
      {{-infinity, 3}, 3, {0, 1}},
      {{-infinity, -infinity}, -infinity, {0, 0}},
      {{infinity, 3}, infinity, {0, 0}},
  };
  for (const Case& c : cases) {
    Array x = array(c.x);
    SCOPED_TRACE(to_string(x));
    expect_close(logsumexp(x), {c.value});
    expect_close(gradient(x), c.slope);
    expect_close(logaddexp(max(x), min(x)), {c.value});
  }
  EXPECT_TRUE(std::isnan(logsumexp(array(Doubles{nan, 1})).item<double>()));
  expect_close(softmax(array(Doubles{1000, 1000, -infinity})), {0.5, 0.5, 0});
  expect_close(log_softmax(array(Doubles{0, 1000})), {-1000, 0});
  // Second derivative of log(2 exp(x)) by one of the two: 1/4.
  Array zero(0.0, DType::f64);
  auto f = [&](Array x) { return logaddexp(x, zero); };
  EXPECT_NEAR(grad(grad(f))(zero).item<double>(), 0.25, 1e-15);
}

struct Running {
  std::string name;
  Array (*f)(Operand, int, bool);
  double (*step)(double, double);
};

TEST(Cumulative, IsTheLoop) {
  const std::vector<Running> all = {
      {"cumsum", cumsum, [](double a, double b) { return a + b; }},
      {"cumprod", cumprod, [](double a, double b) { return a * b; }},
      {"cummax", cummax, [](double a, double b) { return std::max(a, b); }},
      {"cummin", cummin, [](double a, double b) { return std::min(a, b); }},
      {"cumlogsumexp", cumlogsumexp,
       [](double a, double b) { return std::log(std::exp(a) + std::exp(b)); }},
  };
  for (const Running& running : all) {
    for (std::size_t n : {1, 2, 3, 4, 5, 8, 13}) {
      SCOPED_TRACE(running.name + " of " + std::to_string(n));
      Doubles values = random_numbers(n), forward = values, backward = values;
      for (std::size_t i = 1; i < n; i++) forward[i] = running.step(forward[i - 1], values[i]);
      for (std::size_t i = n - 1; i > 0; i--) {
        backward[i - 1] = running.step(values[i - 1], backward[i]);
      }
      Array x = array(values);
      expect_close(running.f(x, 0, false), forward);
      expect_close(running.f(x, -1, true), backward);
    }
    std::string text = message_of([&] { running.f(zeros({2, 3}), 2, false); });
    EXPECT_NE(text.find("f32[2,3]"), std::string::npos) << text;
  }
}

TEST(Cumulative, OrderMatters) {
  // a, b -> b: element i is x[i]. a, b -> a: it is the first; backwards, the last.
  auto later = [](Array, Array b) { return b; };
  auto earlier = [](Array a, Array) { return a; };
  Array x = array(Doubles{1, 2, 3, 4, 5});
  expect_close(associative_scan(later, x), {1, 2, 3, 4, 5});
  expect_close(associative_scan(earlier, x), {1, 1, 1, 1, 1});
  expect_close(associative_scan(earlier, x, {.reverse = true}), {5, 5, 5, 5, 5});
}

TEST(Cumulative, AtTheLimits) {
  expect_close(cumsum(array(Doubles{1, infinity, -2})), {1, infinity, infinity});
  expect_close(cummax(array(Doubles{1, nan, 3})), {1, nan, nan});
  expect_close(cumlogsumexp(array(Doubles{-infinity, -infinity, 2, 1000})),
               {-infinity, -infinity, 2, 1000});
  expect_close(
      grad([](Array x) { return sum(cumlogsumexp(x)); })(array(Doubles{-infinity, 2, 1000})),
      {1, 1, 1});
}

TEST(ReduceByFunction, SaysWhatCombineReturned) {
  EXPECT_NE(message_of([] {
              reduce(zeros({3}), 0.0, [](Array a, Array b) { return a < b; });
            }).find("reduce: combine returns bool[] for two f32[]"),
            std::string::npos);
}

}  // namespace
}  // namespace sturnus
