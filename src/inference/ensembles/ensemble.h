// Repulsive ensembles: every member has its own network and its own parameters of the equation,
// and a density over the members keeps them apart, so that their spread is a posterior.
//
//   Ensemble ensemble(problem, {.members = 25, .repulsion = published_repulsion("full")});
//   EnsembleState state = ensemble.advance(ensemble.init(), 15000);
//   Array f = ensemble.predict(state, linspace(0.0, 25.0, 200));    // [members, points]
//
// All iterations of an advance are one execution of one program.
#pragma once

#include <sturnus/functional/program.h>
#include <sturnus/inference/ensembles/repulsion.h>
#include <sturnus/inference/optimizers/lbfgs.h>
#include <sturnus/inference/optimizers/optimizer.h>
#include <sturnus/inference/optimizers/schedule.h>
#include <sturnus/inference/problems/collocation.h>
#include <sturnus/inference/problems/network.h>
#include <sturnus/inference/problems/problem.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

namespace sturnus {

/// The network with inputs, outputs and unset scales taken from the problem: inputs range over the
/// domain, outputs from the smallest to the largest measurement, as published.
Network network_for(const Problem& problem, Network network);

struct EnsembleOptions {
  std::int64_t members = 25;
  Network network = {};  ///< Completed by network_for.
  Collocation collocation = {};
  Optimizer optimizer = {};
  /// Of the terms of the loss; that of the repulsion is Repulsion::weight.
  Schedule data_weight = 1, residual_weight = 1, prior_weight = 1;
  Repulsion repulsion = {};
  Lbfgs lbfgs = {};  ///< For `polish` alone.
  std::uint64_t seed = 0;
  /// f64 costs about twice the time.
  DType dtype = DType::f32;
  std::optional<Device> device = {};
  /// Members are spread over so many devices, `device` (or the default one) and those after it; the
  /// results are the same to rounding. A divisor of `members`.
  std::int64_t devices = 1;

  /// Throws Error for settings that make no sense for the problem.
  void check(const Problem& problem) const;
};

/// One network and its parameters of the equation; of an ensemble, with an axis of members in
/// front of every array.
struct Member {
  Layers network;
  Array lambda;
};

/// The loss of each member by its terms. With N_d measured values, N_c points and
/// rho = 2 sigma^2 / N_d:
///   data       weight sum (f - y)^2 / N_d
///   residual   weight sum r^2 / N_c
///   prior      weight rho (-log prior)
///   repulsion  weight rho log density, over sqrt(N_d) if it factorises fully
/// and a weight for each, by iteration.
struct LossTerms {
  Array all;  // [members, 4], in this order

  // One number per member, [members].
  Array data() const;
  Array residual() const;
  Array prior() const;
  Array repulsion() const;
};

/// A training between two iterations. A tree: it can be flattened, saved, sent to a device.
struct EnsembleState {
  Array parameters;  // [members, size]: what each member learns, its lambda last
  OptimizerState optimizer;
  Array iteration;  // i32: how many are done
  Key key;
  Array points;       // where the equation is imposed now
  LossTerms loss;     // of the last iteration, before its step
  Array diverged_at;  // i32[members]: the first iteration whose loss was not finite, or -1
  Arrays lbfgs;       // what polish remembers of its steps; nothing before and outside it
};

class Ensemble {
 public:
  /// Throws Error for a problem or settings that make no sense.
  Ensemble(Problem problem, EnsembleOptions options);

  const Problem& problem() const;
  /// As given, with what was taken from the problem filled in.
  const EnsembleOptions& options() const;

  /// The state before the first iteration. The same seed gives the same bits; members have the
  /// same networks whatever the repulsion.
  EnsembleState init() const;
  /// The state after so many more iterations. Uses up the given state: its memory is reused.
  /// Throws Error for a negative number.
  EnsembleState advance(EnsembleState state, std::int64_t iterations) const;
  /// So many steps of L-BFGS for every member, from the state's points on; in each the density of
  /// the others stands still. For the end of a training, in f64: a noisy optimiser's last iterate
  /// becomes a minimum. Members that are not finite stay so. By parts it gives the same bits as at
  /// once. Throws Error for a negative number.
  EnsembleState polish(EnsembleState state, std::int64_t steps) const;
  /// The state with those members begun anew for which `which` (bool[members]) holds.
  EnsembleState restart(const EnsembleState& state, const Array& which) const;

  /// The members of a state, and their lambda alone: [members, parameters].
  Member members(const EnsembleState& state) const;
  Array lambda(const EnsembleState& state) const;
  /// The state with other members.
  EnsembleState with_members(EnsembleState state, const Member& members) const;

  /// f of every member at points, [points] for one input, else [points, inputs]:
  /// [members, points], with several outputs [members, points, outputs].
  Array predict(const EnsembleState& state, const Array& points) const;
  /// The loss at a state, and the residual of every member at its points.
  LossTerms loss(const EnsembleState& state) const;

  /// The whole training as one program: (state, iterations) -> state. `platform` is what it is
  /// for: "cpu", "cuda", "tpu". On others it gives the same, but perhaps not as fast.
  Lowered lower(std::string_view platform = "cpu") const;
  /// Compiles that program now, rather than at the first advance; seconds that tracing and XLA
  /// took.
  struct CompileTime {
    double lower = 0, compile = 0;
  };
  CompileTime compile() const;
  /// The same for the program of `polish`.
  CompileTime compile_polish() const;

 private:
  struct Implementation;
  std::shared_ptr<const Implementation> implementation_;
};

}  // namespace sturnus
