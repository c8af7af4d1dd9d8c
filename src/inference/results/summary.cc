#include <sturnus/inference/results/summary.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

namespace sturnus {
namespace {

constexpr double largest_rhat = 1.01;
constexpr double least_ess_per_chain = 100;
constexpr double least_ebfmi = 0.3;

std::string formatted(const char* format, double value) {
  if (std::isnan(value)) return "nan";
  std::array<char, 64> text;
  std::snprintf(text.data(), text.size(), format, value);
  return text.data();
}

/// With as many decimals as show two digits more than the first of the standard deviation: 300.02
/// where that is about 1. Very small and very large ones are written with four digits.
std::string on_scale_of(double sd, double value) {
  double decimals = std::max(2 - std::floor(std::log10(sd)), 0.0);
  if (!(decimals <= 8) || std::abs(value) >= 1e9) return formatted("%.4g", value);
  return formatted(("%." + std::to_string(static_cast<int>(decimals)) + "f").c_str(), value);
}

/// Letters rather than bytes of UTF-8.
std::size_t width(const std::string& text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

std::string padding(const std::string& text, std::size_t to) {
  return std::string(to - width(text), ' ');
}

double smaller_ess(const ParameterSummary& row) { return std::min(row.ess_bulk, row.ess_tail); }

bool has_diagnostics(const ParameterSummary& row) {
  return !std::isnan(row.rhat) && !std::isnan(row.ess_bulk) && !std::isnan(row.ess_tail);
}

/// How many rows are bad, and which is worst; `worse` orders them.
struct Finding {
  std::size_t count = 0;
  const ParameterSummary* worst = nullptr;
};

template <class Bad, class Worse>
Finding find(std::span<const ParameterSummary> rows, Bad bad, Worse worse) {
  Finding finding;
  for (const ParameterSummary& row : rows) {
    if (!bad(row)) continue;
    ++finding.count;
    if (!finding.worst || worse(row, *finding.worst)) finding.worst = &row;
  }
  return finding;
}

std::string share(std::size_t count, std::size_t of, const char* what) {
  return std::to_string(count) + " of " + std::to_string(of) + " " + what;
}

std::string share_of_draws(std::size_t count, const Matrix& draws) {
  double percent = 100.0 * static_cast<double>(count) / static_cast<double>(draws.values.size());
  return share(count, draws.values.size(), "draws") + " (" + formatted("%.3g", percent) + " %)";
}

}  // namespace

ParameterSummary summarize(std::string name, MatrixView chains) {
  ParameterSummary row;
  row.name = std::move(name);
  row.mean = sample_mean(chains);
  row.mcse = mcse_mean(chains);
  row.sd = sample_sd(chains);
  row.q05 = sample_quantile(chains, 0.05);
  row.q25 = sample_quantile(chains, 0.25);
  row.q50 = sample_quantile(chains, 0.5);
  row.q75 = sample_quantile(chains, 0.75);
  row.q95 = sample_quantile(chains, 0.95);
  row.hdi90 = hdi(chains, 0.9);
  row.mad = sample_mad(chains);
  row.ess_bulk = ess_bulk(chains);
  row.ess_tail = ess_tail(chains);
  row.rhat = rhat(chains);
  row.chains = chains.rows;
  return row;
}

std::vector<ParameterSummary> summarize(const ChainDraws& draws) {
  check_draws("summarize", draws);
  std::vector<ParameterSummary> rows;
  for (const ParameterDraws& parameter : draws.parameters) {
    for (const ParameterElement& element : elements(parameter)) {
      std::string name = parameter.name;
      if (!element.index.empty()) name += "[" + index_text(element, ",") + "]";
      rows.push_back(summarize(std::move(name), chains_of(draws, parameter, element)));
    }
  }
  return rows;
}

std::string summary_table(std::span<const ParameterSummary> rows, double seconds) {
  std::vector<std::vector<std::string>> lines = {
      {"", "mean", "mcse", "sd", "mad", "5%", "25%", "50%", "75%", "95%", "ess_bulk", "ess_tail"}};
  if (seconds > 0) lines[0].push_back("ess/s");
  lines[0].push_back("rhat");
  for (const ParameterSummary& row : rows) {
    std::vector<std::string> line = {row.name, on_scale_of(row.sd, row.mean),
                                     formatted("%.2g", row.mcse), on_scale_of(row.sd, row.sd),
                                     on_scale_of(row.sd, row.mad)};
    for (double quantile : {row.q05, row.q25, row.q50, row.q75, row.q95}) {
      line.push_back(on_scale_of(row.sd, quantile));
    }
    line.push_back(formatted("%.0f", row.ess_bulk));
    line.push_back(formatted("%.0f", row.ess_tail));
    if (seconds > 0) line.push_back(formatted("%.0f", row.ess_bulk / seconds));
    line.push_back(formatted("%.3f", row.rhat));
    lines.push_back(std::move(line));
  }
  std::vector<std::size_t> widths(lines.front().size(), 0);
  for (const auto& line : lines) {
    for (std::size_t i = 0; i < line.size(); ++i) widths[i] = std::max(widths[i], width(line[i]));
  }
  std::string text;
  for (const auto& line : lines) {
    text += line[0] + padding(line[0], widths[0]);
    for (std::size_t i = 1; i < line.size(); ++i)
      text += "  " + padding(line[i], widths[i]) + line[i];
    text += "\n";
  }
  return text;
}

std::vector<std::string> warnings(std::span<const ParameterSummary> rows,
                                  const SamplerStatistics& statistics, int max_tree_depth) {
  std::vector<std::string> sentences;

  Finding unmixed = find(
      rows, [](const auto& row) { return row.rhat > largest_rhat; },
      [](const auto& a, const auto& b) { return a.rhat > b.rhat; });
  if (unmixed.count > 0) {
    sentences.push_back("R-hat is above 1.01 for " + share(unmixed.count, rows.size(), "scalars") +
                        ", the largest is " + formatted("%.3f", unmixed.worst->rhat) + " for " +
                        unmixed.worst->name +
                        ": the chains disagree. Warm up and draw longer; if that does not help, "
                        "look for several modes or reparametrise.");
  }

  Finding short_of_draws = find(
      rows,
      [](const auto& row) {
        return smaller_ess(row) < least_ess_per_chain * static_cast<double>(row.chains);
      },
      [](const auto& a, const auto& b) { return smaller_ess(a) < smaller_ess(b); });
  if (short_of_draws.count > 0) {
    const ParameterSummary& worst = *short_of_draws.worst;
    bool bulk = worst.ess_bulk <= worst.ess_tail;
    double needed = least_ess_per_chain * static_cast<double>(worst.chains) / smaller_ess(worst);
    sentences.push_back("The effective sample size is below 100 per chain for " +
                        share(short_of_draws.count, rows.size(), "scalars") + ", the smallest is " +
                        formatted("%.0f", smaller_ess(worst)) + (bulk ? " (bulk)" : " (tail)") +
                        " for " + worst.name + ": its " +
                        (bulk ? "mean" : "5 % and 95 % quantiles") +
                        " and R-hat are not reliable. Draw about " +
                        formatted("%.0f", std::ceil(needed)) + " times as long.");
  }

  Finding without = find(
      rows, [](const auto& row) { return !has_diagnostics(row); },
      [](const auto&, const auto&) { return false; });
  if (without.count > 0) {
    sentences.push_back(
        share(without.count, rows.size(), "scalars") + ", first " + without.worst->name +
        ", have no diagnostics: draws are all equal or take very few values, or some are not "
        "finite. Leave constants out; if draws are not finite, find where the density is not.");
  }

  const Matrix& divergent = statistics.divergent;
  auto divergences = static_cast<std::size_t>(std::count_if(
      divergent.values.begin(), divergent.values.end(), [](double d) { return d != 0; }));
  if (divergences > 0) {
    sentences.push_back(
        share_of_draws(divergences, divergent) +
        " diverged: the sampler cannot follow the density where it curves most, and "
        "estimates may be biased. Raise the target acceptance towards 0.99, or "
        "reparametrise.");
  }

  const Matrix& depth = statistics.tree_depth;
  auto deepest = static_cast<std::size_t>(std::count_if(
      depth.values.begin(), depth.values.end(), [&](double d) { return d >= max_tree_depth; }));
  if (deepest > 0) {
    sentences.push_back(share_of_draws(deepest, depth) + " reached the largest tree depth, " +
                        std::to_string(max_tree_depth) +
                        ": trajectories are cut short, which costs efficiency. Bring parameters to "
                        "similar scales, warm up longer, or allow a larger depth.");
  }

  if (!statistics.energy.values.empty()) {
    std::vector<double> fractions = ebfmi(statistics.energy);
    for (std::size_t chain = 0; chain < fractions.size(); ++chain) {
      if (!(fractions[chain] < least_ebfmi)) continue;
      sentences.push_back("E-BFMI of chain " + std::to_string(chain + 1) + " is " +
                          formatted("%.2f", fractions[chain]) +
                          ", below 0.3: momenta explore the energies too slowly, mostly because of "
                          "heavy tails. Reparametrise, or warm up longer.");
    }
  }
  return sentences;
}

}  // namespace sturnus
