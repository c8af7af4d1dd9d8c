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
#include <sturnus/inference/ensembles/ensemble_loss.h>
#include <sturnus/inference/ensembles/ensemble_options.h>
#include <sturnus/inference/optimizers/optimizer.h>
#include <sturnus/inference/problems/problem.h>

#include <cstdint>
#include <memory>
#include <string_view>

namespace sturnus {

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
  /// The loss at a state.
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
