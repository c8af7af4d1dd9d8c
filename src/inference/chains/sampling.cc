#include <sturnus/functional/control_flow.h>
#include <sturnus/functional/doubles.h>
#include <sturnus/functional/jit.h>
#include <sturnus/functional/small_loops.h>
#include <sturnus/functional/vmap.h>
#include <sturnus/inference/chains/sampling.h>
#include <sturnus/ops/arithmetic.h>
#include <sturnus/ops/creation.h>
#include <sturnus/ops/index.h>
#include <sturnus/ops/reduce.h>
#include <sturnus/ops/shape.h>
#include <sturnus/ops/transcendental.h>
#include <sturnus/ops/tree_where.h>
#include <sturnus/runtime/error.h>
#include <sturnus/runtime/log.h>

#include <algorithm>
#include <cmath>
#include <future>
#include <numeric>
#include <tuple>
#include <utility>

#include "src/inference/chains/draw_rows.h"
#include "src/inference/chains/learned_steps.h"

namespace sturnus {
namespace {

constexpr std::int64_t start_trials = 100;
// Chains count in 32 bits, trials of step sizes beside.
constexpr std::int64_t most_transitions = 2'000'000'000;

std::string text_of(double number) {
  return std::isnan(number) ? "nan" : std::to_string(number);  // whatever its sign
}

std::string name_of_free(const Target& target, std::size_t i) {
  return i < target.free_names.size() ? target.free_names[i] : "number " + std::to_string(i);
}

void check(const Target& target, const SamplingOptions& options) {
  auto require = [](bool condition, const std::string& message) {
    if (!condition) throw Error("sample: " + message);
  };
  auto number = [](std::int64_t n) { return std::to_string(n); };
  require(target.size > 0, "a model without parameters. Give it some");
  require(options.chains > 0, number(options.chains) + " chains. Give at least 1");
  require(options.chains <= most_chains,
          number(options.chains) + " chains. Give at most " + number(most_chains));
  require(options.warmup >= 0 && options.draws >= 0,
          number(options.warmup) + " transitions of warm-up and " + number(options.draws) +
              " draws. Give numbers that are not negative");
  require(options.warmup <= most_transitions && options.draws <= most_transitions - options.warmup,
          number(options.warmup) + " transitions of warm-up and " + number(options.draws) +
              " draws, which chains cannot count. Give at most " + number(most_transitions) +
              " together");
  require(options.target_accept > 0 && options.target_accept < 1,
          "a target acceptance of " + std::to_string(options.target_accept) +
              ". Give a number between 0 and 1");
  require(options.max_depth >= 1 && options.max_depth <= 24,
          "a depth limit of " + number(options.max_depth) + ". Give 1 to 24");
  require(options.dtype == DType::f32 || options.dtype == DType::f64,
          "element type " + std::string(name_of(options.dtype)) + ". Use f32 or f64");
  Shape shape = {options.chains, target.size};
  require(!options.start || options.start->shape() == shape,
          "the start is " + (options.start ? options.start->type().str() : "") +
              ", but there are " + number(options.chains) + " chains of " + number(target.size) +
              " free numbers. Give " + ArrayType{options.dtype, shape}.str());
}

}  // namespace

struct Sampler::Implementation {
  Implementation(Target given, SamplingOptions chosen)
      : target(std::move(given)),
        options(std::move(chosen)),
        nuts{.max_depth = options.max_depth},
        averaging{.target = options.target_accept},
        moments{.kind = options.metric} {
    if (options.metric != MetricKind::unit) windows = warmup_windows(options.warmup);
    log_density = [this](const Array& x) { return convert(target.log_density(x), options.dtype); };
  }

  const Target target;
  const SamplingOptions options;
  const Nuts nuts;
  const StepSearch search = {};
  const DualAveraging averaging;
  const RunningMoments moments;
  WarmupWindows windows;
  LogDensity log_density;

  // --- The start
  struct Start {
    Array trial;
    Array position;  // the next to try: drawn once here, not anew by all that use it
    DensityPoint at;
  };
  static Array is_good(const DensityPoint& at) {
    return is_finite(at.value) & all(is_finite(at.slope));
  }

