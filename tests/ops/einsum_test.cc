// einsum against the sum over all values of all labels, and its errors.
#include <gtest/gtest.h>
#include <sturnus/functional/graph.h>
#include <sturnus/ops/einsum.h>

#include <cmath>
#include <map>
#include <random>
#include <string>
#include <vector>

namespace sturnus {
namespace {

// An einsum without "...", by brute force.
std::vector<double> brute_force(const std::vector<std::string>& inputs, const std::string& output,
                                const Arrays& x) {
  std::map<char, std::int64_t> extents;
  std::string labels = output;
  for (std::size_t i = 0; i < x.size(); i++) {
    for (std::size_t k = 0; k < inputs[i].size(); k++) extents[inputs[i][k]] = x[i].shape()[k];
    labels += inputs[i];
  }
  std::map<char, std::int64_t> at;
  std::vector<std::vector<double>> values;
  for (const Array& array : x) {
    auto elements = array.to_vector<double>();
    values.emplace_back(elements.begin(), elements.end());
  }
  auto offset = [&](const std::string& of) {
    std::int64_t position = 0;
    for (char label : of) position = position * extents[label] + at[label];
    return static_cast<std::size_t>(position);
  };
  std::int64_t size = 1, count = 1;
  for (char label : output) size *= extents[label];
  for (auto [label, extent] : extents) count *= extent;
  std::vector<double> result(static_cast<std::size_t>(size));
  for (std::int64_t n = 0; n < count; n++) {
    std::int64_t rest = n;
    for (auto [label, extent] : extents) {
      at[label] = rest % extent;
      rest /= extent;
    }
    double product = 1;
    for (std::size_t i = 0; i < x.size(); i++) product *= values[i][offset(inputs[i])];
    result[offset(output)] += product;
  }
  return result;
}

Array random_array(const Shape& shape, unsigned seed) {
  std::mt19937 generator(seed);
  std::uniform_real_distribution<double> uniform(-1, 1);
  std::vector<double> values(static_cast<std::size_t>(ArrayType{DType::f64, shape}.size()));
  for (double& value : values) value = uniform(generator);
  return array(values, shape);
}

struct Case {
  std::string spec;
  std::vector<Shape> shapes;
  std::vector<std::string> inputs;  // the spec with everything named
  std::string output;
};

TEST(Einsum, IsTheSumOverAllLabels) {
  const std::vector<Case> cases = {
      {"ij,jk->ik", {{2, 3}, {3, 4}}, {"ij", "jk"}, "ik"},
      {"ij,jk", {{2, 3}, {3, 4}}, {"ij", "jk"}, "ik"},
      {"ba", {{2, 3}}, {"ba"}, "ab"},
      {"ij->", {{2, 3}}, {"ij"}, ""},
      {"ii", {{3, 3}}, {"ii"}, ""},
      {"ii->i", {{3, 3}}, {"ii"}, "i"},
      {"iij->ji", {{3, 3, 2}}, {"iij"}, "ji"},
      {"iii->i", {{3, 3, 3}}, {"iii"}, "i"},
      {"ijij->ij", {{2, 3, 2, 3}}, {"ijij"}, "ij"},
      {"i,i->i", {{3}, {3}}, {"i", "i"}, "i"},
      {"i,j->ji", {{3}, {2}}, {"i", "j"}, "ji"},
      {"bij,bjk->bik", {{2, 2, 3}, {2, 3, 2}}, {"bij", "bjk"}, "bik"},
      {"ij,kj,k->i", {{2, 3}, {4, 3}, {4}}, {"ij", "kj", "k"}, "i"},
      {"ij,kl->", {{2, 3}, {2, 2}}, {"ij", "kl"}, ""},
      {"...ij,...jk->...ik", {{2, 2, 3}, {2, 3, 2}}, {"bij", "bjk"}, "bik"},
      {"...ij,jk->...ik", {{4, 2, 2, 3}, {3, 2}}, {"abij", "jk"}, "abik"},
      {"i...,...", {{2, 3}, {3}}, {"ib", "b"}, "bi"},
      {" i j , j -> i ", {{2, 3}, {3}}, {"ij", "j"}, "i"},
      {"ij,j->i", {{2, 0}, {0}}, {"ij", "j"}, "i"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.spec);
    Arrays x;
    for (const Shape& shape : c.shapes) {
      x.push_back(random_array(shape, static_cast<unsigned>(x.size()) + 1));
    }
    auto expected = brute_force(c.inputs, c.output, x);
    auto actual = einsum(c.spec, x).to_vector<double>();
    ASSERT_EQ(actual.size(), expected.size());
    for (std::size_t i = 0; i < expected.size(); i++) {
      EXPECT_NEAR(actual[i], expected[i], 1e-14) << "element " << i;
    }
  }
}

TEST(Einsum, BroadcastsTheAxesOfAnEllipsis) {
  Array a = random_array({2, 1, 3}, 1), b = random_array({4, 3}, 2);
  EXPECT_EQ(einsum("...i,...i->...", a, b).shape(), (Shape{2, 4}));
  EXPECT_EQ(einsum("...i->i...", random_array({1, 3}, 1)).shape(), (Shape{3, 1}));
}

TEST(Einsum, SaysWhatDoesNotFit) {
  Array a = random_array({2, 3}, 1), b = random_array({4, 5}, 2);
  struct Wrong {
    std::string spec;
    Arrays x;
    std::string message;
  };
  const std::vector<Wrong> cases = {
      {"ij,jk->ik", {a, b}, "label 'j' of \"ij,jk->ik\" is 3 in f64[2,3] and 4 in f64[4,5]"},
      {"ij,jk->ik", {a}, "\"ij,jk->ik\" is for 2 operands, 1 were given"},
      {"ijk->i", {a}, "\"ijk\" of \"ijk->i\" does not fit the axes of f64[2,3]"},
      {"i->i", {a}, "\"i\" of \"i->i\" does not fit the axes of f64[2,3]"},
      {"ij->ik", {a}, "label 'k' of the output of \"ij->ik\" is in no operand"},
      {"ij->ii", {a}, "label 'i' is twice in the output"},
      {"ij+->i", {a}, "has '+', which is neither a letter nor"},
      {"ii->i", {a}, "label 'i' of \"ii->i\" is 2 in f64[2,3] and 3 in f64[2,3]"},
  };
  for (const Wrong& c : cases) {
    try {
      einsum(c.spec, c.x);
      FAIL() << c.spec << " was taken";
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find(c.message), std::string::npos) << error.what();
    }
  }
}

}  // namespace
}  // namespace sturnus
