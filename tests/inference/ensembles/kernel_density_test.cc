#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sturnus/functional/grad.h>
#include <sturnus/functional/jacobian.h>
#include <sturnus/functional/jit.h>
#include <sturnus/inference/ensembles/kernel_density.h>
#include <sturnus/ops/creation.h>
#include <sturnus/ops/reduce.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "tests/inference/host.h"

namespace sturnus {
namespace {

using testing::HasSubstr;

// Members in rows, as plain numbers.
struct Members {
  std::size_t n, d;
  Doubles values;
  double at(std::size_t i, std::size_t k) const { return values[i * d + k]; }
  double& at(std::size_t i, std::size_t k) { return values[i * d + k]; }
  Array on_device(DType dtype = DType::f64) const {
    return device_array(values, {static_cast<std::int64_t>(n), static_cast<std::int64_t>(d)},
                        dtype);
  }
};

Members random_members(std::size_t n, std::size_t d, unsigned seed) {
  return {n, d, random_numbers(n * d, seed)};
}

// Of members that are finite, in the arithmetic of Real, so that the answer is the same to the bit.
template <class Real>
double lower_median(const Members& x, std::size_t k) {
  std::vector<Real> distances;
  for (std::size_t i = 0; i < x.n; i++) {
    for (std::size_t j = i + 1; j < x.n; j++) {
      if (!std::isfinite(x.at(i, k)) || !std::isfinite(x.at(j, k))) continue;
      distances.push_back(std::abs(static_cast<Real>(x.at(i, k)) - static_cast<Real>(x.at(j, k))));
    }
  }
  if (distances.empty()) return 0;
  std::sort(distances.begin(), distances.end());
  return static_cast<double>(distances[(distances.size() - 1) / 2]);
}

double finite_sd(const Members& x, std::size_t k) {
  double count = 0, sum = 0, squares = 0;
  for (std::size_t i = 0; i < x.n; i++) {
    if (std::isfinite(x.at(i, k))) count++, sum += x.at(i, k);
  }
  for (std::size_t i = 0; i < x.n; i++) {
    if (std::isfinite(x.at(i, k))) squares += std::pow(x.at(i, k) - sum / count, 2);
  }
  return std::sqrt(squares / count);
}

double bandwidth_of(const Members& x, std::size_t k, Bandwidth rule, double spanned) {
  double n = 0;
  for (std::size_t i = 0; i < x.n; i++) n += std::isfinite(x.at(i, k));
  n = std::max(n, 2.0);
  switch (rule) {
    case Bandwidth::median:
      return (lower_median<double>(x, k) + 1e-7) / std::sqrt(std::log(n));
    case Bandwidth::scaled_median:
      return (lower_median<double>(x, k) + 1e-7) / std::sqrt(std::log(n)) * std::sqrt(spanned);
    case Bandwidth::silverman:
      return (finite_sd(x, k) + 1e-7) * std::pow(4 / ((spanned + 2) * n), 1 / (spanned + 4));
    case Bandwidth::scott:
      return (finite_sd(x, k) + 1e-7) * std::pow(n, -1 / (spanned + 4));
  }
  return 0;
}

// The density that member i sees, as a function of where it is, with all members (its own copy too)
// and the bandwidth fixed.
struct Oracle {
  bool joint;
  const Members& x;
  KernelDensity density;

  Doubles h() const {
    Doubles result;
    for (std::size_t k = 0; k < x.d; k++) {
      double spanned = joint ? static_cast<double>(x.d) : 1.0;
      result.push_back(bandwidth_of(x, k, density.bandwidth, spanned));
    }
    return result;
  }
  bool sees(std::size_t i, std::size_t j) const {
    if (density.leave_one_out && i == j) return false;
    for (std::size_t k = 0; k < x.d; k++) {
      if (!std::isfinite(x.at(j, k))) return false;
    }
    return true;
  }

