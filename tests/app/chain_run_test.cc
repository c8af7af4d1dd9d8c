#include "src/app/chain_run.h"

#include <gtest/gtest.h>
#include <spawn.h>
#include <sturnus/functional/control_flow.h>
#include <sturnus/functional/doubles.h>
#include <sturnus/inference/models/densities.h>
#include <sturnus/inference/posteriors/posteriors.h>
#include <sturnus/ops/arithmetic.h>
#include <sturnus/runtime/error.h>
#include <sturnus/runtime/files.h>
#include <sturnus/runtime/log.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <sstream>
#include <thread>
#include <utility>

#include "src/app/chain_chunks.h"
#include "src/app/chain_program.h"
#include "src/app/commands.h"
#include "src/app/sampled_problems.h"
#include "tests/app/interrupting.h"

namespace sturnus::app {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

std::string message_of(const SampleRequest& request) {
  std::ostringstream out, progress;
  try {
    sample_problem(out, progress, request);
  } catch (const Error& error) {
    return error.what();
  }
  return "nothing was thrown";
}

SampleRequest small_request(const std::string& folder) {
  SampleRequest request;
  request.problem = "exponential";
  request.chains = 2;
  request.warmup = 150;
  request.draws = 60;
  request.seed = 3;
  request.run = 1;
  request.out = fs::path(testing::TempDir()) / folder;
  fs::remove_all(request.out);
  return request;
}

// All that must not depend on how often the chains were interrupted: the summary, and the draws of
// each chain without the comments on times.
std::string draws_in(const fs::path& folder) {
  std::string all = json::parse(read_file(folder / "result.json")).at("summary").dump();
  for (int chain = 1; fs::exists(folder / ("exponential_" + std::to_string(chain) + ".csv"));
       chain++) {
    std::istringstream lines(read_file(folder / ("exponential_" + std::to_string(chain) + ".csv")));
    for (std::string line; std::getline(lines, line);) {
      if (line.empty() || line[0] != '#') all += line + "\n";
    }
  }
  return all;
}

std::string whole_draws(const SampleRequest& request) {
  SampleRequest whole = request;
  whole.resume = false;
  whole.out += "_whole";
  fs::remove_all(whole.out);
  std::ostringstream out, progress;
  sample_problem(out, progress, whole);
  return draws_in(whole.out);
}

Target target_of(const SampleRequest& request) {
  return sampled_problem("sample", request.problem, request.run).target(*request.run);
}

KeptWork kept_of(const SampleRequest& request, bool resume) {
  json settings = {{"problem", request.problem}, {"run", *request.run}};
  settings.update(to_json(request));
  return kept_sampling({request.out, resume}, settings);
}

// What a process leaves that ends after so many transitions.
void leave_unfinished(const SampleRequest& request, std::int64_t transitions) {
  ChainProgram program = chain_program(target_of(request), request);
  Sampling sampling = {program.init(), {}};
  std::int64_t warm = std::min(transitions, request.warmup);
  sampling.state = program.advance(std::move(sampling.state), warm).first;
  if (transitions > warm) {
    auto [state, draws] = program.advance(std::move(sampling.state), transitions - warm);
    sampling.state = state;
    sampling.chunks = {draws};
  }
  sampling.transitions = transitions;
  save_sampling(kept_of(request, false), sampling);
}

TEST(ChainRun, ContinuedChainsHaveTheBitsOfUninterruptedOnes) {
  for (const char* method : {"nuts", "hmc", "mala", "random_walk"}) {
    SampleRequest request = small_request("continued");
    request.method = method;
    std::string expected = whole_draws(request);
    request.resume = true;
    std::vector<std::int64_t> ends = {70, 183};  // in the warm-up, and after it
    if (method != std::string("nuts")) ends = {183};
    for (std::int64_t transitions : ends) {
      leave_unfinished(request, transitions);
      std::ostringstream out, progress;
      sample_problem(out, progress, request);
      EXPECT_EQ(draws_in(request.out), expected) << method << " after " << transitions;
      json result = json::parse(read_file(request.out / "result.json"));
      EXPECT_EQ(result.at("timing").at("resumed_at"), transitions);
      EXPECT_FALSE(fs::exists(request.out / "sampling.part"));
    }
  }
}

// The search may be a tempering, which takes longer than what is left to draw.
TEST(ChainRun, WhatWasKeptIsTakenUpWithoutLookingForStarts) {
  for (const char* method : {"nuts", "hmc"}) {
    SampleRequest request = small_request("taken_up");
    request.method = method;
    leave_unfinished(request, 183);
    Target target = target_of(request);
    int searches = 0;
    auto starts = [&](std::int64_t chains, std::uint64_t seed) {
      searches++;
      return promising_starts(target, chains, seed);
    };
    ChainProgram program = chain_program(target, request, starts);
    Sampling sampling = load_sampling(kept_of(request, true), program);
    EXPECT_EQ(sampling.transitions, 183);
    EXPECT_EQ(sampling.chunks.at(0).values.type().str(), "f64[2,33,2]");
    EXPECT_EQ(searches, 0);
    program.init();
    EXPECT_EQ(searches, 1);
  }
}

// A density that has a value but no slope: reverse mode does not go through its loop. NUTS, with
// whose start it used to begin, could not be traced.
TEST(ChainRun, ARandomWalkNeedsNoSlope) {
  struct Place {
    Array x;
  };
  Model<Place> model(
      [](const Place& p) {
        auto half = [](const Array&, const Array& x) { return 0.5 * x; };
        Array eighth = fori_loop(0, Array(3), half, p.x);
        return normal_log_density(eighth, 0.25, 0.125);
      },
      Place{0.0});
  ChainProgram program = chain_program(model, {.method = "random_walk", .chains = 2});
  auto [state, draws] = program.advance(program.init(), 100);
  EXPECT_EQ(draws.values.type().str(), "f64[2,100,1]");
  EXPECT_THROW(chain_program(model, {.method = "hmc", .chains = 2}).init(), Error);
}

TEST(ChainRun, KeepsNothingOfTheWarmUpButWhatWasLearned) {
  SampleRequest request = small_request("warm");
  request.warmup = 1000;
  leave_unfinished(request, 100);
  auto size = fs::file_size(request.out / "sampling.part");
  leave_unfinished(request, 900);
  EXPECT_EQ(fs::file_size(request.out / "sampling.part"), size);
}

TEST(ChainRun, ChunksTakeSeconds) {
  ChainSettings settings;
  settings.chains = 4;
  settings.warmup = 1000;
  settings.draws = 5000;
  ChainChunks chunks(settings, 3);
  EXPECT_EQ(chunks.next(0), 10);
  struct Case {
    std::int64_t transitions;
    double seconds;
    std::int64_t in_warmup, in_draws;
  };
  const std::vector<Case> cases = {
      {10, 0.001, 40, 40},   // fast: longer, but not at once
      {400, 0.1, 100, 500},  // a tenth
      {10, 10, 5, 5},        // slow
      {10, 1e6, 1, 1},       // very slow: one at least
      {100, 0, 100, 400},    // too fast to be measured
      {20, 2.5, 40, 40},
  };
  for (const Case& c : cases) {
    chunks.took(c.transitions, c.seconds);
    EXPECT_EQ(chunks.next(0), c.in_warmup) << c.seconds;
    EXPECT_EQ(chunks.next(1000), c.in_draws) << c.seconds;
  }
  EXPECT_EQ(chunks.next(990), 10);
  EXPECT_EQ(chunks.next(5985), 15);

  // What 64 chains of a network's weights draw in a chunk of the warm-up fits into 64 MB.
  settings.chains = 64;
  ChainChunks large(settings, 2701);
  large.took(1000, 0.1);
  EXPECT_EQ(large.next(0), 48);
  EXPECT_EQ(large.next(1000), 500);
}

double peak_megabytes() {
  rusage usage = {};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;
}

// From the density to the last file: 96000 draws are 7 MB, of which predictions at 200 points would
// be 307.
TEST(ChainRun, ManyChainsNeedLittleMemory) {
  SampleRequest request = small_request("many");
  request.chains = 64;
  request.draws = 1500;
  double before = peak_megabytes();
  std::ostringstream out, progress;
  sample_problem(out, progress, request);
  double grown = peak_megabytes() - before;
  RecordProperty("megabytes", std::to_string(grown));
  EXPECT_LT(grown, 350);
  json result = json::parse(read_file(request.out / "result.json"));
  EXPECT_EQ(result.at("draws"), 1500);
  EXPECT_EQ(result.at("predictions").at("draws"), 4000);  // of 96000
  fs::remove_all(request.out);
}

TEST(ChainRun, DamagedAndForeignFilesAreRefusedAndStay) {
  SampleRequest request = small_request("damaged");
  leave_unfinished(request, 183);
  fs::path kept = request.out / "sampling.part";
  std::string whole = read_file(kept), name = kept.string();
  EXPECT_EQ(message_of(request),
            "sample: " + name +
                " holds an unfinished sampling. Add --resume to go on with it, or choose another "
                "--out");
  request.resume = true;
  std::string end = ". Choose another --out, or remove the file to begin anew";
  auto message = [&](const std::string& contents) {
    write_file(kept, contents);
    std::string said = message_of(request);
    EXPECT_EQ(read_file(kept), contents);
    return said;
  };
  EXPECT_EQ(
      message(whole.substr(0, whole.size() - 100)),
      name + " cannot be continued: arrays_from_bytes: the bytes are truncated or damaged" + end);
  EXPECT_EQ(message(whole.substr(0, 60)), name + " cannot be continued: it ends too early" + end);
  EXPECT_EQ(message("something else"),
            name + " is not a sampling that Sturnus kept. Choose another --out, or remove it");
  request.seed = 4;
  EXPECT_EQ(message(whole), name +
                                " cannot be continued: it belongs to other settings: /seed "
                                "differs" +
                                end);
}

TEST(ChainRun, InterruptKeepsWhatWasDrawn) {
  SampleRequest request = small_request("interrupted");
  std::string expected = whole_draws(request);
  Interrupting buffer("draws  ");
  std::ostream progress(&buffer);
  std::ostringstream out;
  sample_problem(out, progress, request);
  json result = json::parse(read_file(request.out / "result.json"));
  EXPECT_FALSE(result.at("finished").get<bool>());
  EXPECT_EQ(result.at("draws"), 6);
  EXPECT_NE(out.str().find("Interrupted after 6 draws"), std::string::npos) << out.str();
  request.resume = true;
  sample_problem(out, progress, request);
  EXPECT_EQ(draws_in(request.out), expected);
}

TEST(ChainRun, AFullDiskIsAWarning) {
  if (!fs::exists("/dev/full")) GTEST_SKIP() << "there is no /dev/full";
  SampleRequest request = small_request("full");
  std::string expected = whole_draws(request), warning;
  fs::create_directories(request.out);
  std::ostringstream out, progress;
  auto sample = [&] {
    warning.clear();
    set_log_sink([&](LogLevel, std::string_view text) { warning += text; });
    sample_problem(out, progress, request);
    set_log_sink({});
  };
  for (const char* file : {"sampling.part.part", "result.json.part"}) {
    fs::create_symlink("/dev/full", request.out / file);
  }
  sample();
  EXPECT_NE(warning.find("the sampling could not be kept"), std::string::npos);
  EXPECT_NE(warning.find("the result could not be written"), std::string::npos);
  EXPECT_NE(warning.find("No space left on device"), std::string::npos) << warning;
  EXPECT_NE(out.str().find("ess_bulk"), std::string::npos);  // the summary is told all the same

  fs::remove_all(request.out);
  fs::create_directories(request.out);
  fs::create_symlink("/dev/full", request.out / "result.json.part");
  sample();
  fs::remove(request.out / "result.json.part");
  request.resume = true;
  sample();
  EXPECT_EQ(draws_in(request.out), expected);
}

// By their factors: L L^T.
TEST(ChainRun, InverseMassMatricesAreThoseOfTheChains) {
  ChainState state;
  auto metrics_of = [&](const std::vector<double>& values, const Shape& shape) {
    state.adaptation.metric.factor = array(values, shape, DType::f64);
    return inverse_metrics(state);
  };
  EXPECT_TRUE(metrics_of({1, 1}, {2}).empty());
  std::vector<Matrix> diagonal = metrics_of({1, 2, 3, 4, 5, 6}, {2, 3});
  ASSERT_EQ(diagonal.size(), 2u);
  EXPECT_EQ(diagonal[1].rows, 1u);
  EXPECT_EQ(diagonal[1].values, (std::vector<double>{16, 25, 36}));
  std::vector<Matrix> dense = metrics_of({1, 0, 0, 1, 2, 0, 1, 3}, {2, 2, 2});
  ASSERT_EQ(dense.size(), 2u);
  EXPECT_EQ(dense[1].rows, 2u);
  EXPECT_EQ(dense[1].values, (std::vector<double>{4, 2, 2, 10}));
}

// --- Killed

SampleRequest long_request() {
  SampleRequest request = small_request("not_used");
  request.draws = 4000;
  request.resume = true;
  return request;
}

// Runs in a process of its own, which KilledAtAnyMoment ends.
TEST(ChainRun, DISABLED_UntilKilled) {
  SampleRequest request = long_request();
  request.out = std::getenv("STURNUS_TEST_OUT");
  std::ostringstream out, progress;
  sample_problem(out, progress, request);
}

TEST(ChainRun, KilledAtAnyMomentCanBeResumed) {
  SampleRequest request = long_request();
  request.out = fs::path(testing::TempDir()) / "killed";
  fs::remove_all(request.out);
  setenv("STURNUS_TEST_OUT", request.out.c_str(), 1);
  fs::path kept = request.out / "sampling.part";
  auto contents = [&] { return read_file_if_there(kept).value_or(""); };
  for (int chunks : {2, 12}) {  // as many are kept before the end: the warm-up has 10
    char program[] = "/proc/self/exe", filter[] = "--gtest_filter=*UntilKilled",
         disabled[] = "--gtest_also_run_disabled_tests";
    char* arguments[] = {program, filter, disabled, nullptr};
    pid_t child = 0;
    ASSERT_EQ(posix_spawn(&child, program, nullptr, nullptr, arguments, environ), 0);
    for (int i = 0; i < chunks; i++) {
      std::string before = contents();
      while (contents() == before && waitpid(child, nullptr, WNOHANG) == 0) {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      }
    }
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
    ASSERT_TRUE(fs::exists(kept));
    ASSERT_FALSE(fs::exists(request.out / "result.json")) << "it was killed too late";
  }
  std::ostringstream out, progress;
  sample_problem(out, progress, request);
  EXPECT_EQ(draws_in(request.out), whole_draws(request));
}

}  // namespace
}  // namespace sturnus::app
