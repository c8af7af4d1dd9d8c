#include "src/app/posterior_page.h"

#include <cmath>
#include <cstdio>
#include <set>
#include <sstream>
#include <string>

#include "src/app/result_parts.h"

namespace sturnus::app {
namespace {

using nlohmann::json;

/// A number of a result, where null stands for one that is not known.
std::string text(const char* format, const json& number) {
  double value = number_or_nan(number);
  if (std::isnan(value)) value = std::abs(value);  // else some are printed as -nan
  char buffer[64];
  std::snprintf(buffer, sizeof(buffer), format, value);
  return buffer;
}

/// The worst of a score over the parameters of a method: no number, if one of them has none.
double worst(const json& method, const char* score, bool largest) {
  double result = largest ? 0 : 1e300;
  for (const auto& [name, row] : method.at("summary").items()) {
    double value = number_or_nan(row.at(score));
    bool better = largest ? value <= result : value >= result;
    if (!std::isnan(result) && !better) result = value;
  }
  return result;
}

bool trusted(const json& method) {
  return worst(method, "rhat", true) < 1.01 && worst(method, "ess_bulk", false) > 400 &&
         worst(method, "ess_tail", false) > 400;
}

constexpr const char* methods[] = {"tempering", "again", "nuts"};

void write_overview(std::ostream& out, const json& runs) {
  out << "| run | method | R-hat | bulk ESS | tail ESS | trusted | divergent | largest difference "
         "from tempering |\n|---|---|---|---|---|---|---|---|\n";
  for (const json& run : runs) {
    for (const char* name : methods) {
      const json& method = run.at(name);
      out << "| " << run.at("run").get<int>() << " | " << name
          << text(" | %.4f | ", worst(method, "rhat", true))
          << text("%.0f | ", worst(method, "ess_bulk", false))
          << text("%.0f | ", worst(method, "ess_tail", false))
          << (trusted(method) ? "yes" : "**no**") << " | ";
      if (method.contains("divergent")) {
        out << text("%.2f %%", 100 * method.at("divergent").get<double>());
      }
      out << " | ";
      if (run.at("agreement").contains(name)) {
        const json& gap = run.at("agreement").at(name);
        out << text("%.1f errors, ", gap.at("errors")) << gap.at("score").get<std::string>()
            << " of " << gap.at("parameter").get<std::string>();
      }
      out << " |\n";
    }
  }
  out << "\n| run | log evidence | of seeds | W(f) of 25 draws | W(lambda) of 25 draws | "
         "commits |\n|---|---|---|---|---|---|\n";
  for (const json& run : runs) {
    const json &evidence = run.at("evidence"), &floor = run.at("tempering").at("floor");
    out << "| " << run.at("run").get<int>() << " | " << text("%.2f ± ", evidence.at("mean"))
        << text("%.2f | ", evidence.at("error"));
    const char* before = "";
    for (double value : evidence.at("values")) {
      out << before << text("%.2f", value);
      before = ", ";
    }
    out << " | " << text("%.3f | ", floor.at("w_f")) << text("%.4f | ", floor.at("w_lambda"));
    std::set<std::string> commits;
    for (const char* name : methods) commits.insert(run.at(name).at("sturnus").at("commit"));
    before = "";
    for (const std::string& commit : commits) {
      out << before << commit;
      before = ", ";
    }
    out << " |\n";
  }
}

void write_run(std::ostream& out, const json& run) {
  out << "\n## Run " << run.at("run").get<int>()
      << "\n\n| | truth | method | mean | mcse | sd | 5 % | 25 % | 50 % | 75 % | 95 % | bulk ESS | "
         "tail ESS | R-hat |\n|---|---|---|---|---|---|---|---|---|---|---|---|---|---|\n";
  const json& truth = run.at("truth");
  for (const auto& [name, known] : truth.items()) {
    for (const char* method : methods) {
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
      << "Three times:\n\n- **tempering**: " << tempering.at("particles")
      << " particles from the prior over adaptive temperatures, then " << tempering.at("walkers")
      << " of them as walkers by differential evolution, " << tempering.at("draws")
      << " draws of each. No gradients.\n- **again**: the same with other random numbers from the "
         "first particle on.\n- **nuts**: "
      << nuts.at("chains") << " chains with a dense metric, " << nuts.at("draws")
      << " draws of each, which begin at particles of a third seed. A trajectory that reaches the "
         "end of the prior counts as divergent, since the density stops there; others are not told "
         "apart from these.\n\n"
      << "R-hat is the largest and ESS the smallest over the six parameters; trusted is what has "
         "R-hat below 1.01 and both ESS above 400. The difference is the largest of means, "
         "standard "
         "deviations and quantiles of all parameters, in units of both standard errors together: "
         "the largest of 42 is about 3 where nothing is wrong. The log evidence is the mean over "
         "seeds with its standard error. W(f), at 200 times of both populations, and W(lambda) are "
         "what 25 independent draws score against 5000: an ensemble of 25 members cannot be "
         "expected to do better by much.\n\n";
  write_overview(out, result.at("runs"));
  for (const json& run : result.at("runs")) write_run(out, run);
  out << "\nTemperatures, acceptance and times are in [" << name << "_posterior.json](" << name
      << "_posterior.json).\n";
  return out.str();
}

}  // namespace sturnus::app
