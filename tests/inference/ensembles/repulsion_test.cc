#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sturnus/functional/jit.h>
#include <sturnus/inference/ensembles/repulsion.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "tests/inference/host.h"

namespace sturnus {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// One column of numbers for each value that is seen.
using Columns = std::vector<Doubles>;

constexpr std::size_t members = 25;  // 300 pairs: an even number
const Columns f = {random_numbers(members, 1, 2), random_numbers(members, 2),
                   random_numbers(members, 3, 0.01)};
const Columns lambda = {random_numbers(members, 4), random_numbers(members, 5, 10)};
const Columns both = {f[0], f[1], f[2], lambda[0], lambda[1]};

double published_bandwidth(const Doubles& v) {
  Doubles distances;
  for (std::size_t i = 0; i < v.size(); i++) {
    for (std::size_t j = i + 1; j < v.size(); j++) {
      distances.push_back(std::abs(v[i] - v[j]) + 1e-7);
    }
  }
  std::sort(distances.begin(), distances.end());
  return distances[distances.size() / 2 - 1] / std::sqrt(std::log(v.size()));  // the 150th
}

// ln sum_j k(v_i, v_j), the member itself included.
double joint(const Columns& v, std::size_t i) {
  double sum = 0;
  for (std::size_t j = 0; j < members; j++) {
    double exponent = 0;
    for (const Doubles& column : v) {
      exponent -= 0.5 * std::pow((column[i] - column[j]) / published_bandwidth(column), 2);
    }
    sum += std::exp(exponent);
  }
  return std::log(sum);
}

double value_by_value(const Columns& v, std::size_t i) {
  double total = 0;
  for (const Doubles& column : v) {
    double h = published_bandwidth(column), sum = 0;
    for (std::size_t j = 0; j < members; j++) {
      sum += std::exp(-0.5 * std::pow((column[i] - column[j]) / h, 2)) / h;
    }
    total += std::log(sum);
  }
  return total;
}

Array on_device(const Columns& columns) {
  Doubles rows;
  for (std::size_t i = 0; i < members; i++) {
    for (const Doubles& column : columns) rows.push_back(column[i]);
  }
  return device_array(rows, {members, static_cast<std::int64_t>(columns.size())});
}

TEST(PublishedRepulsion, IsItsFormula) {
  struct Row {
    const char* name;
    std::vector<Seen> seen;
    std::function<double(std::size_t)> expected;
  };
  const std::vector<Row> rows = {
      {"f", {Seen::data_values}, [](std::size_t i) { return joint(f, i); }},
      {"lambda", {Seen::parameters}, [](std::size_t i) { return joint(lambda, i); }},
      {"joint",
       {Seen::data_values, Seen::parameters},
       [](std::size_t i) { return joint(both, i); }},
      {"factorized",
       {Seen::data_values, Seen::parameters},
       [](std::size_t i) { return joint(f, i) + joint(lambda, i); }},
      {"full",
       {Seen::data_values, Seen::parameters},
       [](std::size_t i) { return value_by_value(both, i); }},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.name);
    Repulsion repulsion = published_repulsion(row.name);
    EXPECT_EQ(repulsion.seen, row.seen);
    Arrays seen;
    for (Seen what : repulsion.seen) {
      seen.push_back(on_device(what == Seen::data_values ? f : lambda));
    }
    Array density = jit([&](const Arrays& s) { return log_density(repulsion, s); })(seen);
    EXPECT_EQ(density.shape(), Shape{members});
    Doubles found = doubles(density);
    for (std::size_t i = 0; i < members; i++) EXPECT_NEAR(found[i], row.expected(i), 1e-12);
  }
}

TEST(PublishedRepulsion, HasThePublishedSettings) {
  EXPECT_THAT(published_variants(),
              ElementsAre("none", "f", "lambda", "joint", "factorized", "full"));
  EXPECT_THAT(published_repulsion("none").seen, IsEmpty());
  for (const std::string& name : published_variants()) {
    Repulsion repulsion = published_repulsion(name);
    EXPECT_EQ(repulsion.density.bandwidth, Bandwidth::median);
    EXPECT_FALSE(repulsion.density.leave_one_out);
    EXPECT_EQ(repulsion.weight.value, 1);
    EXPECT_EQ(repulsion.start, 0);
    // Only this one takes the weight 1 / sqrt(N_d).
    EXPECT_EQ(repulsion.factorization == Factorization::full, name == "full");
  }
}

TEST(PublishedRepulsion, OfAnotherNameIsAnError) {
  EXPECT_THAT(error_of([] { published_repulsion("factorised"); }),
              HasSubstr("repulsion: no variant \"factorised\". There are none f lambda joint "
                        "factorized full"));
}

TEST(Repulsion, OfBlocksIsTheSumOverWhatIsSeen) {
  Repulsion repulsion = {.seen = {Seen::data_values, Seen::parameters, Seen::weights}};
  Arrays seen = {on_device(f), on_device(lambda), on_device({f[1], lambda[1]})};
  Doubles found = doubles(jit([&](const Arrays& s) { return log_density(repulsion, s); })(seen));
  for (std::size_t i = 0; i < members; i++) {
    EXPECT_NEAR(found[i], joint(f, i) + joint(lambda, i) + joint({f[1], lambda[1]}, i), 1e-12);
  }
}

TEST(Repulsion, OfOneMemberIsAnError) {
  for (const std::string& name : published_variants()) {
    Repulsion repulsion = published_repulsion(name);
    if (repulsion.seen.empty()) continue;
    Arrays seen(repulsion.seen.size(), array({{1, 2}}));
    EXPECT_THAT(error_of([&] { log_density(repulsion, seen); }), HasSubstr("at least 2 members"));
  }
}

}  // namespace
}  // namespace sturnus
