// Work that a device has not finished yet.
#pragma once

#include <sturnus/runtime/error.h>

#include <exception>
#include <functional>
#include <memory>
#include <utility>

namespace sturnus {
namespace internal {
struct EventState;
}

/// Becomes ready once, with or without an error. A default-made event is ready.
class Event {
 public:
  Event() = default;
  explicit Event(std::shared_ptr<const internal::EventState> state) : state_(std::move(state)) {}

  bool ready() const;
  /// Waits; throws RuntimeError when the work failed.
  void await() const;
  /// Calls `then` once, with null or the error, at once or later from a thread of the plugin.
  /// `then` must not throw, nor be the last to hold anything of the client, which would then wait
  /// for its own thread to end.
  void on_ready(std::function<void(std::exception_ptr)> then) const;

 private:
  std::shared_ptr<const internal::EventState> state_;
};

/// A value that is being written until its event is ready.
template <class T>
class Future {
 public:
  Future(T value, Event done) : value_(std::move(value)), done_(std::move(done)) {}
  Future(Future&&) noexcept = default;
  Future& operator=(Future&&) = delete;
  /// Never lets go of memory that the device still writes to.
  ~Future() {
    if (!taken_) wait_quietly();
  }

  bool ready() const { return done_.ready(); }
  /// Waits and hands the value over; throws RuntimeError when the work failed, Error when the value
  /// was handed over before.
  T get() {
    if (taken_) throw Error("Future::get: the value was handed over before");
    done_.await();
    taken_ = true;
    return std::move(value_);
  }

 private:
  void wait_quietly() noexcept {
    try {
      done_.await();
    } catch (...) {  // nobody asked for the value
    }
  }
  T value_;
  Event done_;
  bool taken_ = false;
};

}  // namespace sturnus
