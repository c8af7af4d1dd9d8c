#include <sturnus/inference/results/stan_csv.h>
#include <sturnus/runtime/error.h>
#include <sturnus/runtime/files.h>

#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <utility>

namespace sturnus {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

std::string number(double value) {
  if (std::isnan(value)) return "nan";
  std::array<char, 32> text;
  auto end =
      std::to_chars(text.data(), text.data() + text.size(), value, std::chars_format::general, 17)
          .ptr;
  return {text.data(), end};
}

/// A column: its heading, and its values chains x draws.
struct Column {
  std::string name;
  Matrix values;
};

// CmdStan, too, leaves out the columns that a method does not have; lp__ readers always want.
std::vector<Column> columns_of(const ChainDraws& draws) {
  const SamplerStatistics& said = draws.statistics;
  std::vector<Column> columns = {{"lp__", said.log_density}};
  if (said.log_density.values.empty()) {
    columns[0].values = Matrix(draws.chains, draws.draws);
    for (double& value : columns[0].values.values) value = nan;
  }
  const std::pair<const char*, const Matrix*> others[] = {
      {"accept_stat__", &said.acceptance}, {"stepsize__", &said.step_size},
      {"treedepth__", &said.tree_depth},   {"n_leapfrog__", &said.leapfrog_steps},
      {"divergent__", &said.divergent},    {"energy__", &said.energy}};
  for (const auto& [name, values] : others) {
    if (!values->values.empty()) columns.push_back({name, *values});
  }
  for (const ParameterDraws& parameter : draws.parameters) {
    for (const ParameterElement& element : elements(parameter)) {
      std::string name = parameter.name;
      if (!element.index.empty()) name += "." + index_text(element, ".");
      columns.push_back({std::move(name), chains_of(draws, parameter, element)});
    }
  }
  return columns;
}

/// Lines "# key = value"; a key without a value is a heading.
using Comments = std::vector<std::pair<std::string, std::string>>;

std::string written(const Comments& lines) {
  std::string text;
  for (const auto& [key, value] : lines) {
    text += "# " + key + (value.empty() ? "" : " = " + value) + "\n";
  }
  return text;
}

bool is_dense(const StanCsvRun& run) { return run.inverse_metric.at(0).rows > 1; }

// In CmdStan's words where it has the method.
Comments algorithm(const StanCsvRun& run) {
  const char* metric = run.inverse_metric.empty() ? "unit_e" : is_dense(run) ? "dense_e" : "diag_e";
  Comments lines = {{"    algorithm", "hmc"}, {"      hmc", ""}};
  if (run.method == "nuts") {
    lines.insert(lines.end(), {{"        engine", "nuts"},
                               {"          nuts", ""},
                               {"            max_depth", std::to_string(run.max_tree_depth)}});
  } else if (run.method == "hmc") {
    lines.insert(lines.end(), {{"        engine", "static"},
                               {"          static", ""},
                               {"            leapfrogs", std::to_string(run.leapfrogs)},
                               {"        stepsize_jitter", number(run.step_size_jitter)}});
  } else {
    lines = {{"    algorithm", run.method}, {"      " + run.method, ""}};
  }
  lines.push_back({"        metric", metric});
  return lines;
}

// Readers look for these keys, and for the values of CmdStan's own settings; the version is that of
// the format.
std::string head(const ChainDraws& draws, std::size_t chain, const StanCsvRun& run) {
  Comments lines = {
      {"stan_version_major", "2"},
      {"stan_version_minor", "35"},
      {"stan_version_patch", "0"},
      {"model", run.model},
      {"method", "sample"},
      {"  sample", ""},
      {"    num_samples", std::to_string(draws.draws * static_cast<std::size_t>(run.thin))},
      {"    num_warmup", std::to_string(run.warmup)},
      {"    save_warmup", "false"},
      {"    thin", std::to_string(run.thin)},
      {"    adapt", ""},
      {"      engaged", "true"},
      {"      delta", number(run.target_acceptance)},
  };
  for (const auto& line : algorithm(run)) lines.push_back(line);
  lines.insert(lines.end(), {{"    num_chains", "1"},
                             {"id", std::to_string(chain + 1)},
                             {"random", ""},
                             {"  seed", std::to_string(run.seed)}});
  return written(lines);
}

std::string adaptation(const ChainDraws& draws, std::size_t chain, const StanCsvRun& run) {
  const Matrix& step_size = draws.statistics.step_size;
  double last = step_size.values.empty() ? nan : step_size(chain, draws.draws - 1);
  std::string text = written({{"Adaptation terminated", ""}, {"Step size", number(last)}});
  if (run.inverse_metric.empty()) return text + "# No free parameters for unit metric\n";
  text += is_dense(run) ? "# Elements of inverse mass matrix:\n"
                        : "# Diagonal elements of inverse mass matrix:\n";
  const Matrix& metric = run.inverse_metric[chain];
  for (std::size_t i = 0; i < metric.rows; ++i) {
    for (std::size_t j = 0; j < metric.cols; ++j) {
      text += (j == 0 ? "# " : ", ") + number(metric(i, j));
    }
    text += "\n";
  }
  return text;
}

std::string elapsed(const StanCsvRun& run) {
  double total = run.warmup_seconds + run.sampling_seconds;
  return "# \n#  Elapsed Time: " + number(run.warmup_seconds) +
         " seconds (Warm-up)\n#                " + number(run.sampling_seconds) +
         " seconds (Sampling)\n#                " + number(total) + " seconds (Total)\n# \n";
}

std::string chain_text(const ChainDraws& draws, const std::vector<Column>& columns,
                       std::size_t chain, const StanCsvRun& run) {
  std::string text = head(draws, chain, run);
  for (std::size_t i = 0; i < columns.size(); ++i) text += (i == 0 ? "" : ",") + columns[i].name;
  text += "\n" + adaptation(draws, chain, run);
  for (std::size_t draw = 0; draw < draws.draws; ++draw) {
    for (std::size_t i = 0; i < columns.size(); ++i) {
      text += (i == 0 ? "" : ",") + number(columns[i].values(chain, draw));
    }
    text += "\n";
  }
  return text + elapsed(run);
}

void check(const char* function, const ChainDraws& draws, const StanCsvRun& run) {
  check_draws(function, draws);
  if (draws.chains == 0 || draws.draws == 0) {
    throw Error(std::string(function) + ": there are " + std::to_string(draws.chains) +
                " chains x " + std::to_string(draws.draws) + " draws. Give at least one of each.");
  }
  if (run.thin < 1) {
    throw Error(std::string(function) + ": thin is " + std::to_string(run.thin) +
                ". Give 1 if every draw was kept.");
  }
  const std::vector<Matrix>& metrics = run.inverse_metric;
  if (!metrics.empty() && metrics.size() != draws.chains) {
    throw Error(std::string(function) + ": " + std::to_string(metrics.size()) +
                " inverse mass matrices for " + std::to_string(draws.chains) +
                " chains. Give one for each, or none.");
  }
  for (const Matrix& metric : metrics) {
    bool fits = metric.cols == metrics[0].cols && metric.rows == metrics[0].rows &&
                (metric.rows == 1 || metric.rows == metric.cols) && metric.cols > 0;
    if (fits) continue;
    throw Error(std::string(function) + ": an inverse mass matrix is " +
                std::to_string(metric.rows) + " x " + std::to_string(metric.cols) +
                ". Give each chain a diagonal as one row, or each a square matrix.");
  }
  if (run.model.empty() || run.model.find_first_of("/\n =") != std::string::npos) {
    throw Error(std::string(function) + ": the model is called \"" + run.model +
                "\", which cannot name a file. Use letters, digits and _.");
  }
}

}  // namespace

std::string stan_csv(const ChainDraws& draws, std::size_t chain, const StanCsvRun& run) {
  check("stan_csv", draws, run);
  if (chain >= draws.chains) {
    throw Error("stan_csv: chain " + std::to_string(chain) + " is asked for, there are " +
                std::to_string(draws.chains) + ". Count chains from 0.");
  }
  return chain_text(draws, columns_of(draws), chain, run);
}

std::vector<std::filesystem::path> write_stan_csv(const std::filesystem::path& folder,
                                                  const ChainDraws& draws, const StanCsvRun& run) {
  check("write_stan_csv", draws, run);
  std::vector<Column> columns = columns_of(draws);
  std::vector<std::filesystem::path> paths;
  for (std::size_t chain = 0; chain < draws.chains; ++chain) {
    paths.push_back(folder / (run.model + "_" + std::to_string(chain + 1) + ".csv"));
    write_file(paths.back(), chain_text(draws, columns, chain, run));
  }
  return paths;
}

}  // namespace sturnus
