// The no-U-turn sampler.
#pragma once

#include <sturnus/inference/chains/hamiltonian.h>
#include <sturnus/ops/random.h>

#include <cstdint>
#include <utility>

namespace sturnus {

/// The multinomial no-U-turn sampler (M. Hoffman and A. Gelman, 2014; M. Betancourt, 2017): a
/// trajectory is doubled, forwards or backwards at random, until it or one of its subtrees turns
/// back. A span turns back when the sum of its momenta has no positive product with the momentum at
/// either end; spans of two halves are checked across their border too, as Stan does.
///
/// For one chain; vmap makes it many. `grow` is one leapfrog step whatever the tree, so that a loop
/// over it wastes nothing on chains with other trees: no chain waits for the tree of another.
struct Nuts {
  using State = DensityPoint;
  struct Info {
    Array accept;     // the mean over the trajectory of min(1, exp(-rise of energy))
    Array depth;      // i32: doublings of the tree
    Array leapfrogs;  // i32
    Array divergent;  // whether the energy rose by more than `divergence`
    Array energy;     // of the point that was taken
  };
  /// What a transition draws before its first step.
  struct Impulse {
    Array momentum;
    Array directions;  // u32: bit d is whether doubling d goes forwards
    Key key;           // for the choices of leaves
  };
  struct Candidate {
    DensityPoint at;
    Array energy;
  };
  /// A transition under way. Leaves are numbered as if the tree had grown in the present direction
  /// only: doubling d adds leaves 2^d, ..., 2^(d+1) - 1, of which `leaves` is the next.
  struct Tree {
    Key key;  // of the impulse, as the directions
    Array directions;
    PhasePoint near, far;          // the end that grows, and the other
    Candidate sample, candidate;   // of the tree, and of the part of it that is growing
    Array log_weight, new_weight;  // log sum exp(-rise of energy) of both
    Array momenta;                 // the sum over all leaves
    /// Row r belongs to the last leaf with an even number of r bits: its momentum, that of the leaf
    /// before, and the sum of momenta before it. Those of every unfinished span are there.
    Array first, before, sum_before;  // [max_depth, size]
    Array start_energy, accept, leaves, depth;
    Array divergent, done;
  };

  std::int64_t max_depth = 10;
  double divergence = 1000;

  State init(const LogDensity& log_density, const Array& position) const;
  /// One transition.
  std::pair<State, Info> step(const Key& key, const LogDensity& log_density, const State& state,
                              const Array& step_size, const Metric& metric) const;

  /// The parts of a step: begin with an impulse, then grow until `done`, then the tree's sample.
  Impulse impulse(const Key& key, const State& state) const;
  Tree begin(const State& state, const Impulse& impulse) const;
  Tree grow(const LogDensity& log_density, const Tree& tree, const Array& step_size,
            const Metric& metric) const;
  Info info(const Tree& tree) const;
};

}  // namespace sturnus
