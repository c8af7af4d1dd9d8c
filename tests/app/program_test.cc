// The program in a process of its own, on a terminal: Ctrl-C, and what is written there.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pty.h>
#include <sturnus/runtime/error.h>
#include <sturnus/runtime/files.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "src/app/progress.h"

namespace sturnus::app {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using testing::HasSubstr;

constexpr unsigned short columns = 50;

class Program {
 public:
  explicit Program(std::vector<std::string> arguments) {
    const char* program = std::getenv("STURNUS_PROGRAM");
    if (program == nullptr) throw Error("Program: set STURNUS_PROGRAM to its file");
    arguments.insert(arguments.begin(), program);
    std::vector<char*> words;
    for (std::string& argument : arguments) words.push_back(argument.data());
    words.push_back(nullptr);
    winsize size = {};
    size.ws_col = columns;
    process_ = forkpty(&terminal_, nullptr, nullptr, &size);
    if (process_ != 0) return;
    setenv("STURNUS_PLOTLY", "/dev/null", 1);
    execv(program, words.data());
    _exit(127);
  }
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;
  ~Program() {
    if (process_ > 0) finish();
    close(terminal_);
  }

  /// Returns when the program has written the text, or ended without.
  void wait_for(const std::string& text) {
    while (said_.find(text) == said_.npos && read_more()) {
    }
  }
  void terminate() { EXPECT_EQ(kill(process_, SIGTERM), 0); }
  void press_ctrl_c() { EXPECT_EQ(write(terminal_, "\x03", 1), 1); }
  /// The exit code.
  int finish() {
    while (read_more()) {
    }
    int status = 0;
    waitpid(std::exchange(process_, 0), &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }
  /// All that it wrote so far.
  const std::string& said() const { return said_; }

 private:
  bool read_more() {
    char buffer[4096];
    ssize_t count = read(terminal_, buffer, sizeof(buffer));  // fails when nobody writes any more
    if (count > 0) said_.append(buffer, static_cast<std::size_t>(count));
    return count > 0;
  }

  int terminal_ = -1;
  pid_t process_ = 0;
  std::string said_;
};

fs::path fresh_folder(const std::string& name) {
  fs::path folder = fs::path(testing::TempDir()) / name;
  fs::remove_all(folder);
  return folder;
}

json json_in(const fs::path& file) { return json::parse(read_file(file)); }

// Long enough to be interrupted, and over in a moment.
std::vector<std::string> small_run(const fs::path& folder, const std::string& out) {
  fs::path settings = folder / "settings.json";
  write_file(settings, R"({"experiment": "exponential", "variant": "factorized", "members": 4,
    "iterations": 15000, "chunk": 100, "network": {"hidden": [5]}, "collocation": {"points": 8},
    "priors": {"lambda": {"kind": "positive"}}})");
  return {"run", settings.string(), "--out", (folder / out).string()};
}

TEST(Program, ARunThatIsInterruptedGoesOnToTheSameBits) {
  fs::path folder = fresh_folder("interrupted_run");
  Program whole(small_run(folder, "whole"));
  ASSERT_EQ(whole.finish(), 0) << whole.said();

  std::vector<std::string> command = small_run(folder, "parts");
  Program first(command);
  first.wait_for("/15000");
  first.press_ctrl_c();
  EXPECT_EQ(first.finish(), 130);
  EXPECT_THAT(first.said(), HasSubstr("the scores are those of that moment. Go on with --resume."));
  json kept = json_in(folder / "parts" / "result.json");
  EXPECT_EQ(kept.at("finished"), false);
  std::int64_t reached = kept.at("history").at("iteration").back();
  EXPECT_LT(reached, 15000);
  ASSERT_TRUE(fs::exists(folder / "parts" / "training.part"));

  Program again(command);
  EXPECT_EQ(again.finish(), 1);
  EXPECT_THAT(again.said(), HasSubstr("holds an unfinished training. Add --resume"));
  command.push_back("--resume");
  Program second(command);
  ASSERT_EQ(second.finish(), 0) << second.said();
  json joined = json_in(folder / "parts" / "result.json");
  json expected = json_in(folder / "whole" / "result.json");
  EXPECT_EQ(joined.at("timing").at("resumed_at"), reached);
  for (const char* part : {"metrics", "lambda", "predictions"}) {
    EXPECT_EQ(joined.at(part), expected.at(part)) << part;
  }
  EXPECT_EQ(joined.at("history").at("lambda"), expected.at("history").at("lambda"));
  EXPECT_FALSE(fs::exists(folder / "parts" / "training.part"));

  // The line of progress, written anew each time, stays within the terminal.
  std::size_t lines = 0, full = 0;
  const std::string& said = whole.said();
  const std::string begin = "\r\x1b[K";
  for (std::size_t at = 0; (at = said.find(begin, at)) != said.npos;) {
    at += begin.size();
    std::string line = said.substr(at, said.find('\r', at) - at);
    if (line.find("/15000") == line.npos) continue;  // the tables that follow
    lines++;
    EXPECT_EQ(line, first_columns(line, columns));
    full += line.size() >= columns ? 1 : 0;
  }
  EXPECT_GE(lines, 2u);
  EXPECT_GE(full, 1u) << "what is said is longer than the terminal is wide";
}

TEST(Program, ATableThatIsInterruptedGoesOnToTheSameBits) {
  fs::path folder = fresh_folder("interrupted_table");
  auto command = [&](const char* out) -> std::vector<std::string> {
    return {"table",        "lotka_volterra",
            "--variants",   "none,lambda",
            "--runs",       "1",
            "--members",    "3",
            "--iterations", "2000",
            "--out",        (folder / out).string()};
  };
  Program whole(command("whole"));
  ASSERT_EQ(whole.finish(), 0) << whole.said();
  EXPECT_THAT(whole.said(), HasSubstr("sturnus: warning: members never repel each other"))
      << "repulsion begins at 3000";

  Program first(command("parts"));
  first.wait_for("/2000");
  first.press_ctrl_c();
  EXPECT_EQ(first.finish(), 130);
  EXPECT_THAT(first.said(),
              HasSubstr("Interrupted; the same command goes on where this one stopped."));
  EXPECT_TRUE(fs::exists(folder / "parts" / "none-run1" / "training.part"));
  EXPECT_FALSE(fs::exists(folder / "parts" / "lambda-run1"));

  Program second(command("parts"));
  ASSERT_EQ(second.finish(), 0) << second.said();
  json joined = json_in(folder / "parts" / "table.json").at("variants");
  json expected = json_in(folder / "whole" / "table.json").at("variants");
  ASSERT_EQ(joined.size(), 2u);
  EXPECT_GT(joined[0].at("runs")[0].at("timing").at("resumed_at"), 0);
  for (std::size_t i = 0; i < 2; i++) {
    for (const char* part : {"metrics", "lambda", "members"}) {
      EXPECT_EQ(joined[i].at("runs")[0].at(part), expected[i].at("runs")[0].at(part)) << part;
    }
  }
}

// As batch systems and `kill` end a program.
TEST(Program, ARunThatIsTerminatedIsKept) {
  fs::path folder = fresh_folder("terminated_run");
  std::vector<std::string> command = small_run(folder, "run");
  command.push_back("--resume");
  Program run(command);
  run.wait_for("/15000");
  run.terminate();
  EXPECT_EQ(run.finish(), 143);
  EXPECT_THAT(run.said(), HasSubstr("holds no unfinished training to resume; a new one begins"));
  EXPECT_EQ(json_in(folder / "run" / "result.json").at("finished"), false);
  EXPECT_TRUE(fs::exists(folder / "run" / "training.part"));
}

TEST(Program, RefusesSeedsThatAreNone) {
  const std::vector<std::string> rows[] = {
      {"run", "exponential", "--seed", "-1"},
      {"run", "exponential", "--seed", "99999999999999999999"},
      {"sample", "exponential", "--seed", "1e3"},
      {"vi", "exponential", "--seed=-5"},
      {"posterior", "lotka_volterra", "--seed", "-1"},
      {"table", "exponential", "--data-seeds", "101,-1"},
  };
  for (const std::vector<std::string>& row : rows) {
    Program program(row);
    EXPECT_NE(program.finish(), 0) << row.back();
    EXPECT_THAT(program.said(), HasSubstr("is not a whole number from 0 to 2^64 - 1"));
  }
}

TEST(Program, NamesAllVariantsInItsHelp) {
  Program help({"run", "--help"});
  EXPECT_EQ(help.finish(), 0);
  for (const char* variant : {"none", "lambda", "joint", "factorized", "full", "correlated"}) {
    EXPECT_THAT(help.said(), HasSubstr(variant));
  }
}

TEST(FirstColumns, CountLettersAndNotBytes) {
  const std::string text = "ω 1 ± 2";
  const char* expected[] = {"", "ω", "ω ", "ω 1", "ω 1 ", "ω 1 ±", "ω 1 ± ", "ω 1 ± 2", "ω 1 ± 2"};
  for (std::size_t count = 0; count < std::size(expected); count++) {
    EXPECT_EQ(first_columns(text, count), expected[count]);
  }
}

}  // namespace
}  // namespace sturnus::app