  DensityPoint find_start(const Key& key) const {
    auto go_on = [](const Start& s) {
      return (s.trial == 0) | ((s.trial < start_trials) & !is_good(s.at));
    };
    auto draw = [&](const Array& trial) {
      return uniform(fold_in(key, trial), {target.size}, -2.0, 2.0, options.dtype);
    };
    auto look = [&](const Start& s) {
      return Start{s.trial + 1, draw(s.trial + 1), evaluate(log_density, s.position)};
    };
    Array nowhere = zeros({target.size}, options.dtype);
    Start nothing = {Array(0), draw(Array(0)), {nowhere, Array(0.0, options.dtype), nowhere}};
    return while_loop(go_on, look, nothing).at;
  }

  ChainState chain_at(const DensityPoint& at, const Key& key) const {
    std::int64_t size = target.size;
    DType dtype = options.dtype;
    Array one(1.0, dtype);
    Array factor = options.metric == MetricKind::unit       ? one
                   : options.metric == MetricKind::diagonal ? ones({size}, dtype)
                                                            : eye(size, dtype);
    return {key,
            at,
            {.transition = Array(0),
             .trajectories = Array(0),
             .metric = {factor},
             .step = search.init(one),
             .averaging = averaging.init(one),
             .moments = moments.init(size, dtype)}};
  }

  ChainState init(const Key& key) const {
    auto [for_starts, for_chains] = split(key);
    DensityPoint at;
    if (options.start) {
      auto evaluate_there = [&](const Array& x) { return evaluate(log_density, x); };
      at = vmap(evaluate_there)(convert(*options.start, options.dtype));
    } else {
      at = vmap([&](const Key& k) { return find_start(k); })(split(for_starts, options.chains));
    }
    return vmap([&](const DensityPoint& p, const Key& k) { return chain_at(p, k); })(
        at, split(for_chains, options.chains));
  }

  /// Throws Error when a chain begins where density or slope are not finite.
  void check_start(const ChainState& chains) const {
    const DensityPoint& at = chains.at;
    auto values = convert(at.value, DType::f64).to_vector<double>();
    auto slopes = convert(at.slope, DType::f64).to_vector<double>();
    auto size = static_cast<std::size_t>(target.size);
    for (std::size_t c = 0; c < values.size(); c++) {
      std::string blame;
      for (std::size_t i = 0; i < size; i++) {
        double slope = slopes[c * size + i];
        if (std::isfinite(slope)) continue;
        blame += (blame.empty() ? "; its slope by " : ", by ") + name_of_free(target, i) + " is " +
                 text_of(slope);
      }
      if (std::isfinite(values[c]) && blame.empty()) continue;
      throw Error("sample: chain " + std::to_string(c) + " has no place to begin: " +
                  (options.start ? "where it starts"
                                 : "after " + std::to_string(start_trials) +
                                       " starts in (-2, 2), at the last of which") +
                  " the log density is " + text_of(values[c]) + blame +
                  ". Give starts where both are finite, or constrain the parameters so that "
                  "they are");
    }
  }

  // --- One pass: a leapfrog step of every chain, and the ends of those trees that are done
  struct Chain {
    Key key;
    Nuts::Tree tree;  // without leaves until the first pass
    Adaptation adaptation;
  };
  struct Loop {
    Chain chains;
    Array rows;  // [chains, capacity + 1, size + stats]; the last for what chains that wait write
  };

  static Array is_active(const Adaptation& a, const Array& end) { return a.transition < end; }
  static Array is_searching(const Adaptation& a) { return a.step.direction != 0; }
  static Array is_grown(const Nuts::Tree& tree) { return tree.leaves > 0; }
  /// Whether it is time for another tree. Trials of a search are over after one step.
  static Array is_ended(const Chain& c, const Array& end) {
    return is_active(c.adaptation, end) &
           (c.tree.done | is_searching(c.adaptation) | !is_grown(c.tree));
  }

  Chain chain_of(const ChainState& state) const {
    Nuts::Impulse nothing = {zeros_like(state.at.position), Array(0.0, DType::u32), state.key};
    Nuts::Tree tree = nuts.begin(state.at, nothing);
    tree.leaves = Array(0);
    return {state.key, tree, state.adaptation};
  }

  Nuts::Tree grow(const Chain& c, const Array& end) const {
    const Adaptation& a = c.adaptation;
    Nuts::Tree grown = nuts.grow(log_density, c.tree, a.step.size, a.metric);
    return tree_where(is_active(a, end) & is_grown(c.tree), grown, c.tree);
  }

