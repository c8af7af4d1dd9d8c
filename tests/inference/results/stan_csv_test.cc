#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sturnus/inference/results/stan_csv.h>
#include <sturnus/runtime/error.h>
#include <sturnus/runtime/files.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <limits>
#include <map>
#include <random>
#include <sstream>
#include <string>
#include <vector>

namespace sturnus {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double inf = std::numeric_limits<double>::infinity();

Matrix random_matrix(std::size_t rows, std::size_t cols, std::uint32_t seed) {
  std::mt19937_64 bits(seed);
  std::normal_distribution<double> normal;
  Matrix x(rows, cols);
  for (double& value : x.values) value = std::exp(20 * normal(bits)) / 3;
  return x;
}

ChainDraws example() {
  ChainDraws draws;
  draws.chains = 2;
  draws.draws = 5;
  draws.parameters.push_back({"mu", {}, random_matrix(2, 5, 1).values});
  draws.parameters.push_back({"beta", {2, 3}, random_matrix(2, 30, 2).values});
  draws.parameters.push_back({"theta", {4}, random_matrix(2, 20, 3).values});
  SamplerStatistics& said = draws.statistics;
  said.log_density = random_matrix(2, 5, 4);
  said.acceptance = random_matrix(2, 5, 5);
  said.step_size = random_matrix(2, 5, 6);
  said.energy = random_matrix(2, 5, 7);
  said.tree_depth = said.leapfrog_steps = said.divergent = Matrix(2, 5);
  said.tree_depth(1, 2) = 3;
  said.leapfrog_steps(1, 2) = 7;
  said.divergent(0, 4) = 1;
  return draws;
}

Matrix diagonal(const std::vector<double>& values) {
  Matrix row(1, values.size());
  row.values = values;
  return row;
}

/// The format as its readers take it: comments, a line of headings, lines of numbers.
struct Parsed {
  std::map<std::string, std::string> settings;
  std::vector<std::string> names;
  std::vector<std::vector<double>> rows;

  explicit Parsed(const std::string& text) {
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
      if (line.starts_with("#")) {
        auto equals = line.find(" = ");
        if (equals != std::string::npos) {
          settings[line.substr(line.find_first_not_of("# "),
                               equals - line.find_first_not_of("# "))] = line.substr(equals + 3);
        }
        continue;
      }
      std::istringstream cells(line);
      bool heading = names.empty();
      if (!heading) rows.emplace_back();
      for (std::string cell; std::getline(cells, cell, ',');) {
        if (heading) {
          names.push_back(cell);
        } else {
          rows.back().push_back(std::strtod(cell.c_str(), nullptr));
        }
      }
    }
  }
};

TEST(StanCsv, ReadsBackBitForBit) {
  ChainDraws draws = example();
  draws.parameters[0].values[1] = nan;
  draws.parameters[0].values[2] = -inf;
  draws.parameters[0].values[3] = 5e-324;
  draws.parameters[0].values[4] = -0.0;
  for (std::size_t chain = 0; chain < 2; ++chain) {
    Parsed file(stan_csv(draws, chain));
    EXPECT_THAT(file.names, ElementsAre("lp__", "accept_stat__", "stepsize__", "treedepth__",
                                        "n_leapfrog__", "divergent__", "energy__", "mu", "beta.1.1",
                                        "beta.2.1", "beta.1.2", "beta.2.2", "beta.1.3", "beta.2.3",
                                        "theta.1", "theta.2", "theta.3", "theta.4"));
    ASSERT_EQ(file.rows.size(), 5u);
    const SamplerStatistics& said = draws.statistics;
    for (std::size_t i = 0; i < 5; ++i) {
      std::vector<double> expected = {said.log_density(chain, i),    said.acceptance(chain, i),
                                      said.step_size(chain, i),      said.tree_depth(chain, i),
                                      said.leapfrog_steps(chain, i), said.divergent(chain, i),
                                      said.energy(chain, i)};
      std::size_t draw = chain * 5 + i;
      expected.push_back(draws.parameters[0].values[draw]);
      for (std::size_t column = 0; column < 3; ++column) {
        for (std::size_t row = 0; row < 2; ++row) {
          expected.push_back(draws.parameters[1].values[draw * 6 + row * 3 + column]);
        }
      }
      for (std::size_t k = 0; k < 4; ++k) {
        expected.push_back(draws.parameters[2].values[draw * 4 + k]);
      }
      ASSERT_EQ(file.rows[i].size(), expected.size());
      for (std::size_t k = 0; k < expected.size(); ++k) {
        if (std::isnan(expected[k])) {
          EXPECT_TRUE(std::isnan(file.rows[i][k]));
        } else {
          EXPECT_EQ(file.rows[i][k], expected[k]) << file.names[k];
          EXPECT_EQ(std::signbit(file.rows[i][k]), std::signbit(expected[k]));
        }
      }
    }
  }
}

