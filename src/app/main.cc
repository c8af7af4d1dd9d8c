// The program `sturnus`.
#include <sturnus/runtime/error.h>
#include <sturnus/runtime/log.h>
#include <sturnus/runtime/version.h>

#include <CLI/CLI.hpp>
#include <iostream>

#include "src/app/commands.h"

namespace {

void print_warnings(sturnus::LogLevel level, std::string_view message) {
  if (level == sturnus::LogLevel::warning) std::cerr << "sturnus: warning: " << message << '\n';
}

}  // namespace

int main(int argc, char** argv) {
  using namespace sturnus::app;
  sturnus::set_log_sink(print_warnings);

  CLI::App program("JAX-style function transforms and Bayesian inverse problems on XLA devices");
  program.name("sturnus");
  program.set_version_flag("--version", sturnus::version);
  program.require_subcommand(1);

  CLI::App* run = program.add_subcommand("run", "Run an experiment");
  std::string experiment;
  run->add_option("experiment", experiment, "For instance damped_oscillator")->required();
  run->callback([&] { run_experiment(std::cout, experiment); });

  CLI::App* devices = program.add_subcommand("devices", "List the devices");
  std::string platform;
  devices->add_option("--platform", platform, "cpu, cuda, tpu, ... (default: all that are here)");
  devices->callback([&] { show_devices(std::cout, platform); });

  CLI::App* plugins = program.add_subcommand("plugins", "List the PJRT plugins, or install one");
  std::string plugin;
  CLI::App* install = plugins->add_subcommand("install", "Fetch a pinned plugin for this user");
  install->add_option("name", plugin, "cpu, cuda or tpu")->required();
  install->callback([&] { install_plugin(std::cout, plugin); });
  plugins->callback([&] {
    if (!*install) show_plugins(std::cout);
  });

  CLI::App* compile =
      program.add_subcommand("compile", "Compile StableHLO, also for devices that are not here");
  CompileRequest request;
  request.targets = {"cpu"};
  compile->add_option("program", request.program, "A file with StableHLO text")->required();
  compile
      ->add_option("--for", request.targets,
                   "cpu, h100, a100, b200, tpu:v5e:2x2, or a file with a GPU description")
      ->delimiter(',');
  compile->add_option("--devices", request.devices, "Split the program over so many devices");
  compile->add_option("--json", request.json, "Write the reports to this file");
  compile->add_option("--save", request.save, "Write the compiled programs to this folder");
  compile->callback([&] { compile_program(std::cout, request); });

  CLI::App* targets = program.add_subcommand("targets", "Print the description of a GPU");
  std::string target;
  targets->add_option("name", target, "a100, b200 or h100")->required();
  targets->callback([&] { show_target(std::cout, target); });

  try {
    program.parse(argc, argv);
    return 0;
  } catch (const CLI::ParseError& error) {
    return program.exit(error);
  } catch (const std::exception& error) {
    std::cerr << "sturnus: " << error.what() << '\n';
    return 1;
  }
}
