#include <sturnus/runtime/client.h>
#include <sturnus/runtime/error.h>
#include <sturnus/runtime/executable.h>
#include <sturnus/runtime/files.h>
#include <sturnus/runtime/gpu_target.h>
#include <sturnus/runtime/topology.h>

#include <nlohmann/json.hpp>
#include <optional>
#include <ostream>

#include "src/app/commands.h"
#include "src/app/config.h"

namespace sturnus::app {
namespace {

namespace fs = std::filesystem;

// Settings are an object of JSON, which StableHLO never is; comments may stand before it.
bool is_settings(const fs::path& file, const std::string& text) {
  std::size_t first = text.find_first_not_of(" \t\r\n");
  return file.extension() == ".json" || (first != text.npos && text[first] == '{');
}

bool starts_with(const std::string& text, const char* start) { return text.rfind(start, 0) == 0; }

Executable compile_for(const std::string& target, const std::string& program,
                       const CompileOptions& options) {
  int devices = options.replicas * options.partitions;
  if (target == "cpu") return Client::cpu(devices).compile(program, options);
  if (starts_with(target, "tpu:")) {
    return Topology::tpu(Plugin::find("tpu"), target.substr(4)).compile(program, options);
  }
  bool is_file = find_gpu_target(target) == nullptr && fs::exists(target);
  std::string gpu = is_file ? read_file(target) : target;
  if (is_file && gpu.find("gpu_device_info") == gpu.npos) {
    throw Error(
        "compile: the file " + target +
        " is not a GPU description: it has no gpu_device_info. `sturnus targets h100` shows one");
  }
  if (find_gpu_target(gpu) == nullptr && !is_file) {
    std::string names;
    for (std::string_view name : gpu_target_names()) names += std::string(name) + ", ";
    throw Error("compile: no target \"" + target + "\". There are cpu, " + names +
                "tpu:<topology> such as tpu:v5e:2x2, and files with a GPU description");
  }
  return Topology::gpu(Plugin::find("cuda"), gpu, devices).compile(program, options);
}

std::string platform_of(const std::string& target) {
  if (target == "cpu") return "cpu";
  return starts_with(target, "tpu:") ? "tpu" : "cuda";
}

nlohmann::json to_json(const Work& work) {
  nlohmann::json collectives = nlohmann::json::object();
  for (const auto& [kind, use] : work.collectives) {
    collectives[kind] = {{"count", use.count}, {"bytes", use.bytes}};
  }
  return {{"kernels", work.kernels},
          {"free", work.free},
          {"collectives", collectives},
          {"has_open_loops", work.has_open_loops}};
}

nlohmann::json to_json(const ProgramReport& report) {
  nlohmann::json loops = nlohmann::json::array();
  for (const LoopReport& loop : report.loops) {
    nlohmann::json entry = {{"body", loop.body}, {"iteration", to_json(loop.iteration)}};
    if (loop.trip_count) entry["trip_count"] = *loop.trip_count;
    loops.push_back(entry);
  }
  return {{"name", report.name},
          {"compile_s", report.compile_seconds},
          {"code_bytes", report.code_bytes},
          {"serialized_bytes", report.serialized_bytes},
          {"argument_bytes", report.argument_bytes},
          {"output_bytes", report.output_bytes},
          {"temporary_bytes", report.temporary_bytes},
          {"alias_bytes", report.alias_bytes},
          {"instructions", report.instructions},
          {"run", to_json(report.run)},
          {"loops", loops}};
}

}  // namespace

void show_target(std::ostream& out, const std::string& name) {
  const GpuTarget* target = find_gpu_target(name);
  if (target == nullptr) {
    std::string names;
    for (std::string_view known : gpu_target_names()) {
      names += (names.empty() ? "" : ", ") + std::string(known);
    }
    throw Error("targets: no GPU named \"" + name + "\"; there are " + names);
  }
  out << target_config_text(*target);
}

void compile_program(std::ostream& out, const CompileRequest& request) {
  std::string text;
  std::optional<Ensemble> training;
  // A folder may well have the name of an experiment.
  bool is_file = fs::exists(request.program) && !fs::is_directory(request.program);
  if (is_file) text = read_file(request.program);
  if (!is_file || is_settings(request.program, text)) {
    // The whole training of an experiment: (state, iterations) -> state.
    RunConfig config = config_named("compile", request.program.string(), request.variant);
    if (request.members) config.ensemble.members = *request.members;
    training.emplace(problem_of(config), config.ensemble);
  }
  CompileOptions options;
  options.partitions = request.devices;
  options.spmd = options.shardy = request.devices > 1;
  nlohmann::json reports = nlohmann::json::object();
  for (const std::string& target : request.targets) {
    std::string platform = platform_of(target);
    if (training) text = training->lower(platform).stablehlo(platform);
    Executable executable = compile_for(target, text, options);
    ProgramReport report = executable.report();
    out << target << "\n" << to_string(report) << "\n";
    reports[target] = to_json(report);
    if (!request.save.empty()) {
      std::string name = target;
      for (char& c : name) c = c == '/' || c == ':' ? '-' : c;
      write_file(request.save / (request.program.stem().string() + "." + name + ".xla"),
                 executable.serialize());
    }
  }
  if (!request.json.empty()) write_file(request.json, reports.dump(2) + "\n");
}

}  // namespace sturnus::app
