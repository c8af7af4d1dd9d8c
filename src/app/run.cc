#include <sturnus/runtime/client.h>
#include <sturnus/runtime/error.h>
#include <sturnus/runtime/files.h>

#include <algorithm>
#include <charconv>
#include <ostream>

#include "src/app/commands.h"
#include "src/app/config.h"
#include "src/app/experiment_run.h"
#include "src/app/json_reader.h"
#include "src/app/plotly_script.h"
#include "src/app/progress.h"
#include "src/app/report.h"

namespace sturnus::app {
namespace {

namespace fs = std::filesystem;

RunConfig config_of(const RunRequest& request) {
  bool is_file = fs::is_regular_file(request.experiment);
  RunConfig config = is_file ? config_from_file(request.experiment)
                             : variant_config(experiment_named(request.experiment),
                                              request.variant.empty() ? "full" : request.variant);
  if (is_file && !request.variant.empty()) {
    Repulsion chosen = variant_config(config.experiment, request.variant).ensemble.repulsion;
    config.ensemble.repulsion = chosen;
    config.variant = request.variant;
  }
  if (request.members) config.ensemble.members = *request.members;
  if (request.iterations) config.training.iterations = *request.iterations;
  if (request.seed) config.ensemble.seed = *request.seed;
  if (request.run) config.run = *request.run;
  if (request.devices) config.ensemble.devices = *request.devices;
  // Checked as a file is.
  return config_from_json(to_json(config));
}

fs::path folder_of(const RunRequest& request, const RunConfig& config) {
  if (!request.out.empty()) return request.out;
  return fs::path("results") / (std::string(name_of(config.experiment)) + "-" + config.variant +
                                "-run" + std::to_string(config.run));
}

// Whether all the chains that were asked for are there.
bool has_chains(const nlohmann::json& result) {
  auto against = result.find("against");
  return against != result.end() &&
         std::all_of(against->begin(), against->end(),
                     [](const auto& c) { return c.at("finished").template get<bool>(); });
}

}  // namespace

void select_device(const std::string& name, int count) {
  if (name.empty()) {
    if (count > 1 && default_device().owner().platform_name() == "cpu") select_device("cpu", count);
    return;
  }
  std::string platform = name.substr(0, name.find(':'));
  Client client = platform == "cpu" ? Client::cpu(count) : Client::create(platform);
  auto devices = client.devices();
  std::size_t index = 0;
  if (platform.size() < name.size()) {
    const char *number = name.c_str() + platform.size() + 1, *end = name.c_str() + name.size();
    auto [stopped, problem] = std::from_chars(number, end, index);
    if (problem != std::errc() || stopped != end) {
      throw Error("device: \"" + name + "\" is not platform:number, such as cpu:0");
    }
  }
  if (index >= devices.size()) {
    throw Error("device: there is no " + name + "; " + platform + " has " +
                std::to_string(devices.size()) +
                (devices.size() == 1 ? " device" : " devices, counted from 0"));
  }
  set_default_device(devices[index]);
}

void run_experiment(std::ostream& out, std::ostream& progress, const RunRequest& request) {
  RunConfig config = config_of(request);
  select_device(request.device, static_cast<int>(config.ensemble.devices));
  fs::path folder = folder_of(request, config);
  std::optional<ChainSettings> against;
  if (!request.against.empty()) {
    const std::vector<std::string> methods = {"nuts", "tempering"};
    if (std::find(methods.begin(), methods.end(), request.against) == methods.end()) {
      refuse_unknown("run", "method to compare with", request.against, methods);
    }
    against = ChainSettings{.method = request.against, .seed = config.ensemble.seed};
  }
  InterruptGuard guard;
  nlohmann::json result = run(config, {folder, request.resume}, progress, against);
  print_scores(out, result);
  print_training(out, result);
  if (!result.at("finished").get<bool>()) {
    out << "\nInterrupted at iteration " << result["history"]["iteration"].back()
        << "; the scores are those of that moment. Go on with --resume.\n";
  } else if (guard.interrupted()) {
    out << "\nInterrupted when the training had ended; "
        << (against && !has_chains(result) ? "go on with the chains by --resume.\n"
                                           : "its scores are complete.\n");
  }
  write_file(folder / "report.html", report_html(result, plotly_script()));
  out << "\n"
      << (folder / "result.json").string() << '\n'
      << (folder / "draws.nc").string() << '\n'
      << (folder / "report.html").string() << '\n';
}

}  // namespace sturnus::app
