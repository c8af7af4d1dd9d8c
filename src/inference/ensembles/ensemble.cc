#include <sturnus/functional/control_flow.h>
#include <sturnus/functional/custom.h>
#include <sturnus/functional/doubles.h>
#include <sturnus/functional/grad.h>
#include <sturnus/functional/jacobian.h>
#include <sturnus/functional/jit.h>
#include <sturnus/functional/sharded_program.h>
#include <sturnus/functional/vmap.h>
#include <sturnus/inference/ensembles/ensemble.h>
#include <sturnus/ops/arithmetic.h>
#include <sturnus/ops/creation.h>
#include <sturnus/ops/rearrange.h>
#include <sturnus/ops/reduce.h>
#include <sturnus/ops/shape.h>
#include <sturnus/ops/transcendental.h>
#include <sturnus/runtime/error.h>
#include <sturnus/runtime/setting_error.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <mutex>
#include <string>
#include <utility>

namespace sturnus {
namespace {

/// f(member, point) of all members at all points, [members, points, ...].
template <class F>
Array everywhere(const F& f, const Member& members, const Array& points, bool per_member = false) {
  auto at_points = vmap(f, {.in_axes = {none, 0}});
  return vmap(at_points, {.in_axes = {0, per_member ? MapAxis(0) : MapAxis(none)}})(members,
                                                                                    points);
}

Array rows(const Array& x) { return x.rank() == 2 ? x : reshape(x, {x.shape()[0], -1}); }

Array column(const Array& x, std::int64_t i) {
  return reshape(slice(x, {0, i}, {x.shape()[0], i + 1}), {x.shape()[0]});
}

class Stopwatch {
 public:
  /// Seconds since the last lap.
  double lap() {
    auto before = std::exchange(last_, std::chrono::steady_clock::now());
    return std::chrono::duration<double>(last_ - before).count();
  }

