// Whole trainings, compiled for devices that are not here.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sturnus/runtime/error.h>
#include <sturnus/runtime/topology.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "src/app/commands.h"
#include "tests/runtime/fake.h"

namespace sturnus::app {
namespace {

using nlohmann::json;

// The report on the training of two members for a target.
json report_on_training(const std::string& target) {
  TemporaryFolder folder;
  std::ostringstream out;
  compile_program(out, {.program = "oscillator",
                        .members = 2,
                        .targets = {target},
                        .json = folder.path() / "report.json",
                        .save = folder.path()});
  EXPECT_THAT(out.str(), testing::HasSubstr("iteration of loop 1"));
  std::string name = target;
  std::replace(name.begin(), name.end(), ':', '-');
  EXPECT_GT(std::filesystem::file_size(folder.path() / ("oscillator." + name + ".xla")), 1000u);
  std::ifstream file(folder.path() / "report.json");
  return json::parse(file).at(target);
}

// One loop over the iterations, whose number is an argument, and no other.
void expect_training(const json& report, std::int64_t most_kernels) {
  EXPECT_EQ(report.at("run").at("has_open_loops"), true);
  EXPECT_TRUE(report.at("run").at("collectives").empty());
  ASSERT_EQ(report.at("loops").size(), 1u);
  std::int64_t kernels = 0;
  for (const auto& [kind, count] : report.at("loops")[0].at("iteration").at("kernels").items()) {
    kernels += count.get<std::int64_t>();
  }
  EXPECT_GT(kernels, 0);
  EXPECT_LT(kernels, most_kernels);
  EXPECT_GT(report.at("serialized_bytes"), 10000);
  // Weights of 1 x 20, 20 x 20 twice and 20 x 1 with their biases, and two moments of each.
  EXPECT_GT(report.at("argument_bytes"), 3 * 4 * 2 * (40 + 2 * 420 + 21));
}

TEST(TrainingFor, ThisCpu) { EXPECT_GT(report_on_training("cpu").at("serialized_bytes"), 10000); }

TEST(TrainingFor, AnH100) {
  try {
    Topology::gpu(Plugin::find("cuda"), "h100");
  } catch (const Error& error) {
    GTEST_SKIP() << error.what();
  }
  expect_training(report_on_training("h100"), 100);
}

TEST(TrainingFor, ATpu) {
  try {
    Plugin::find("tpu");
  } catch (const PluginError& error) {
    GTEST_SKIP() << error.what();
  }
  json report = report_on_training("tpu:v5e:2x2");
  expect_training(report, 1000);
  EXPECT_GT(report.at("code_bytes"), 10000);
}

}  // namespace
}  // namespace sturnus::app
