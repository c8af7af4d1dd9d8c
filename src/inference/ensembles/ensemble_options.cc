#include <sturnus/inference/ensembles/ensemble_options.h>
#include <sturnus/runtime/setting_error.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <string>
#include <utility>

namespace sturnus {

Network network_for(const Problem& problem, Network network) {
  network.inputs = problem.inputs();
  network.outputs = problem.outputs();
  if (network.input_low.empty()) {
    network.input_low = problem.low;
    network.input_high = problem.high;
  }
  if (!network.output_range) {
    auto [low, high] = std::minmax_element(problem.data.y.begin(), problem.data.y.end());
    // A single measurement has no range of its own.
    double margin = *low < *high ? 0 : std::max(problem.noise_sd, std::abs(*low));
    network.output_range = {*low - margin, *high + margin};
  }
  return network;
}

namespace {

// How many numbers the density sees of a member.
std::int64_t dimensions_of(Seen seen, const EnsembleOptions& options, const Problem& problem) {
  auto points = static_cast<std::int64_t>(problem.data.points);
  auto inputs = problem.inputs(), outputs = problem.outputs();
  switch (seen) {
    case Seen::data_values:
      return points * outputs;
    case Seen::collocation_values:
      return options.collocation.points * outputs;
    case Seen::point_values:
      return static_cast<std::int64_t>(options.repulsion.points.size()) / inputs * outputs;
    case Seen::data_gradients:
      return points * outputs * inputs;
    case Seen::parameters:
      return static_cast<std::int64_t>(problem.parameters.size());
    case Seen::weights:
      return network_for(problem, options.network).size();
  }
  throw Error("Ensemble: repulsion of something unknown");
}

[[noreturn]] void refuse(const char* setting, const std::string& what) {
  throw SettingError(setting, "Ensemble: " + what);
}

void check_weight(const Schedule& weight, const char* setting) {
  weight.check(setting);
  if (weight.least() >= 0) return;
  refuse(setting, "a weight of " + std::to_string(weight.least()) + ". Give at least 0");
}

void check_points(const std::vector<double>& points, const Problem& problem, bool seen) {
  constexpr const char* setting = "repulsion.points";
  auto inputs = static_cast<std::size_t>(problem.inputs());
  if (!seen && points.empty()) return;
  if (!seen) refuse(setting, "points for the repulsion, which does not see point_values");
  if (points.empty() || points.size() % inputs != 0) {
    refuse(setting, "repulsion at points, of which " + std::to_string(points.size()) +
                        " numbers are given. Give " + std::to_string(inputs) + " for each point");
  }
  for (std::size_t i = 0; i < points.size(); i++) {
    double low = problem.low[i % inputs], high = problem.high[i % inputs];
    if (points[i] >= low && points[i] <= high) continue;
    refuse(setting, "repulsion at " + std::to_string(points[i]) + ", outside the domain from " +
                        std::to_string(low) + " to " + std::to_string(high));
  }
}

// Pairs of members are counted in i32.
constexpr std::int64_t most_ranked_members = 65536;
static_assert(most_ranked_members * (most_ranked_members - 1) / 2 <=
              std::numeric_limits<std::int32_t>::max());

void check_repulsion(const EnsembleOptions& options, const Problem& problem) {
  const Repulsion& repulsion = options.repulsion;
  const std::vector<Seen>& seen = repulsion.seen;
  check_weight(repulsion.weight, "repulsion.weight");
  for (auto i = seen.begin(); i != seen.end(); ++i) {
    if (std::find(seen.begin(), i, *i) == i) continue;
    refuse("repulsion.seen", "the repulsion sees one thing twice. Name each once");
  }
  if (problem.parameters.empty() &&
      std::find(seen.begin(), seen.end(), Seen::parameters) != seen.end()) {
    refuse("repulsion.seen", "the repulsion sees parameters, of which problem " + problem.name +
                                 " has none. Let it see something else, or take the variant none");
  }
  check_points(repulsion.points, problem,
               std::find(seen.begin(), seen.end(), Seen::point_values) != seen.end());
  if (seen.empty()) return;
  std::int64_t members = options.members;
  if (members == 1) {
    refuse("members",
           "repulsion with 1 member, which has nobody to keep away from. Give more members or the "
           "variant none");
  }
  Bandwidth bandwidth = repulsion.density.bandwidth;
  if (repulsion.factorization != Factorization::correlated) {
    bool ranks = bandwidth == Bandwidth::median || bandwidth == Bandwidth::scaled_median;
    if (!ranks || members <= most_ranked_members) return;
    refuse("members", std::to_string(members) +
                          " members, whose pairs a median bandwidth ranks. Give at most " +
                          std::to_string(most_ranked_members) +
                          ", or the bandwidth silverman or scott");
  }
  const char* own_width = "the correlated density has a width of its own. Leave this out";
  if (bandwidth != Bandwidth::median) refuse("repulsion.bandwidth", own_width);
  if (repulsion.density.leave_one_out) {
    refuse("repulsion.leave_one_out",
           "the correlated density leaves nobody out of it. Take another, or leave this out");
  }
  if (repulsion.density.block != 0) {
    refuse("repulsion.block",
           "the correlated density takes all members at once. Take another, or leave this out");
  }
  std::int64_t dimensions = 0;
  for (Seen what : seen) dimensions += dimensions_of(what, options, problem);
  if (members < dimensions + 2) {
    refuse("members", std::to_string(members) +
                          " members, of each of which the correlated density "
                          "sees " +
                          std::to_string(dimensions) + " numbers. Give at least " +
                          std::to_string(dimensions + 2) + ", or let it see less");
  }
}

// The loss squares data and noise, and the equation what is as large as the data.
void check_sizes(const Problem& problem, DType dtype) {
  bool wide = dtype == DType::f64;
  double largest =
      wide ? std::numeric_limits<double>::max() : double{std::numeric_limits<float>::max()};
  auto check = [&](const char* setting, const std::string& what, double value, double limit) {
    if (std::abs(value) <= limit) return;
    char number[32];
    std::snprintf(number, sizeof(number), "%g", value);
    refuse(setting, what + number + (limit < largest ? ", whose square" : ", which") +
                        (wide ? " f64 does not hold. Scale the data"
                              : " f32 does not hold. Scale the data, or give \"dtype\": \"f64\""));
  };
  check("noise_sd", "the noise has standard deviation ", problem.noise_sd, std::sqrt(largest));
  const Samples& data = problem.data;
  for (std::size_t i = 0; i < data.y.size(); i++) {
    check("data", "measurement " + std::to_string(i / data.outputs) + " is ", data.y[i],
          std::sqrt(largest));
  }
  for (std::size_t i = 0; i < data.x.size(); i++) {
    check("data", "measurement " + std::to_string(i / data.inputs) + " lies at ", data.x[i],
          largest);
  }
}

}  // namespace

void EnsembleOptions::check(const Problem& problem) const {
  if (members < 1) refuse("members", std::to_string(members) + " members. Give at least 1");
  if (dtype != DType::f32 && dtype != DType::f64) {
    refuse("dtype", "element type " + std::string(name_of(dtype)) + ". Use f32 or f64");
  }
  if (devices < 1 || members % devices != 0) {
    refuse("devices", std::to_string(members) + " members on " + std::to_string(devices) +
                          " devices. Give a number of devices that divides the number of members");
  }
  check_sizes(problem, dtype);
  network_for(problem, network).check();
  collocation.check(problem.inputs());
  optimizer.check();
  lbfgs.check();
  check_weight(data_weight, "data_weight");
  check_weight(residual_weight, "residual_weight");
  check_weight(prior_weight, "prior_weight");
  check_repulsion(*this, problem);
}

}  // namespace sturnus
