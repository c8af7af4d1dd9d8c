#include <sturnus/runtime/event.h>

#include <atomic>

#include "src/runtime/state.h"

namespace sturnus {
namespace {

// Keeps the event but not its client: a client that is destroyed from one of its own threads would
// wait for itself. Destroyed from elsewhere, it waits until this has been called.
struct Continuation {
  std::shared_ptr<const internal::EventHandle> event;
  std::function<void(std::exception_ptr)> then;
  // Set last and read first. The plugin orders its threads itself, but ThreadSanitizer cannot see
  // into it.
  std::atomic<bool> complete = false;
};

void continue_after(PJRT_Error* error, void* argument) {
  std::unique_ptr<Continuation> continuation(static_cast<Continuation*>(argument));
  continuation->complete.load(std::memory_order_acquire);
  std::exception_ptr failure;
  if (error != nullptr) {
    const internal::Api& api = continuation->event->api();
    failure = std::make_exception_ptr(api.to_exception(error, "PJRT_Event_OnReady"));
  }
  continuation->then(failure);
}

}  // namespace

Event internal::make_event(std::shared_ptr<const void> owner, const Api& api, PJRT_Event* event) {
  if (event == nullptr) return Event();
  auto handle = std::make_shared<const EventHandle>(api, event);
  return Event(std::make_shared<const EventState>(EventState{std::move(owner), std::move(handle)}));
}

bool Event::ready() const {
  if (state_ == nullptr) return true;
  auto reply = state_->api().call<&PJRT_Api::PJRT_Event_IsReady>(
      [this](auto& args) { args.event = state_->handle->get(); });
  return reply.is_ready;
}

void Event::await() const {
  if (state_ == nullptr) return;
  state_->api().call<&PJRT_Api::PJRT_Event_Await>(
      [this](auto& args) { args.event = state_->handle->get(); });
}

void Event::on_ready(std::function<void(std::exception_ptr)> then) const {
  if (state_ == nullptr) return then(nullptr);
  auto continuation = std::make_unique<Continuation>();
  continuation->event = state_->handle;
  continuation->then = std::move(then);
  continuation->complete.store(true, std::memory_order_release);
  state_->api().call<&PJRT_Api::PJRT_Event_OnReady>([&](auto& args) {
    args.event = state_->handle->get();
    args.callback = continue_after;
    args.user_arg = continuation.get();
  });
  continuation.release();  // continue_after owns it now
}

}  // namespace sturnus