 private:
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

}  // namespace

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

void check_repulsion(const EnsembleOptions& options, const Problem& problem) {
  const Repulsion& repulsion = options.repulsion;
  const std::vector<Seen>& seen = repulsion.seen;
  check_weight(repulsion.weight, "repulsion.weight");
  for (auto i = seen.begin(); i != seen.end(); ++i) {
    if (std::find(seen.begin(), i, *i) == i) continue;
    refuse("repulsion.seen", "the repulsion sees one thing twice. Name each once");
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
  if (repulsion.factorization != Factorization::correlated) return;
  const char* own_width = "the correlated density has a width of its own. Leave this out";
  if (repulsion.density.bandwidth != Bandwidth::median) refuse("repulsion.bandwidth", own_width);
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
  network_for(problem, network).check();
  collocation.check(problem.inputs());
  optimizer.check();
  lbfgs.check();
  check_weight(data_weight, "data_weight");
  check_weight(residual_weight, "residual_weight");
  check_weight(prior_weight, "prior_weight");
  check_repulsion(*this, problem);
}

Array LossTerms::data() const { return column(all, 0); }
Array LossTerms::residual() const { return column(all, 1); }
Array LossTerms::prior() const { return column(all, 2); }
Array LossTerms::repulsion() const { return column(all, 3); }

struct Ensemble::Implementation {
  Implementation(Problem given, EnsembleOptions chosen)
      : problem(std::move(given)),
        options(std::move(chosen)),
        measured_at(points_array(problem.data.x)),
        repelled_at(points_array(options.repulsion.points)),
        measured_values(array(problem.data.y, {measured()}, options.dtype)),
        shapes(eval_shape([this] { return fresh_members(key(0)); })) {}

  const Problem problem;
  const EnsembleOptions options;
  // Made once, so that f at the measured points is one value wherever it is asked for.
  const Array measured_at, repelled_at, measured_values;
  const Member shapes;  // of all members' arrays

  std::int64_t measured() const { return static_cast<std::int64_t>(problem.data.y.size()); }
  /// 2 sigma^2 / N_d: with it the loss is proportional to minus a log posterior.
  double rho() const {
    return 2 * problem.noise_sd * problem.noise_sd / static_cast<double>(measured());
  }

  Array points_array(const std::vector<double>& x) const {
    std::int64_t inputs = problem.inputs();
    auto count = static_cast<std::int64_t>(x.size()) / inputs;
    return array(x, inputs == 1 ? Shape{count} : Shape{count, inputs}, options.dtype);
  }

  // --- One member at one point
  Array value(const Member& m, const Array& point) const {
    return options.network(m.network, point);
  }
  Array residual(const Member& m, const Array& point) const {
    Field f = [&](const Array& x) { return value(m, x); };
    return problem.equation(f, point, m.lambda);
  }

  // --- All members
  Array values(const Member& members, const Array& points, bool per_member = false) const {
    return everywhere([this](const Member& m, const Array& x) { return value(m, x); }, members,
                      points, per_member);
  }
  Array residuals(const Member& members, const Array& points, bool per_member) const {
    return everywhere([this](const Member& m, const Array& x) { return residual(m, x); }, members,
                      points, per_member);
  }

  // --- What the loss is made of
  /// Values at the measured points and residuals at the others.
  struct Outputs {
    Array f, r;
  };
  Outputs outputs(const Member& members, const Array& points) const {
    bool per_member = options.collocation.per_member;
    return {values(members, measured_at), residuals(members, points, per_member)};
  }
  /// The same from one pass of the network through all points. The equation and the constraint then
  /// get to the measured points too, where they may be singular: nothing that is differentiated
  /// goes through them there.
  Outputs outputs_at_once(const Member& members, const Array& points) const {
    bool per_member = options.collocation.per_member;
    std::size_t axis = per_member ? 1 : 0;
    Array measured_too = measured_at;
    if (per_member) {
      Shape shape = measured_at.shape();
      shape.insert(shape.begin(), options.members);
      measured_too = broadcast_to(measured_at, shape);
    }
    Array all = concatenate({points, measured_too}, static_cast<int>(axis));
    std::int64_t count = points.shape()[axis], end = all.shape()[axis];
    auto equation_if = [this](const Member& m, const Array& point, const Array& asked) {
      Network network = options.network;
      auto constraint = std::exchange(network.constraint, nullptr);
      auto gate = custom_jvp(
          [](const Array& x) { return x; },
          [&](const Array& x, const Array& dx) { return std::pair(x, where(asked, dx, 0.0)); });
      Field f = [&](const Array& x) {
        Array h = gate(network(m.network, x));
        return constraint ? constraint(h, x) : h;
      };
      // One by one, since the equation takes them apart.
      Arrays lambda;
      for (std::int64_t i = 0; i < m.lambda.size(); i++) {
        lambda.push_back(gate(slice(m.lambda, {i}, {i + 1})));
      }
      return problem.equation(f, point, lambda.empty() ? m.lambda : concatenate(lambda, 0));
    };
    auto at_points = vmap(equation_if, {.in_axes = {none, 0, 0}});
    MapAxis axis_of_points = per_member ? MapAxis(0) : MapAxis(none);
    Array r =
        vmap(at_points, {.in_axes = {0, axis_of_points, none}})(members, all, arange(end) < count);
    auto between = [](const Array& x, std::int64_t from, std::int64_t to) {
      Shape start(x.shape().size(), 0), stop = x.shape();
      start[1] = from;
      stop[1] = to;
      return slice(x, start, stop);
    };
    return {between(values(members, all, per_member), count, end), between(r, 0, count)};
  }
  /// Whether that is the quicker way: a GPU computes at a few points more sooner than it starts
  /// kernels for them.
  bool at_once(bool on_gpu) const {
    return on_gpu && 4 * measured_at.shape()[0] <= options.collocation.points;
  }

  /// `f` are the values at the measured points, where they are known.
  Array seen_of(Seen what, const Member& members, const Array& points, const Array& f) const {
    switch (what) {
      case Seen::data_values:
        return f.empty() ? rows(values(members, measured_at)) : f;
      case Seen::collocation_values:
        return rows(values(members, points, options.collocation.per_member));
      case Seen::point_values:
        return rows(values(members, repelled_at));
      case Seen::data_gradients: {
        auto slope = [this](const Member& m, const Array& x) {
          return jacfwd([&](const Array& point) { return value(m, point); })(x);
        };
        return rows(everywhere(slope, members, measured_at));
      }
      case Seen::parameters:
        return members.lambda;
      case Seen::weights: {
        Arrays parts;
        for (const Array& leaf : tree_leaves(members.network)) parts.push_back(rows(leaf));
        return concatenate(parts, 1);
      }
    }
    throw Error("Ensemble: repulsion of something unknown");
  }

  Array prior_term(const Member& members, const Array& iteration) const {
    Array total;
    for (std::size_t i = 0; i < problem.parameters.size(); i++) {
      Array lambda = column(members.lambda, static_cast<std::int64_t>(i));
      Array penalty = problem.parameters[i].prior.penalty(lambda);
      if (!penalty.empty()) total = total.empty() ? penalty : total + penalty;
    }
    return total.empty() ? nothing()
                         : options.prior_weight.at(iteration, options.dtype) * (rho() * total);
  }
  Array nothing() const { return zeros({options.members}, options.dtype); }

  Arrays seen_of(const Member& members, const Array& points, const Array& f = {}) const {
    Arrays seen;
    for (Seen what : options.repulsion.seen) seen.push_back(seen_of(what, members, points, f));
    return seen;
  }
  /// `others` is what was seen of the others, if their density stands still.
  Array repulsion_term(const Member& members, const Array& points, const Array& f,
                       const Array& iteration, const Arrays& others) const {
    const Repulsion& repulsion = options.repulsion;
    if (repulsion.seen.empty()) return nothing();
    double factor = rho();
    if (repulsion.factorization == Factorization::full) {
      factor /= std::sqrt(static_cast<double>(measured()));
    }
    Array weight = factor * repulsion.weight.at(iteration, options.dtype);
    if (repulsion.start > 0) weight = where(iteration >= repulsion.start, weight, 0.0);
    return weight * log_density(repulsion, seen_of(members, points, f), others);
  }

  /// The terms of the loss, in the order of LossTerms.
  Arrays terms(const Member& members, const Array& points, const Outputs& outputs,
               const Array& iteration, const Arrays& others = {}) const {
    Array f = rows(outputs.f), r = rows(outputs.r);
    Array data = options.data_weight.at(iteration, options.dtype) *
                 (sum(square(f - measured_values), 1) / static_cast<double>(measured()));
    Array residual = options.residual_weight.at(iteration, options.dtype) * sum(square(r), 1) /
                     static_cast<double>(options.collocation.points);
    return {data, residual, prior_term(members, iteration),
            repulsion_term(members, points, f, iteration, others)};
  }
  Arrays terms(const Member& members, const Array& points, const Array& iteration,
               const Arrays& others = {}) const {
    return terms(members, points, outputs(members, points), iteration, others);
  }
  static Array total(const Arrays& terms) { return terms[0] + terms[1] + terms[2] + terms[3]; }
  static LossTerms loss(const Arrays& terms) { return {stack(terms, 1)}; }

  // --- Collocation
  Array draw_points(const Key& key, const Member& members) const {
    const Collocation& c = options.collocation;
    auto draw = [&](const Key& k, const std::function<Array(const Array&)>& size_of_residual) {
      return collocation_points(c, problem.low, problem.high, k, size_of_residual, options.dtype);
    };
    if (!c.per_member) {
      return draw(key, [&](const Array& points) {
        // Members that diverged say nothing about where the others need points.
        Array squared = square(residuals(members, points, false));
        Array size = sqrt(mean(where(is_finite(squared), squared, 0.0), 0));
        return size.rank() == 1 ? size : sqrt(sum(square(size), 1));
      });
    }
    auto of_member = [&](const Member& m, const Key& k) {
      return draw(k, [&](const Array& points) {
        Array r = vmap([&](const Array& x) { return residual(m, x); })(points);
        return r.rank() == 1 ? abs(r) : sqrt(sum(square(r), 1));
      });
    };
    return vmap(of_member)(members, split(key, options.members));
  }

  // --- All that a member learns is one row: few and large operations, whatever the number of
  // layers
  static Array pack(const Member& members) {
    Arrays parts;
    for (const Array& leaf : tree_leaves(members)) parts.push_back(rows(leaf));
    return concatenate(parts, 1);
  }
  Member unpack(const Array& parameters) const {
    std::int64_t at = 0;
    return tree_map(
        [&](const Array& leaf) {
          std::int64_t from = at;
          at += leaf.size() / options.members;
          return reshape(slice(parameters, {0, from}, {options.members, at}), leaf.shape());
        },
        shapes);
  }

  // --- Training
  Member fresh_members(const Key& key) const {
    auto fresh = [&](const Key& k) {
      auto [for_network, for_lambda] = split(k);
      Arrays lambda;
      for (std::size_t i = 0; i < problem.parameters.size(); i++) {
        const auto& start = problem.parameters[i].start;
        Key own = fold_in(for_lambda, static_cast<int>(i));
        lambda.push_back(start ? uniform(own, {}, start->first, start->second) : abs(normal(own)));
      }
      Member m = {options.network.init(for_network),
                  lambda.empty() ? zeros({0}) : stack(lambda, 0)};
      return tree_map([&](const Array& a) { return convert(a, options.dtype); }, m);
    };
    return vmap(fresh)(split(key, options.members));
  }

  EnsembleState init() const {
    auto [for_members, for_points] = split(key(options.seed));
    EnsembleState state;
    Member members = fresh_members(for_members);
    state.parameters = pack(members);
    state.optimizer = options.optimizer.init({state.parameters});
    state.iteration = Array(0);
    state.key = for_points;
    state.points = draw_points(for_points, members);
    state.loss = loss(Arrays(4, nothing()));
    state.diverged_at = full({options.members}, -1, DType::i32);
    return state;
  }

  Array points_now(const EnsembleState& s, const Member& members) const {
    const Collocation& c = options.collocation;
    if (c.resample_every == 0 || c.kind == Collocation::Kind::grid) return s.points;
    auto draw = [&] { return draw_points(fold_in(s.key, s.iteration), members); };
    if (c.resample_every == 1) return draw();
    Array due = s.iteration % static_cast<int>(c.resample_every) == 0;
    return cond(due, draw, [&] { return s.points; });
  }

  /// The state after an iteration, but for its loss, and the terms of that.
  std::pair<EnsembleState, Arrays> step(const EnsembleState& s, bool on_gpu) const {
    Member members = unpack(s.parameters);
    EnsembleState next;
    next.key = s.key;
    next.points = stop_gradient(points_now(s, members));
    auto objective = [&](const Member& m) {
      Outputs at = at_once(on_gpu) ? outputs_at_once(m, next.points) : outputs(m, next.points);
      Arrays parts = terms(m, next.points, at, s.iteration);
      return std::pair(sum(total(parts)), parts);
    };
    auto [value, gradient] = value_and_grad(objective)(members);
    next.loss = s.loss;
    Array bad = (s.diverged_at < 0) & !is_finite(total(value.second));
    next.diverged_at = where(bad, s.iteration, s.diverged_at);
    Optimizer::Step moved =
        options.optimizer.step({s.parameters}, {pack(gradient)}, s.optimizer, s.iteration);
    next.parameters = moved.parameters[0];
    next.optimizer = moved.state;
    next.iteration = s.iteration + 1;
    return {next, value.second};
  }

  struct Loop {
    EnsembleState state;
    Arrays terms;
  };
  EnsembleState advance(const EnsembleState& state, const Array& iterations, bool on_gpu) const {
    // Carried counters are a kernel per iteration on GPUs, so there the loop's index counts steps.
    // On the CPU that took 7 % longer. Terms of the loss have the shape of what else there is of a
    // member, and on GPUs share its kernels, while their array would be one; on the CPU that array
    // is a kernel instead of four.
    Loop start = {state, {}};
    const LossTerms& before = state.loss;
    if (on_gpu) {
      start.terms = {before.data(), before.residual(), before.prior(), before.repulsion()};
    }
    auto body = [&](const Array& i, Loop now) {
      if (on_gpu) now.state.optimizer.steps = state.optimizer.steps + i;
      auto [next, terms] = step(now.state, on_gpu);
      if (!on_gpu) {
        next.loss = loss(terms);
        return Loop{next, {}};
      }
      next.optimizer.steps = state.optimizer.steps;
      return Loop{next, terms};
    };
    Loop last = fori_loop(Array(0), iterations, body, start);
    EnsembleState end = last.state;
    if (on_gpu) {
      end.optimizer.steps = state.optimizer.steps + maximum(iterations, 0);
      end.loss = loss(last.terms);
    }
    return end;
  }

  EnsembleState polish(const EnsembleState& state, const Array& steps) const {
    const Lbfgs& lbfgs = options.lbfgs;
    auto others_at = [&](const Array& x) {
      Arrays seen = seen_of(unpack(x), state.points);
      for (Array& a : seen) a = stop_gradient(a);
      return seen;
    };
    auto body = [&](const Array& i, const Lbfgs::State& s) {
      auto objective = [&, others = others_at(s.x)](const Array& x) {
        return total(terms(unpack(x), state.points, state.iteration + i, others));
      };
      // The density has moved since the last step, and with it value and gradient.
      Lbfgs::State here = s;
      Lbfgs::State anew = lbfgs.init(objective, s.x);
      here.value = anew.value;
      here.gradient = anew.gradient;
      return lbfgs.step(objective, here);
    };
    const Array& x = state.parameters;
    // Value and gradient are those of no step yet: each begins with its own.
    Lbfgs::State start = {
        x, nothing(), zeros_like(x), state.lbfgs[0], state.lbfgs[1], state.lbfgs[2]};
    Lbfgs::State end = fori_loop(Array(0), steps, body, start);
    EnsembleState next = state;
    next.parameters = end.x;
    next.lbfgs = {end.steps, end.changes, end.curvature};
    next.iteration = state.iteration + steps;
    next.loss = loss(terms(unpack(end.x), state.points, next.iteration));
    return next;
  }

  /// Nothing remembered: as it is before the first step of polish.
  Arrays no_memory(const Array& parameters) const {
    Shape pairs = parameters.shape();
    pairs.insert(pairs.begin(), options.lbfgs.history);
    Array none = zeros(pairs, options.dtype);
    return {none, none, zeros({pairs[0], pairs[1]}, options.dtype)};
  }

  EnsembleState restart(const EnsembleState& state, const Array& which) const {
    Member fresh = fresh_members(fold_in(fold_in(key(options.seed), 1), state.iteration));
    auto choose = [&](const Array& now, const Array& then) {
      return where(expand_dims(which, 1), now, then);
    };
    EnsembleState next = state;
    next.parameters = choose(pack(fresh), state.parameters);
    for (Arrays* memory : {&next.optimizer.mean, &next.optimizer.square}) {
      for (Array& a : *memory) a = choose(zeros_like(a), a);
    }
    next.optimizer.steps = where(which, 0, state.optimizer.steps);
    next.lbfgs = {};
    next.diverged_at = where(which, -1, state.diverged_at);
    return next;
  }

  // --- Several devices
  std::vector<Device> devices() const {
    Device first = options.device ? *options.device : default_device();
    std::vector<Device> result;
    for (const Device& device : first.owner().addressable_devices()) {
      bool wanted = device == first || !result.empty();
      if (wanted && std::ssize(result) < options.devices) result.push_back(device);
    }
    if (std::ssize(result) < options.devices) {
      throw Error("Ensemble: " + std::to_string(options.devices) + " devices from " +
                  std::string(first.description().text) + " on, but there are " +
                  std::to_string(result.size()) +
                  ". set_default_device(Client::cpu(n).device()) makes n of a CPU");
    }
    return result;
  }
  /// Which arrays of a state have an axis of members in front.
  internal::Mask by_member(const EnsembleState& state) const {
    internal::Mask result;
    auto add = [&](const auto& part, bool has_members) {
      for_each_leaf(part, [&](const Array&) { result.push_back(has_members); });
    };
    add(state.parameters, true);
    add(state.optimizer, true);
    add(state.iteration, false);
    add(state.key, false);
    add(state.points, options.collocation.per_member);
    add(state.loss, true);
    add(state.diverged_at, true);
    return result;
  }

  // --- Compiled, once each
  auto training_program(std::string_view platform) const {
    bool on_gpu = platform == "cuda";
    std::vector<int> donate;
    if (options.devices == 1) donate = {0};  // among several a state is cut into parts first
    return jit([=, this](const EnsembleState& s, const Array& n) { return advance(s, n, on_gpu); },
               {.donate = donate, .device = options.device});
  }
  std::function<EnsembleState()> init_program =
      jit([this] { return init(); }, {.device = options.device});
  std::function<EnsembleState(const EnsembleState&, const Array&)> restart_program =
      jit([this](const EnsembleState& s, const Array& which) { return restart(s, which); });
  std::function<Array(const Array&, const Array&)> predict_program = jit(
      [this](const Array& parameters, const Array& x) { return values(unpack(parameters), x); });
  std::function<LossTerms(const EnsembleState&)> loss_program = jit([this](const EnsembleState& s) {
    return loss(terms(unpack(s.parameters), s.points, s.iteration));
  });
  std::function<Array(const Member&)> pack_program = jit(pack);
  std::function<Member(const Array&)> unpack_program =
      jit([this](const Array& parameters) { return unpack(parameters); });
  /// A program that is compiled when it is first asked for.
  struct Late {
    std::once_flag made;
    std::function<EnsembleState(const EnsembleState&, const Array&)> run;
    CompileTime time;
  };
  mutable Late training, polishing;
};

Ensemble::Ensemble(Problem problem, EnsembleOptions options) {
  problem.check();
  options.check(problem);
  options.network = network_for(problem, options.network);
  implementation_ = std::make_shared<const Implementation>(std::move(problem), std::move(options));
}

const Problem& Ensemble::problem() const { return implementation_->problem; }
const EnsembleOptions& Ensemble::options() const { return implementation_->options; }

EnsembleState Ensemble::init() const { return implementation_->init_program(); }

EnsembleState Ensemble::advance(EnsembleState state, std::int64_t iterations) const {
  if (iterations < 0) {
    throw Error("Ensemble::advance: " + std::to_string(iterations) +
                " iterations. Give a number that is not negative");
  }
  compile();
  state.lbfgs = {};  // of a place that is left
  return implementation_->training.run(state, Array(iterations));
}

EnsembleState Ensemble::polish(EnsembleState state, std::int64_t steps) const {
  if (steps < 0) {
    throw Error("Ensemble::polish: " + std::to_string(steps) +
                " steps. Give a number that is not negative");
  }
  compile_polish();
  if (state.lbfgs.empty()) state.lbfgs = implementation_->no_memory(state.parameters);
  return implementation_->polishing.run(state, Array(steps));
}

EnsembleState Ensemble::restart(const EnsembleState& state, const Array& which) const {
  return implementation_->restart_program(state, which);
}

Member Ensemble::members(const EnsembleState& state) const {
  return implementation_->unpack_program(state.parameters);
}

Array Ensemble::lambda(const EnsembleState& state) const {
  const Shape& shape = state.parameters.shape();
  auto count = static_cast<std::int64_t>(problem().parameters.size());
  return slice(state.parameters, {0, shape[1] - count}, shape);
}

EnsembleState Ensemble::with_members(EnsembleState state, const Member& members) const {
  state.parameters = implementation_->pack_program(members);
  state.lbfgs = {};
  return state;
}

Array Ensemble::predict(const EnsembleState& state, const Array& points) const {
  return implementation_->predict_program(state.parameters, points);
}

LossTerms Ensemble::loss(const EnsembleState& state) const {
  return implementation_->loss_program(state);
}

Lowered Ensemble::lower(std::string_view platform) const {
  const Implementation& self = *implementation_;
  return self.training_program(platform).lower(eval_shape([&] { return self.init(); }), Array(1));
}

Ensemble::CompileTime Ensemble::compile() const {
  const Implementation& self = *implementation_;
  std::call_once(self.training.made, [&] {
    // Not the executable's own time: an equal program may have been compiled before.
    Stopwatch watch;
    EnsembleState like = eval_shape([&] { return self.init(); });
    std::string platform = self.devices().front().owner().platform_name();
    Lowered lowered = self.training_program(platform).lower(like, Array(1));
    self.training.time.lower = watch.lap();
    if (self.options.devices == 1) {
      self.training.run = Compiled<EnsembleState, std::tuple<EnsembleState, Array>>(
          lowered.compile(self.options.device),
          internal::caller("Ensemble", {}, std::tuple(like, Array(1))), like);
    } else {
      Cut cut = {self.by_member(like), self.by_member(like)};
      cut.arguments.push_back(false);  // the number of iterations
      self.training.run = [like, program = ShardedProgram(lowered, self.devices(), cut)](
                              const EnsembleState& state, const Array& iterations) {
        Arrays arguments = tree_leaves(state);
        arguments.push_back(iterations);
        return internal::with_leaves(like, program.run(arguments));
      };
    }
    self.training.time.compile = watch.lap();
  });
  return self.training.time;
}

Ensemble::CompileTime Ensemble::compile_polish() const {
  const Implementation& self = *implementation_;
  std::call_once(self.polishing.made, [&] {
    Stopwatch watch;
    EnsembleState like = eval_shape([&] {
      EnsembleState state = self.init();
      state.lbfgs = self.no_memory(state.parameters);
      return state;
    });
    auto program = jit([&](const EnsembleState& s, const Array& n) { return self.polish(s, n); },
                       {.device = self.options.device});
    Lowered lowered = program.lower(like, Array(1));
    self.polishing.time.lower = watch.lap();
    self.polishing.run = Compiled<EnsembleState, std::tuple<EnsembleState, Array>>(
        lowered.compile(self.options.device),
        internal::caller("Ensemble", {}, std::tuple(like, Array(1))), like);
    self.polishing.time.compile = watch.lap();
  });
  return self.polishing.time;
}

}  // namespace sturnus
