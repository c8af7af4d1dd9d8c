#include "src/app/fetch.h"

#include <sturnus/runtime/error.h>
#include <sturnus/runtime/plugin_search.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

namespace sturnus::app {
namespace {

namespace fs = std::filesystem;

// The script lies in the source tree above a built program, or in share/ beside an installed one.
fs::path fetch_script() {
  std::error_code ignored;
  fs::path program = fs::canonical("/proc/self/exe", ignored);
  for (fs::path folder = program.parent_path();; folder = folder.parent_path()) {
    for (const char* place : {"share/sturnus/fetch_plugin.py", "src/runtime/fetch_plugin.py"}) {
      if (fs::exists(folder / place, ignored)) return folder / place;
    }
    if (folder == folder.root_path()) break;
  }
  throw Error(
      "plugins install: fetch_plugin.py is neither in the source tree nor in share/sturnus of "
      "the prefix that holds " +
      program.string() + ". Install Sturnus again");
}

// Runs a program with this one's standard streams and returns its exit code.
int run(const std::vector<std::string>& command) {
  std::vector<char*> arguments;  // before fork, after which other threads' locks may be held
  for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  pid_t child = fork();
  if (child < 0) throw Error(std::string("fork: ") + std::strerror(errno));
  if (child == 0) {
    execvp(arguments[0], arguments.data());
    _exit(127);
  }
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace

int fetch_pinned(const std::string& name, const std::vector<std::string>& settings) {
  std::vector<std::string> command = {"env"};
  command.insert(command.end(), settings.begin(), settings.end());
  for (const std::string& word : {std::string("python3"), fetch_script().string(), name,
                                  std::string("--into"), user_data_folder().string()}) {
    command.push_back(word);
  }
  return run(command);
}

}  // namespace sturnus::app
