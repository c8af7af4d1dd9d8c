// Variational inference: the Gaussian of the free numbers that is nearest to a posterior.
//
//   VariationalFit fit(model, {.family = GaussianFamily::full_rank});
//   VariationalState state = fit.advance(fit.init(), 10000);
//   Draws draws = fit.draw(state, 1000).draws;    // of the parameters in their own space
//
// All iterations of an advance are one execution of one program.
#pragma once

#include <sturnus/functional/program.h>
#include <sturnus/inference/chains/sampling.h>
#include <sturnus/inference/models/model.h>
#include <sturnus/inference/optimizers/optimizer.h>
#include <sturnus/inference/variational/gaussian.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

namespace sturnus {

/// mean_field: independent numbers, 2 size parameters. full_rank: any covariance, size (size + 3) /
/// 2 of them.
enum class GaussianFamily { mean_field, full_rank };

/// What a fit makes small, minus the evidence lower bound or another loss, as an estimate from
/// draws of q, [draws, size], in iteration 0, 1, ...: an i32 scalar. The draws are mean + L z, so
/// that derivatives by the parameters of q go through them.
using VariationalLoss =
    std::function<Array(const Gaussian& q, const Array& draws, const Array& iteration)>;

/// E_q[-log density] - entropy(q), the latter in closed form.
VariationalLoss negative_elbo(LogDensity log_density);
/// The same as E_q[log q - log density], where the parameters of q are constants in log q (G.
/// Roeder et al., 2017). If q can become the density itself, the noise vanishes on the way there;
/// while q is much narrower than the density, there is more noise than in negative_elbo.
VariationalLoss path_negative_elbo(LogDensity log_density);
/// E_q[-log likelihood] + KL(q || prior), the latter in closed form.
VariationalLoss likelihood_and_divergence(LogDensity log_likelihood, Gaussian prior);

struct VariationalOptions {
  GaussianFamily family = GaussianFamily::mean_field;
  std::int64_t draws = 10;  ///< Of each iteration.
  Optimizer optimizer = {};
  std::uint64_t seed = 0;
  /// Where q begins; without it around 0 with standard deviation 0.1.
  std::optional<Gaussian> start = {};
  /// In what the optimiser's steps are measured, [size]: best near the standard deviations of the
  /// posterior. Without it 1.
  std::optional<Array> units = {};
  DType dtype = DType::f64;
  std::optional<Device> device = {};
};

/// Fits count in 32 bits.
constexpr std::int64_t most_iterations = 2'000'000'000;

/// A fit between two iterations. A tree: it can be flattened, saved, sent to a device.
struct VariationalState {
  /// With an axis of 1 in front, as optimisers want it, and in the options' units: mean;
  /// softplus^-1 of standard deviations s; for full rank a matrix U. L = diag(s) (1 + the part of U
  /// below its diagonal).
  Arrays parameters;
  OptimizerState optimizer;
  Array iteration;  // i32: how many are done
  Array skipped;    // i32: how many of them made no step, since loss or slope were not finite
  Key key;
  Array elbo;     // minus the mean loss of the last advance's iterations; NaN if none was finite
  Array loss;     // the sum of those that were finite,
  Array counted;  // i32: and how many these are
};

/// Draws of q, as one chain, and log density - log q of each: [draws].
struct VariationalDraws {
  Draws draws;
  Array log_weights;
};

class VariationalFit {
 public:
  /// Fits the target's density; without a loss its negative_elbo. Throws Error for settings that
  /// make no sense.
  VariationalFit(Target target, VariationalOptions options, VariationalLoss loss = {});

  const Target& target() const;
  const VariationalOptions& options() const;

  VariationalState init() const;
  /// The state after so many more iterations. Uses up the given state: its memory is reused.
  /// However many are made at a time, the bits are the same, those of `elbo` apart; where `elbo`
  /// goes on, it is the mean of the last advance's iterations and of these, as if all had been made
  /// at a time. Throws Error for a negative number, for more than most_iterations in all, and when
  /// of all iterations, at least 100, none was finite: then the fit is still where it began, and
  /// stays there.
  VariationalState advance(VariationalState state, std::int64_t iterations,
                           bool elbo_goes_on = false) const;

  Gaussian gaussian(const VariationalState& state) const;
  /// So many draws of q; the same seed gives the same bits. Throws Error for less than 1, and where
  /// the density is the same at all of them: it is flat.
  VariationalDraws draw(const VariationalState& state, std::int64_t count) const;
  /// An estimate of the loss from so many draws.
  Array loss(const VariationalState& state, std::int64_t draws) const;

  /// The whole fit as one program: (state, iterations) -> state.
  Lowered lower() const;

 private:
  struct Implementation;
  std::shared_ptr<const Implementation> implementation_;
};

/// Where to begin: of the places that L-BFGS climbs to from each row of `from`, [places, size], the
/// one of highest density, with independent numbers as wide as the curvature there says and at most
/// 1: L_ii = 1 / sqrt(-d^2 log density / dx_i^2). Good units, too. Throws ShapeError for another
/// shape.
Gaussian start_at_mode(const Target& target, const Array& from, std::int64_t steps = 200);

struct VariationalRecord {
  std::int64_t iteration = 0;
  double elbo = 0;           // mean over the chunk; NaN if no iteration was finite
  std::int64_t skipped = 0;  // iterations that were not finite, of all so far
};

/// How a fit went, apart from its state.
struct VariationalLog {
  std::vector<VariationalRecord> records;
  double seconds = 0;  // spent in the device's program
};

/// Advances `state` to so many iterations, chunk by chunk, appending to `log`. After each chunk
/// `look` is called and decides whether to go on; what was done is kept either way. Without a
/// length of chunks, 0, these are a hundredth of all, and long ones are made in parts of about 5
/// seconds: then `look` is called after each part, and the last record is that of the chunk so far.
/// A fit that is stopped and continued has the bits of one that was not, and so has its log. Throws
/// Error as VariationalFit::advance does.
void advance_in_chunks(const VariationalFit& fit, VariationalState& state, VariationalLog& log,
                       std::int64_t iterations, std::int64_t chunk = 0,
                       const std::function<bool(const VariationalLog&)>& look = {});

/// How much of so many draws their weights leave, as a fraction: (sum w)^2 / (n sum w^2). Near 1 q
/// is the density; near 0 a few draws carry all the weight, and q misses much of it.
double weight_efficiency(const Array& log_weights);

}  // namespace sturnus
