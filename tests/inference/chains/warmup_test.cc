#include <gtest/gtest.h>
#include <sturnus/functional/jit.h>
#include <sturnus/inference/chains/warmup.h>
#include <sturnus/ops/creation.h>
#include <sturnus/ops/dot.h>
#include <sturnus/ops/shape.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "tests/inference/host.h"

namespace sturnus {
namespace {

// The counters that Stan keeps, one transition after another.
WarmupWindows windows_by_counting(int warmup) {
  WarmupWindows result;
  if (warmup < 20) return result;
  int before = 75, behind = 50, size = 25;
  if (before + size + behind > warmup) {
    before = static_cast<int>(0.15 * warmup);
    behind = static_cast<int>(0.1 * warmup);
    size = warmup - before - behind;
  }
  result.begin = before;
  result.end = warmup - behind;
  int next = before + size - 1, end = warmup - behind - 1;
  for (int i = 0; i < warmup; i++) {
    if (i != next) continue;
    result.last.push_back(i);
    if (next == end) continue;
    size *= 2;
    next = i + size;
    if (next != end && next + 2 * size >= end + 1) next = end;
  }
  return result;
}

TEST(Warmup, WindowsAreStans) {
  EXPECT_EQ(warmup_windows(1000).last, (std::vector<std::int64_t>{99, 149, 249, 449, 949}));
  EXPECT_EQ(warmup_windows(1000).begin, 75);
  EXPECT_EQ(warmup_windows(1000).end, 950);
  for (int warmup = 0; warmup <= 3000; warmup++) {
    WarmupWindows expected = windows_by_counting(warmup), found = warmup_windows(warmup);
    EXPECT_EQ(found.last, expected.last) << warmup;
    EXPECT_EQ(found.begin, expected.begin) << warmup;
    EXPECT_EQ(found.end, expected.end) << warmup;
  }
}

TEST(Warmup, DualAveragingIsThatOfPlainNumbers) {
  DualAveraging averaging{.target = 0.9};
  auto update =
      jit([&](const DualAveraging::State& s, const Array& a) { return averaging.update(s, a); });
  DualAveraging::State state = averaging.init(Array(0.25, DType::f64));
  double center = std::log(2.5), error = 0, log_average = 0;
  Doubles accepts = random_numbers(60, 1);
  for (int t = 1; t <= 60; t++) {
    double accept = std::abs(accepts[static_cast<std::size_t>(t - 1)]);
    state = update(state, Array(accept, DType::f64));
    double rate = 1 / (t + 10.0);
    error = (1 - rate) * error + rate * (0.9 - std::min(accept, 1.0));
    double log_step = center - std::sqrt(t) / 0.05 * error;
    double weight = std::pow(t, -0.75);
    log_average = weight * log_step + (1 - weight) * log_average;
    ASSERT_NEAR(state.log_step.item<double>(), log_step, 1e-12 * (1 + std::abs(log_step)));
    ASSERT_NEAR(state.log_average.item<double>(), log_average, 1e-12 * (1 + std::abs(log_average)));
  }
}

TEST(Warmup, SearchEndsWhereTheAcceptanceCrosses) {
  // A trial is accepted with 0.95 below a step of 0.3 and with 0.1 above.
  auto accept_at = [](double step) { return Array(step < 0.3 ? 0.95 : 0.1, DType::f64); };
  auto found_from = [&](double first) {
    StepSearch search;
    StepSearch::State state = search.init(Array(first, DType::f64));
    int trials = 0;
    while (state.direction.item<int>() != 0 && trials++ < 100) {
      state = search.update(state, accept_at(state.size.item<double>()));
    }
    return state.size.item<double>();
  };
  EXPECT_EQ(found_from(1), 0.25);
  EXPECT_EQ(found_from(0.01), 0.32);
  EXPECT_EQ(found_from(1e3), 1e3 / 4096);
}

TEST(Warmup, SearchEndsWhereNoStepWillDo) {
  for (double accept : {0.0, 1.0}) {
    StepSearch search;
    StepSearch::State state = search.init(Array(1.0, DType::f64));
    int trials = 0;
    while (state.direction.item<int>() != 0 && trials < 100) {
      state = search.update(state, Array(accept, DType::f64));
      trials++;
    }
    EXPECT_LT(trials, 60);
  }
}

TEST(Warmup, MetricIsTheRegularisedCovarianceOfThePlaces) {
  const std::size_t count = 30, size = 3;
  Doubles places = random_numbers(count * size, 4, 2);
  for (std::size_t i = 0; i < count; i++) places[i * size + 2] += 1e3 + places[i * size];
  Doubles mean(size), covariance(size * size);
  for (std::size_t i = 0; i < places.size(); i++) mean[i % size] += places[i] / count;
  for (std::size_t i = 0; i < count; i++) {
    for (std::size_t a = 0; a < size; a++) {
      for (std::size_t b = 0; b < size; b++) {
        covariance[a * size + b] +=
            (places[i * size + a] - mean[a]) * (places[i * size + b] - mean[b]) / (count - 1);
      }
    }
  }
  for (double& c : covariance) c *= count / (count + 5.0);
  for (std::size_t a = 0; a < size; a++) covariance[a * size + a] += 1e-3 * 5 / (count + 5.0);

  for (MetricKind kind : {MetricKind::unit, MetricKind::diagonal, MetricKind::dense}) {
    RunningMoments moments{kind};
    auto add =
        jit([&](const RunningMoments::State& s, const Array& x) { return moments.add(s, x); });
    RunningMoments::State state = moments.init(size, DType::f64);
    for (std::size_t i = 0; i < count; i++) {
      auto from = places.begin() + static_cast<std::ptrdiff_t>(i * size);
      state = add(state, device_array(Doubles(from, from + size), {size}));
    }
    Array factor = moments.metric(state).factor;
    if (kind == MetricKind::unit) {
      EXPECT_EQ(factor.item<double>(), 1);
    } else if (kind == MetricKind::diagonal) {
      Doubles sd = doubles(factor);
      for (std::size_t a = 0; a < size; a++) {
        EXPECT_NEAR(sd[a] * sd[a], covariance[a * size + a], 1e-9);
      }
    } else {
      Doubles product = doubles(matmul(factor, transpose(factor)));
      for (std::size_t i = 0; i < product.size(); i++) EXPECT_NEAR(product[i], covariance[i], 1e-9);
    }
  }
}

}  // namespace
}  // namespace sturnus
