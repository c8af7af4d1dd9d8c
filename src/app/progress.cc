#include "src/app/progress.h"

#include <unistd.h>

#include <cmath>
#include <csignal>
#include <cstdio>
#include <iostream>

namespace sturnus::app {
namespace {

volatile std::sig_atomic_t interrupt_noted = 0;

extern "C" void note_interrupt(int) {
  interrupt_noted = 1;
  std::signal(SIGINT, SIG_DFL);
}

std::string text(const char* format, double value) {
  char buffer[64];
  std::snprintf(buffer, sizeof(buffer), format, value);
  return buffer;
}

std::string duration(double seconds) {
  if (!(seconds < 1e8)) return "?";
  auto whole = static_cast<long>(std::ceil(seconds));
  if (whole < 120) return std::to_string(whole) + " s";
  if (whole < 7200) return std::to_string(whole / 60) + " min";
  return std::to_string(whole / 3600) + " h " + std::to_string(whole / 60 % 60) + " min";
}

}  // namespace

std::string progress_line(const TrainingLog& log, std::int64_t iterations,
                          const std::vector<std::string>& parameters,
                          double iterations_per_second) {
  const TrainingRecord& now = log.records.back();
  std::string line = std::to_string(now.iteration) + "/" + std::to_string(iterations);
  if (iterations_per_second > 0) {
    double left = static_cast<double>(iterations - now.iteration) / iterations_per_second;
    line += text("  %.0f it/s", iterations_per_second) + "  " + duration(left) + " left";
  }
  line += text("  data %.3g", now.data) + text(" residual %.2g", now.residual) +
          text(" prior %.2g", now.prior) + text(" repulsion %.3g", now.repulsion);
  for (std::size_t p = 0; p < parameters.size(); p++) {
    MeanSd lambda = lambda_moments(now, p, parameters.size());
    line += "  " + parameters[p] + text(" %.3g", lambda.mean) + text(" ± %.2g", lambda.sd);
  }
  if (!log.divergences.empty()) {
    line += "  " + std::to_string(log.divergences.size()) + " diverged";
  }
  return line;
}

Progress::Progress(std::ostream& out, std::string title, std::int64_t iterations,
                   std::vector<std::string> parameters)
    : out_(out),
      title_(std::move(title)),
      iterations_(iterations),
      parameters_(std::move(parameters)),
      terminal_(&out == &std::cerr && isatty(STDERR_FILENO) != 0) {}

void Progress::show(const TrainingLog& log) {
  const TrainingRecord& now = log.records.back();
  auto time = Clock::now();
  double wait = terminal_ ? 0.1 : 10;
  bool due = std::chrono::duration<double>(time - last_shown_).count() > wait;
  if (!due && now.iteration < iterations_) return;
  last_shown_ = time;
  double rate = 0;
  if (start_seconds_ < 0) {
    start_seconds_ = log.seconds;
    start_iteration_ = now.iteration;
  } else {
    rate = static_cast<double>(now.iteration - start_iteration_) / (log.seconds - start_seconds_);
  }
  std::string line = title_ + "  " + progress_line(log, iterations_, parameters_, rate);
  if (terminal_) {
    out_ << "\r\x1b[K" << line << std::flush;
  } else {
    out_ << line << std::endl;
  }
}

void Progress::finish() {
  if (terminal_) out_ << "\r\x1b[K" << std::flush;
}

InterruptGuard::InterruptGuard() {
  interrupt_noted = 0;
  before_ = std::signal(SIGINT, note_interrupt);
}
InterruptGuard::~InterruptGuard() { std::signal(SIGINT, before_); }
bool InterruptGuard::interrupted() const { return interrupt_noted != 0; }

}  // namespace sturnus::app
