#include <gtest/gtest.h>
#include <sturnus/runtime/error.h>
#include <sturnus/runtime/event.h>

#include <atomic>
#include <chrono>
#include <future>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include "tests/runtime/cpu.h"

namespace sturnus {
namespace {

// What `on_ready` hands over, as text: "" when the work went well.
std::future<std::string> outcome(const Event& event) {
  auto promise = std::make_shared<std::promise<std::string>>();
  event.on_ready([promise](std::exception_ptr failure) {
    if (failure == nullptr) return promise->set_value("");
    try {
      std::rethrow_exception(failure);
    } catch (const std::exception& error) {
      promise->set_value(error.what());
    }
  });
  return promise->get_future();
}

TEST(Event, ThatIsDefaultMadeIsReady) {
  Event event;
  EXPECT_TRUE(event.ready());
  event.await();
  int calls = 0;
  event.on_ready([&](std::exception_ptr failure) { calls += failure == nullptr ? 1 : 100; });
  EXPECT_EQ(calls, 1);
}

TEST(Event, BecomesReadyAfterTheWork) {
  Buffer result = slow_result();
  Event event = result.ready_event();
  EXPECT_FALSE(event.ready());
  Event copy = event;
  std::future<std::string> before = outcome(event);
  copy.await();
  EXPECT_TRUE(event.ready());
  EXPECT_EQ(before.get(), "");
  EXPECT_EQ(outcome(event).get(), "");  // also when it is ready already
}

TEST(Event, CallsEveryContinuationOnce) {
  constexpr int continuations = 100;
  std::atomic<int> calls = 0;
  {
    Client client = Client::create("cpu");
    Event event = slow_result(client.compile(programs::loop)).ready_event();
    for (int i = 0; i < continuations; i++) event.on_ready([&](std::exception_ptr) { calls++; });
  }
  EXPECT_EQ(calls, continuations);
}

TEST(Event, CanBeAwaitedByManyThreads) {
  Buffer result = slow_result();
  Event event = result.ready_event();
  std::vector<std::jthread> waiting;
  for (int t = 0; t < 8; t++) {
    waiting.emplace_back([event] {
      event.await();
      EXPECT_TRUE(event.ready());
    });
  }
}

// A client that is destroyed by one of its own threads would wait for that thread for ever.
TEST(Event, LetsItsClientGoBeforeTheWorkIsDone) {
  std::atomic<bool> called = false;
  {
    Client client = Client::create("cpu");
    slow_result(client.compile(programs::loop)).ready_event().on_ready([&](std::exception_ptr) {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      called = true;
    });
    EXPECT_FALSE(called);
  }
  EXPECT_TRUE(called) << "the client went while its callback was still to come";
}

TEST(Event, KeepsItsClientAlive) {
  std::optional<Event> event;
  {
    Client client = Client::create("cpu");
    event = slow_result(client.compile(programs::loop)).ready_event();
  }
  event->await();
  EXPECT_TRUE(event->ready());
}

// ------------------------------------------------------------------------------------ failed work

TEST(Event, OfFailedWorkGivesTheErrorToEveryoneWhoAsks) {
  Buffer result = failing_result();
  std::string said = outcome(result.ready_event()).get();
  EXPECT_NE(said.find("Out of memory allocating 4000000000000 bytes"), said.npos) << said;
  for (int times = 0; times < 2; times++) {
    try {
      result.await();
      FAIL() << "no exception";
    } catch (const RuntimeError& error) {
      EXPECT_EQ(error.call(), "PJRT_Event_Await");
      EXPECT_EQ(error.code(), ErrorCode::internal);
      EXPECT_NE(error.detail().find("Out of memory"), std::string::npos) << error.detail();
    }
  }
  EXPECT_TRUE(result.ready_event().ready());
}

TEST(Event, OfWorkThatNeedsAFailedResultFailsToo) {
  constexpr std::string_view corner = R"(module @corner {
    func.func public @main(%x: tensor<1000000x1000000xf32>) -> tensor<f32> {
      %0 = stablehlo.slice %x [0:1, 0:1] : (tensor<1000000x1000000xf32>) -> tensor<1x1xf32>
      %1 = stablehlo.reshape %0 : (tensor<1x1xf32>) -> tensor<f32>
      return %1 : tensor<f32>
    }
  })";
  Buffer failing = failing_result();
  Buffer number = std::move(cpu().compile(corner).run({&failing})[0]);
  Future<HostVector<float>> contents = number.to_vector_async<float>();
  for (const std::string& message :
       {error_of<RuntimeError>([&] { number.await(); }),
        error_of<RuntimeError>([&] { number.item<float>(); }),
        error_of<RuntimeError>([&] { contents.get(); }), outcome(number.ready_event()).get()}) {
    EXPECT_NE(message.find("Out of memory"), message.npos) << message;
  }
}

TEST(Event, OfFailedWorkLeavesTheDeviceUsable) {
  failing_result();  // nobody ever asks
  Buffer a = vector_of({1, 2, 3, 4});
  EXPECT_EQ(compiled(programs::twice).run({&a})[0].to_vector<float>(),
            (std::vector<float>{2, 4, 6, 8}));
}

// ---------------------------------------------------------------------------------------- futures

TEST(Future, GivesItsValueOnce) {
  Buffer a = vector_of({1, 2, 3, 4});
  Future<HostVector<float>> future = a.to_vector_async<float>();
  Future<HostVector<float>> moved = std::move(future);
  EXPECT_EQ(moved.get(), (std::vector<float>{1, 2, 3, 4}));
  EXPECT_TRUE(moved.ready());
  EXPECT_EQ(error_of([&] { moved.get(); }), "Future::get: the value was handed over before");
}

TEST(Future, WaitsForWorkThatIsStillGoingOn) {
  Buffer result = slow_result();
  Future<HostVector<float>> future = result.to_vector_async<float>();
  EXPECT_FALSE(future.ready());
  std::vector<float> values = future.get();
  EXPECT_EQ(values, result.to_vector<float>());
}

// The device writes into the future's memory until it is done; the sanitizers see it if not.
TEST(Future, ThatIsDroppedWaits) {
  Buffer result = slow_result();
  { Future<HostVector<float>> dropped = result.to_vector_async<float>(); }
  EXPECT_TRUE(result.ready_event().ready());
}

TEST(Future, OfFailedWorkThrowsOrIsDroppedQuietly) {
  Future<int> thrown(1, failing_result().ready_event());
  EXPECT_THROW(thrown.get(), RuntimeError);
  EXPECT_THROW(thrown.get(), RuntimeError);  // the value was not handed over
  { Future<int> dropped(1, failing_result().ready_event()); }
}

}  // namespace
}  // namespace sturnus
