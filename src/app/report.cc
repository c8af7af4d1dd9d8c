#include "src/app/report.h"

#include <cmath>
#include <utility>
#include <vector>

#include "src/app/experiment_run.h"
#include "src/app/report_parts.h"
#include "src/app/run_figures.h"

namespace sturnus::app {
namespace {

using namespace report;

// Exact posteriors, and those that chains drew.
json posteriors_of(const json& result) {
  json all = json::array();
  for (const char* key : {"exact", "against"}) {
    for (const json& posterior : get(result, key)) all.push_back(posterior);
  }
  return all;
}

std::string name_of(const json& posterior) {
  std::string name = text(posterior, "name");
  std::string phase = name == "exact" || name == "posterior" ? "" : ", " + spaced(name);
  std::string method = text(posterior, "method");
  return (method == "nuts" ? "NUTS" : method == "tempering" ? "Tempering" : "Exact") + phase;
}

// Chooses which posterior the figures show beside the ensemble.
std::string posterior_buttons(const json& posteriors) {
  if (posteriors.size() < 2) return "";
  std::string buttons;
  for (std::size_t i = 0; i < posteriors.size(); i++) {
    buttons += "<button type=\"button\" data-exact=\"" + std::to_string(i) + "\" aria-pressed=\"" +
               (i == 0 ? "true" : "false") + "\">" + name_of(posteriors[i]) + "</button>";
  }
  return "<p class=\"choice\">Posterior: " + buttons + "</p>\n";
}

// ----------------------------------------------------------------------------------------- parts

std::string header_of(const json& result) {
  const json& settings = get(result, "settings");
  std::string variant = spaced(text(settings, "variant"));
  Row about;
  if (!variant.empty()) about.push_back("variant " + variant);
  const std::pair<const char*, const char*> numbers[] = {
      {"run", "run "}, {"data_seed", "data seed "}, {"seed", "seed "}};
  for (const auto& [key, title] : numbers) {
    if (!get(settings, key).is_null()) about.push_back(title + count(get(settings, key)));
  }
  const char* rows = get(settings, "draws").is_null() ? "members" : "draws";
  about.push_back(count(get(settings, rows)) + " " + rows);
  about.push_back(count(get(settings, "iterations")) + " iterations");
  return header("Sturnus · report of a run", title_of(text(settings, "experiment")), about);
}

std::string tiles_of(const json& result) {
  std::string all;
  const json& lambda = get(result, "lambda");
  for (std::size_t k = 0; k < get(lambda, "names").size(); k++) {
    all += tile(symbol(lambda["names"][k]),
                mean_and_sd(at(get(lambda, "mean"), k), at(get(lambda, "sd"), k)),
                "truth " + number(at(get(lambda, "truth"), k)));
  }
  const json& metrics = get(result, "metrics");
  if (get(metrics, "rmse").is_number()) {
    all += tile("RMSE", number(metrics["rmse"], "%.3g"), "of the mean, against the truth");
  }
  for (const json& band : get(metrics, "bands")) {
    if (number(get(band, "level")) != "0.9" || !get(band, "coverage").is_number()) continue;
    all += tile("90 % band", number(json(100 * band.value("coverage", 0.0)), "%.0f") + " %",
                "of the truth lies within");
  }
  return tiles(all);
}

// A drift with its unit.
std::string amount(const Movement& movement, double drift) {
  return number(movement.shown(drift), "%.2g") + movement.unit();
}

// Why a training has not settled; nothing where it has.
std::vector<std::string> notes_of(const Movement& movement) {
  const std::string begin = std::string("Not settled: ") + told_tenths + " the ",
                    end = ". More iterations may change the result.";
  std::string list;
  auto add = [&](std::int64_t member, const std::string& value) {
    list += (list.empty() ? "" : ", ") + std::to_string(member) + " (" + value + ")";
  };
  for (const auto& [member, drift] : movement.moving) {
    add(member, number(movement.shown(drift), "%.1f"));
  }
  for (std::int64_t member : movement.unknown) add(member, "not known");
  std::vector<std::string> all;
  if (!list.empty()) {
    all.push_back(begin + "parameters of " +
                  std::to_string(movement.moving.size() + movement.unknown.size()) + " of " +
                  std::to_string(movement.members) + " members moved by more than " +
                  amount(movement, movement.limit) +
                  (movement.unknown.empty() ? "" : ", or by what is not known") + ": " + list +
                  end);
  }
  if (movement.loss_moves()) {
    all.push_back(begin + "loss changed by " +
                  (std::isfinite(movement.loss) ? number(100 * movement.loss, "%+.1f") + " %"
                                                : "what is not known") +
                  end);
  }
  return all;
}

std::string notes_of(const json& result, bool has_script) {
  std::vector<std::string> all;
  if (get(result, "failed").is_string()) {
    all.push_back("The training came to nothing: " + words(result["failed"]) + ".");
  } else if (get(result, "finished") == json(false)) {
    all.push_back("The training was interrupted: these are the members as they were then.");
  }
  if (!get(result, "settings", "data").is_null()) {
    all.push_back("The data are the user’s own: no truth is known, and nothing is scored by one.");
  }
  for (const json& chains : get(result, "against")) {
    for (const json& warning : get(chains, "warnings")) {
      all.push_back(name_of(chains) + ": " + words(warning));
    }
  }
  const json& members = get(result, "members");
  for (const LostMember& lost : lost_members(members)) {
    all.push_back("Member " + std::to_string(lost.member) + " diverged at iteration " +
                  count(lost.iteration) +
                  (lost.is_dropped ? ". Predictions, densities and metrics are without it."
                                   : " and was begun anew."));
  }
  if (auto movement = movement_of(members)) {
    for (const std::string& note : notes_of(*movement)) all.push_back(note);
  }
  return notes(all, has_script);
}

std::string predictions(const json& result) {
  if (get(result, "predictions", "members").empty()) return "";
  std::string contents =
      tagged("p",
             "Lines and bands are the median and the 25–75 % and 5–95 % quantiles of f over the "
             "members, point by point. They are without the noise of a measurement; the bars of "
             "the data are one standard deviation of it.",
             "caption") +
      posterior_buttons(posteriors_of(result));
  if (get(result, "data", "inputs") == json(2)) {
    return contents +
           panels(figure("Ensemble mean, and where the data are", "image", {{"of", "mean"}}) +
                  figure("Truth", "image", {{"of", "truth"}}) +
                  figure("Absolute error of the mean", "image", {{"of", "error"}}) +
                  figure("Standard deviation of the ensemble, same colours", "image",
                         {{"of", "sd"}})) +
           panels(figure("Cut at t = 0", "cut", {{"at", "0"}}) +
                  figure("Cut at t = 1.5", "cut", {{"at", "1.5"}}));
  }
  bool predator_and_prey = get(result, "settings", "experiment") == json("lotka_volterra");
  const json& known = get(result, "predictions", "outputs");
  std::size_t outputs = known.is_number() ? known.get<std::size_t>() : 1;
  std::string figures;
  for (std::size_t k = 0; k < outputs; k++) {
    std::string name = outputs == 1        ? "f(t)"
                       : predator_and_prey ? (k == 0 ? "prey x(t)" : "predators y(t)")
                                           : "output " + std::to_string(k + 1);
    std::string of = outputs == 1 ? "" : ": " + name;
    std::vector<std::pair<std::string, std::string>> about = {{"output", std::to_string(k)},
                                                              {"name", name}};
    figures += figure("Quantiles" + of, "bands", about) + figure("Members" + of, "members", about);
  }
  return contents + panels(figures);
}

std::string parameters(const json& result, bool has_script) {
  const json& lambda = get(result, "lambda");
  std::string densities, traces;
  std::vector<Row> rows;
  json posteriors = posteriors_of(result);
  Row head = {"Parameter", "Truth", "Ensemble"};
  for (const json& posterior : posteriors) head.push_back(name_of(posterior));
  for (std::size_t k = 0; k < get(lambda, "names").size(); k++) {
    std::string name = symbol(lambda["names"][k]);
    std::vector<std::pair<std::string, std::string>> about = {{"parameter", std::to_string(k)},
                                                              {"name", name}};
    densities += figure("Density of " + name, "density", about);
    traces += figure(name + " over the iterations", "trace", about);
    Row row = {name, number(at(get(lambda, "truth"), k)),
               mean_and_sd(at(get(lambda, "mean"), k), at(get(lambda, "sd"), k))};
    for (const json& posterior : posteriors) {
      const json& of = at(get(posterior, "lambda"), k);
      row.push_back(mean_and_sd(get(of, "mean"), get(of, "sd")));
    }
    rows.push_back(row);
  }
  if (rows.empty()) return "";
  if (get(result, "history", "lambda").empty()) traces.clear();
  if (!has_script) return table(head, rows);
  return tagged("p",
                "Densities are kernel estimates over the members with Scott’s bandwidth; each "
                "tick below is a member. Over the iterations: every member, their mean, and one "
                "standard deviation around it.",
                "caption") +
         posterior_buttons(posteriors) + panels(densities + traces) + table(head, rows);
}

std::string training(const json& result, bool has_script) {
  std::string contents;
  if (has_script && !get(result, "history", "iteration").empty()) {
    contents =
        tagged("p",
               "Terms of the loss, mean over the members. The axis is logarithmic and shows sizes: "
               "where a term is negative, its line is dotted.",
               "caption") +
        panels(figure("Loss", "loss"));
  }
  auto movement = movement_of(get(result, "members"));
  if (!movement) return contents;
  const std::vector<double>& known = movement->known;
  std::string said = known.empty()
                         ? "what is not known"
                         : "at most " + amount(*movement, known.back()) + " (median " +
                               number(movement->shown(known[known.size() / 2]), "%.2g") + ")";
  if (!known.empty() && !movement->unknown.empty()) {
    said += ", those of " + std::to_string(movement->unknown.size()) + " of " +
            std::to_string(movement->members) + " by what is not known";
  }
  contents += tagged(
      "p", std::string("The members’ parameters moved, ") + told_tenths + ", by " + said + ".");
  return contents;
}

std::string metrics(const json& result) {
  static const struct {
    const char* key;
    const char* name;
    const char* meaning;
  } known[] = {
      {"rmse", "RMSE", "of the ensemble’s mean against the noise-free truth at the test points"},
      {"logl_per_n", "log L / N",
       "log density of the noisy test values under a kernel estimate of f, per point"},
      {"predictive_log_density", "log predictive density",
       "of the noisy test values with the noise included, per value"},
      {"crps_f", "CRPS f", "continuous ranked probability score of f; smaller is better"},
      {"spread_f", "spread of f", "mean standard deviation of the members at the test points"},
      {"w_f", "W(f)", "Wasserstein distance of f to the exact posterior"},
      {"abs_dlambda", "|Δλ|", "mean over the parameters of |mean − truth|"},
      {"logl_lambda", "log L(λ)",
       "log density of the true parameters under kernel estimates, summed"},
      {"crps_lambda", "CRPS λ", "continuous ranked probability score of the parameters"},
      {"w_lambda", "W(λ)", "Wasserstein distance of the parameters to the exact posterior"},
  };
  const json& scores = get(result, "metrics");
  std::vector<Row> rows;
  for (const auto& metric : known) {
    if (!scores.is_object() || !scores.contains(metric.key)) continue;
    rows.push_back({metric.name, number(scores[metric.key]), metric.meaning});
  }
  std::string contents = table({"Metric", "Value", "What it is"}, rows, "metrics");

  rows.clear();
  for (const json& exact : get(scores, "exact")) {
    auto floor = [&](const char* key) {
      return mean_and_sd(get(exact, key, "mean"), get(exact, key, "sd"));
    };
    rows.push_back({spaced(text(exact, "name")), number(get(exact, "w_f")), floor("floor_w_f"),
                    number(get(exact, "w_lambda")), floor("floor_w_lambda")});
  }
  if (!rows.empty()) {
    contents += tagged("h3", "Distance to the exact posterior") +
                table({"Posterior", "W(f)", "Floor", "W(λ)", "Floor"}, rows) +
                tagged("p",
                       "The floor is what as many independent draws from the exact posterior "
                       "score, mean and standard deviation. Members that repel each other lie more "
                       "evenly than such draws and may fall below it.",
                       "caption");
  }

  rows.clear();
  for (const json& chains : get(result, "against")) {
    rows.push_back({name_of(chains), number(get(chains, "w_f")),
                    number(get(chains, "floor_w_f", "mean")), number(get(chains, "w_lambda")),
                    number(get(chains, "floor_w_lambda", "mean")),
                    number(get(chains, "rhat"), "%.3f"), number(get(chains, "ess_bulk"), "%.0f")});
  }
  if (!rows.empty()) {
    contents +=
        tagged("h3", "Distance to the posterior that was drawn") +
        table({"Posterior", "W(f)", "Floor", "W(λ)", "Floor", "Largest R̂", "Least bulk ESS"}, rows);
  }

  rows.clear();
  for (const json& band : get(scores, "bands")) {
    rows.push_back({number(json(100 * band.value("level", 0.0)), "%.3g") + " %",
                    get(band, "coverage").is_number()
                        ? number(json(100 * band["coverage"].get<double>()), "%.1f") + " %"
                        : "–",
                    number(get(band, "width"))});
  }
  if (!rows.empty()) {
    contents +=
        tagged("h3", "Calibration of f") + table({"Band", "Holds the truth", "Mean width"}, rows);
  }
  return contents;
}

}  // namespace

std::string report_html(const json& result, std::string_view plotly_script) {
  bool has_script = !plotly_script.empty();
  const NamedTime times[] = {{"lower_s", "tracing and lowering", " s"},
                             {"compile_s", "compiling", " s"},
                             {"ms_per_iteration", "one iteration", " ms"},
                             {"train_s", "training", " s"}};
  std::string body = header_of(result) + tiles_of(result) + notes_of(result, has_script);
  if (has_script) body += section("predictions", "Predictions", predictions(result));
  body += section("parameters", "Parameters", parameters(result, has_script));
  body += section("training", "Training", training(result, has_script));
  body += section("metrics", "Metrics", metrics(result));
  body += section("details", "Details", details(result, times, "resumed at iteration"));
  std::string title = title_of(text(get(result, "settings"), "experiment"));
  return page(title, body, result, plotly_script, run_figures);
}

}  // namespace sturnus::app
