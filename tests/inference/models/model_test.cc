#include <gtest/gtest.h>
#include <sturnus/functional/graph.h>
#include <sturnus/functional/jit.h>
#include <sturnus/inference/models/densities.h>
#include <sturnus/inference/models/model.h>
#include <sturnus/ops/arithmetic.h>
#include <sturnus/ops/creation.h>
#include <sturnus/ops/reduce.h>
#include <sturnus/ops/transcendental.h>

#include <cmath>
#include <string>
#include <vector>

#include "tests/inference/host.h"

namespace sturnus {
namespace {

struct Group {
  Array spread, weights;
};
struct Parameters {
  Array mean;
  std::vector<Group> groups;
};

Array log_joint(const Parameters& p) {
  Array total = sum(normal_log_density(p.mean, 0.0, 2.0));
  for (const Group& g : p.groups) {
    total = total + exponential_log_density(g.spread, 0.5) +
            sum(dirichlet_log_density(g.weights, device_array({2, 3, 4}, {3})));
  }
  return total;
}

Parameters like() {
  Group group = {0.0, zeros({2, 3})};
  return {zeros({2}), {group, group}};
}

Model<Parameters> model() {
  return Model(log_joint, like(),
               {{".groups[0].spread", Bijection::positive()},
                {".groups[1].spread", Bijection::positive()},
                {".groups[0].weights", Bijection::simplex()},
                {".groups[1].weights", Bijection::simplex()}});
}

TEST(Model, NamesAndSizesFollowTheStruct) {
  Model m = model();
  EXPECT_EQ(m.size, 2 + 2 * (1 + 2 * 2));
  EXPECT_EQ(m.names.size(), 2u + 2 * (1 + 2 * 3));
  EXPECT_EQ(m.names[1], "mean[1]");
  EXPECT_EQ(m.names[2], "groups[0].spread");
  EXPECT_EQ(m.names.back(), "groups[1].weights[1,2]");
  EXPECT_EQ(m.free_names.size(), static_cast<std::size_t>(m.size));
  EXPECT_EQ(m.free_names.back(), "groups[1].weights[1,1]");
}

TEST(Model, DensityOfFreeNumbersIsTheJointOneTimesTheVolume) {
  Model m = model();
  Array y = device_array(random_numbers(12, 5), {12});
  Parameters x = m.constrain(y);
  EXPECT_EQ(x.mean.dtype(), DType::f64);
  double expected = log_joint(x).item<double>();
  Doubles free = doubles(y);
  auto simplex_at = [&](std::size_t i) {
    Doubles part(free.begin() + static_cast<std::ptrdiff_t>(i),
                 free.begin() + static_cast<std::ptrdiff_t>(i) + 4);
    return Bijection::simplex().log_det(device_array(part, {2, 2})).item<double>();
  };
  expected += free[2] + simplex_at(3) + free[7] + simplex_at(8);
  EXPECT_NEAR(m.log_density(y).item<double>(), expected, 1e-12);
  EXPECT_NEAR(doubles(x.groups[1].spread)[0], std::exp(free[7]), 1e-14);

  Doubles back = doubles(m.unconstrain(x));
  for (std::size_t i = 0; i < 12; i++) EXPECT_NEAR(back[i], free[i], 1e-12);
  EXPECT_EQ(m.parameters(y).shape(), Shape{static_cast<std::int64_t>(m.names.size())});
  EXPECT_EQ(doubles(m.parameters(y))[2], doubles(x.groups[0].spread)[0]);
}

TEST(Model, SaysWhatIsWrong) {
  auto message_of = [](auto f) -> std::string {
    try {
      f();
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(message_of([] {
              Model(log_joint, like(), {{".sigma", Bijection::positive()}});
            }),
            "Model: the bijection positive is for .sigma, but the parameters are .mean, "
            ".groups[0].spread, .groups[0].weights, .groups[1].spread, .groups[1].weights. Give "
            "one of their paths");
  Model vector([](const Parameters& p) { return p.mean; }, like());
  EXPECT_EQ(message_of([&] { vector.log_density(zeros({16}, DType::f64)); }),
            "Model: the log density is f64[2], but must be a scalar. Sum it");
  EXPECT_EQ(message_of([&] { vector.log_density(zeros({3}, DType::f64)); }),
            "Model::log_density: the free numbers are f64[3], but the model has 16. Give f64[16]");
  EXPECT_EQ(message_of([&] { vector.constrain(zeros({7})); }),
            "Model::constrain: the free numbers are f32[7], but the model has 16. Give f32[16]");
  EXPECT_EQ(message_of([&] {
              vector.parameters(zeros({4, 4}));
            }),
            "Model::parameters: the free numbers are f32[4,4], but the model has 16. Give f32[16]");
  Parameters unset = like();
  unset.groups[1].weights = Array();
  EXPECT_EQ(message_of([&] { Model(log_joint, unset); }),
            "Model: .groups[1].weights is Array(), which has no type and no value. Assign it one, "
            "or let it be a std::optional<Array>");
  EXPECT_EQ(message_of([&] { vector.unconstrain(unset); }),
            "Model::unconstrain: .groups[1].weights is Array(), which has no type and no value. "
            "Assign it one, or let it be a std::optional<Array>");
  Parameters other = like();
  other.mean = zeros({3});
  EXPECT_THROW(vector.unconstrain(other), ShapeError);
  other.groups.pop_back();
  EXPECT_EQ(message_of([&] { vector.unconstrain(other); }),
            "Model::unconstrain: the parameters are 3 arrays, but were 5 when the model was made. "
            "Give as many elements of each list");
  EXPECT_EQ(message_of([] {
              Model(log_joint, like(),
                    {{".mean", Bijection::positive()}, {".mean", Bijection::ordered()}});
            }),
            "Model: the bijections positive of .mean and ordered of .mean are both for .mean. Give "
            "it one");
  EXPECT_EQ(
      message_of([] {
        Model(log_joint, like(),
              {{".groups[1].spread", Bijection::positive()}, {".groups", Bijection::positive()}});
      }),
      "Model: the bijections positive of .groups[1].spread and positive of .groups are both "
      "for .groups[1].spread. Give it one");
}

struct Number {
  Array x;
};

TEST(Model, UnconstrainsOnlyWhatItsBijectionsGive) {
  auto message_of = [](const Bijection& bijection, const Array& x) -> std::string {
    Model<Number> m([](const Number& n) { return sum(n.x); }, {x}, {{".x", bijection}});
    try {
      m.unconstrain({x});
    } catch (const Error& error) {
      return error.what();
    }
    return "nothing was thrown";
  };
  Array minus(-1.0, DType::f64), one(1.0, DType::f64);
  EXPECT_EQ(message_of(Bijection::positive(), one), "nothing was thrown");
  EXPECT_EQ(message_of(Bijection::positive(), minus),
            "Model::unconstrain: .x is -1, which the bijection positive cannot give. Give it "
            "values that are above 0");
  EXPECT_EQ(message_of(Bijection::interval(0.5, 1), one),
            "Model::unconstrain: .x is 1, which the bijection interval cannot give. Give it "
            "values that are above 0.5 and below 1");
  EXPECT_NE(message_of(Bijection::ordered(), device_array({1, 0}, {2})).find("increasing"),
            std::string::npos);
  EXPECT_NE(message_of(Bijection::simplex(), device_array({-1, 2}, {2})).find("with sum 1"),
            std::string::npos);
  EXPECT_NE(message_of(Bijection::identity(), log(minus)).find("that are finite"),
            std::string::npos);

  // Of a traced value nobody knows.
  Model<Number> m([](const Number& n) { return n.x; }, {one}, {{".x", Bijection::positive()}});
  Array free = jit([&](const Array& x) { return m.unconstrain({x}); })(minus);
  EXPECT_TRUE(std::isnan(doubles(free)[0]));
}

}  // namespace
}  // namespace sturnus