  Array row_of(const Chain& c) const {
    Nuts::Info info = nuts.info(c.tree);
    auto real = [&](const Array& x) { return convert(x, options.dtype); };
    Array stats =
        stack({c.tree.sample.at.value, info.accept, c.adaptation.step.size, real(info.depth),
               real(info.leapfrogs), real(info.divergent), info.energy});
    return concatenate({c.tree.sample.at.position, stats});
  }

  /// What a chain learns from a tree that ended, if one has; the impulse of the next; and whether a
  /// window of the warm-up ended too.
  std::tuple<Adaptation, Nuts::Impulse, Array> turn_over(const Chain& c, const Array& end) const {
    const Adaptation& a = c.adaptation;
    Array ended = is_ended(c, end) & is_grown(c.tree), searching = is_searching(a);
    Array tried = ended & searching, counted = ended & !searching;
    Array warm = counted & (a.transition < options.warmup);
    Array accept = nuts.info(c.tree).accept;

    StepSearch::State searched = search.update(a.step, accept);
    DualAveraging::State averaged = averaging.update(a.averaging, accept);
    Array found = tried & (searched.direction == 0);
    Array last = a.transition == options.warmup - 1;
    Array learned = exp(where(last, averaged.log_average, averaged.log_step));
    Array closes(false);
    for (std::int64_t window_end : windows.last) closes = closes | (a.transition == window_end);
    closes = closes & counted;

    Adaptation next = a;
    next.step.size = where(tried, searched.size, where(warm, learned, a.step.size));
    next.step.direction = where(closes, 2, where(tried, searched.direction, a.step.direction));
    next.averaging =
        tree_where(found, averaging.init(searched.size), tree_where(warm, averaged, a.averaging));
    if (windows.end > 0) {
      Array collects = counted & (a.transition >= windows.begin) & (a.transition < windows.end);
      next.moments =
          tree_where(collects, moments.add(a.moments, c.tree.sample.at.position), a.moments);
    }
    next.transition = a.transition + convert(counted, DType::i32);
    next.trajectories = a.trajectories + convert(ended, DType::i32);
    return {next, nuts.impulse(fold_in(c.key, next.trajectories), c.tree.sample.at), closes};
  }

  Adaptation renew_metric(const Adaptation& a, const Array& closes) const {
    Adaptation next = a;
    next.metric = tree_where(closes, moments.metric(a.moments), a.metric);
    next.moments = tree_where(closes, moments.init(target.size, options.dtype), a.moments);
    return next;
  }

  Loop pass(const Loop& loop, const Array& begin, const Array& end) const {
    Loop next = loop;
    Chain& chains = next.chains;
    chains.tree =
        vmap([&](const Chain& c, const Array& e) { return grow(c, e); })(loop.chains, end);
    // Rows of trees that are not done are written over later; that costs less than a choice.
    Array rows = vmap([&](const Chain& c) { return row_of(c); })(chains);
    next.rows = written(loop.rows, rows, chains.adaptation.transition - begin);

    // Only what is costly is inside: what passes through a branch is copied.
    using Turned = std::pair<Adaptation, Nuts::Impulse>;
    Array ended = vmap(is_ended)(chains, end);
    auto turn = [&] {
      auto one = [&](const Chain& c, const Array& e) { return turn_over(c, e); };
      auto [adaptation, impulse, closes] = vmap(one)(chains, end);
      if (windows.last.empty()) return Turned(adaptation, impulse);
      auto renew = [&, &learned = adaptation, &windows_end = closes] {
        return vmap([&](const Adaptation& a, const Array& w) { return renew_metric(a, w); })(
            learned, windows_end);
      };
      auto keep = [&learned = adaptation] { return learned; };
      return Turned(cond(any(closes), renew, keep), impulse);
    };
    auto go_on = [&] {
      return Turned(chains.adaptation,
                    {chains.tree.near.momentum, chains.tree.directions, chains.tree.key});
    };
    auto [adaptation, impulses] = cond(any(ended), turn, go_on);
    auto replant = [&](const Nuts::Tree& tree, const Nuts::Impulse& impulse, const Array& e) {
      return tree_where(e, nuts.begin(tree.sample.at, impulse), tree);
    };
    chains.tree = vmap(replant)(chains.tree, impulses, ended);
    chains.adaptation = adaptation;
    return next;
  }

