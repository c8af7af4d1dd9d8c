#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sturnus/functional/debug.h>
#include <sturnus/functional/grad.h>
#include <sturnus/functional/tree.h>
#include <sturnus/inference/ensembles/ensemble.h>
#include <sturnus/inference/ensembles/published.h>
#include <sturnus/inference/ensembles/training.h>
#include <sturnus/ops/creation.h>
#include <sturnus/ops/subscript.h>
#include <sturnus/ops/transcendental.h>
#include <sturnus/runtime/host_callback.h>
#include <sturnus/runtime/plugin.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cmath>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <numbers>

#include "pjrt_c_api.h"
#include "tests/inference/ensembles/host_ensemble.h"

namespace sturnus {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using Kind = Collocation::Kind;

EnsembleOptions small_oscillator(std::string_view variant = "full") {
  EnsembleOptions options = small_options(Experiment::oscillator, variant);
  options.repulsion.start = 0;
  options.network.hidden = {3};
  return options;
}

Ensemble oscillator(const EnsembleOptions& options = small_oscillator()) {
  return Ensemble(published_problem(Experiment::oscillator), options);
}

void expect_same_bits(const EnsembleState& a, const EnsembleState& b) {
  std::vector<std::string> expected;
  for_each_leaf(a, [&](const Array& leaf) { expected.push_back(bytes_of(leaf)); });
  std::size_t i = 0;
  for_each_leaf_with_path(b, [&](const std::string& path, const Array& leaf) {
    EXPECT_EQ(expected[i++], bytes_of(leaf)) << path;
  });
}

bool is_finite(const Array& x) {
  Doubles values = doubles(x);
  return std::all_of(values.begin(), values.end(), [](double v) { return std::isfinite(v); });
}

// ------------------------------------------------------------------------------ the training

TEST(Ensemble, PredictsTheNetworksOfItsMembers) {
  for (Experiment experiment : {Experiment::advection, Experiment::lotka_volterra}) {
    EnsembleOptions options = small_options(experiment, "none");
    options.dtype = DType::f64;
    Ensemble ensemble(published_problem(experiment), options);
    EnsembleState state = ensemble.init();
    bool plane = experiment == Experiment::advection;
    Doubles x = {0, 0.1, 1, 0.7, 1.9, 1};
    Array f = ensemble.predict(state, plane ? device_array(x, {3, 2}) : array(x));
    EXPECT_EQ(f.shape(), plane ? (Shape{6, 3}) : (Shape{6, 6, 2}));
    HostEnsemble host{ensemble, host_members(ensemble.members(state)), {}, 0, false};
    Doubles expected;
    for (const HostMember& m : host.members) {
      for (double value : host.values_at(m, x)) expected.push_back(value);
    }
    Doubles found = doubles(f);
    ASSERT_EQ(found.size(), expected.size());
    for (std::size_t i = 0; i < found.size(); i++) EXPECT_NEAR(found[i], expected[i], 1e-12);
  }
}

TEST(Ensemble, TheSameSeedGivesTheSameBits) {
  EnsembleOptions options = small_oscillator();
  EnsembleState state = oscillator(options).advance(oscillator(options).init(), 20);
  expect_same_bits(state, oscillator(options).advance(oscillator(options).init(), 20));
  options.seed = 1;
  EnsembleState other = oscillator(options).init();
  EXPECT_NE(bytes_of(oscillator().init().parameters), bytes_of(other.parameters));
}

TEST(Ensemble, StartsWithTheSameMembersWhateverTheRepulsion) {
  EnsembleState first = oscillator(small_oscillator("none")).init();
  for (const std::string& variant : published_variants()) {
    expect_same_bits(first, oscillator(small_oscillator(variant)).init());
  }
}

TEST(Ensemble, StartsParametersWhereTheyAreToStart) {
  Problem problem = published_problem(Experiment::oscillator);
  problem.parameters[1].start = {2, 2.5};
  EnsembleOptions options = small_oscillator("none");
  options.members = 400;
  Ensemble ensemble(problem, options);
  Doubles lambda = doubles(ensemble.lambda(ensemble.init()));
  double squares = 0, sum = 0, low = 9, high = 0;
  for (std::size_t i = 0; i < 400; i++) {
    EXPECT_GE(lambda[2 * i], 0);  // |N(0, 1)|
    squares += lambda[2 * i] * lambda[2 * i] / 400;
    sum += lambda[2 * i] / 400;
    low = std::min(low, lambda[2 * i + 1]);
    high = std::max(high, lambda[2 * i + 1]);
  }
  EXPECT_NEAR(squares, 1, 4 * std::sqrt(2.0 / 400));
  EXPECT_NEAR(sum, std::sqrt(2 / std::numbers::pi), 4 * 0.6 / 20);
  EXPECT_TRUE(low >= 2 && low < 2.02) << low;
  EXPECT_TRUE(high < 2.5 && high > 2.48) << high;
}

TEST(Ensemble, AdvancesByPartsAsAtOnce) {
  EnsembleOptions options = small_oscillator();
  options.repulsion.start = 5;
  options.residual_weight = Schedule::stepwise(1, {{3, 5}, {9, 10}});
  options.optimizer.rate = Schedule::cosine(0.01, 0.001, 2, 15).with_warm_up(4);
  options.collocation = {.kind = Kind::sobol, .points = 8, .resample_every = 3};
  Ensemble ensemble = oscillator(options);
  EnsembleState whole = ensemble.advance(ensemble.init(), 17);
  EXPECT_EQ(whole.iteration.item<std::int32_t>(), 17);
  for (int first : {0, 1, 7, 16}) {
    EnsembleState part = ensemble.advance(ensemble.init(), first);
    expect_same_bits(whole, ensemble.advance(part, 17 - first));
  }
}

// The loss that a state reports is that before its last step.
TEST(Ensemble, ReportsTheLossItStepsFrom) {
  Ensemble ensemble = oscillator();
  EnsembleState state = ensemble.advance(ensemble.init(), 3);
  LossTerms before = ensemble.loss(state);
  LossTerms reported = ensemble.advance(state, 1).loss;
  auto near = [](const Array& a, const Array& b) {
    Doubles x = doubles(a), y = doubles(b);
    for (std::size_t i = 0; i < x.size(); i++) EXPECT_NEAR(x[i], y[i], 1e-5 * (1 + std::abs(y[i])));
  };
  near(reported.data(), before.data());
  near(reported.residual(), before.residual());
  near(reported.prior(), before.prior());
  near(reported.repulsion(), before.repulsion());
}

TEST(Ensemble, LowersItsLossAndKeepsMembersApart) {
  for (DType dtype : {DType::f32, DType::f64}) {
    EnsembleOptions options = small_options(Experiment::exponential, "full");
    options.network.hidden = {3};
    options.dtype = dtype;
    Ensemble ensemble(published_problem(Experiment::exponential), options);
    EnsembleState state = ensemble.init();
    auto mean_fit = [&] {
      double total = 0;
      for (double d : doubles(ensemble.loss(state).data())) total += d;
      for (double r : doubles(ensemble.loss(state).residual())) total += r;
      return total;
    };
    double before = mean_fit();
    state = ensemble.advance(state, 300);
    EXPECT_LT(mean_fit(), 0.5 * before);
    for_each_leaf(ensemble.members(state), [&](const Array& leaf) {
      EXPECT_EQ(leaf.dtype(), dtype);
      EXPECT_TRUE(is_finite(leaf));
    });
    EXPECT_EQ(state.points.dtype(), dtype);
    EXPECT_EQ(state.loss.repulsion().dtype(), dtype);
  }
}

TEST(Ensemble, TracesEachProgramOnce) {
  int residuals = 0, values = 0;
  Problem problem = published_problem(Experiment::oscillator);
  problem.equation = [&](const Field& f, const Array& t, const Array& p) {
    residuals++;
    return f(t) * p[0];
  };
  EnsembleOptions options = small_oscillator("none");
  options.network.constraint = [&](const Array& f, const Array&) {
    values++;
    return f;
  };
  options.collocation = {
      .kind = Kind::adaptive, .points = 8, .resample_every = 2, .candidates = 16};
  Ensemble ensemble(problem, options);
  Array points = linspace(0.0, 1.0, 5), lost = array(std::vector<bool>(6, true));
  int traced[2];
  for (int pass : {0, 1}) {
    EnsembleState state = ensemble.restart(ensemble.init(), lost);
    ensemble.predict(state, points);
    ensemble.loss(state);
    ensemble.polish(state, 1);
    ensemble.advance(state, 1);
    traced[pass] = residuals + values;
  }
  EXPECT_GT(residuals, 0);
  EXPECT_GT(values, 0);
  EXPECT_EQ(traced[0], traced[1]);
}

TEST(Ensemble, PolishLowersEveryLossAndLeavesLostMembersAlone) {
  EnsembleOptions options = small_oscillator("none");
  options.dtype = DType::f64;
  Ensemble ensemble = oscillator(options);
  EnsembleState state = ensemble.advance(ensemble.init(), 20);
  Doubles lambda = doubles(ensemble.lambda(state));
  lambda[2 * 3] = std::nan("");
  state = with_lambda(ensemble, state, device_array(lambda, {6, 2}));
  auto totals = [&](const EnsembleState& s) {
    LossTerms terms = ensemble.loss(s);
    return doubles(terms.data() + terms.residual() + terms.prior() + terms.repulsion());
  };
  Doubles before = totals(state);
  EnsembleState polished = ensemble.polish(state, 200);
  EXPECT_EQ(polished.iteration.item<std::int32_t>(), 220);
  Doubles after = totals(polished),
          reported =
              doubles(polished.loss.data() + polished.loss.residual() + polished.loss.prior());
  EnsembleState again = ensemble.polish(polished, 100);
  Doubles last = totals(again);
  for (std::size_t i = 0; i < 6; i++) {
    if (i == 3) {
      EXPECT_TRUE(std::isnan(after[i]));
      continue;
    }
    EXPECT_LT(after[i], before[i]);
    EXPECT_NEAR(reported[i], after[i], 1e-12 * after[i]);
    EXPECT_LE(last[i], after[i]);
  }
  Array weights = ensemble.members(state).network[0].w,
        kept = ensemble.members(polished).network[0].w;
  std::size_t own = doubles(weights).size() / 6;
  for (std::size_t i = 3 * own; i < 4 * own; i++) EXPECT_EQ(doubles(kept)[i], doubles(weights)[i]);
  EXPECT_EQ(bytes_of(ensemble.lambda(ensemble.polish(polished, 0))),
            bytes_of(ensemble.lambda(polished)));
}

TEST(Ensemble, PolishWithRepulsionKeepsMembersApart) {
  EnsembleOptions options = small_options(Experiment::exponential, "full");
  options.network.hidden = {3};
  options.dtype = DType::f64;
  Ensemble ensemble(published_problem(Experiment::exponential), options);
  EnsembleState state = ensemble.polish(ensemble.advance(ensemble.init(), 300), 100);
  Doubles lambda = doubles(ensemble.lambda(state));
  std::sort(lambda.begin(), lambda.end());
  for (std::size_t i = 1; i < lambda.size(); i++) EXPECT_GT(lambda[i] - lambda[i - 1], 1e-5);
  EXPECT_TRUE(is_finite(state.loss.repulsion()));
}

// Their bandwidth is that of no distance at all: they do not part, and nothing is divided by 0.
TEST(Ensemble, OfIdenticalMembersTrainsAsOne) {
  for (Factorization factorization :
       {Factorization::joint, Factorization::full, Factorization::correlated}) {
    EnsembleOptions options = small_oscillator("lambda");
    options.repulsion.factorization = factorization;
    Ensemble ensemble = oscillator(options);
    EnsembleState state = ensemble.init();
    Doubles values = doubles(state.parameters);
    std::size_t own = values.size() / 6;
    for (std::size_t i = own; i < values.size(); i++) values[i] = values[i - own];
    state.parameters = device_array(values, state.parameters.shape(), DType::f32);
    state = ensemble.advance(state, 10);
    EXPECT_EQ(doubles(state.diverged_at), Doubles(6, -1));
    Doubles lambda = doubles(ensemble.lambda(state));
    for (std::size_t i = 2; i < lambda.size(); i++) EXPECT_NEAR(lambda[i], lambda[i - 2], 1e-5);
  }
}

TEST(Ensemble, OfOneMemberTrainsWithoutRepulsion) {
  EnsembleOptions options = small_oscillator("none");
  options.members = 1;
  Ensemble ensemble = oscillator(options);
  EnsembleState state = ensemble.advance(ensemble.init(), 5);
  EXPECT_EQ(ensemble.lambda(state).shape(), (Shape{1, 2}));
  EXPECT_TRUE(is_finite(ensemble.lambda(state)));
  EXPECT_EQ(doubles(state.loss.repulsion()), Doubles{0});
}

TEST(Ensemble, WithoutParametersTrains) {
  Problem problem = published_problem(Experiment::exponential);
  problem.equation = [](const Field& f, const Array& t, const Array&) {
    return grad(f)(t) - 0.3 * f(t);
  };
  problem.parameters = {};
  Ensemble ensemble(problem, small_options(Experiment::exponential, "f"));
  EnsembleState state = ensemble.advance(ensemble.init(), 5);
  EXPECT_TRUE(is_finite(state.loss.data()));
  EXPECT_TRUE(is_finite(state.loss.repulsion()));
  for (const char* variant : {"lambda", "joint", "factorized", "full"}) {
    EXPECT_THAT(
        error_of([&] { Ensemble(problem, small_options(Experiment::exponential, variant)); }),
        HasSubstr("Ensemble: the repulsion sees parameters, of which problem exponential "
                  "has none. Let it see something else, or take the variant none"));
  }
}

// ------------------------------------------------------------------------------- divergence

TEST(Ensemble, SaysWhenAMemberDivergedAndKeepsTheOthers) {
  for (const char* variant : {"joint", "full"}) {
    SCOPED_TRACE(variant);
    EnsembleOptions options = small_oscillator(variant);
    options.optimizer = {.method = Optimizer::Method::sgd, .rate = 1e-4};
    Ensemble ensemble = oscillator(options);
    auto start = [&] {
      EnsembleState state = ensemble.init();
      // omega^2 f is 1e8 f: steps overshoot more and more.
      Doubles lambda = doubles(ensemble.lambda(state));
      lambda[2 * 2] = 1e4;
      state = with_lambda(ensemble, state, device_array(lambda, {6, 2}, DType::f32));
      return state;
    };
    // The first loss that is not finite, step by step.
    EnsembleState state = start();
    int first = -1;
    for (int i = 0; i < 12; i++) {
      state = ensemble.advance(state, 1);
      bool finite = true;
      Doubles terms = doubles(state.loss.all);  // [members, 4]
      for (std::size_t k = 0; k < 4; k++) finite = finite && std::isfinite(terms[2 * 4 + k]);
      if (!finite && first < 0) first = i;
    }
    EXPECT_GT(first, 0);
    EnsembleState at_once = ensemble.advance(start(), 12);
    Doubles expected(6, -1);
    expected[2] = first;
    EXPECT_EQ(doubles(state.diverged_at), expected);
    EXPECT_EQ(doubles(at_once.diverged_at), expected);
    for_each_leaf(ensemble.members(at_once), [&](const Array& leaf) {
      Doubles values = doubles(leaf);
      std::size_t own = values.size() / 6;
      for (std::size_t i = 0; i < values.size(); i++) {
        ASSERT_TRUE(i / own == 2 || std::isfinite(values[i]));
      }
    });
    Doubles terms = doubles(at_once.loss.all);
    for (std::size_t i = 0; i < terms.size(); i++) {
      ASSERT_TRUE(i / 4 == 2 || std::isfinite(terms[i]));
    }
  }
}

TEST(Ensemble, BeginsMembersAnew) {
  Ensemble ensemble = oscillator();
  EnsembleState state = ensemble.advance(ensemble.init(), 10);
  Doubles lambda = doubles(ensemble.lambda(state));
  lambda[2 * 1] = std::nan("");
  state = with_lambda(ensemble, state, device_array(lambda, {6, 2}, DType::f32));
  state = ensemble.advance(state, 2);
  EXPECT_EQ(doubles(state.diverged_at), (Doubles{-1, 10, -1, -1, -1, -1}));

  EnsembleState again = ensemble.restart(state, state.diverged_at >= 0);
  EXPECT_EQ(doubles(again.diverged_at), Doubles(6, -1));
  EXPECT_EQ(again.iteration.item<std::int32_t>(), 12);
  // The others are as they were, the one is fresh: finite, small and without memory.
  std::vector<Array> before = tree_leaves(ensemble.members(state)),
                     after = tree_leaves(ensemble.members(again));
  std::vector<Array> start = tree_leaves(ensemble.members(ensemble.init()));
  for (std::size_t a = 0; a < after.size(); a++) {
    Doubles was = doubles(before[a]), is = doubles(after[a]), first = doubles(start[a]);
    std::size_t own = is.size() / 6;
    for (std::size_t i = 0; i < is.size(); i++) {
      if (i / own == 1) {
        EXPECT_LT(std::abs(is[i]), 5);
        EXPECT_NE(is[i], first[i]);
      } else {
        EXPECT_EQ(is[i], was[i]);
      }
    }
  }
  for (Arrays memory : {again.optimizer.mean, again.optimizer.square}) {
    Doubles rows = doubles(memory[0]);
    std::size_t own = rows.size() / 6;
    for (std::size_t i = own; i < 2 * own; i++) EXPECT_EQ(rows[i], 0);
    EXPECT_NE(rows[0], 0);
  }
  // The first step of Adam, which knows one gradient only: as long as the rate in every direction.
  EXPECT_EQ(doubles(again.optimizer.steps), (Doubles{12, 0, 12, 12, 12, 12}));
  std::vector<Doubles> begun;
  for (const Array& leaf : after) begun.push_back(doubles(leaf));
  EnsembleState moved = ensemble.advance(again, 1);
  std::vector<Array> next = tree_leaves(ensemble.members(moved));
  for (std::size_t a = 0; a < next.size(); a++) {
    Doubles is = doubles(next[a]);
    std::size_t own = is.size() / 6;
    for (std::size_t i = own; i < 2 * own; i++) {
      EXPECT_NEAR(std::abs(is[i] - begun[a][i]), 0.01, 1e-5);
    }
  }
  EnsembleState later = ensemble.advance(moved, 19);
  EXPECT_EQ(doubles(later.diverged_at), Doubles(6, -1));
  EXPECT_TRUE(is_finite(ensemble.lambda(later)));
}

// -------------------------------------------------------------------------------- collocation

TEST(Ensemble, DrawsItsPointsAnewWhenTheyAreDue) {
  for (Kind kind : {Kind::grid, Kind::uniform, Kind::sobol, Kind::adaptive}) {
    for (bool per_member : {false, true}) {
      for (std::int64_t every : {0, 1, 3}) {
        // Of all combinations those that take another way.
        if (kind == Kind::grid ? per_member || every != 0 : per_member != (every == 3)) continue;
        if (every == 0 && (kind == Kind::sobol || kind == Kind::adaptive)) continue;
        SCOPED_TRACE(testing::Message() << static_cast<int>(kind) << per_member << every);
        EnsembleOptions options = small_oscillator("none");
        options.collocation = {
            .kind = kind, .points = 8, .resample_every = every, .per_member = per_member};
        if (kind == Kind::adaptive) options.collocation.candidates = 32;
        Ensemble ensemble = oscillator(options);
        EnsembleState state = ensemble.init();
        EXPECT_EQ(state.points.shape(), per_member ? (Shape{6, 8}) : Shape{8});
        std::string last = bytes_of(state.points);
        for (int i = 0; i < 5; i++) {
          state = ensemble.advance(state, 1);
          std::string now = bytes_of(state.points);
          // At iteration 0 too: the points of init are those that resampling never replaces.
          bool due = kind != Kind::grid && every > 0 && i % every == 0;
          EXPECT_EQ(now != last, due) << "iteration " << i;
          last = now;
          EXPECT_TRUE(is_finite(state.loss.residual()));
          for (double x : doubles(state.points)) EXPECT_TRUE(x >= 0 && x <= 25);
        }
        if (per_member && kind != Kind::grid) {
          Doubles points = doubles(state.points);
          EXPECT_NE(Doubles(points.begin(), points.begin() + 8),
                    Doubles(points.begin() + 8, points.begin() + 16));
        }
      }
    }
  }
}

// A member that diverged says nothing about where the others need points.
TEST(Ensemble, AdaptivePointsDoNotMindALostMember) {
  EnsembleOptions options = small_oscillator("none");
  options.collocation = {
      .kind = Kind::adaptive, .points = 64, .resample_every = 1, .candidates = 4096, .power = 2};
  Problem problem = published_problem(Experiment::oscillator);
  // Whatever f is, the residual is large near 20.
  problem.equation = [](const Field& f, const Array& t, const Array& p) {
    return 1e-3 * f(t) * p[0] + exp(-square(t - 20.0));
  };
  Ensemble ensemble(problem, options);
  EnsembleState state = ensemble.init();
  Doubles lambda = doubles(ensemble.lambda(state));
  lambda[0] = std::nan("");
  state = with_lambda(ensemble, state, device_array(lambda, {6, 2}, DType::f32));
  state = ensemble.advance(state, 1);
  EXPECT_EQ(doubles(state.diverged_at), (Doubles{0, -1, -1, -1, -1, -1}));
  Doubles points = doubles(state.points);
  auto near =
      std::count_if(points.begin(), points.end(), [](double t) { return std::abs(t - 20) < 1.5; });
  EXPECT_GT(near, 24);  // expected 36, of uniform ones 8
}

// ------------------------------------------------------------------------------- one program

// Calls of the plugin that move data or run programs, counted in its table.
struct Traffic {
  std::atomic<int> executions = 0, to_device = 0, to_host = 0, copies = 0, compilations = 0;
  std::mutex mutex;
  std::map<const void*, int> by_program;  // executions of each
};
Traffic traffic;

template <auto Function, std::atomic<int> Traffic::*Count>
void count_calls(PJRT_Api& table) {
  static auto original = table.*Function;
  table.*Function = [](auto* args) {
    ++(traffic.*Count);
    if constexpr (Count == &Traffic::executions) {
      std::lock_guard lock(traffic.mutex);
      ++traffic.by_program[args->executable];
    }
    return original(args);
  };
}

void count_traffic() {
  std::string file = Plugin::find("cpu").path().string();
  void* library = dlopen(file.c_str(), RTLD_NOW | RTLD_NOLOAD);
  ASSERT_NE(library, nullptr);
  auto get = reinterpret_cast<const PJRT_Api* (*)()>(dlsym(library, "GetPjrtApi"));
  auto& table = const_cast<PJRT_Api&>(*get());
  // The table may lie in pages that are read only.
  auto page = static_cast<std::uintptr_t>(getpagesize());
  auto first = reinterpret_cast<std::uintptr_t>(&table) / page * page;
  auto end = reinterpret_cast<std::uintptr_t>(&table) + sizeof(table);
  ASSERT_EQ(mprotect(reinterpret_cast<void*>(first), end - first, PROT_READ | PROT_WRITE), 0);
  count_calls<&PJRT_Api::PJRT_LoadedExecutable_Execute, &Traffic::executions>(table);
  count_calls<&PJRT_Api::PJRT_Client_BufferFromHostBuffer, &Traffic::to_device>(table);
  count_calls<&PJRT_Api::PJRT_Buffer_ToHostBuffer, &Traffic::to_host>(table);
  count_calls<&PJRT_Api::PJRT_Buffer_CopyToDevice, &Traffic::copies>(table);
  count_calls<&PJRT_Api::PJRT_Client_Compile, &Traffic::compilations>(table);
}

TEST(Ensemble, AdvancesByOneExecutionOfOneProgram) {
  EnsembleOptions options = small_oscillator();
  options.members = 7;  // an equal program may have been compiled before, by another test
  Ensemble ensemble = oscillator(options);
  EnsembleState state = ensemble.init();
  count_traffic();
  Ensemble::CompileTime time = ensemble.compile();
  EXPECT_GT(time.lower, 0);
  EXPECT_GT(time.compile, 0);
  EXPECT_EQ(traffic.compilations, 1);
  EXPECT_EQ(traffic.executions, 0);
  for (int iterations : {1, 10, 1000}) {
    traffic.executions = traffic.to_device = traffic.to_host = traffic.copies = 0;
    state = ensemble.advance(state, iterations);
    EXPECT_EQ(traffic.executions, 1);
    EXPECT_EQ(traffic.to_device, 1);  // the number of iterations
    EXPECT_EQ(traffic.to_host, 0);
    EXPECT_EQ(traffic.copies, 0);
    EXPECT_EQ(traffic.compilations, 1);
  }
  ASSERT_EQ(traffic.by_program.size(), 1u);
  const auto [training, times] = *traffic.by_program.begin();
  EXPECT_EQ(times, 3);
  EXPECT_EQ(state.iteration.item<std::int32_t>(), 1011);
  EXPECT_GT(traffic.to_host, 0);  // the count counts

  // Between two chunks the host looks at the state, by other programs.
  TrainingLog log;
  train(ensemble, state, log, {.iterations = 1040, .chunk = 8});
  EXPECT_EQ(log.records.size(), 4u);  // at 1016, 1024, 1032 and 1040
  EXPECT_EQ(traffic.by_program[training], 3 + 4);
  EXPECT_EQ(state.iteration.item<std::int32_t>(), 1040);
  EXPECT_THAT(ensemble.lower().stablehlo(), HasSubstr("stablehlo.while"));
}

// What runs on a GPU never waits for the host.
TEST(Ensemble, TheProgramForGpusCallsNoFunctionOfTheHost) {
  for (Experiment experiment : {Experiment::exponential, Experiment::oscillator,
                                Experiment::lotka_volterra, Experiment::advection}) {
    for (const std::string& variant : published_variants()) {
      Ensemble ensemble(published_problem(experiment),
                        published_training(experiment, variant).options);
      std::string text = ensemble.lower("cuda").stablehlo("cuda");
      EXPECT_THAT(text, HasSubstr("stablehlo.while"));
      EXPECT_THAT(text, Not(HasSubstr(std::string(internal::host_callback_target))));
      EXPECT_THAT(text, Not(HasSubstr("custom_call"))) << name_of(experiment) << " " << variant;
    }
  }
  // Where a program does call one, it is found.
  Problem problem = published_problem(Experiment::oscillator);
  problem.equation = [](const Field& f, const Array& t, const Array& p) {
    return debug_print("f", f(t)) * p[0];
  };
  EXPECT_THAT(Ensemble(problem, small_oscillator("none")).lower().stablehlo(),
              HasSubstr(std::string(internal::host_callback_target)));
}

// --------------------------------------------------------------------------------------- GPUs

// The state after so many iterations by the program that is for a platform, run on the CPU.
EnsembleState advance_as_on(std::string_view platform, const Ensemble& ensemble, int iterations) {
  EnsembleState state = ensemble.init();
  Arrays arguments = tree_leaves(state);
  arguments.push_back(Array(iterations));
  return internal::with_leaves(state, ensemble.lower(platform).compile().run(arguments));
}

void expect_near(const EnsembleState& found, const EnsembleState& expected) {
  Arrays leaves = tree_leaves(expected);
  std::size_t i = 0;
  for_each_leaf_with_path(found, [&](const std::string& path, const Array& leaf) {
    Doubles a = doubles(leaf), b = doubles(leaves[i++]);
    ASSERT_EQ(a.size(), b.size()) << path;
    for (std::size_t k = 0; k < a.size(); k++) {
      EXPECT_NEAR(a[k], b[k], 1e-9 * (1 + std::abs(b[k]))) << path << " " << k;
    }
  });
}

TEST(Ensemble, TheProgramForGpusIsTheSameTraining) {
  for (Experiment experiment :
       {Experiment::oscillator, Experiment::lotka_volterra, Experiment::advection}) {
    EnsembleOptions options = small_options(experiment, "full");
    options.repulsion.start = 0;
    options.dtype = DType::f64;
    options.collocation.points = 256;
    Ensemble ensemble(published_problem(experiment), options);
    EXPECT_NE(ensemble.lower("cuda").graph(), ensemble.lower("cpu").graph());
    expect_near(advance_as_on("cuda", ensemble, 5), ensemble.advance(ensemble.init(), 5));
  }
}

// One pass through all points brings the equation to measured points where it is singular, and the
// constraint to where it has no slope: neither may reach a gradient.
TEST(Ensemble, TheProgramForGpusIsNotDisturbedBySingularitiesAtMeasuredPoints) {
  Problem problem = published_problem(Experiment::exponential);
  ASSERT_EQ(problem.data.x.front(), 0);
  problem.equation = [](const Field& f, const Array& t, const Array& lambda) {
    return grad(f)(t) / t - lambda(0) * f(t) / t;
  };
  EnsembleOptions options = small_options(Experiment::exponential, "full");
  options.dtype = DType::f64;
  options.network.constraint = [](const Array& value, const Array& t) {
    return 1.0 + sqrt(t) * value;
  };
  options.collocation = {.kind = Kind::uniform, .points = 64};
  Ensemble ensemble(problem, options);
  EnsembleState expected = ensemble.advance(ensemble.init(), 5);
  EXPECT_TRUE(is_finite(ensemble.lambda(expected)));
  expect_near(advance_as_on("cuda", ensemble, 5), expected);
}

// ---------------------------------------------------------------------------- several devices

TEST(Ensemble, OnSeveralDevicesHasTheResultsOfOne) {
  Client four = Client::cpu(4);
  for (bool per_member : {false, true}) {
    EnsembleOptions options = small_oscillator(per_member ? "full" : "factorized");
    options.members = 8;
    options.dtype = DType::f64;
    options.optimizer.clip_norm = 10;
    options.collocation = {
        .kind = Kind::sobol, .points = 8, .resample_every = 3, .per_member = per_member};
    Ensemble one = oscillator(options);
    EnsembleState expected = one.advance(one.init(), 7);
    std::vector<Array> leaves = tree_leaves(expected);
    options.device = four.device();
    for (std::int64_t devices : {2, 4}) {
      options.devices = devices;
      Ensemble several = oscillator(options);
      // By parts, so that a state comes together and is cut again.
      EnsembleState found = several.advance(several.advance(several.init(), 4), 3);
      std::size_t i = 0;
      for_each_leaf_with_path(found, [&](const std::string& path, const Array& leaf) {
        SCOPED_TRACE(path + " on " + std::to_string(devices));
        ASSERT_EQ(leaf.type(), leaves[i].type());
        Doubles a = doubles(leaf), b = doubles(leaves[i++]);
        for (std::size_t k = 0; k < a.size(); k++) {
          ASSERT_NEAR(a[k], b[k], 1e-9 * (1 + std::abs(b[k])));
        }
      });
      EXPECT_EQ(several.predict(found, linspace(0.0, 1.0, 3)).shape(), (Shape{8, 3}));
    }
  }
}

TEST(Ensemble, OnDevicesThatAreNotThereIsRefused) {
  EnsembleOptions options = small_oscillator("none");
  options.devices = 4;
  EXPECT_THAT(error_of([&] { oscillator(options); }),
              HasSubstr("Ensemble: 6 members on 4 devices. Give a number of devices that divides"));
  options.members = options.devices = 500;
  EXPECT_THAT(error_of([&] { oscillator(options).compile(); }),
              AllOf(HasSubstr("Ensemble: 500 devices from"),
                    HasSubstr("there are 1. set_default_device(Client::cpu(n).device())")));
}

TEST(Ensemble, SaysWhatIsWrong) {
  struct Bad {
    std::function<void(EnsembleOptions&)> spoil;
    const char* message;
  };
  const std::vector<Bad> table = {
      {[](EnsembleOptions& o) { o.members = 0; }, "Ensemble: 0 members. Give at least 1"},
      {[](EnsembleOptions& o) { o.members = 1; },
       "repulsion with 1 member, which has nobody to keep away from"},
      {[](EnsembleOptions& o) { o.dtype = DType::i32; }, "element type i32. Use f32 or f64"},
      {[](EnsembleOptions& o) { o.network.hidden = {0}; }, "Network: a layer of width 0"},
      {[](EnsembleOptions& o) { o.collocation.points = 0; }, "Collocation: 0 points"},
      {[](EnsembleOptions& o) { o.optimizer.beta1 = 2; }, "Optimizer: beta1 is 2"},
      {[](EnsembleOptions& o) { o.residual_weight = std::nan(""); },
       "residual_weight: a schedule holds a value that is not finite"},
      {[](EnsembleOptions& o) {
         o.residual_weight = Schedule::stepwise(1, {{9, 2}, {5, 3}});
       },
       "residual_weight: the step after iteration 5 stands behind that after 9"},
      {[](EnsembleOptions& o) {
         o.residual_weight = Schedule::stepwise(1, {{5, -2}});
       },
       "Ensemble: a weight of -2.000000. Give at least 0"},
      {[](EnsembleOptions& o) { o.repulsion.weight = -1; }, "a weight of -1.000000"},
      {[](EnsembleOptions& o) { o.data_weight = -1; }, "a weight of -1.000000"},
      {[](EnsembleOptions& o) { o.prior_weight = -1; }, "a weight of -1.000000"},
      {[](EnsembleOptions& o) { o.optimizer.rate = 0; }, "Optimizer: rate is 0"},
      {[](EnsembleOptions& o) { o.lbfgs.history = 0; },
       "Lbfgs: a history of 0 steps and 25 trials. Give at least 1 of both"},
      {[](EnsembleOptions& o) { o.repulsion.seen = {Seen::point_values}; },
       "repulsion at points, of which 0 numbers are given. Give 1 for each point"},
      // 10 measured values and 2 parameters.
      {[](EnsembleOptions& o) { o.repulsion.factorization = Factorization::correlated; },
       "6 members, of each of which the correlated density sees 12 numbers. Give at least 14"},
      {[](EnsembleOptions& o) { o.members = 65537; },
       "65537 members, whose pairs a median bandwidth ranks. Give at most 65536, or the bandwidth "
       "silverman or scott"},
      {[](EnsembleOptions& o) {
         o.members = 65538;
         o.repulsion.density.bandwidth = Bandwidth::scaled_median;
       },
       "65538 members, whose pairs"},
  };
  for (const Bad& bad : table) {
    EnsembleOptions options = small_oscillator();
    bad.spoil(options);
    EXPECT_THAT(error_of([&] { oscillator(options); }), HasSubstr(bad.message));
  }
  EnsembleOptions many = small_oscillator();
  many.members = 65536;
  Problem problem = published_problem(Experiment::oscillator);
  EXPECT_NO_THROW(many.check(problem));
  many.members = 1000000;
  many.repulsion.density.bandwidth = Bandwidth::scott;
  EXPECT_NO_THROW(many.check(problem));

  problem.data.y[3] = -1e20;
  EXPECT_THAT(error_of([&] { Ensemble(problem, small_oscillator()); }),
              HasSubstr("Ensemble: measurement 3 is -1e+20, whose square f32 does not hold. Scale "
                        "the data, or give \"dtype\": \"f64\""));
  EnsembleOptions wide = small_oscillator();
  wide.dtype = DType::f64;
  EXPECT_NO_THROW(wide.check(problem));
  problem.data.y[3] = 0;
  problem.high[0] = 1e300;
  problem.data.x[2] = 1e39;
  EXPECT_THAT(error_of([&] { small_oscillator().check(problem); }),
              HasSubstr("measurement 2 lies at 1e+39, which f32 does not hold."));
  problem = published_problem(Experiment::oscillator);
  problem.noise_sd = 0;
  EXPECT_THAT(error_of([&] { Ensemble(problem, small_oscillator()); }),
              HasSubstr("problem oscillator: the noise"));
  EnsembleOptions options = small_options(Experiment::advection, "none");
  options.repulsion.seen = {Seen::point_values};
  options.repulsion.points = {1, 2, 3};
  EXPECT_THAT(error_of([&] { Ensemble(published_problem(Experiment::advection), options); }),
              HasSubstr("3 numbers are given. Give 2 for each point"));
  Ensemble ensemble = oscillator();
  EXPECT_THAT(error_of([&] { ensemble.advance(ensemble.init(), -1); }),
              HasSubstr("Ensemble::advance: -1 iterations"));
  EXPECT_THAT(error_of([&] { ensemble.polish(ensemble.init(), -1); }),
              HasSubstr("Ensemble::polish: -1 steps"));
}

}  // namespace
}  // namespace sturnus