  // Exponents of the kernels between `v` and all members in dimensions [first, end).
  Doubles exponents(std::size_t i, const Doubles& v, std::size_t first, std::size_t end) const {
    Doubles width = h(), result;
    for (std::size_t j = 0; j < x.n; j++) {
      double total = sees(i, j) ? 0 : -std::numeric_limits<double>::infinity();
      for (std::size_t k = first; sees(i, j) && k < end; k++) {
        total -= 0.5 * std::pow((v[k] - x.at(j, k)) / width[k], 2);
      }
      result.push_back(total);
    }
    return result;
  }
  static double log_sum_exp(const Doubles& e) {
    double peak = *std::max_element(e.begin(), e.end()), sum = 0;
    for (double value : e) sum += std::exp(value - peak);
    return peak + std::log(sum);
  }
  Doubles row(std::size_t i) const {
    auto first = x.values.begin() + static_cast<std::ptrdiff_t>(i * x.d);
    return {first, first + static_cast<std::ptrdiff_t>(x.d)};
  }

  double value(std::size_t i, const Doubles& v) const {
    if (joint) return log_sum_exp(exponents(i, v, 0, x.d));
    double total = 0;
    Doubles width = h();
    for (std::size_t k = 0; k < x.d; k++) {
      total += log_sum_exp(exponents(i, v, k, k + 1)) - std::log(width[k]);
    }
    return total;
  }
  double value(std::size_t i) const { return value(i, row(i)); }