  /// `rows` [chains, width] written into their slots of all rows.
  Array written(Array all_rows, const Array& rows, const Array& slots) const {
    std::int64_t width = rows.shape()[1];
    auto write = [&](const Array& whole, const Array& row, const Array& slot) {
      return dynamic_update_slice(whole, reshape(row, {1, width}), {slot, Array(0)});
    };
    if (options.chains > 16) return vmap(write)(all_rows, rows, slots);
    // A scatter is a loop on a CPU; a few updates in place are not.
    for (std::int64_t c = 0; c < options.chains; c++) {
      Array row = reshape(slice(rows, {c, 0}, {c + 1, width}), {1, 1, width});
      Array slot = reshape(slice(slots, {c}, {c + 1}), {});
      all_rows = dynamic_update_slice(all_rows, row, {Array(c), slot, Array(0)});
    }
    return all_rows;
  }

  std::int64_t capacity() const { return internal::draw_row_capacity(target, options); }

  std::pair<ChainState, Draws> advance(const ChainState& state, const Array& transitions) const {
    Array begin = state.adaptation.transition, end = begin + transitions;
    Shape shape = {options.chains, capacity() + 1, internal::draw_row_length(target)};
    Loop start = {vmap([&](const ChainState& s) { return chain_of(s); })(state),
                  zeros(shape, options.dtype)};
    Loop last = while_loop([&](const Loop& l) { return any(l.chains.adaptation.transition < end); },
                           [&](const Loop& l) { return pass(l, begin, end); }, start);
    Draws draws = internal::draws_of_rows(
        target, slice(last.rows, {0, 0, 0},
                      {options.chains, capacity(), internal::draw_row_length(target)}));
    return {{state.key, last.chains.tree.sample.at, last.chains.adaptation}, draws};
  }

  // --- Compiled, once each
  struct Advance {
    const Implementation* self;
    std::pair<ChainState, Draws> operator()(const ChainState& s, const Array& n) const {
      return self->advance(s, n);
    }
  };
  const Jitted<Advance> advance_program =
      jit(Advance{this}, {.donate = {0}, .device = options.device});
  /// Chunks of draws, of which the first so many count.
  struct Kept {
    std::vector<Draws> chunks;
    std::vector<std::int64_t> counts;
    void add(Draws draws, std::int64_t count);
    Draws all() const;
  };
  /// The chains after so many more transitions; what these drew is appended to `kept`, if given.
  ChainState run(ChainState state, std::int64_t transitions, Kept* kept) const;

