#include <sturnus/functional/control_flow.h>
#include <sturnus/functional/jit.h>
#include <sturnus/functional/vmap.h>
#include <sturnus/inference/chains/hmc.h>
#include <sturnus/inference/chains/kernel_chains.h>
#include <sturnus/inference/chains/langevin.h>
#include <sturnus/inference/chains/random_walk.h>
#include <sturnus/ops/arithmetic.h>
#include <sturnus/ops/creation.h>
#include <sturnus/ops/index.h>
#include <sturnus/ops/rearrange.h>
#include <sturnus/ops/reduce.h>
#include <sturnus/ops/shape.h>
#include <sturnus/ops/transcendental.h>
#include <sturnus/ops/tree_where.h>
#include <sturnus/runtime/error.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "src/inference/chains/draw_rows.h"
#include "src/inference/chains/learned_steps.h"

namespace sturnus {
namespace {

/// The first draws of a chunk.
Draws first(const Draws& draws, std::int64_t count) {
  return tree_map(
      [&](const Array& a) {
        Shape end = a.shape();
        end[1] = count;
        return slice(a, Shape(end.size(), 0), end);
      },
      draws);
}

/// That density, of which nobody asks a slope: it is 0.
Target without_slopes(Target target) {
  target.log_density = [density = std::move(target.log_density)](const Array& x) {
    return density(stop_gradient(x));
  };
  return target;
}

}  // namespace

struct KernelSampler::Implementation {
  Implementation(Target given, SamplingOptions chosen, KernelOptions which)
      : options(std::move(chosen)),
        kernel(which.kernel),
        hmc{.leapfrogs = which.leapfrogs},
        averaging{.target = options.target_accept},
        moments{.kind = options.metric},
        begun(kernel == ChainKernel::random_walk ? without_slopes(given) : given, options),
        target(std::move(given)) {
    if (options.metric != MetricKind::unit) windows = warmup_windows(options.warmup);
    log_density = [this](const Array& x) { return convert(target.log_density(x), options.dtype); };
  }

  const SamplingOptions options;
  const ChainKernel kernel;
  const Hmc hmc;
  const Mala mala = {};
  const RandomWalk walk = {};
  const StepSearch search = {};
  const DualAveraging averaging;
  const RunningMoments moments;
  const Sampler begun;  // its chains before their first transition are those of any kernel
  const Target target;
  WarmupWindows windows;
  LogDensity log_density;

  // --- One chain
  /// What a transition leads to, and a row of all that is said of it.
  struct Moved {
    DensityPoint at;
    Array accept, row;
  };

  Moved move(const ChainState& c) const {
    Key key = fold_in(c.key, c.adaptation.trajectories);
    const Array& step = c.adaptation.step.size;
    auto real = [&](const Array& x) { return convert(x, options.dtype); };
    Array zero(0.0, options.dtype);
    auto row = [&](const DensityPoint& at, const Array& accept, const Array& leapfrogs,
                   const Array& divergent, const Array& energy) {
      return concatenate(
          {at.position, stack({at.value, accept, step, zero, leapfrogs, divergent, energy})});
    };
    if (kernel == ChainKernel::hmc) {
      auto [for_length, for_step] = split(key);
      constexpr double shortest = 1 - hmc_step_jitter, longest = 1 + hmc_step_jitter;
      Array length = step * uniform(for_length, {}, shortest, longest, options.dtype);
      auto [at, info] = hmc.step(for_step, log_density, c.at, length, c.adaptation.metric);
      Array leapfrogs(static_cast<double>(hmc.leapfrogs), options.dtype);
      return {at, info.accept, row(at, info.accept, leapfrogs, real(info.divergent), info.energy)};
    }
    if (kernel == ChainKernel::mala) {
      auto [at, info] = mala.step(key, log_density, c.at, step, c.adaptation.metric);
      return {at, info.accept, row(at, info.accept, zero, zero, zero)};
    }
    Metric proposal = {step * c.adaptation.metric.factor};
    auto [end, info] = walk.step(key, log_density, {c.at.position, c.at.value}, proposal);
    DensityPoint at = {end.position, end.value, c.at.slope};
    return {at, info.accept, row(at, info.accept, zero, zero, zero)};
  }

  /// Looks for the step size to begin a window with.
  ChainState with_first_step(const ChainState& c) const {
    ChainState next = c;
    Adaptation& a = next.adaptation;
    if (kernel != ChainKernel::random_walk) {
      std::tie(a.step, a.trajectories) =
          search.find(c.key, a.trajectories, log_density, a.metric, c.at, a.step);
    } else {
      // The best for a Gaussian of many dimensions.
      double length = 2.38 / std::sqrt(static_cast<double>(target.size));
      a.step = {full({}, length, options.dtype), Array(0)};
    }
    a.averaging = averaging.init(a.step.size);
    return next;
  }

