// Densities and settings that samplers cannot deal with, or only just: each is reported or
// survived, none crashes.
#include <gtest/gtest.h>
#include <sturnus/inference/chains/chain_draws.h>
#include <sturnus/inference/chains/sampling.h>
#include <sturnus/inference/models/densities.h>
#include <sturnus/inference/posteriors/posteriors.h>
#include <sturnus/inference/results/summary.h>
#include <sturnus/ops/creation.h>
#include <sturnus/ops/reduce.h>
#include <sturnus/ops/subscript.h>
#include <sturnus/ops/transcendental.h>
#include <sturnus/runtime/log.h>
#include <sys/resource.h>

#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "tests/inference/host.h"

namespace sturnus {
namespace {

struct Place {
  Array x;
};

Model<Place> model_of(const std::function<Array(const Array&)>& log_density,
                      std::int64_t size = 2) {
  return {[=](const Place& p) { return log_density(p.x); }, Place{zeros({size})}};
}

Array normal_density(const Array& x) { return sum(normal_log_density(x, 0.0, 1.0)); }

Model<Exponential> exponential_with(double measured) {
  // As an array, which may be traced, the data are not looked at before.
  return exponential_model(Doubles{0, 1, 2}, device_array({1, measured, 2}, {3}), 0.5, {});
}

struct Trouble {
  std::string name;
  Target target;
  SamplingOptions options;
  std::string says;  // part of the message
};

TEST(SamplingTrouble, IsReported) {
  const double infinity = std::numeric_limits<double>::infinity();
  SamplingOptions short_one = {.chains = 2, .warmup = 5, .draws = 5};
  SamplingOptions from_outside = short_one;
  from_outside.start = full({2, 2}, 3.0, DType::f64);
  auto with = [&](auto change) {
    SamplingOptions options = short_one;
    change(options);
    return options;
  };
  auto flat = [](const Array& x) { return sum(0.0 * x); };
  auto in_box = [](const Array& x) { return sum(uniform_log_density(x, -1.0, 1.0)); };
  const std::vector<Trouble> table = {
      {"infinite", model_of([=](const Array& x) { return normal_density(x) + infinity; }),
       short_one, "the log density is inf"},
      {"minus infinite", model_of([=](const Array& x) { return normal_density(x) - infinity; }),
       short_one, "the log density is -inf"},
      {"not a number", model_of([](const Array& x) { return sum(log(-exp(x))); }), short_one,
       "the log density is nan"},
      {"an infinite slope", model_of([](const Array& x) { return sum(sqrt(x - x)); }), short_one,
       "its slope by x"},
      {"a prior without the start", model_of(in_box), from_outside,
       "where it starts the log density is -inf"},
      {"data that are no number", exponential_with(std::nan("")), short_one,
       "the log density is nan"},
      {"infinite data", exponential_with(infinity), short_one, "the log density is -inf"},
      {"a flat density", model_of(flat), with([](auto& o) { o.warmup = 20; }),
       "none was too long, since the log density is flat"},
      {"a flat density without warm-up", model_of(flat), with([](auto& o) { o.warmup = 0; }),
       "none was too long, since the log density is flat"},
      {"no chains", model_of(normal_density), with([](auto& o) { o.chains = 0; }),
       "sample: 0 chains. Give at least 1"},
      {"chains without number", model_of(normal_density),
       with([](auto& o) { o.chains = 99999999999; }),
       "sample: 99999999999 chains. Give at most 1000000"},
      {"negative draws", model_of(normal_density), with([](auto& o) { o.draws = -1; }),
       "5 transitions of warm-up and -1 draws"},
      {"draws without number", model_of(normal_density),
       with([](auto& o) { o.warmup = std::int64_t{1} << 31; }),
       "2147483648 transitions of warm-up and 5 draws, which chains cannot count. Give at most "
       "2000000000 together"},
      {"no parameters", model_of(normal_density, 0), short_one, "a model without parameters"}};
  for (const Trouble& trouble : table) {
    SCOPED_TRACE(trouble.name);
    try {
      sample(trouble.target, trouble.options);
      ADD_FAILURE() << "no error";
    } catch (const Error& error) {
      std::string text = error.what();
      EXPECT_TRUE(text.starts_with("sample: ")) << text;
      EXPECT_NE(text.find(trouble.says), std::string::npos) << text;
    }
  }
}

TEST(SamplingTrouble, AWallIsNotCrossed) {
  // Half of a normal density: the mean is sqrt(2 / pi).
  auto behind_wall = [](const Array& x) {
    return normal_density(x) + sum(uniform_log_density(x, 0.0, 100.0));
  };
  SamplingOptions options = {.chains = 4, .warmup = 300, .draws = 500};
  options.start = ones({4, 2}, DType::f64);
  Draws draws = sample(model_of(behind_wall), options);
  double mean = 0;
  Doubles values = doubles(draws.values);
  for (double x : values) {
    EXPECT_GE(x, 0);
    mean += x / static_cast<double>(values.size());
  }
  EXPECT_NEAR(mean, std::sqrt(2 / M_PI), 0.1);
  EXPECT_TRUE(any(draws.stats.divergent).item<bool>());
}

TEST(SamplingTrouble, AFlatParameterIsWarnedOf) {
  auto of_first = [](const Array& x) { return normal_log_density(x(0), 0.0, 1.0); };
  std::string warning;
  set_log_sink([&](LogLevel, std::string_view text) { warning += text; });
  sample(model_of(normal_density), {.chains = 2, .warmup = 20, .draws = 5});
  EXPECT_EQ(warning, "");
  sample(model_of(of_first), {.chains = 2, .warmup = 20, .draws = 5});
  set_log_sink({});
  EXPECT_NE(warning.find("The log density does not change with x[1] where the chains ended"),
            std::string::npos)
      << warning;
}

TEST(SamplingTrouble, AFunnelIsWarnedOf) {
  auto funnel = [](const Array& x) {
    return normal_log_density(x(0), 0.0, 3.0) +
           sum(normal_log_density(x(Slice{1}), 0.0, exp(0.5 * x(0))));
  };
  ChainDraws draws = chain_draws(
      {sample(model_of(funnel, 6), {.chains = 4, .warmup = 200, .draws = 200, .seed = 1})});
  std::vector<ParameterSummary> rows = summarize(draws);
  EXPECT_FALSE(warnings(rows, draws.statistics).empty());
}

TEST(SamplingTrouble, TooFewDrawsAreDrawnButNotSummarised) {
  for (std::int64_t count : {0, 1, 3}) {
    Draws draws = sample(model_of(normal_density), {.chains = 2, .warmup = 0, .draws = count});
    EXPECT_EQ(draws.values.shape()[1], count);
    EXPECT_THROW(summarize(chain_draws({draws})), Error);
  }
}

double peak_megabytes() {
  rusage usage = {};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;
}

// Were the warm-up kept, its last nine tenths would take 124 MB. It is 5 MB, and 48 under
// AddressSanitizer, which holds back what is freed.
TEST(SamplingTrouble, MemoryDoesNotGrowWithTheWarmUp) {
  SamplingOptions options = {.chains = 64, .warmup = 10000, .draws = 4, .max_depth = 2};
  double early = 0, late = 0;
  sample(model_of(normal_density, 20), options, [&](std::int64_t done) {
    if (done == options.warmup / 10) early = peak_megabytes();
    if (done == options.warmup) late = peak_megabytes();
    return true;
  });
  ASSERT_GT(early, 0);
  RecordProperty("megabytes", std::to_string(late - early));
  EXPECT_LT(late - early, 62);
}

// What an execution draws stays within 64 MB, and draws are kept once.
TEST(SamplingTrouble, ManyChainsNeedLittleMemory) {
  double before = peak_megabytes();
  Draws draws = sample(model_of(normal_density, 20),
                       {.chains = 64, .warmup = 100, .draws = 3000, .max_depth = 5});
  EXPECT_EQ(draws.values.type().str(), "f64[64,3000,20]");  // 31 MB
  double grown = peak_megabytes() - before;
  RecordProperty("megabytes", std::to_string(grown));
  EXPECT_LT(grown, 400);
}

}  // namespace
}  // namespace sturnus
