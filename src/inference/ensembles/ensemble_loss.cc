#include <sturnus/functional/control_flow.h>
#include <sturnus/functional/custom.h>
#include <sturnus/functional/doubles.h>
#include <sturnus/functional/jacobian.h>
#include <sturnus/functional/jit.h>
#include <sturnus/functional/vmap.h>
#include <sturnus/inference/ensembles/ensemble_loss.h>
#include <sturnus/ops/arithmetic.h>
#include <sturnus/ops/rearrange.h>
#include <sturnus/ops/reduce.h>
#include <sturnus/ops/shape.h>
#include <sturnus/ops/transcendental.h>
#include <sturnus/runtime/error.h>

#include <cmath>
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

}  // namespace

Array LossTerms::data() const { return column(all, 0); }
Array LossTerms::residual() const { return column(all, 1); }
Array LossTerms::prior() const { return column(all, 2); }
Array LossTerms::repulsion() const { return column(all, 3); }

EnsembleLoss::EnsembleLoss(Problem given, EnsembleOptions chosen)
    : problem(std::move(given)),
      options(std::move(chosen)),
      measured_at(points_array(problem.data.x)),
      repelled_at(points_array(options.repulsion.points)),
      measured_values(array(problem.data.y, {measured()}, options.dtype)),
      shapes(eval_shape([this] { return fresh_members(key(0)); })) {}

Array EnsembleLoss::points_array(const std::vector<double>& x) const {
  std::int64_t inputs = problem.inputs();
  auto count = static_cast<std::int64_t>(x.size()) / inputs;
  return array(x, inputs == 1 ? Shape{count} : Shape{count, inputs}, options.dtype);
}

Member EnsembleLoss::fresh_members(const Key& key) const {
  auto fresh = [&](const Key& k) {
    auto [for_network, for_lambda] = split(k);
    Arrays lambda;
    for (std::size_t i = 0; i < problem.parameters.size(); i++) {
      const auto& start = problem.parameters[i].start;
      Key own = fold_in(for_lambda, static_cast<int>(i));
      lambda.push_back(start ? uniform(own, {}, start->first, start->second) : abs(normal(own)));
    }
    Member m = {options.network.init(for_network), lambda.empty() ? zeros({0}) : stack(lambda, 0)};
    return tree_map([&](const Array& a) { return convert(a, options.dtype); }, m);
  };
  return vmap(fresh)(split(key, options.members));
}

Array EnsembleLoss::pack(const Member& members) {
  Arrays parts;
  for (const Array& leaf : tree_leaves(members)) parts.push_back(rows(leaf));
  return concatenate(parts, 1);
}
Member EnsembleLoss::unpack(const Array& parameters) const {
  std::int64_t at = 0;
  return tree_map(
      [&](const Array& leaf) {
        std::int64_t from = at;
        at += leaf.size() / options.members;
        return reshape(slice(parameters, {0, from}, {options.members, at}), leaf.shape());
      },
      shapes);
}

// --- One member at one point

Array EnsembleLoss::value(const Member& m, const Array& point) const {
  return options.network(m.network, point);
}
Array EnsembleLoss::residual(const Member& m, const Array& point) const {
  Field f = [&](const Array& x) { return value(m, x); };
  return problem.equation(f, point, m.lambda);
}

// --- All members

Array EnsembleLoss::values(const Member& members, const Array& points, bool per_member) const {
  return everywhere([this](const Member& m, const Array& x) { return value(m, x); }, members,
                    points, per_member);
}
Array EnsembleLoss::residuals(const Member& members, const Array& points, bool per_member) const {
  return everywhere([this](const Member& m, const Array& x) { return residual(m, x); }, members,
                    points, per_member);
}

Array EnsembleLoss::draw_points(const Key& key, const Member& members) const {
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

// --- What the loss is made of

EnsembleLoss::Outputs EnsembleLoss::outputs(const Member& members, const Array& points) const {
  bool per_member = options.collocation.per_member;
  return {values(members, measured_at), residuals(members, points, per_member)};
}

EnsembleLoss::Outputs EnsembleLoss::outputs_at_once(const Member& members,
                                                    const Array& points) const {
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

bool EnsembleLoss::at_once(bool on_gpu) const {
  return on_gpu && 4 * measured_at.shape()[0] <= options.collocation.points;
}

Array EnsembleLoss::seen_of(Seen what, const Member& members, const Array& points,
                            const Array& f) const {
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
Arrays EnsembleLoss::seen_of(const Member& members, const Array& points, const Array& f) const {
  Arrays seen;
  for (Seen what : options.repulsion.seen) seen.push_back(seen_of(what, members, points, f));
  return seen;
}

Array EnsembleLoss::prior_term(const Member& members, const Array& iteration) const {
  Array total;
  for (std::size_t i = 0; i < problem.parameters.size(); i++) {
    Array lambda = column(members.lambda, static_cast<std::int64_t>(i));
    Array penalty = problem.parameters[i].prior.penalty(lambda);
    if (!penalty.empty()) total = total.empty() ? penalty : total + penalty;
  }
  return total.empty() ? nothing()
                       : options.prior_weight.at(iteration, options.dtype) * (rho() * total);
}
Array EnsembleLoss::repulsion_term(const Member& members, const Array& points, const Array& f,
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

Arrays EnsembleLoss::terms(const Member& members, const Array& points, const Outputs& outputs,
                           const Array& iteration, const Arrays& others) const {
  Array f = rows(outputs.f), r = rows(outputs.r);
  Array data = options.data_weight.at(iteration, options.dtype) *
               (sum(square(f - measured_values), 1) / static_cast<double>(measured()));
  Array residual = options.residual_weight.at(iteration, options.dtype) * sum(square(r), 1) /
                   static_cast<double>(options.collocation.points);
  return {data, residual, prior_term(members, iteration),
          repulsion_term(members, points, f, iteration, others)};
}
Arrays EnsembleLoss::terms(const Member& members, const Array& points, const Array& iteration,
                           const Arrays& others) const {
  return terms(members, points, outputs(members, points), iteration, others);
}
Array EnsembleLoss::total(const Arrays& terms) { return terms[0] + terms[1] + terms[2] + terms[3]; }
LossTerms EnsembleLoss::loss(const Arrays& terms) { return {stack(terms, 1)}; }

}  // namespace sturnus
