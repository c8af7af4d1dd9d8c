#include <sturnus/functional/control_flow.h>
#include <sturnus/inference/chains/nuts.h>
#include <sturnus/ops/arithmetic.h>
#include <sturnus/ops/creation.h>
#include <sturnus/ops/reduce.h>
#include <sturnus/ops/shape.h>
#include <sturnus/ops/softmax.h>
#include <sturnus/ops/transcendental.h>
#include <sturnus/ops/tree_where.h>

#include <limits>

#include "src/inference/chains/flags.h"

namespace sturnus {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// The number of bits that are 1 in an i32 that is not negative.
Array count_ones(Array n) {
  n = n - (shift_right(n, 1) & 0x55555555);
  n = (n & 0x33333333) + (shift_right(n, 2) & 0x33333333);
  n = (n + shift_right(n, 4)) & 0x0f0f0f0f;
  n = n + shift_right(n, 8);
  return (n + shift_right(n, 16)) & 0x3f;
}

Array forwards(const Array& directions, const Array& depth) {
  return (shift_right(directions, convert(depth, DType::u32)) & 1) == 1;
}

/// Logarithms of two numbers that are uniform in (0, 1): the words of a key, as what they are.
Array log_chances(const Key& key, const Array& number, DType dtype) {
  Array word = convert(fold_in(key, number).data, dtype);
  return log((word + 0.5) * 0x1p-32);
}

/// v as every row of a matrix.
Array as_row(const Array& v) { return expand_dims(v, 0); }

/// a . b > 0 for each row.
Array along(const Array& a, const Array& b) { return sum(a * b, -1) > 0.0; }

/// Which of the spans that end at the newest leaf turn back, [max_depth], one for each row at
/// which a span may begin. Leaf n ends a span of 2^k leaves for each k up to its number of trailing
/// ones; the span begins at the leaf of row (ones of n) - k, and its right half at the leaf of the
/// row after that.
Array turning(const Nuts::Tree& tree, const Array& momentum, const Array& momenta) {
  std::int64_t rows = tree.first.shape()[0], size = tree.first.shape()[1];
  Array row = arange(rows), ones = count_ones(tree.leaves);
  Array trailing = count_ones(tree.leaves ^ (tree.leaves + 1)) - 1;
  Array spans = (row >= ones - trailing) & (row < ones);

  Array whole = as_row(momenta) - tree.sum_before;
  Array straight = along(tree.first, whole) & along(as_row(momentum), whole);
  Array turns = spans & !straight;
  if (rows == 1) return turns;

  // Across the border of the halves: the left one with the first leaf of the right one, and the
  // right one with the last of the left one. For a span of two leaves that says nothing new.
  auto upper = [&](const Array& x) { return slice(x, {0, 0}, {rows - 1, size}); };
  auto lower = [&](const Array& x) { return slice(x, {1, 0}, {rows, size}); };
  Array left = lower(tree.sum_before) - upper(tree.sum_before) + lower(tree.first);
  Array right = as_row(momenta) - lower(tree.sum_before) + lower(tree.before);
  Array across = along(upper(tree.first), left) & along(lower(tree.first), left) &
                 along(lower(tree.before), right) & along(as_row(momentum), right);
  Array has_halves = row < ones - 1;
  return turns | (spans & has_halves & !pad(across, true, {0}, {1}));
}

}  // namespace

Nuts::State Nuts::init(const LogDensity& log_density, const Array& position) const {
  return evaluate(log_density, position);
}

Nuts::Impulse Nuts::impulse(const Key& key, const State& state) const {
  auto [for_momentum, for_directions, for_leaves] = split<3>(key);
  return {normal(for_momentum, state.position.shape(), state.position.dtype()),
          reshape(slice(for_directions.data, {0}, {1}), {}), for_leaves};
}

