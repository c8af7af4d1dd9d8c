#include "src/app/member_draws.h"

#include <sturnus/functional/doubles.h>
#include <sturnus/ops/random.h>

#include <cmath>
#include <numbers>
#include <vector>

namespace sturnus::app {
namespace {

// sum log N(y | f, sigma^2) for each row of f.
std::vector<double> log_likelihoods(const ExperimentData& data, const Matrix& f) {
  std::vector<double> result(f.rows);
  for (std::size_t i = 0; i < f.rows; i++) {
    for (std::size_t j = 0; j < f.cols; j++) {
      double z = (f(i, j) - data.train.y[j]) / data.noise_sd;
      result[i] -= 0.5 * (z * z + std::log(2 * std::numbers::pi)) + std::log(data.noise_sd);
    }
  }
  return result;
}

}  // namespace

InferenceData member_draws(const ExperimentData& data, const Matrix& lambda, const Matrix& f,
                           std::uint64_t seed, const MemberStatistics& statistics) {
  ChainDraws draws;
  draws.chains = 1;
  draws.draws = lambda.rows;
  for (std::size_t k = 0; k < lambda.cols; k++) {
    ParameterDraws parameter = {data.parameter_names.at(k), {}, {}};
    for (std::size_t i = 0; i < lambda.rows; i++) parameter.values.push_back(lambda(i, k));
    draws.parameters.push_back(parameter);
  }
  Matrix predicted = f;
  Shape shape = {static_cast<std::int64_t>(f.rows), static_cast<std::int64_t>(f.cols)};
  std::vector<double> noise = to_doubles(normal(key(seed), shape, DType::f64));
  for (std::size_t i = 0; i < noise.size(); i++) predicted.values[i] += data.noise_sd * noise[i];

  InferenceData result = inference_data(draws);
  DataGroup& stats = result.groups.emplace_back();
  stats.name = "sample_stats";
  auto add = [&](const std::string& name, const std::vector<double>& values) {
    stats.variables.push_back({name, {"chain", "draw"}, {1, values.size()}, values});
  };
  add("log_likelihood", log_likelihoods(data, f));
  for (const auto& [name, values] : statistics) add(name, values);
  add_measurements(result, data.train, predicted, 1);
  return result;
}

}  // namespace sturnus::app