TEST(StanCsv, SaysWhatReadersAskFor) {
  StanCsvRun run;
  run.model = "lotka_volterra";
  run.warmup = 500;
  run.thin = 2;
  run.max_tree_depth = 12;
  run.seed = 18446744073709551615u;
  run.target_acceptance = 0.95;
  run.inverse_metric = {diagonal({1, 1}), diagonal({0.5, 2})};
  run.warmup_seconds = 1.5;
  run.sampling_seconds = 2.25;
  ChainDraws draws = example();
  std::string text = stan_csv(draws, 1, run);
  auto settings = Parsed(text).settings;
  for (auto [key, value] : std::map<std::string, std::string>{{"stan_version_major", "2"},
                                                              {"model", "lotka_volterra"},
                                                              {"method", "sample"},
                                                              {"num_samples", "10"},
                                                              {"num_warmup", "500"},
                                                              {"save_warmup", "false"},
                                                              {"thin", "2"},
                                                              {"algorithm", "hmc"},
                                                              {"engine", "nuts"},
                                                              {"max_depth", "12"},
                                                              {"metric", "diag_e"},
                                                              {"delta", "0.94999999999999996"},
                                                              {"id", "2"},
                                                              {"seed", "18446744073709551615"}}) {
    EXPECT_EQ(settings[key], value) << key;
  }
  EXPECT_EQ(std::stod(settings["Step size"]), draws.statistics.step_size(1, 4));
  EXPECT_THAT(text, StartsWith("# stan_version_major = 2\n"));
  EXPECT_THAT(text, HasSubstr("\n# Diagonal elements of inverse mass matrix:\n# 0.5, 2\n"));
  EXPECT_THAT(text, HasSubstr("#  Elapsed Time: 1.5 seconds (Warm-up)\n"));
  EXPECT_THAT(text, HasSubstr(" 3.75 seconds (Total)\n"));
}

// CmdStan's guide: which words stand for which metric, and what follows the step size.
TEST(StanCsv, SaysWhichMethodAndMetricWereUsed) {
  Matrix dense(2, 2);
  dense.values = {2, 0.5, 0.5, 1};
  struct Case {
    std::string method;
    std::vector<Matrix> metric;
    std::map<std::string, std::string> settings;
    std::string adapted;  // after the step size
  };
  const std::vector<Case> table = {
      {"nuts",
       {},
       {{"algorithm", "hmc"}, {"engine", "nuts"}, {"max_depth", "10"}, {"metric", "unit_e"}},
       "# No free parameters for unit metric\n"},
      {"nuts",
       {diagonal({3, 4}), diagonal({0.5, 2})},
       {{"algorithm", "hmc"}, {"engine", "nuts"}, {"metric", "diag_e"}},
       "# Diagonal elements of inverse mass matrix:\n# 0.5, 2\n"},
      {"hmc",
       {dense, dense},
       {{"algorithm", "hmc"},
        {"engine", "static"},
        {"leapfrogs", "7"},
        {"stepsize_jitter", "0.25"},
        {"metric", "dense_e"}},
       "# Elements of inverse mass matrix:\n# 2, 0.5\n# 0.5, 1\n"},
      {"random_walk",
       {diagonal({3, 4}), diagonal({0.5, 2})},
       {{"algorithm", "random_walk"}, {"metric", "diag_e"}},
       "# Diagonal elements of inverse mass matrix:\n# 0.5, 2\n"}};
  for (const Case& one : table) {
    StanCsvRun run;
    run.method = one.method;
    run.leapfrogs = 7;
    run.step_size_jitter = 0.25;
    run.inverse_metric = one.metric;
    std::string text = stan_csv(example(), 1, run);
    auto settings = Parsed(text).settings;
    for (const auto& [key, value] : one.settings) EXPECT_EQ(settings[key], value) << one.method;
    EXPECT_EQ(settings.contains("engine"), one.settings.contains("engine")) << one.method;
    std::size_t headings = text.find("\nlp__,"), begin = text.find("# Adaptation terminated\n");
    EXPECT_EQ(begin, text.find('\n', headings + 1) + 1) << "right below the headings";
    std::size_t after = text.find('\n', text.find("# Step size = ", begin)) + 1;
    EXPECT_EQ(text.substr(after, one.adapted.size()), one.adapted) << one.method;
    EXPECT_NE(text[after + one.adapted.size()], '#') << "then the draws";
  }
}

