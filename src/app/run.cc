#include <sturnus/runtime/client.h>
#include <sturnus/runtime/error.h>
#include <sturnus/runtime/files.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <ostream>

#include "src/app/chain_report.h"
#include "src/app/commands.h"
#include "src/app/config.h"
#include "src/app/experiment_run.h"
#include "src/app/json_reader.h"
#include "src/app/plotly_script.h"
#include "src/app/progress.h"
#include "src/app/report.h"
#include "src/app/vi_report.h"

namespace sturnus::app {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

RunConfig config_of(const RunRequest& request) {
  RunConfig config = config_named("run", request.experiment, request.variant, request.iterations);
  if (request.members) config.ensemble.members = *request.members;
  if (request.run) {
    config.run = *request.run;
    // As the table has it, so that both are the same run.
    bool is_file = fs::is_regular_file(request.experiment);
    if (!is_file && *request.run >= 0)
      config.ensemble.seed = static_cast<std::uint64_t>(*request.run);
  }
  if (request.seed) config.ensemble.seed = *request.seed;
  if (request.devices) config.ensemble.devices = *request.devices;
  // Checked as a file is.
  return config_from_json(to_json(config));
}

fs::path folder_of(const RunRequest& request, const RunConfig& config) {
  if (!request.out.empty()) return request.out;
  // In a file of settings a variant may have any name.
  bool fits = config.variant.size() < 100 &&
              std::none_of(config.variant.begin(), config.variant.end(),
                           [](unsigned char c) { return c == '/' || std::iscntrl(c) != 0; });
  if (!fits) {
    refuse("run", "the folder of results would be named after the variant \"" + config.variant +
                      "\", which no folder can be. Give --out, or the variant another name");
  }
  return fs::path("results") / (std::string(name_of(config.experiment)) + "-" + config.variant +
                                "-run" + std::to_string(config.run));
}

// Whether all the chains that were asked for are there.
bool has_chains(const json& result) {
  auto against = result.find("against");
  return against != result.end() &&
         std::all_of(against->begin(), against->end(),
                     [](const auto& c) { return c.at("finished").template get<bool>(); });
}

std::string page_of(const json& result) {
  if (!result.contains("settings")) throw Error("it holds no result");
  // A fitted network's has none, and the report of an ensemble.
  if (!result.contains("chains")) return report_html(result, plotly_script());
  bool is_fit = result.at("settings").value("method", "") == "variational";
  return is_fit ? variational_report_html(result, plotly_script())
                : chain_report_html(result, plotly_script());
}

Client client_of(const std::string& platform, int count) {
  try {
    return platform == "cpu" ? Client::cpu(count) : Client::create(platform);
  } catch (const RuntimeError& error) {
    throw Error("device: there is no " + platform + " here: " + error.what() +
                ". `sturnus devices` lists what there is");
  }
}

}  // namespace

void select_device(const std::string& name, int count) {
  if (name.empty()) {
    if (count > 1 && default_device().owner().platform_name() == "cpu") select_device("cpu", count);
    return;
  }
  std::string platform = name.substr(0, name.find(':'));
  Client client = client_of(platform, count);
  auto devices = client.devices();
  std::size_t index = 0;
  if (platform.size() < name.size()) {
    const char *number = name.c_str() + platform.size() + 1, *end = name.c_str() + name.size();
    auto [stopped, problem] = std::from_chars(number, end, index);
    if (problem != std::errc() || stopped != end) {
      throw Error("device: \"" + name + "\" is not platform:number, such as cpu:0");
    }
  }
  if (index < devices.size() && index + static_cast<std::size_t>(count) > devices.size()) {
    throw Error("device: " + std::to_string(count) + " devices from " + name +
                " on are asked for, but " + platform + " has " + std::to_string(devices.size()) +
                ", counted from 0. Give --device " + platform + ":0, or fewer --devices");
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
  check_places("run", "training", {folder, request.resume});
  json result = run(config, {folder, request.resume}, progress, against);
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
  out << '\n';
  for (const char* name : {"result.json", "draws.nc"}) {
    if (fs::exists(folder / name)) out << (folder / name).string() << '\n';
  }
  try {
    write_file(folder / "report.html", report_html(result, plotly_script()));
  } catch (const Error& error) {
    // An older one may be there, which this one could not replace.
    bool has_result = read_file_if_there(folder / "result.json") == result.dump() + "\n";
    throw Error(std::string("run: there is no report: ") + error.what() + ". When there is room, " +
                (has_result ? "`sturnus report " + folder.string() + "` makes it"
                            : "the same command with --resume writes the result and it"));
  }
  out << (folder / "report.html").string() << '\n';
}

void make_report(std::ostream& out, const fs::path& place) {
  fs::path file = fs::is_directory(place) ? place / "result.json" : place;
  json page = read_kept(file, "Give a result.json of run, sample or vi, or its folder", page_of);
  fs::path report = file.parent_path() / "report.html";
  write_file(report, page.get<std::string>());
  out << report.string() << '\n';
}

}  // namespace sturnus::app
