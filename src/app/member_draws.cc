#include "src/app/member_draws.h"

#include <sturnus/functional/doubles.h>
#include <sturnus/ops/random.h>

#include <vector>

namespace sturnus::app {

InferenceData member_draws(const ExperimentData& data, const Matrix& lambda, const Matrix& f,
                           std::uint64_t seed) {
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
  add_measurements(result, data.train, predicted, 1);
  return result;
}

}  // namespace sturnus::app