  const std::function<ChainState(const Key&)> init_program =
      jit([this](const Key& k) { return init(k); }, {.device = options.device});
};

namespace {

/// The first `counts[i]` along axis 1 of each part, one behind another. On the host: programs of
/// every length would take longer to compile than all this takes to copy.
Array joined(const Arrays& parts, const std::vector<std::int64_t>& counts) {
  return visit_dtype(parts[0].dtype(), [&](auto zero) {
    using T = decltype(zero);
    Shape shape = parts[0].shape();
    std::int64_t chains = shape[0], capacity = shape[1];
    std::vector<HostVector<T>> values;
    for (const Array& part : parts) values.push_back(part.to_vector<T>());
    std::vector<T> all;
    for (std::int64_t c = 0; c < chains; c++) {
      for (std::size_t i = 0; i < parts.size(); i++) {
        std::int64_t row = parts[i].size() / (chains * capacity);
        auto from = values[i].begin() + c * capacity * row;
        all.insert(all.end(), from, from + counts[i] * row);
      }
    }
    shape[1] = std::accumulate(counts.begin(), counts.end(), std::int64_t{0});
    return array(all, shape);
  });
}

}  // namespace

void Sampler::Implementation::Kept::add(Draws draws, std::int64_t count) {
  chunks.push_back(std::move(draws));
  counts.push_back(count);
}

Draws Sampler::Implementation::Kept::all() const {
  if (chunks.size() == 1 && chunks[0].values.shape()[1] == counts[0]) return chunks[0];
  std::vector<Arrays> leaves;
  for (const Draws& chunk : chunks) leaves.push_back(tree_leaves(chunk));
  Arrays whole;
  for (std::size_t i = 0; i < leaves[0].size(); i++) {
    Arrays parts;
    for (const Arrays& chunk : leaves) parts.push_back(chunk[i]);
    whole.push_back(joined(parts, counts));
  }
  return tree_unflatten(chunks[0], std::span<const Array>(whole));
}

ChainState Sampler::Implementation::run(ChainState state, std::int64_t transitions,
                                        Kept* kept) const {
  internal::SmallLoops small_models_are_quick;
  do {
    std::int64_t count = std::min(transitions, capacity());
    auto [next, draws] = advance_program(state, Array(count));
    state = next;
    if (kept != nullptr) kept->add(draws, count);
    transitions -= count;
  } while (transitions > 0);
  internal::check_learned_steps(state, options);
  return state;
}

Sampler::Sampler(Target target, SamplingOptions options) {
  check(target, options);
  implementation_ = std::make_shared<const Implementation>(std::move(target), std::move(options));
}

const Target& Sampler::target() const { return implementation_->target; }
const SamplingOptions& Sampler::options() const { return implementation_->options; }

ChainState Sampler::init() const {
  // Both programs are compiled at once: the long one is one function, which takes one thread.
  auto compile = [program = lower(), device = options().device] {
    internal::SmallLoops small_models_are_quick;
    return program.compile(device);
  };
  std::future<Program> transitions = std::async(std::launch::async, compile);
  return begin();
}

ChainState Sampler::begin() const {
  ChainState chains = implementation_->init_program(key(options().seed));
  implementation_->check_start(chains);
  return chains;
}

std::pair<ChainState, Draws> Sampler::advance(ChainState state, std::int64_t transitions) const {
  if (transitions < 0) {
    throw Error("Sampler::advance: " + std::to_string(transitions) +
                " transitions. Give a number that is not negative");
  }
  Implementation::Kept kept;
  state = implementation_->run(std::move(state), transitions, &kept);
  return {state, kept.all()};
}

ChainState Sampler::begin_like() const {
  const Implementation& self = *implementation_;
  return eval_shape([&](const Key& k) { return self.init(k); }, key(0));
}

std::pair<ChainState, Draws> Sampler::like() const {
  return {begin_like(), internal::draws_like(target(), options())};
}

Lowered Sampler::lower() const {
  return implementation_->advance_program.lower(begin_like(), Array(1));
}

std::string flatness_warning(const Target& target, const ChainState& chains) {
  std::vector<double> slopes = to_doubles(chains.at.slope);
  auto size = static_cast<std::size_t>(target.size);
  std::string names;
  for (std::size_t i = 0; i < size; i++) {
    bool flat = true;
    for (std::size_t at = i; at < slopes.size(); at += size) flat = flat && slopes[at] == 0;
    if (flat) names += (names.empty() ? "" : ", ") + name_of_free(target, i);
  }
  if (names.empty()) return "";
  return "The log density does not change with " + names +
         " where the chains ended. Unless walls enclose it, nothing can be said of it: give it a "
         "prior.";
}

Draws sample(const Target& target, const SamplingOptions& options,
             const std::function<bool(std::int64_t done)>& look) {
  Sampler sampler(target, options);
  const Sampler::Implementation& self = *sampler.implementation_;
  ChainState state = sampler.init();
  std::int64_t done = 0;
  bool go_on = true;
  Sampler::Implementation::Kept kept;
  // Chains wait for each other at the end of a chunk: few and long ones, unless someone looks.
  auto run = [&](std::int64_t count, Sampler::Implementation::Kept* chunks) {
    std::int64_t end = done + count, chunk = look ? std::max<std::int64_t>(1, count / 20) : count;
    while (go_on && done < end) {
      std::int64_t now = std::min(chunk, end - done);
      state = self.run(state, now, chunks);
      done += now;
      if (look) go_on = look(done);
    }
  };
  run(options.warmup, nullptr);
  run(options.draws, &kept);
  if (std::string flat = flatness_warning(target, state); !flat.empty()) {
    log(LogLevel::warning, "sample: " + flat);
  }
  if (kept.chunks.empty()) self.run(state, 0, &kept);
  return kept.all();
}

}  // namespace sturnus
