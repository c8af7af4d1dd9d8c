#include <sturnus/functional/doubles.h>
#include <sturnus/functional/jit.h>
#include <sturnus/functional/vmap.h>
#include <sturnus/inference/posteriors/measured_curves.h>
#include <sturnus/inference/posteriors/posteriors.h>
#include <sturnus/ops/arithmetic.h>
#include <sturnus/ops/creation.h>
#include <sturnus/ops/index.h>
#include <sturnus/ops/random.h>
#include <sturnus/ops/shape.h>
#include <sturnus/ops/transcendental.h>
#include <sturnus/runtime/error.h>

#include <algorithm>
#include <string>
#include <utility>

namespace sturnus {
namespace {

Array vector_of(std::span<const double> values) {
  return array(std::vector<double>(values.begin(), values.end()),
               {static_cast<std::int64_t>(values.size())}, DType::f64);
}

Array zero(const Shape& shape = {}) { return zeros(shape, DType::f64); }

/// Takes a function of parameters in a struct as one of parameters in a vector.
template <class Parameters>
auto unraveled(const Parameters& like) {
  return ravel(like).second;
}

template <class Values>
MeasuredCurve experiment_curve(const ExperimentData& data, const Values& values) {
  MeasuredCurve result;
  result.data = data.train;
  result.noise_sd = data.noise_sd;
  result.plot = data.plot;
  result.values = values;
  result.measured = with_normal_noise(data.noise_sd);
  return result;
}

/// The posterior of a model whose curve has a closed form.
template <class Parameters>
CurvePosterior closed_form(const ExperimentData& data, const Target& target,
                           const Parameters& like) {
  auto values = [back = unraveled(like)](const Array& parameters, std::span<const double> times) {
    return curve(back(parameters), vector_of(times));
  };
  return {target, experiment_curve(data, values)};
}

CurvePosterior lotka_volterra(const ExperimentData& data) {
  LotkaVolterra like = {zero({2}), zero(), zero(), zero(), zero()};
  auto values = [back = unraveled(like), first = data.train.x.at(0)](
                    const Array& parameters, std::span<const double> times) {
    if (times.empty() || times[0] < first) {
      throw Error("curve_posterior: Lotka-Volterra at " +
                  (times.empty() ? std::string("no times") : "time " + std::to_string(times[0])) +
                  ", but its solution begins at the first measurement, " + std::to_string(first) +
                  ". Give later times, or measure earlier");
    }
    // The solver begins at the first measurement.
    bool begins = times[0] == first;
    std::vector<double> all(times.begin(), times.end());
    if (!begins) all.insert(all.begin(), first);
    Array f = curve(back(parameters), all);
    std::int64_t skipped = begins ? 0 : 1;
    return slice(f, {skipped, 0}, f.shape());
  };
  CurvePosterior result = {lotka_volterra_model(data.train, data.noise_sd),
                           experiment_curve(data, values)};
  result.curve.outputs = {"prey", "predators"};
  return result;
}

Array array_of(MatrixView rows) {
  return array(std::vector<double>(rows.data, rows.data + rows.rows * rows.cols),
               {static_cast<std::int64_t>(rows.rows), static_cast<std::int64_t>(rows.cols)},
               DType::f64);
}

/// Rows `begin` to `end` - 1 of parameters.
using Rows = std::function<Array(std::size_t begin, std::size_t end)>;

Rows rows_in(MatrixView parameters) {
  return [=](std::size_t begin, std::size_t end) {
    return array_of({parameters.data + begin * parameters.cols, end - begin, parameters.cols});
  };
}

Rows rows_in(const ChainDraws& draws) {
  return
      [&](std::size_t begin, std::size_t end) { return array_of(rows_between(draws, begin, end)); };
}

/// What `of(begin, end)` gives of so many rows, a block at a time: what is computed on the way to a
/// curve, all units of a network at all times, is much larger than parameters and curve.
template <class Of>
Matrix by_blocks(std::size_t count, const Of& of) {
  constexpr std::size_t longest = 1000;
  std::size_t block = std::min(count, longest);
  Matrix result(count, 0);
  for (std::size_t done = 0; done < count; done += block) {
    std::size_t begin = std::min(done, count - block);  // all are of one length, for one program
    std::vector<double> values = to_doubles(of(begin, begin + block));
    if (done == 0) result = Matrix(count, values.size() / block);
    std::copy(values.begin(), values.end(), &result(begin, 0));
  }
  return result;
}

Matrix curves_of(const MeasuredCurve& curve, std::size_t count, const Rows& rows,
                 std::span<const double> times) {
  auto one = [&](const Array& parameters) { return curve.values(parameters, times); };
  auto block = jit([&](const Array& parameters) { return vmap(one)(parameters); });
  return by_blocks(count,
                   [&](std::size_t begin, std::size_t end) { return block(rows(begin, end)); });
}

Matrix predictions_of(const MeasuredCurve& curve, std::size_t count, const Rows& rows,
                      std::span<const double> times, std::uint64_t seed) {
  auto one = [&](const Array& parameters, const Key& key) {
    Array values = curve.values(parameters, times);
    return curve.measured(parameters, values, normal(key, values.shape(), DType::f64));
  };
  auto block = jit([&](const Array& parameters, const Key& keys, const Array& begin) {
    Shape size = {parameters.shape()[0], keys.data.shape()[1]};
    return vmap(one)(parameters, Key{dynamic_slice(keys.data, {begin, Array(0)}, size)});
  });
  Key keys = split(key(seed), static_cast<std::int64_t>(count));
  return by_blocks(count, [&](std::size_t begin, std::size_t end) {
    return block(rows(begin, end), keys, Array(static_cast<std::int32_t>(begin)));
  });
}

}  // namespace

MeasuredCurve::Noise with_normal_noise(double sd) {
  return
      [sd](const Array&, const Array& values, const Array& normal) { return values + sd * normal; };
}

CurvePosterior curve_posterior(const ExperimentData& data, bool free_phase) {
  Measurements measured = {data.train.x, data.train.y, data.noise_sd};
  switch (data.experiment) {
    case Experiment::exponential:
      return closed_form(data, exponential_model(measured), Exponential{zero(), zero()});
    case Experiment::oscillator:
      if (free_phase) {
        return closed_form(data, oscillator_model(measured, FreePhasePrior()),
                           FreePhaseOscillation{zero(), zero(), zero(), zero()});
      }
      return closed_form(data, oscillator_model(measured), Oscillation{zero(), zero(), zero()});
    case Experiment::lotka_volterra:
      return lotka_volterra(data);
    case Experiment::advection:
      break;
  }
  throw Error(
      "curve_posterior: the posterior of " + std::string(name_of(data.experiment)) +
      " has no curve of time alone. Take advection_posterior, or exponential, oscillator or "
      "lotka_volterra here");
}

MeasuredCurve hare_lynx_curve() {
  MeasuredCurve result;
  result.data = hare_lynx_data();
  result.input = "year";
  result.outputs = {"hares", "lynxes"};
  result.plot.outputs = 2;
  result.plot.points = 201;
  for (int i = 0; i <= 200; i++) result.plot.x.push_back(1900 + 0.1 * i);
  auto back = unraveled(HareLynx{zero({4}), zero({2}), zero({2})});
  result.values = [back](const Array& parameters, std::span<const double> years) {
    return curve(back(parameters), years);
  };
  result.measured = [back](const Array& parameters, const Array& values, const Array& normal) {
    return values * exp(back(parameters).sigma * normal);
  };
  return result;
}

MeasuredCurve eight_schools_curve() {
  MeasuredCurve result;
  result.data = eight_schools_data();
  result.plot = {.points = result.data.points, .x = result.data.x, .truth = {}, .y = {}};
  result.input = "school";
  result.outputs = {"effect"};
  result.continuous = false;
  result.values = [all = result.data.x](const Array& parameters, std::span<const double> schools) {
    if (!std::equal(schools.begin(), schools.end(), all.begin(), all.end())) {
      throw Error("eight_schools_curve: the effects of " + std::to_string(schools.size()) +
                  " schools are asked for. Ask for schools 1 to 8");
    }
    std::int64_t end = parameters.shape()[0];  // theta is the last
    return slice(parameters, {end - 8}, {end});
  };
  result.measured = [](const Array&, const Array& values, const Array& normal) {
    return values + vector_of(eight_schools_errors()) * normal;
  };
  return result;
}

Matrix curves(const MeasuredCurve& curve, MatrixView parameters, std::span<const double> times) {
  return curves_of(curve, parameters.rows, rows_in(parameters), times);
}

Matrix curves(const MeasuredCurve& curve, const ChainDraws& draws, std::span<const double> times) {
  return curves_of(curve, draws.chains * draws.draws, rows_in(draws), times);
}

Matrix predicted_measurements(const MeasuredCurve& curve, MatrixView parameters,
                              std::span<const double> times, std::uint64_t seed) {
  return predictions_of(curve, parameters.rows, rows_in(parameters), times, seed);
}

Matrix predicted_measurements(const MeasuredCurve& curve, const ChainDraws& draws,
                              std::span<const double> times, std::uint64_t seed) {
  return predictions_of(curve, draws.chains * draws.draws, rows_in(draws), times, seed);
}

}  // namespace sturnus
