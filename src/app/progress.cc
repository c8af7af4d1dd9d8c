#include "src/app/progress.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <array>
#include <cmath>
#include <csignal>
#include <iostream>
#include <limits>

#include "src/app/table.h"

namespace sturnus::app {
namespace {

constexpr std::array signals = {SIGINT, SIGTERM};

volatile std::sig_atomic_t interrupt_noted = 0;  // the signal
int guards = 0;
std::array<void (*)(int), signals.size()> before_guards = {};

extern "C" void note_interrupt(int signal) {
  interrupt_noted = signal;
  for (int any : signals) std::signal(any, SIG_DFL);
}

// Of the terminal that standard error is, as wide as it is now.
std::size_t terminal_columns() {
  winsize size = {};
  bool told = ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  return told ? size.ws_col : std::numeric_limits<std::size_t>::max();
}

std::string duration(double seconds) {
  if (!(seconds < 1e8)) return "?";
  auto whole = static_cast<long>(std::ceil(seconds));
  if (whole < 120) return std::to_string(whole) + " s";
  if (whole < 7200) return std::to_string(whole / 60) + " min";
  return std::to_string(whole / 3600) + " h " + std::to_string(whole / 60 % 60) + " min";
}

}  // namespace

std::string describe(const TrainingLog& log, const std::vector<std::string>& parameters) {
  const TrainingRecord& now = log.records.back();
  std::string line = formatted("data %.3g", now.data) + formatted(" residual %.2g", now.residual) +
                     formatted(" prior %.2g", now.prior) +
                     formatted(" repulsion %.3g", now.repulsion);
  for (std::size_t p = 0; p < parameters.size(); p++) {
    MeanSd lambda = lambda_moments(now, p, parameters.size());
    line +=
        "  " + parameters[p] + formatted(" %.3g", lambda.mean) + formatted(" ± %.2g", lambda.sd);
  }
  if (!log.divergences.empty()) {
    line += "  " + std::to_string(log.divergences.size()) + " diverged";
  }
  return line;
}

std::string first_columns(const std::string& text, std::size_t columns) {
  std::size_t end = 0;
  for (; end < text.size(); end++) {
    bool begins_a_letter = (static_cast<unsigned char>(text[end]) & 0xC0) != 0x80;
    if (begins_a_letter && columns-- == 0) break;
  }
  return text.substr(0, end);
}

Progress::Progress(std::ostream& out, std::string title, std::int64_t iterations)
    : out_(out),
      title_(std::move(title)),
      iterations_(iterations),
      terminal_(&out == &std::cerr && isatty(STDERR_FILENO) != 0) {}

void Progress::show(std::int64_t iteration, double seconds, const std::string& said) {
  auto time = Clock::now();
  double wait = terminal_ ? 0.1 : 10;
  bool due = std::chrono::duration<double>(time - last_shown_).count() > wait;
  if (!due && iteration < iterations_) return;
  last_shown_ = time;
  std::string line =
      title_ + "  " + std::to_string(iteration) + "/" + std::to_string(iterations_) + "  ";
  if (start_seconds_ < 0) {
    start_seconds_ = seconds;
    start_iteration_ = iteration;
  } else {
    double rate = static_cast<double>(iteration - start_iteration_) / (seconds - start_seconds_);
    double left = static_cast<double>(iterations_ - iteration) / rate;
    line += formatted("%.0f it/s", rate) + "  " + duration(left) + " left  ";
  }
  line += said;
  if (terminal_) {
    out_ << "\r\x1b[K" << first_columns(line, terminal_columns()) << std::flush;
  } else {
    out_ << line << std::endl;
  }
}

void Progress::finish() {
  if (terminal_) out_ << "\r\x1b[K" << std::flush;
}

InterruptGuard::InterruptGuard() {
  if (guards++ > 0) return;
  interrupt_noted = 0;
  for (std::size_t i = 0; i < signals.size(); i++) {
    before_guards[i] = std::signal(signals[i], note_interrupt);
  }
}
InterruptGuard::~InterruptGuard() {
  if (--guards > 0) return;
  for (std::size_t i = 0; i < signals.size(); i++) std::signal(signals[i], before_guards[i]);
}
bool InterruptGuard::interrupted() const { return interrupt_noted != 0; }

std::optional<int> interrupted_exit_code() {
  if (interrupt_noted == 0) return {};
  return 128 + interrupt_noted;
}

}  // namespace sturnus::app