Nuts::Tree Nuts::begin(const State& state, const Impulse& impulse) const {
  DType dtype = state.position.dtype();
  PhasePoint start = {state, impulse.momentum};
  Array nothing = zeros({max_depth, state.position.size()}, dtype), zero(0.0, dtype);
  Tree tree;
  tree.key = impulse.key;
  tree.directions = impulse.directions;
  tree.near = tree.far = start;
  tree.start_energy = energy(start);
  tree.sample = tree.candidate = {state, tree.start_energy};
  tree.log_weight = zero;
  tree.new_weight = Array(-infinity, dtype);
  tree.momenta = start.momentum;
  tree.first = where(expand_dims(arange(max_depth) == 0, 1), as_row(start.momentum), nothing);
  tree.before = tree.sum_before = nothing;
  tree.accept = zero;
  tree.leaves = Array(1);
  tree.depth = Array(0);
  tree.divergent = tree.done = Array(false);
  return tree;
}

Nuts::Tree Nuts::grow(const LogDensity& log_density, const Tree& tree, const Array& step_size,
                      const Metric& metric) const {
  Array forward = forwards(tree.directions, tree.depth);
  PhasePoint leaf = leapfrog(log_density, metric, tree.near, where(forward, step_size, -step_size));
  Array leaf_energy = energy(leaf);
  Array log_weight = tree.start_energy - leaf_energy;
  DType dtype = leaf.momentum.dtype();

  Tree next = tree;
  next.leaves = tree.leaves + 1;
  next.accept = tree.accept + exp(minimum(log_weight, 0.0));
  next.divergent = !(log_weight >= -divergence);
  next.new_weight = logaddexp(tree.new_weight, log_weight);
  next.momenta = tree.momenta + leaf.momentum;

  Array turns = turning(tree, leaf.momentum, next.momenta);
  Array row = arange(max_depth);
  Array turns_within = any(turns & (row > 0)), turns_whole = any(turns & (row == 0));
  Array completes = (tree.leaves & next.leaves) == 0;
  Array counts = completes & !turns_within & !next.divergent;
  Array deeper = tree.depth + convert(counts, DType::i32);
  Array lucky = log_chances(tree.key, tree.leaves, dtype) <
                stack({log_weight - next.new_weight, next.new_weight - tree.log_weight});
  Arrays flags = internal::decided(concatenate(
      {lucky,
       stack({completes, counts,
              next.divergent | turns_within | (counts & (turns_whole | (deeper >= max_depth))),
              completes & (forwards(tree.directions, deeper) != forward)})}));
  const Array &is_candidate = flags[0], &is_preferred = flags[1], &complete = flags[2],
              &valid = flags[3], &done = flags[4], &turns_round = flags[5];
  next.candidate = tree_where(is_candidate, Candidate{leaf.at, leaf_energy}, tree.candidate);
  next.sample = tree_where(valid & is_preferred, next.candidate, tree.sample);
  next.log_weight = where(valid, logaddexp(tree.log_weight, next.new_weight), tree.log_weight);
  next.depth = tree.depth + convert(valid, DType::i32);
  next.done = done;

  // The next doubling goes on from here or from the other end.
  next.near = tree_where(turns_round, tree.far, leaf);
  next.far = tree_where(turns_round, leaf, tree.far);
  next.new_weight = where(complete, -infinity, next.new_weight);

  Array even = (tree.leaves & 1) == 0;
  Array here = expand_dims((row == count_ones(tree.leaves)) & even, 1);
  Array anew = expand_dims((row == 0) & complete, 1);
  next.first =
      where(anew, as_row(next.far.momentum), where(here, as_row(leaf.momentum), tree.first));
  next.before = where(here, as_row(tree.near.momentum), tree.before);
  next.sum_before = where(here, as_row(tree.momenta), tree.sum_before);
  return next;
}

Nuts::Info Nuts::info(const Tree& tree) const {
  Array leapfrogs = tree.leaves - 1;
  DType dtype = tree.accept.dtype();
  return {tree.accept / convert(maximum(leapfrogs, 1), dtype), tree.depth, leapfrogs,
          tree.divergent, tree.sample.energy};
}

std::pair<Nuts::State, Nuts::Info> Nuts::step(const Key& key, const LogDensity& log_density,
                                              const State& state, const Array& step_size,
                                              const Metric& metric) const {
  Tree end = while_loop([](const Tree& t) { return !t.done; },
                        [&](const Tree& t) { return grow(log_density, t, step_size, metric); },
                        begin(state, impulse(key, state)));
  return {end.sample.at, info(end)};
}

}  // namespace sturnus
