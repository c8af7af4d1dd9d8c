// One line that tells how long work goes, and Ctrl-C that ends it well.
#pragma once

#include <sturnus/inference/ensembles/training.h>

#include <chrono>
#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

namespace sturnus::app {

/// What a training says of itself: "data 0.0123 ...  omega 1.01 ± 0.03"
std::string describe(const TrainingLog& log, const std::vector<std::string>& parameters);

/// The beginning of a text in UTF-8 that takes at most so many columns of a terminal.
std::string first_columns(const std::string& text, std::size_t columns);

/// Shows progress on a terminal by rewriting one line, no longer than that is wide; elsewhere a
/// line now and then: "title  4500/15000  712 it/s  15 s left  what is said".
class Progress {
 public:
  Progress(std::ostream& out, std::string title, std::int64_t iterations);
  /// After so many iterations, which took so many seconds.
  void show(std::int64_t iteration, double seconds, const std::string& said);
  void finish();

 private:
  using Clock = std::chrono::steady_clock;
  std::ostream& out_;
  std::string title_;
  std::int64_t iterations_;
  bool terminal_;
  Clock::time_point last_shown_ = {};
  double start_seconds_ = -1;
  std::int64_t start_iteration_ = 0;
};

/// While it lives, the first Ctrl-C or SIGTERM is only noted; the second ends the program as usual.
/// One within another knows what the other knows, so that a Ctrl-C ends the work of both.
class InterruptGuard {
 public:
  InterruptGuard();
  ~InterruptGuard();
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;
  bool interrupted() const;
};

/// What a program returns that a signal noted by the last guard has ended, 130 for Ctrl-C; nothing
/// where there was none.
std::optional<int> interrupted_exit_code();

}  // namespace sturnus::app
