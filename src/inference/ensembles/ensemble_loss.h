// The members of an ensemble, and what each of them minimises.
#pragma once

#include <sturnus/functional/array.h>
#include <sturnus/inference/ensembles/ensemble_options.h>
#include <sturnus/inference/problems/network.h>
#include <sturnus/inference/problems/problem.h>
#include <sturnus/ops/creation.h>
#include <sturnus/ops/random.h>

#include <cstdint>
#include <vector>

namespace sturnus {

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

/// The terms of the loss as a pure function of all members, from which Ensemble makes its programs.
struct EnsembleLoss {
  EnsembleLoss(Problem problem, EnsembleOptions options);

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

  Member fresh_members(const Key& key) const;
  /// All that a member learns is one row: few and large operations, whatever the number of layers.
  static Array pack(const Member& members);
  Member unpack(const Array& parameters) const;

  /// f of every member at points, which are those of all or of each.
  Array values(const Member& members, const Array& points, bool per_member = false) const;
  Array residuals(const Member& members, const Array& points, bool per_member) const;
  /// New points at which the equation is imposed.
  Array draw_points(const Key& key, const Member& members) const;

  /// Values at the measured points and residuals at the others.
  struct Outputs {
    Array f, r;
  };
  Outputs outputs(const Member& members, const Array& points) const;
  /// The same from one pass of the network through all points. The equation and the constraint then
  /// get to the measured points too, where they may be singular: nothing that is differentiated
  /// goes through them there.
  Outputs outputs_at_once(const Member& members, const Array& points) const;
  /// Whether that is the quicker way: a GPU computes at a few points more sooner than it starts
  /// kernels for them.
  bool at_once(bool on_gpu) const;

  /// What the density sees of the members.
  Arrays seen_of(const Member& members, const Array& points, const Array& f = {}) const;
  /// The terms of the loss, in the order of LossTerms. `others` is what was seen of the others, if
  /// their density stands still.
  Arrays terms(const Member& members, const Array& points, const Outputs& outputs,
               const Array& iteration, const Arrays& others = {}) const;
  Arrays terms(const Member& members, const Array& points, const Array& iteration,
               const Arrays& others = {}) const;
  static Array total(const Arrays& terms);
  static LossTerms loss(const Arrays& terms);
  Array nothing() const { return zeros({options.members}, options.dtype); }

 private:
  Array points_array(const std::vector<double>& x) const;
  // Of one member at one point.
  Array value(const Member& member, const Array& point) const;
  Array residual(const Member& member, const Array& point) const;
  // `f` are the values at the measured points, where they are known.
  Array seen_of(Seen what, const Member& members, const Array& points, const Array& f) const;
  Array prior_term(const Member& members, const Array& iteration) const;
  Array repulsion_term(const Member& members, const Array& points, const Array& f,
                       const Array& iteration, const Arrays& others) const;
};

}  // namespace sturnus