  // As published: -sum_j w_ij (v_ik - v_jk) / h_k^2, w the softmax of the exponents.
  double published_gradient(std::size_t i, std::size_t k) const {
    Doubles e = joint ? exponents(i, row(i), 0, x.d) : exponents(i, row(i), k, k + 1);
    double norm = log_sum_exp(e), width = h()[k], total = 0;
    for (std::size_t j = 0; j < x.n; j++) {
      if (sees(i, j)) total -= std::exp(e[j] - norm) * (x.at(i, k) - x.at(j, k)) / (width * width);
    }
    return total;
  }
  double difference(std::size_t i, std::size_t k) const {
    Doubles up = row(i), down = row(i);
    double step = 1e-5 * h()[k];
    up[k] += step;
    down[k] -= step;
    return (value(i, up) - value(i, down)) / (2 * step);
  }
};

Array log_density_of(bool joint, const Array& members, const KernelDensity& density) {
  return joint ? log_joint_density(members, density) : log_factorized_density(members, density);
}

struct Found {
  Doubles value, gradient;
};

struct Case {
  bool joint;
  KernelDensity density;
};

// Values and gradients of all cases, by one program: compiling takes most of the time here.
std::vector<Found> compute(const std::vector<Case>& cases, const Array& members) {
  auto all = jit([&](const Array& x) {
    std::vector<std::pair<Array, Array>> results;
    for (const Case& c : cases) {
      auto f = [&](const Array& a) {
        Array each = log_density_of(c.joint, a, c.density);
        return std::pair(sum(each), each);
      };
      auto [value, gradient] = value_and_grad(f)(x);
      results.emplace_back(value.second, gradient);
    }
    return results;
  });
  std::vector<Found> found;
  for (auto& [value, gradient] : all(members)) found.push_back({doubles(value), doubles(gradient)});
  return found;
}

void expect_near(const Doubles& found, const Doubles& expected, double error) {
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < found.size(); i++) {
    EXPECT_NEAR(found[i], expected[i], error * (1 + std::abs(expected[i]))) << "element " << i;
  }
}

constexpr Bandwidth rules[] = {Bandwidth::median, Bandwidth::scaled_median, Bandwidth::silverman,
                               Bandwidth::scott};

// Every rule, jointly and value by value, with and without the member itself.
std::vector<Case> all_cases(std::int64_t block = 0) {
  std::vector<Case> cases;
  for (bool joint : {true, false}) {
    for (Bandwidth rule : rules) {
      for (bool leave_one_out : {false, true}) {
        cases.push_back({joint, {rule, leave_one_out, block}});
      }
    }
  }
  return cases;
}

std::string name(const Case& c) {
  return (c.joint ? "joint, rule " : "factorized, rule ") +
         std::to_string(static_cast<int>(c.density.bandwidth)) +
         (c.density.leave_one_out ? ", leave one out" : "") + ", block " +
         std::to_string(c.density.block);
}

// Against loops, but for members that are not finite.
void expect_oracle(const std::vector<Case>& cases, const Members& x, DType dtype, double error) {
  std::vector<Found> found = compute(cases, x.on_device(dtype));
  for (std::size_t c = 0; c < cases.size(); c++) {
    SCOPED_TRACE(name(cases[c]) + " " + std::string(name_of(dtype)));
    Oracle oracle{cases[c].joint, x, cases[c].density};
    for (std::size_t i = 0; i < x.n; i++) {
      if (!std::isfinite(x.at(i, 0) + x.at(i, 1))) continue;
      double expected = oracle.value(i);
      EXPECT_NEAR(found[c].value[i], expected, error * (1 + std::abs(expected))) << "member " << i;
      for (std::size_t k = 0; k < x.d; k++) {
        double slope = oracle.published_gradient(i, k);
        EXPECT_NEAR(found[c].gradient[i * x.d + k], slope, error * (1 + std::abs(slope)))
            << "member " << i << ", dimension " << k;
      }
    }
  }
}

TEST(MedianDistance, IsTheLowerMedianOfAllPairs) {
  // Pair counts are odd for 2, 3, 50, 199 and even for 5, 25, 200, 201, 400.
  for (std::size_t n : {2, 3, 5, 25, 50, 199, 200, 201, 400}) {
    SCOPED_TRACE(n);
    Members x = random_members(n, 6, static_cast<unsigned>(n));
    for (std::size_t i = 0; i < n; i++) {
      x.at(i, 1) = std::round(2 * x.at(i, 1)) / 2;       // ties
      x.at(i, 2) = 0.7;                                  // all equal
      x.at(i, 3) = i % 3 == 0 ? 1e-20 * x.at(i, 3) : 0;  // most equal, others near
      x.at(i, 4) *= 1e20;                                // large
      x.at(i, 5) = i < n / 2 ? -4 : x.at(i, 5);          // half of them equal
    }
    Array f32 = x.on_device(DType::f32), f64 = x.on_device(DType::f64);
    auto [narrow, wide] = jit([](const Array& a, const Array& b) {
      return std::pair(median_distance(a), median_distance(b));
    })(f32, f64);
    EXPECT_EQ(narrow.dtype(), DType::f32);
    EXPECT_EQ(wide.dtype(), DType::f64);
    for (std::size_t k = 0; k < x.d; k++) {
      EXPECT_EQ(doubles(narrow)[k], lower_median<float>(x, k)) << "f32, dimension " << k;
      EXPECT_EQ(doubles(wide)[k], lower_median<double>(x, k)) << "f64, dimension " << k;
    }
  }
}

TEST(KernelBandwidth, FollowsEachRuleAndIsDetached) {
  for (std::size_t n : {2, 201}) {
    Members x = random_members(n, 3, 7);
    auto program = jit([](const Array& a) {
      Arrays results;
      for (Bandwidth rule : rules) {
        for (std::int64_t spanned : {1, 3, 10}) {
          auto total = [&](const Array& b) {
            Array h = kernel_bandwidth(b, rule, spanned);
            return std::pair(sum(h), h);
          };
          auto [value, slope] = value_and_grad(total)(a);
          results.push_back(value.second);
          results.push_back(slope);
        }
      }
      return results;
    });
    Arrays found = program(x.on_device());
    std::size_t i = 0;
    for (Bandwidth rule : rules) {
      for (double spanned : {1, 3, 10}) {
        Doubles expected;
        for (std::size_t k = 0; k < x.d; k++) {
          expected.push_back(bandwidth_of(x, k, rule, spanned));
        }
        expect_near(doubles(found[i++]), expected, 1e-13);
        for (double slope : doubles(found[i++])) EXPECT_EQ(slope, 0);
      }
    }
  }
}

TEST(LogDensity, ValuesAndGradientsAreThoseOfPlainLoops) {
  Members x = random_members(9, 3, 3);
  expect_oracle(all_cases(), x, DType::f64, 1e-11);
  expect_oracle(all_cases(), x, DType::f32, 3e-5);
  // With more dimensions than members these lie in memory the other way round.
  Members wide = random_members(5, 7, 3);
  expect_oracle(all_cases(), wide, DType::f64, 1e-11);
  expect_oracle(all_cases(2), wide, DType::f64, 1e-11);
}

// The formula of the gradient against differences of the oracle's values.
TEST(LogDensity, PublishedGradientIsThatOfDifferences) {
  Members x = random_members(9, 3, 3);
  for (const Case& c : all_cases()) {
    SCOPED_TRACE(name(c));
    Oracle oracle{c.joint, x, c.density};
    for (std::size_t i = 0; i < x.n; i++) {
      for (std::size_t k = 0; k < x.d; k++) {
        double slope = oracle.published_gradient(i, k);
        EXPECT_NEAR(oracle.difference(i, k), slope, 1e-7 * (1 + std::abs(slope)));
      }
    }
  }
}

TEST(LogDensity, HasOneDerivativeInBothModes) {
  Members x = random_members(4, 2, 5);
  for (bool joint : {true, false}) {
    auto f = [&](const Array& a) { return log_density_of(joint, a, {}); };
    Doubles forward = doubles(jit(jacfwd(f))(x.on_device()));
    Doubles backward = doubles(jit(jacrev(f))(x.on_device()));
    expect_near(forward, backward, 1e-14);
    // Only its own place moves what a member sees.
    Oracle oracle{joint, x, {}};
    for (std::size_t i = 0; i < x.n; i++) {
      for (std::size_t j = 0; j < x.n; j++) {
        for (std::size_t k = 0; k < x.d; k++) {
          double expected = i == j ? oracle.published_gradient(i, k) : 0;
          EXPECT_NEAR(forward[(i * x.n + j) * x.d + k], expected, 1e-11);
        }
      }
    }
  }
}

TEST(LogDensity, IsTheSameInBlocksOfAnySize) {
  Members x = random_members(23, 2, 11);
  x.at(4, 1) = std::nan("");
  std::vector<Case> cases;
  for (std::int64_t block : {0, 1, 5, 23}) {
    for (bool joint : {true, false}) {
      for (bool leave_one_out : {false, true}) {
        cases.push_back({joint, {Bandwidth::median, leave_one_out, block}});
      }
    }
  }
  std::vector<Found> found = compute(cases, x.on_device());
  for (std::size_t c = 4; c < cases.size(); c++) {
    SCOPED_TRACE(name(cases[c]));
    const Found& whole = found[c % 4];
    auto near = [&](double a, double b) { EXPECT_NEAR(a, b, 1e-11 * (1 + std::abs(b))); };
    for (std::size_t i = 0; i < x.n; i++) {
      if (i == 4) continue;
      near(found[c].value[i], whole.value[i]);
      for (std::size_t k = i * x.d; k < (i + 1) * x.d; k++) {
        near(found[c].gradient[k], whole.gradient[k]);
      }
    }
  }
}

// Left out of its own density a member far from all others sees sums that underflow, but for the
// peak that is taken out.
TEST(LogDensity, OfAnIsolatedMemberIsFinite) {
  Members x = random_members(8, 2, 13);
  x.at(3, 0) = 500;
  std::vector<Case> cases;
  for (bool joint : {true, false}) {
    for (std::int64_t block : {0, 3}) cases.push_back({joint, {Bandwidth::median, true, block}});
  }
  expect_oracle(cases, x, DType::f32, 1e-4);
}

// Members that are not finite repel nobody: the others see what they would see without them.
TEST(LogDensity, OfOthersIsFiniteWhenMembersAreNot) {
  double inf = std::numeric_limits<double>::infinity(), nan = std::nan("");
  Members x = random_members(11, 2, 17);
  x.at(2, 0) = x.at(2, 1) = nan;
  x.at(5, 0) = inf;
  x.at(5, 1) = -inf;
  expect_oracle(all_cases(4), x, DType::f32, 3e-5);
}

// However many are lost: the others have the bandwidth and the density that they would have alone.
// Up to 200 members all pairs are looked at, for 250 they are counted.
TEST(LogDensity, MembersThatAreNotFiniteDoNotCount) {
  double inf = std::numeric_limits<double>::infinity(), nan = std::nan("");
  const Doubles lost_values = {nan, inf, -inf};
  for (std::size_t n : {10, 250}) {
    Members x = random_members(n, 2, 21);
    for (std::size_t tenths : {1, 4, 7, 9}) {
      SCOPED_TRACE(testing::Message() << tenths << " tenths of " << n << " are lost");
      Members kept = {0, 2, {}}, all = x;
      std::vector<std::size_t> left;
      for (std::size_t i = 0; i < n; i++) {
        if (i * 7 % 10 < tenths) {
          all.at(i, 0) = lost_values[i % 3];
          all.at(i, 1) = lost_values[(i + 1) % 3];
        } else {
          left.push_back(i);
          kept.n++;
          kept.values.insert(kept.values.end(), {x.at(i, 0), x.at(i, 1)});
        }
      }
      auto program = jit([](const Array& a) {
        Arrays results = {median_distance(a)};
        for (Bandwidth rule : rules) results.push_back(kernel_bandwidth(a, rule, 2));
        for (bool joint : {true, false}) results.push_back(log_density_of(joint, a, {}));
        return results;
      });
      Arrays found = program(all.on_device());
      for (std::size_t k = 0; k < 2; k++) {
        EXPECT_EQ(doubles(found[0])[k], lower_median<double>(all, k));
        for (std::size_t i = 0; i < std::size(rules); i++) {
          double expected = bandwidth_of(all, k, rules[i], 2);
          EXPECT_NEAR(doubles(found[1 + i])[k], expected, 1e-13 * expected);
        }
      }
      if (kept.n < 2) continue;
      Arrays alone = program(kept.on_device());
      for (std::size_t a = alone.size() - 2; a < alone.size(); a++) {
        Doubles with = doubles(found[a]), without = doubles(alone[a]);
        for (std::size_t i = 0; i < left.size(); i++) {
          EXPECT_NEAR(with[left[i]], without[i], 1e-12 * (1 + std::abs(without[i])));
        }
      }
    }
    Members none = {n, 1, Doubles(n, nan)};
    EXPECT_EQ(doubles(median_distance(none.on_device())), Doubles{0});
  }
}

// One that is left alone sees itself, or nobody: it is not repelled either way.
TEST(LogDensity, OfTheOnlyFiniteMemberIsFiniteAndFlat) {
  double nan = std::nan(""), inf = std::numeric_limits<double>::infinity();
  Members x = {4, 2, {nan, inf, -inf, nan, 0.3, -2, nan, nan}};
  std::vector<Case> cases = all_cases(), blocks = all_cases(3);
  cases.insert(cases.end(), blocks.begin(), blocks.end());
  for (DType dtype : {DType::f32, DType::f64}) {
    std::vector<Found> found = compute(cases, x.on_device(dtype));
    for (std::size_t c = 0; c < cases.size(); c++) {
      SCOPED_TRACE(name(cases[c]));
      double value = found[c].value[2];
      EXPECT_TRUE(cases[c].density.leave_one_out ? value == 0 : std::isfinite(value)) << value;
      EXPECT_EQ(found[c].gradient[4], 0);
      EXPECT_EQ(found[c].gradient[5], 0);
    }
  }
}

TEST(LogDensity, OfIdenticalMembersIsFiniteAndFlat) {
  Members x = {6, 2, Doubles(12, 0.3)};
  std::vector<Case> cases = all_cases();
  std::vector<Found> found = compute(cases, x.on_device(DType::f32));
  for (std::size_t c = 0; c < cases.size(); c++) {
    SCOPED_TRACE(name(cases[c]));
    double others = cases[c].density.leave_one_out ? 5 : 6;
    for (double value : found[c].value) {
      EXPECT_TRUE(std::isfinite(value));
      EXPECT_TRUE(!cases[c].joint || std::abs(value - std::log(others)) < 1e-6);
    }
    for (double slope : found[c].gradient) EXPECT_EQ(slope, 0);
  }
}

TEST(LogDensity, OfOneMemberIsRefused) {
  Array one = array({{1, 2, 3}}), vector = array({1, 2, 3});
  EXPECT_THAT(error_of<ShapeError>([&] { log_joint_density(one, {}); }),
              HasSubstr("log_joint_density: members are f32[1,3]. Give [members, dimensions] with "
                        "at least 2 members"));
  EXPECT_THAT(error_of<ShapeError>([&] { log_factorized_density(one, {}); }),
              HasSubstr("log_factorized_density: members are f32[1,3]"));
  EXPECT_THAT(error_of<ShapeError>([&] { kernel_bandwidth(one, Bandwidth::scott, 1); }),
              HasSubstr("kernel_bandwidth: members are f32[1,3]"));
  EXPECT_THAT(error_of<ShapeError>([&] { median_distance(one); }),
              HasSubstr("median_distance: members are f32[1,3]"));
  EXPECT_THAT(error_of<ShapeError>([&] { log_joint_density(vector, {}); }),
              HasSubstr("members are f32[3]"));
  Array nothing = zeros({2, 0});
  for (bool joint : {true, false}) {
    EXPECT_THAT(error_of<ShapeError>([&] { log_density_of(joint, nothing, {}); }),
                HasSubstr("members are f32[2,0]. Give [members, dimensions] with at least 2 "
                          "members and 1 dimension"));
  }
}

TEST(LogDensity, OfManyMembersNeedsMemoryForABlockOnly) {
  constexpr std::size_t n = 4000, d = 12;
  Members x = random_members(n, d, 19);
  Array members = x.on_device(DType::f32);
  for (bool joint : {true, false}) {
    for (std::int64_t block :
         joint ? std::vector<std::int64_t>{0, 4} : std::vector<std::int64_t>{0}) {
      KernelDensity density = {.bandwidth = Bandwidth::scaled_median, .block = block};
      auto f = [&](const Array& a) {
        Array each = log_density_of(joint, a, density);
        return std::pair(sum(each), each);
      };
      auto program = jit(value_and_grad(f)).compile(members);
      std::int64_t temporary = program.program().executable().memory_stats().temporary;
      // The budget of a block that is not chosen is 2^20 numbers. A few arrays of a block and of
      // the members are alive at once.
      std::int64_t numbers = block == 0 ? 1 << 20 : static_cast<std::int64_t>(n * d) * block;
      EXPECT_GT(temporary, 0);
      EXPECT_LT(temporary, 4 * (4 * numbers + 16 * static_cast<std::int64_t>(n * d)))
          << joint << " " << block;

      if (block != 0) continue;
      auto [value, gradient] = program(members);
      Doubles values = doubles(value.second);
      for (double slope : doubles(gradient)) ASSERT_TRUE(std::isfinite(slope));
      // Loops over all members for one of them: its median over all pairs is taken from the array.
      Doubles h = doubles(kernel_bandwidth(members, density.bandwidth, joint ? 12 : 1));
      for (std::size_t i : {0u, 1234u, 3999u}) {
        double total = 0;
        if (joint) {
          for (std::size_t j = 0; j < n; j++) {
            double e = 0;
            for (std::size_t k = 0; k < d; k++) {
              e -= 0.5 * std::pow((x.at(i, k) - x.at(j, k)) / h[k], 2);
            }
            total += std::exp(e);
          }
          total = std::log(total);
        } else {
          for (std::size_t k = 0; k < d; k++) {
            double one = 0;
            for (std::size_t j = 0; j < n; j++) {
              one += std::exp(-0.5 * std::pow((x.at(i, k) - x.at(j, k)) / h[k], 2));
            }
            total += std::log(one) - std::log(h[k]);
          }
        }
        EXPECT_NEAR(values[i], total, 1e-4 * std::abs(total));
      }
    }
  }
}

}  // namespace
}  // namespace sturnus