  /// What a chain learns from a transition that led to `moved`.
  ChainState learned(const ChainState& c, const Moved& moved) const {
    const Adaptation& a = c.adaptation;
    Array warm = a.transition < options.warmup;
    DualAveraging::State averaged = averaging.update(a.averaging, moved.accept);
    Array last = a.transition == options.warmup - 1;
    Array size = exp(where(last, averaged.log_average, averaged.log_step));

    Adaptation next = a;
    next.step.size = where(warm, size, a.step.size);
    next.averaging = tree_where(warm, averaged, a.averaging);
    if (windows.end > 0) {
      Array collects = (a.transition >= windows.begin) & (a.transition < windows.end);
      next.moments = tree_where(collects, moments.add(a.moments, moved.at.position), a.moments);
    }
    next.transition = a.transition + 1;
    next.trajectories = a.trajectories + 1;
    return {c.key, moved.at, next};
  }

  ChainState with_new_metric(const ChainState& c) const {
    ChainState next = c;
    next.adaptation.metric = moments.metric(c.adaptation.moments);
    next.adaptation.moments = moments.init(target.size, options.dtype);
    next.adaptation.step.direction = Array(2);
    return next;
  }

  // --- All chains
  struct Loop {
    ChainState chains;
    Array done;
    Array rows;  // [capacity, chains, size + stats]
  };

  Loop pass(const Loop& loop) const {
    auto each = [](const auto& change, const ChainState& chains) {
      return vmap([&](const ChainState& c) { return change(c); })(chains);
    };
    const ChainState& before = loop.chains;
    ChainState chains = cond(
        any(before.adaptation.step.direction != 0),
        [&] { return each([&](const ChainState& c) { return with_first_step(c); }, before); },
        [&] { return before; });
    Array number = reshape(slice(before.adaptation.transition, {0}, {1}), {});
    auto one = [&](const ChainState& c) {
      Moved moved = move(c);
      return std::pair(learned(c, moved), moved.row);
    };
    auto [next, rows] = vmap(one)(chains);
    Array closes(false);
    for (std::int64_t window_end : windows.last) closes = closes | (number == window_end);
    if (!windows.last.empty()) {
      next = cond(
          closes,
          [&, &ended = next] {
            return each([&](const ChainState& c) { return with_new_metric(c); }, ended);
          },
          [&ended = next] { return ended; });
    }
    Array all =
        dynamic_update_slice(loop.rows, expand_dims(rows, 0), {loop.done, Array(0), Array(0)});
    return {next, loop.done + 1, all};
  }

  std::int64_t capacity() const { return internal::draw_row_capacity(target, options); }

  std::pair<ChainState, Draws> advance(const ChainState& state, const Array& transitions) const {
    Array rows =
        zeros({capacity(), options.chains, internal::draw_row_length(target)}, options.dtype);
    Loop last = while_loop([&](const Loop& l) { return l.done < transitions; },
                           [&](const Loop& l) { return pass(l); }, Loop{state, Array(0), rows});
    Draws draws = internal::draws_of_rows(target, swapaxes(last.rows, 0, 1));
    return {last.chains, draws};
  }

  struct Advance {
    const Implementation* self;
    std::pair<ChainState, Draws> operator()(const ChainState& s, const Array& n) const {
      return self->advance(s, n);
    }
  };
  const Jitted<Advance> advance_program =
      jit(Advance{this}, {.donate = {0}, .device = options.device});
};

KernelSampler::KernelSampler(Target target, SamplingOptions options, KernelOptions kernel) {
  if (kernel.leapfrogs < 1) {
    throw Error("sample: " + std::to_string(kernel.leapfrogs) + " leapfrog steps. Give at least 1");
  }
  implementation_ =
      std::make_shared<const Implementation>(std::move(target), std::move(options), kernel);
}

ChainState KernelSampler::init() const { return implementation_->begun.begin(); }

std::pair<ChainState, Draws> KernelSampler::advance(ChainState state,
                                                    std::int64_t transitions) const {
  const Implementation& self = *implementation_;
  if (transitions < 0) {
    throw Error("KernelSampler::advance: " + std::to_string(transitions) +
                " transitions. Give a number that is not negative");
  }
  std::pair<ChainState, Draws> result = {std::move(state), {}};
  std::int64_t done = 0;
  do {
    std::int64_t count = std::min(transitions - done, self.capacity());
    auto [next, whole] = self.advance_program(result.first, Array(count));
    Draws drawn = first(whole, count);
    auto behind = [](const Array& a, const Array& b) { return concatenate({a, b}, 1); };
    result = {next, done == 0 ? drawn : tree_map(behind, result.second, drawn)};
    done += count;
  } while (done < transitions);
  internal::check_learned_steps(result.first, self.options);
  return result;
}

std::pair<ChainState, Draws> KernelSampler::like() const {
  const Implementation& self = *implementation_;
  return {self.begun.begin_like(), internal::draws_like(self.target, self.options)};
}

Lowered KernelSampler::lower() const {
  const Implementation& self = *implementation_;
  return self.advance_program.lower(self.begun.begin_like(), Array(1));
}

}  // namespace sturnus
