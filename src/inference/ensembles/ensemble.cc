#include <sturnus/functional/control_flow.h>
#include <sturnus/functional/doubles.h>
#include <sturnus/functional/grad.h>
#include <sturnus/functional/jit.h>
#include <sturnus/functional/sharded_program.h>
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

struct Ensemble::Implementation : EnsembleLoss {
  using EnsembleLoss::EnsembleLoss;

  // --- Training
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