TEST(StanCsv, DoesWithoutStatistics) {
  ChainDraws draws = example();
  draws.statistics = {};
  Parsed file(stan_csv(draws, 0));
  ASSERT_EQ(file.names.size(), 12u);
  EXPECT_EQ(file.names[0], "lp__");
  EXPECT_TRUE(std::isnan(file.rows[0][0]));
  EXPECT_EQ(file.names[1], "mu");
  EXPECT_EQ(file.rows[0][1], draws.parameters[0].values[0]);
  draws.statistics.step_size = Matrix(2, 5);
  EXPECT_EQ(Parsed(stan_csv(draws, 0)).names[1], "stepsize__");
}

TEST(StanCsv, WritesOneFilePerChain) {
  fs::path folder = fs::path(testing::TempDir()) / "stan_csv_test" / "deeper";
  fs::remove_all(folder.parent_path());
  StanCsvRun run;
  run.model = "exp";
  std::vector<fs::path> paths = write_stan_csv(folder, example(), run);
  EXPECT_THAT(paths, ElementsAre(folder / "exp_1.csv", folder / "exp_2.csv"));
  EXPECT_EQ(read_file(paths[0]), stan_csv(example(), 0, run));
  EXPECT_EQ(read_file(paths[1]), stan_csv(example(), 1, run));
  EXPECT_EQ(std::distance(fs::directory_iterator(folder), fs::directory_iterator()), 2);
  fs::remove_all(folder.parent_path());
}

std::string message(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return "nothing was thrown";
}

TEST(StanCsv, RefusesWhatCannotBeReadBack) {
  ChainDraws draws = example();
  EXPECT_EQ(message([&] { stan_csv(draws, 2); }),
            "stan_csv: chain 2 is asked for, there are 2. Count chains from 0.");
  EXPECT_THAT(message([] { stan_csv({}, 0); }), HasSubstr("0 chains x 0 draws"));
  StanCsvRun run;
  for (const char* model : {"", "a/b", "a b", "a\nb"}) {
    run.model = model;
    EXPECT_THAT(message([&] { stan_csv(draws, 0, run); }), HasSubstr("cannot name a file"));
  }
  run = {};
  run.thin = 0;
  EXPECT_THAT(message([&] { stan_csv(draws, 0, run); }), HasSubstr("thin is 0"));
  run = {};
  run.inverse_metric = {diagonal({1, 2})};
  EXPECT_THAT(message([&] { stan_csv(draws, 0, run); }),
              HasSubstr("1 inverse mass matrices for 2 chains"));
  run.inverse_metric = {Matrix(2, 3), Matrix(2, 3)};
  EXPECT_THAT(message([&] { stan_csv(draws, 0, run); }),
              HasSubstr("an inverse mass matrix is 2 x 3"));
  draws.parameters[0].name = "a.1";
  EXPECT_THAT(message([&] { stan_csv(draws, 0); }), HasSubstr("parameter \"a.1\""));
}

TEST(StanCsv, NamesTheCauseWhenItCannotWrite) {
  EXPECT_THAT(message([] { write_stan_csv("/proc/sturnus", example()); }),
              HasSubstr("cannot write /proc/sturnus/sturnus_model_1.csv: "));
}

}  // namespace
}  // namespace sturnus
