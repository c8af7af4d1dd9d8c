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

/// A column: its heading, its values chains x draws, and what stands for those not kept.
struct Column {
  std::string name;
  Matrix values;
  double absent = nan;
};

std::vector<Column> columns_of(const ChainDraws& draws) {
  const SamplerStatistics& said = draws.statistics;
  std::vector<Column> columns = {
      {"lp__", said.log_density, nan},          {"accept_stat__", said.acceptance, nan},
      {"stepsize__", said.step_size, nan},      {"treedepth__", said.tree_depth, 0},
      {"n_leapfrog__", said.leapfrog_steps, 0}, {"divergent__", said.divergent, 0},
      {"energy__", said.energy, nan},
  };
  for (const ParameterDraws& parameter : draws.parameters) {
    for (const ParameterElement& element : elements(parameter)) {
      std::string name = parameter.name;
      if (!element.index.empty()) name += "." + index_text(element, ".");
      columns.push_back({std::move(name), chains_of(draws, parameter, element), nan});
    }
  }
  return columns;
}

/// Lines "# key = value"; a key without a value is a heading.
std::string comments(const std::vector<std::pair<const char*, std::string>>& lines) {
  std::string text;
  for (const auto& [key, value] : lines) {
    text += std::string("# ") + key + (value.empty() ? "" : " = " + value) + "\n";
  }
  return text;
}

// Readers look for these keys, and for the values of CmdStan's own settings; the version is that of
// the format.
std::string head(const ChainDraws& draws, std::size_t chain, const StanCsvRun& run) {
  return comments({
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
      {"    algorithm", "hmc"},
      {"      hmc", ""},
      {"        engine", "nuts"},
      {"          nuts", ""},
      {"            max_depth", std::to_string(run.max_tree_depth)},
      {"        metric", "diag_e"},
      {"    num_chains", "1"},
      {"id", std::to_string(chain + 1)},
      {"random", ""},
      {"  seed", std::to_string(run.seed)},
  });
}

std::string adaptation(const ChainDraws& draws, std::size_t chain, const StanCsvRun& run) {
  const Matrix& step_size = draws.statistics.step_size;
  double last = step_size.values.empty() ? nan : step_size(chain, draws.draws - 1);
  std::string text = comments({{"Adaptation terminated", ""}, {"Step size", number(last)}});
  if (run.inverse_metric.empty()) return text;
  text += "# Diagonal elements of inverse mass matrix:\n#";
  for (std::size_t i = 0; i < run.inverse_metric.size(); ++i) {
    text += (i == 0 ? " " : ", ") + number(run.inverse_metric[i]);
  }
  return text + "\n";
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
      const Column& column = columns[i];
      if (i > 0) text += ",";
      text += number(column.values.values.empty() ? column.absent : column.values(chain, draw));
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
