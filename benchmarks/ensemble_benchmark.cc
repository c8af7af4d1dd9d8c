// Times the training of a published experiment, and other programs of the same training, in turns
// in one process on one plugin.
//
//   ensemble_benchmark <experiment> [--variant full] [--members n] [--iterations n] [--rounds n]
//                      [other.mlir ...]
//
// The other programs, StableHLO from elsewhere, take f32 rows of parameters, one per member, the
// first iteration and the number of iterations (i32), and return the rows. Prints JSON.
#include <sturnus/inference/ensembles/published.h>
#include <sturnus/runtime/files.h>
#include <sturnus/sturnus.h>
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <functional>
#include <string>
#include <vector>

#include "src/app/config.h"

namespace sturnus::benchmarks {
namespace {

using Clock = std::chrono::steady_clock;
double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

double cpu_seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

struct Candidate {
  std::string name;
  double lower_seconds, compile_seconds;
  std::function<void(int iterations)> train;
  double wall = 1e9, cpu = 1e9;  // milliseconds per iteration, the best of all rounds
};

struct Request {
  Experiment experiment = Experiment::oscillator;
  std::string variant = "full";
  std::int64_t members = 0;
  int iterations = 100, rounds = 5;
  std::vector<std::string> others;
};

// Where the schedules have all their terms.
constexpr int first_iteration = 3000;

Candidate own_training(const Request& request) {
  Training training = published_training(request.experiment, request.variant);
  if (request.members > 0) training.options.members = request.members;
  auto ensemble = std::make_shared<Ensemble>(problem_of(published_data(request.experiment, 0)),
                                             training.options);
  auto [lower, compile] = ensemble->compile();
  auto state = std::make_shared<EnsembleState>(ensemble->init());
  state->iteration = Array(first_iteration);
  return {"sturnus", lower, compile, [=](int iterations) {
            *state = ensemble->advance(std::move(*state), iterations);
            state->loss.all.await();
          }};
}

Candidate other_training(const std::string& path) {
  std::string text = read_file(path);
  auto start = Clock::now();
  LoadedExecutable program = default_device().owner().compile(text);
  double compile = seconds_since(start);
  Shape shape = program.parameter_types().at(0).value().shape;
  Array rows = uniform(key(1), shape, -0.3, 0.3);
  Array first(first_iteration);
  return {path, 0, compile, [=](int iterations) {
            Array count(iterations);
            program.run({&rows.buffer(), &first.buffer(), &count.buffer()})[0].await();
          }};
}

Request parse(int argc, char** argv) {
  Request request;
  for (int i = 1; i < argc; i++) {
    std::string argument = argv[i];
    auto value = [&] { return std::string(i + 1 < argc ? argv[++i] : ""); };
    if (argument == "--variant") {
      request.variant = value();
    } else if (argument == "--members") {
      request.members = std::stoi(value());
    } else if (argument == "--iterations") {
      request.iterations = std::stoi(value());
    } else if (argument == "--rounds") {
      request.rounds = std::stoi(value());
    } else if (i == 1) {
      request.experiment = app::experiment_named(argument);
    } else {
      request.others.push_back(argument);
    }
  }
  return request;
}

int run(int argc, char** argv) {
  Request request = parse(argc, argv);
  std::vector<Candidate> candidates = {own_training(request)};
  for (const std::string& path : request.others) {
    candidates.push_back(other_training(path));
  }
  for (Candidate& candidate : candidates) candidate.train(2);
  for (int round = 0; round < request.rounds; round++) {
    for (Candidate& candidate : candidates) {
      auto start = Clock::now();
      double cpu = cpu_seconds();
      candidate.train(request.iterations);
      double scale = 1e3 / request.iterations;
      candidate.wall = std::min(candidate.wall, scale * seconds_since(start));
      candidate.cpu = std::min(candidate.cpu, scale * (cpu_seconds() - cpu));
    }
  }
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  std::printf("{\"peak_megabytes\": %ld, \"programs\": [", usage.ru_maxrss / 1024);
  for (const Candidate& candidate : candidates) {
    std::printf(
        "%s{\"name\": \"%s\", \"lower_s\": %g, \"compile_s\": %g, \"ms_per_iteration\": %g, "
        "\"cpu_ms_per_iteration\": %g}",
        &candidate == &candidates[0] ? "" : ", ", candidate.name.c_str(), candidate.lower_seconds,
        candidate.compile_seconds, candidate.wall, candidate.cpu);
  }
  std::printf("]}\n");
  return 0;
}

}  // namespace
}  // namespace sturnus::benchmarks

int main(int argc, char** argv) {
  try {
    return sturnus::benchmarks::run(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
