// Times the oscillator's training, and other programs of the same interface, in turns in one
// process on one plugin.
//
//   training_benchmark [--data points.txt] [--start rows.bin] [--write program.mlir] [--rounds n]
//                      [--json] [other.mlir ...]
//
// The other programs, StableHLO from elsewhere, take f32[25, 903] rows of parameters, the first
// iteration and the number of iterations (i32), and return the rows.
#include <sturnus/inference/problems/experiment_data.h>
#include <sturnus/runtime/files.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <fstream>
#include <functional>
#include <random>

#include "benchmarks/oscillator_training.h"

namespace sturnus::benchmarks {
namespace {

using Clock = std::chrono::steady_clock;
double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// Of all threads: what other work on the machine does not change.
double cpu_seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

constexpr std::int64_t parameters = 903;

using Training = std::function<void(const Array& rows, const Array& first, const Array& count)>;

struct Candidate {
  std::string name;
  Training train;
  double compile_seconds;
  double best = 1e9, cpu = 1e9;  // milliseconds per iteration
};

Array start_rows(const std::string& path, std::int64_t members) {
  std::vector<float> rows(static_cast<std::size_t>(members * parameters));
  if (path.empty()) {
    std::mt19937 generator(1000);
    std::uniform_real_distribution<float> uniform(-0.3f, 0.3f);
    for (float& value : rows) value = uniform(generator);
  } else {
    std::string bytes = read_file(path);
    if (bytes.size() != rows.size() * sizeof(float)) throw Error(path + " has another size");
    std::memcpy(rows.data(), bytes.data(), bytes.size());
  }
  return array(rows, {members, parameters});
}

Candidate compiled(std::string name, const std::string& text) {
  auto start = Clock::now();
  LoadedExecutable program = default_device().owner().compile(text);
  auto train = [program](const Array& rows, const Array& first, const Array& count) {
    program.run({&rows.buffer(), &first.buffer(), &count.buffer()})[0].await();
  };
  return {std::move(name), train, seconds_since(start)};
}

int run(int argc, char** argv) {
  std::string start_path, write_path, data_path;
  bool json = false;
  int rounds = 15, iterations = 100;
  std::vector<std::string> others;
  for (int i = 1; i < argc; i++) {
    std::string argument = argv[i];
    auto value = [&] { return std::string(i + 1 < argc ? argv[++i] : ""); };
    if (argument == "--start") {
      start_path = value();
    } else if (argument == "--data") {
      data_path = value();
    } else if (argument == "--json") {
      json = true;
    } else if (argument == "--write") {
      write_path = value();
    } else if (argument == "--rounds") {
      rounds = std::stoi(value());
    } else {
      others.push_back(argument);
    }
  }
  Oscillator oscillator;
  if (data_path.empty()) {
    ExperimentData data = published_data(Experiment::oscillator, 0);
    oscillator.t = data.train.x;
    oscillator.y = data.train.y;
  } else {
    std::ifstream file(data_path);
    for (double t = 0, y = 0; file >> t >> y;) {
      oscillator.t.push_back(t);
      oscillator.y.push_back(y);
    }
  }
  Array rows = start_rows(start_path, oscillator.members);
  auto train = [&](Array r, Array first, Array count) { return oscillator.train(r, first, count); };

  double lower_seconds = 1e9;
  std::string text;
  for (int i = 0; i < 5; i++) {
    auto start = Clock::now();
    text = lower(train, rows, Array(3000), Array(100)).stablehlo();
    lower_seconds = std::min(lower_seconds, seconds_since(start));
  }
  if (!write_path.empty()) std::ofstream(write_path) << text;
  std::vector<Candidate> candidates;
  auto start = Clock::now();
  Program own = lower(train, rows, Array(3000), Array(100)).compile();
  candidates.push_back({"sturnus",
                        [&own](const Array& rows, const Array& first, const Array& count) {
                          own.run({rows, first, count})[0].await();
                        },
                        seconds_since(start)});
  for (const std::string& path : others) candidates.push_back(compiled(path, read_file(path)));
  Array first(3000), count(iterations), few(20);
  auto execute = [&](Candidate& candidate, const Array& n) { candidate.train(rows, first, n); };
  for (Candidate& candidate : candidates) execute(candidate, few);
  for (int round = 0; round < rounds; round++) {
    for (Candidate& candidate : candidates) {
      auto start = Clock::now();
      double cpu = cpu_seconds();
      execute(candidate, count);
      candidate.best = std::min(candidate.best, seconds_since(start) * 1e3 / iterations);
      candidate.cpu = std::min(candidate.cpu, (cpu_seconds() - cpu) * 1e3 / iterations);
    }
  }
  if (json) {
    std::printf("{\"lower_seconds\": %g, \"programs\": [", lower_seconds);
    for (const Candidate& candidate : candidates) {
      std::printf("%s{\"compile_seconds\": %g, \"ms_per_iteration\": %g}",
                  &candidate == &candidates[0] ? "" : ", ", candidate.compile_seconds,
                  candidate.best);
    }
    std::printf("]}\n");
    return 0;
  }
  std::printf("sturnus: trace and lower %.1f ms\n", lower_seconds * 1e3);
  for (const Candidate& candidate : candidates) {
    std::printf("%-30s compile %5.2f s   %7.3f ms per iteration (%5.2f x sturnus), %7.3f of CPU\n",
                candidate.name.c_str(), candidate.compile_seconds, candidate.best,
                candidate.best / candidates[0].best, candidate.cpu);
  }
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
