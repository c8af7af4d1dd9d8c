#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sturnus/functional/jit.h>
#include <sturnus/functional/vmap.h>
#include <sturnus/inference/optimizers/schedule.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numbers>

#include "tests/inference/host.h"

namespace sturnus {
namespace {

using testing::HasSubstr;

struct Row {
  const char* name;
  Schedule schedule;
  std::function<double(double)> expected;
};

double part(double iteration, double begin, double end) {
  return std::clamp((iteration - begin) / (end - begin), 0.0, 1.0);
}

const std::vector<Row> rows = {
    {"constant", 0.1, [](double) { return 0.1; }},
    {"default", Schedule(), [](double) { return 1.0; }},
    {"published weights", Schedule::stepwise(5, {{7500, 10}, {9000, 25}}),
     [](double i) { return i > 9000   ? 25.0
                           : i > 7500 ? 10.0
                                      : 5.0; }},
    {"steps back and forth", Schedule::stepwise(-1, {{0, 2}, {1, -3}, {10, 0}}),
     [](double i) {
       return i > 10 ? 0.0 : i > 1 ? -3.0 : i > 0 ? 2.0 : -1.0;
     }},
    {"from 3000", Schedule::from(3000, 0.7), [](double i) { return i >= 3000 ? 0.7 : 0.0; }},
    {"from the first", Schedule::from(0, 0.7), [](double) { return 0.7; }},
    {"from before the first", Schedule::from(-5, 0.7), [](double) { return 0.7; }},
    {"cosine", Schedule::cosine(0.3, 0.01, 10, 7500),
     [](double i) {
       return 0.01 + 0.29 * (1 + std::cos(std::numbers::pi * part(i, 10, 7500))) / 2;
     }},
    {"cosine upwards", Schedule::cosine(-2, 3, 0, 1),
     [](double i) { return -2 + 5 * (1 - std::cos(std::numbers::pi * part(i, 0, 1))) / 2; }},
    {"exponential", Schedule::exponential(0.3, 0.001, 100, 9000),
     [](double i) { return 0.3 * std::pow(0.001 / 0.3, part(i, 100, 9000)); }},
    {"negative exponential", Schedule::exponential(-2, -4, 0, 50),
     [](double i) { return -2 * std::pow(2, part(i, 0, 50)); }},
    {"constant, warmed up", Schedule(0.2).with_warm_up(10),
     [](double i) { return 0.2 * std::min(1.0, (i + 1) / 10); }},
    {"cosine, warmed up", Schedule::cosine(0.3, 0.01, 10, 7500).with_warm_up(100),
     [](double i) {
       return std::min(1.0, (i + 1) / 100) *
              (0.01 + 0.29 * (1 + std::cos(std::numbers::pi * part(i, 10, 7500))) / 2);
     }},
    {"steps, warmed up", Schedule::stepwise(5, {{7, 10}}).with_warm_up(9),
     [](double i) { return std::min(1.0, (i + 1) / 9) * (i > 7 ? 10 : 5); }},
};

TEST(Schedule, HasItsClosedFormAtEveryIterationAndOnBothSidesOfThresholds) {
  std::vector<int> iterations;
  for (int i = 0; i < 120; i++) iterations.push_back(i);
  for (int i : {2999, 3000, 3001, 5000, 7499, 7500, 7501, 8999, 9000, 9001, 15000, 1000000}) {
    iterations.push_back(i);
  }
  for (const Row& row : rows) {
    SCOPED_TRACE(row.name);
    EXPECT_NO_THROW(row.schedule.check("test"));
    for (auto [dtype, error] : {std::pair(DType::f32, 3e-6), std::pair(DType::f64, 1e-13)}) {
      auto at = jit(vmap([&, dtype = dtype](const Array& i) { return row.schedule.at(i, dtype); }));
      Array values = at(array(iterations));
      EXPECT_EQ(values.dtype(), dtype);
      Doubles found = doubles(values);
      for (std::size_t i = 0; i < iterations.size(); i++) {
        double expected = row.expected(iterations[i]);
        EXPECT_NEAR(found[i], expected, error * std::abs(expected)) << "at " << iterations[i];
      }
    }
  }
}

TEST(Schedule, SaysWhatIsWrong) {
  double inf = std::numeric_limits<double>::infinity(), nan = std::nan("");
  struct Bad {
    Schedule schedule;
    const char* message;
  };
  const std::vector<Bad> table = {
      {nan, "rate: a schedule holds a value that is not finite"},
      {inf, "not finite"},
      {Schedule::stepwise(1, {{5, 2}, {6, inf}}), "not finite"},
      {Schedule::stepwise(1, {{5, 2}, {3, 4}}),
       "rate: the step after iteration 3 stands behind that after 5. Give steps in order"},
      {Schedule::stepwise(1, {{5, 2}, {5, 4}}), "after iteration 5 stands behind that after 5"},
      {Schedule::cosine(1, nan, 0, 5), "not finite"},
      {Schedule::cosine(1, 0, 5, 5), "rate: a schedule ends at iteration 5, which is not after"},
      {Schedule::exponential(1, 2, 5, 4), "ends at iteration 4, which is not after its begin, 5"},
      {Schedule::exponential(1, 0, 0, 5), "exponential schedule goes from 1.000000 to 0.000000"},
      {Schedule::exponential(1, -1, 0, 5), "Both must be of one sign and not 0"},
  };
  for (const Bad& bad : table) {
    EXPECT_THAT(error_of([&] { bad.schedule.check("rate"); }), HasSubstr(bad.message));
  }
}

TEST(Schedule, KnowsTheLeastOfItsValues) {
  EXPECT_EQ(Schedule(3).least(), 3);
  EXPECT_EQ(Schedule::stepwise(1, {{5, 2}, {9, -4}, {10, 7}}).least(), -4);
  EXPECT_EQ(Schedule::cosine(1, 0, 0, 5).least(), 0);
  EXPECT_EQ(Schedule::exponential(1, 2, 0, 5).least(), 1);
}

}  // namespace
}  // namespace sturnus
