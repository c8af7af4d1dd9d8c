// The commands of the program, one function each. They write their result to `out` and throw Error
// with what is wrong; main.cc turns that into a message and an exit code.
#pragma once

#include <filesystem>
#include <iosfwd>
#include <string>
#include <vector>

namespace sturnus::app {

/// `sturnus plugins`: every plugin found, its versions and where it lies.
void show_plugins(std::ostream& out);

/// `sturnus plugins install NAME`: fetches the pinned wheel into the user's data folder.
void install_plugin(std::ostream& out, const std::string& name);

/// `sturnus devices`: the devices of one platform, or of every platform whose hardware is here.
void show_devices(std::ostream& out, const std::string& platform);

struct CompileRequest {
  std::filesystem::path program;     // StableHLO text
  std::vector<std::string> targets;  // "cpu", "h100", "tpu:v5e:2x2", a file with a GPU description
  int devices = 1;                   // the program is split over so many
  std::filesystem::path json;        // where the reports go as JSON; empty: nowhere
  std::filesystem::path save;        // folder for the serialised programs; empty: nowhere
};

/// `sturnus compile`: compiles a program for devices that need not be here, and reports on each.
void compile_program(std::ostream& out, const CompileRequest& request);

/// `sturnus targets NAME`: the description of a GPU, to start one's own from.
void show_target(std::ostream& out, const std::string& name);

/// `sturnus run`: a named experiment.
void run_experiment(std::ostream& out, const std::string& name);

}  // namespace sturnus::app
