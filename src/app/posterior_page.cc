#include "src/app/posterior_page.h"

#include <algorithm>
#include <cstdio>
#include <sstream>

namespace sturnus::app {
namespace {

using nlohmann::json;

std::string text(const char* format, double value) {
  char buffer[64];
  std::snprintf(buffer, sizeof(buffer), format, value);
  return buffer;
}

/// The worst of a score over the parameters of a method.
double worst(const json& method, const char* score, bool largest) {
  double result = largest ? 0 : 1e300;
  for (const auto& [name, row] : method.at("summary").items()) {
    double value = row.at(score);
    result = largest ? std::max(result, value) : std::min(result, value);
  }
  return result;
}

std::string quality(const json& method) {
  return text("%.4f | ", worst(method, "rhat", true)) +
         text("%.0f | ", worst(method, "ess_bulk", false)) +
         text("%.0f", worst(method, "ess_tail", false));
}

void write_overview(std::ostream& out, const json& runs) {
  out << "| run | log evidence, two seeds | R-hat, tempering | bulk ESS | tail ESS | R-hat, NUTS | "
         "bulk ESS | tail ESS | divergent | largest difference of means | W(f) of 25 draws | "
         "W(lambda) of 25 draws |\n|---|---|---|---|---|---|---|---|---|---|---|---|\n";
  for (const json& run : runs) {
    const json &tempered = run.at("tempering"), &nuts = run.at("nuts"), &gap = run.at("agreement");
    out << "| " << run.at("run").get<int>() << " | " << text("%.2f, ", tempered.at("log_evidence"))
        << text("%.2f", nuts.at("log_evidence")) << " | " << quality(tempered) << " | "
        << quality(nuts) << " | " << text("%.2f %%", 100 * nuts.at("divergent").get<double>())
        << " | " << text("%.1f errors, ", gap.at("errors"))
        << gap.at("parameter").get<std::string>() << " | "
        << text("%.3f", tempered.at("floor").at("w_f")) << " | "
        << text("%.4f", tempered.at("floor").at("w_lambda")) << " |\n";
  }
}

void write_run(std::ostream& out, const json& run) {
  out << "\n## Run " << run.at("run").get<int>()
      << "\n\n| | truth | method | mean | mcse | sd | 5 % | 25 % | 50 % | 75 % | 95 % | bulk ESS | "
         "tail ESS | R-hat |\n|---|---|---|---|---|---|---|---|---|---|---|---|---|---|\n";
  const json& truth = run.at("truth");
  for (const auto& [name, known] : truth.items()) {
    for (const char* method : {"tempering", "nuts"}) {
      const json& row = run.at(method).at("summary").at(name);
      out << "| " << name << " | " << text("%g", known) << " | " << method;
      for (const char* score : {"mean", "mcse", "sd", "q05", "q25", "q50", "q75", "q95"}) {
        out << " | " << text("%.4f", row.at(score));
      }
      out << " | " << text("%.0f", row.at("ess_bulk")) << " | " << text("%.0f", row.at("ess_tail"))
          << " | " << text("%.4f", row.at("rhat")) << " |\n";
    }
  }
}

}  // namespace

std::string posterior_page(const json& result) {
  const json& tempering = result.at("settings").at("tempering");
  const json& nuts = result.at("settings").at("nuts");
  std::ostringstream out;
  std::string name = result.at("experiment");
  out << "# The posterior of " << name << "\n\nWritten by `sturnus posterior " << name
      << " --keep docs/results`, Sturnus " << result.at("sturnus").at("version").get<std::string>()
      << ", source " << result.at("sturnus").at("commit").get<std::string>() << ", on "
      << result.at("device").get<std::string>()
      << ". Priors are U(0, 20) for both starts and U(0, 6) for the four rates.\n\n"
      << "Two methods:\n\n- **tempering**: " << tempering.at("particles")
      << " particles from the prior over adaptive temperatures, then " << tempering.at("walkers")
      << " of them as walkers by differential evolution, " << tempering.at("draws")
      << " draws of each. No gradients.\n- **nuts**: " << nuts.at("chains")
      << " chains with a dense metric, " << nuts.at("draws")
      << " draws of each. They begin at particles of another seed: NUTS checks the posterior's "
         "shape, the two seeds its mode. A trajectory that reaches the end of the prior counts as "
         "divergent, since the density stops there; others are not told apart from these.\n\n"
      << "R-hat is the largest and ESS the smallest over the six parameters. The difference of "
         "means is in units of both standard errors together. W(f), at 200 times of both "
         "populations, and W(lambda) are what 25 independent draws score against 5000: an ensemble "
         "of 25 members cannot be expected to do better by much.\n\n";
  write_overview(out, result.at("runs"));
  for (const json& run : result.at("runs")) write_run(out, run);
  out << "\nTemperatures, acceptance and times are in [" << name << "_posterior.json](" << name
      << "_posterior.json).\n";
  return out.str();
}

}  // namespace sturnus::app
