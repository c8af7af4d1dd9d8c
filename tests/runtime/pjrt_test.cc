#include "src/runtime/pjrt.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <future>
#include <map>
#include <set>
#include <thread>

#include "tests/runtime/fake.h"

namespace sturnus {
namespace {

using internal::function_name;
using internal::size_asked_for;
using testing::HasSubstr;

static_assert(function_name<&PJRT_Api::PJRT_Compile>() == "PJRT_Compile");
static_assert(function_name<&PJRT_Api::PJRT_Client_Create>() == "PJRT_Client_Create");
static_assert(function_name<&PJRT_Api::PJRT_Buffer_ToHostBuffer>() == "PJRT_Buffer_ToHostBuffer");

TEST(Pjrt, ReadsTheSizeThatAPluginAsksFor) {
  const std::string_view complaint =
      "Unexpected PJRT_Client_Create_Args size: expected 112, got 96. The plugin is likely built "
      "with a later version than the framework.";
  EXPECT_EQ(size_asked_for(complaint, "PJRT_Client_Create", "_Args"), 112u);
  EXPECT_EQ(size_asked_for("Unexpected PJRT_Program size: expected 64, got 48", "PJRT_Program"),
            64u);
  for (std::string_view other :
       {"", "Unexpected", "Unexpected PJRT_Client_Create_Args size: expected ",
        "Unexpected PJRT_Client_Create_Args size: expected many",
        "Unexpected PJRT_Client_CreateX_Args size: expected 112, got 96", "out of memory"}) {
    EXPECT_EQ(size_asked_for(other, "PJRT_Client_Create", "_Args"), 0u) << other;
  }
}

TEST(Pjrt, NamedValuesGoThereAndBack) {
  const NamedValues values = {{"text", std::string("a\0b", 3)},
                              {"none", std::string()},
                              {"number", std::int64_t{-7}},
                              {"rate", 0.25f},
                              {"flag", true},
                              {"no flag", false},
                              {"list", std::vector<std::int64_t>{1, 13, 0}},
                              {"empty", std::vector<std::int64_t>{}}};
  std::vector<PJRT_NamedValue> sent = internal::to_pjrt(values);
  EXPECT_EQ(internal::from_pjrt(sent.data(), sent.size()), values);
  EXPECT_EQ(to_string(values.at("list")), "1.13.0");
  EXPECT_EQ(to_string(values.at("number")), "-7");
  EXPECT_EQ(to_string(values.at("flag")), "true");
  EXPECT_EQ(to_string(values.at("empty")), "");
}

TEST(Pjrt, ElementTypesGoThereAndBack) {
  std::set<PJRT_Buffer_Type> seen;
  for (int i = 0; i < dtype_count; i++) {
    auto dtype = static_cast<DType>(i);
    EXPECT_EQ(internal::from_pjrt(internal::to_pjrt(dtype)), dtype);
    seen.insert(internal::to_pjrt(dtype));
  }
  EXPECT_EQ(seen.size(), static_cast<std::size_t>(dtype_count));
  EXPECT_THAT(error_of([] { internal::from_pjrt(PJRT_Buffer_Type_F8E4M3FN); }),
              HasSubstr("has no host type in Sturnus"));
}

// ------------------------------------------------------------------- sizes of structs, both ways

using Counts = std::map<std::string_view, long>;

// How often `action` calls each function.
template <class Action>
Counts calls_of(Action&& action) {
  Counts counts;
  for (std::string_view function : used_functions) counts[function] = -fake().calls(function);
  action();
  for (std::string_view function : used_functions) counts[function] += fake().calls(function);
  return counts;
}

TEST(Pjrt, TheScenarioCallsEveryFunction) {
  Part part("FAIL", "PJRT_Plugin_Attributes:5:");  // for the functions of errors
  for (const auto& [function, count] : calls_of([] { scenario::use_everything(fake().load()); })) {
    EXPECT_GT(count, 0) << function;
  }
}

TEST(Pjrt, GivesANewerPluginLongerArguments) {
  Plugin today = fake().load();
  const Counts plain = calls_of([&] { scenario::use_everything(today); });
  Part part("STRICT_SIZE", "1");
  Plugin newer = fake().load();
  const Counts first = calls_of([&] { scenario::use_everything(newer); });
  const Counts second = calls_of([&] { scenario::use_everything(newer); });
  EXPECT_EQ(second, plain) << "the sizes are remembered";
  for (const auto& [function, count] : plain) {
    if (function.starts_with("PJRT_Error") || function.starts_with("PJRT_Plugin")) continue;
    EXPECT_EQ(first.at(function), count + 1) << function;
  }
  EXPECT_EQ(fake().live(), 0);
}

TEST(Pjrt, GivesANewerPluginTheOneLongerArgument) {
  for (std::string_view function : used_functions) {
    SCOPED_TRACE(function);
    Part part("STRICT_SIZE", std::string(function));
    Plugin newer = fake().load();
    scenario::use_everything(newer);
    EXPECT_EQ(fake().live(), 0);
  }
}

TEST(Pjrt, GivesANewerPluginLongerNestedStructs) {
  std::string all = "PJRT_ExecuteOptions,PJRT_Program";
  for (std::string_view function : used_functions) all += "," + std::string(function);
  for (const std::string& grown :
       {std::string("PJRT_ExecuteOptions"), std::string("PJRT_Program"),
        std::string("PJRT_ExecuteOptions,PJRT_LoadedExecutable_Execute"), all}) {
    SCOPED_TRACE(grown);
    Part part("STRICT_SIZE", grown);
    Plugin newer = fake().load();
    scenario::use_everything(newer);
    scenario::use_topology(newer);

    Client client = Client::create(newer);
    LoadedExecutable program = client.compile(programs::fake_negate);
    scenario::run_program(program);
    long before = fake().calls("PJRT_LoadedExecutable_Execute");
    for (int i = 0; i < 3; i++) scenario::run_program(program);
    EXPECT_EQ(fake().calls("PJRT_LoadedExecutable_Execute"), before + 3) << "remembered";
  }
  EXPECT_EQ(fake().live(), 0);
}

TEST(Pjrt, KeepsTheCodeOfErrorsOfANewerPlugin) {
  Part strict("STRICT_SIZE", "PJRT_Error_GetCode");
  Part fail("FAIL", "PJRT_Client_Create:8:full");
  try {
    Client::create(fake().load());
    ADD_FAILURE();
  } catch (const RuntimeError& error) {
    EXPECT_EQ(error.code(), ErrorCode::resource_exhausted);
  }
  EXPECT_EQ(fake().live(), 0);
}

// A complaint about sizes that cannot be met is the user's to read, not tried for ever.
TEST(Pjrt, PassesOnUnreasonableComplaints) {
  for (const char* size : {"4096", "0", "1", "-5", "99999999999999999999"}) {
    std::string message =
        std::string("Unexpected PJRT_Client_Create_Args size: expected ") + size + " bytes";
    Part fail("FAIL", "PJRT_Client_Create:3:" + message);
    Plugin plugin = fake().load();
    long before = fake().calls("PJRT_Client_Create");
    EXPECT_EQ(error_of<RuntimeError>([&] { Client::create(plugin); }),
              "PJRT_Client_Create: " + message + " [INVALID_ARGUMENT]");
    EXPECT_EQ(fake().calls("PJRT_Client_Create"), before + 1);
  }
}

TEST(Pjrt, ReadsWhatAnOlderPluginDoesNotWriteAsZero) {
  Client today = Client::create(fake().load());
  MemoryStats complete = today.compile(programs::fake_negate).memory_stats();
  Part part("OLD_STRUCTS", "1");
  Plugin older = fake().load();
  scenario::use_everything(older);
  MemoryStats known = Client::create(older).compile(programs::fake_negate).memory_stats();
  EXPECT_EQ(known.peak, 0);
  EXPECT_EQ(complete.peak, 2 * 24 - 8 + 64);
  EXPECT_EQ(known.arguments, 24);
  EXPECT_EQ(known.outputs, 24);
  EXPECT_EQ(known.aliased, 8);
  EXPECT_EQ(known.temporary, complete.temporary);
  EXPECT_EQ(known.code, complete.code);
}

// ------------------------------------------------------------------------ errors from each call

// Calls whose failure nobody is told of: there is another way, or nobody to tell.
bool is_silent(std::string_view function) {
  return is_destructor(function) || function == "PJRT_Error_Message";
}

struct Outcome {
  std::string call, detail;
  ErrorCode code = ErrorCode::ok;
};

Outcome outcome_of(const Plugin& plugin) {
  try {
    scenario::use_everything(plugin);
    return {};
  } catch (const RuntimeError& error) {
    return {error.call(), error.detail(), error.code()};
  }
}

// Each single call of the scenario fails once: the first, the second, ... of every function. The
// exception names it, and nothing that was made before or after it is left.
TEST(Pjrt, TellsOfEveryCallThatFails) {
  Plugin plugin = fake().load();
  const Counts counts = calls_of([&] { scenario::use_everything(plugin); });
  int failures = 0;
  for (const auto& [function, count] : counts) {
    if (is_silent(function) || function.starts_with("PJRT_Plugin")) continue;
    for (long n = 1; n <= count; n++) {
      int code = 1 + failures % 16;
      if (code == 12) code = 2;  // "unimplemented" has a meaning of its own
      failures++;
      std::string which = std::string(function) + "@" + std::to_string(fake().calls(function) + n);
      SCOPED_TRACE(which + " of " + std::to_string(count));
      Part part("FAIL", which + ":" + std::to_string(code) + ":as asked: " + which);
      Outcome outcome = outcome_of(plugin);
      // A program may be kept secret when it is compiled, but not when it is asked for.
      if (function != "PJRT_Executable_OptimizedProgram" || outcome.code != ErrorCode::ok) {
        EXPECT_EQ(outcome.call, function);
        EXPECT_EQ(outcome.code, static_cast<ErrorCode>(code));
        EXPECT_EQ(outcome.detail, "as asked: " + which);
      }
      ASSERT_EQ(fake().live(), 0);
    }
  }
  EXPECT_GT(failures, 200);
}

TEST(Pjrt, KeepsEveryCode) {
  Plugin plugin = fake().load();
  for (int code = 1; code <= 16; code++) {
    Part part("FAIL", "PJRT_Client_Create:" + std::to_string(code) + ":why, and how");
    Outcome outcome = outcome_of(plugin);
    EXPECT_EQ(outcome.code, static_cast<ErrorCode>(code));
    EXPECT_EQ(outcome.detail, "why");  // a comma ends the setting
  }
}

TEST(Pjrt, AnswersEmptyToWhatIsNotImplemented) {
  Client client = Client::create(fake().load());
  LoadedExecutable program = client.compile(programs::fake_negate);
  Part part("FAIL",
            "PJRT_Executable_Fingerprint:12,PJRT_Executable_GetCostAnalysis:12,"
            "PJRT_Device_MemoryStats:12,PJRT_Executable_GetCompiledMemoryStats:12");
  EXPECT_EQ(program.fingerprint(), "");
  EXPECT_TRUE(program.cost_analysis().empty());
  EXPECT_FALSE(client.device().memory_use());
  ProgramReport report = program.report();
  EXPECT_EQ(report.argument_bytes, 0);
  EXPECT_EQ(report.code_bytes, program.code_bytes());
  EXPECT_THROW(program.memory_stats(), RuntimeError);
}

TEST(Pjrt, TellsOfAnErrorWhoseCodeCannotBeAsked) {
  Part part("FAIL", "PJRT_Client_Create:5:gone,PJRT_Error_GetCode");
  Outcome outcome;
  try {
    Client::create(fake().load());
  } catch (const RuntimeError& error) {
    outcome = {error.call(), error.detail(), error.code()};
  }
  EXPECT_EQ(outcome.call, "PJRT_Client_Create");
  EXPECT_EQ(outcome.detail, "gone");
  EXPECT_EQ(outcome.code, ErrorCode::unknown);
  EXPECT_EQ(fake().live(), 0);
}

TEST(Pjrt, DestructorsSurviveFailures) {
  static const FakePlugin& of_leaks = *new FakePlugin;  // what cannot be destroyed stays
  Plugin plugin = of_leaks.load();
  std::string all;
  for (std::string_view function : used_functions) {
    if (is_destructor(function)) all += (all.empty() ? "" : ",") + std::string(function);
  }
  Part part("FAIL", all);
  EXPECT_NO_THROW(scenario::use_everything(plugin));
  EXPECT_EQ(of_leaks.live("error"), 0) << "the errors themselves are destroyed";
  EXPECT_GT(of_leaks.live("buffer"), 0);
}

TEST(Pjrt, ShowsTheLineThatDoesNotParse) {
  Client client = Client::create(fake().load());
  Topology topology = Topology::create(client.plugin(), "v5e:1x1");
  const std::string program = "module @m {\n  first line\n  fake.syntax_error here\n}";
  for (const std::string& message : {error_of<RuntimeError>([&] { client.compile(program); }),
                                     error_of<RuntimeError>([&] { topology.compile(program); })}) {
    EXPECT_THAT(message, HasSubstr("-:3:3: error: Dialect `fake' not found"));
    EXPECT_THAT(message, HasSubstr("\n  line 3 of the program:   fake.syntax_error here"));
  }
}

// --------------------------------------------------------------------------------------- events

template <class Action>
void expect_event_failure(const char* what, Action&& action) {
  SCOPED_TRACE(what);
  try {
    action();
    ADD_FAILURE() << "no exception";
  } catch (const RuntimeError& error) {
    EXPECT_EQ(error.code(), ErrorCode::data_loss);
    EXPECT_EQ(error.detail(), "lost");
    EXPECT_EQ(error.call(), "PJRT_Event_Await");
  }
}

// The error of what fails later comes out wherever one waits for it, and of what is made from it.
TEST(Pjrt, FailedWorkIsToldToWhoeverWaits) {
  for (const char* delay : {"0", "5"}) {
    Client client = Client::create(fake().load());
    LoadedExecutable program = client.compile(programs::fake_negate);
    LoadedExecutable both = client.compile(programs::fake_negate, {.partitions = 2});
    Buffer good = scenario::matrix(client.device());
    Buffer two = Buffer::from_host<float>(client.device(), std::vector<float>{1, 2}, {2});
    Part late("EVENT_DELAY_MS", delay);
    const auto fails = [](const char* call) {
      return std::make_unique<Part>("EVENT_FAIL", std::string(call) + ":15:lost");
    };
    std::vector<Buffer> bad;
    {
      auto part = fails("PJRT_Client_BufferFromHostBuffer");
      bad.push_back(scenario::matrix(client.device()));
    }
    {
      auto part = fails("PJRT_Buffer_CopyToDevice");
      bad.push_back(good.copy_to(client.device(1)));
    }
    {
      auto part = fails("PJRT_Buffer_CopyToMemory");
      bad.push_back(good.copy_to(client.device().default_memory()));
    }
    {
      auto part = fails("PJRT_LoadedExecutable_Execute");
      for (Buffer& result : program.run({&good, &two})) bad.push_back(std::move(result));
    }
    bad.push_back(std::move(program.run({&bad[0], &two})[0]));  // what failed goes in
    bad.push_back(bad[0].copy_to(client.device(1)));
    for (const Buffer& buffer : bad) {
      expect_event_failure("await", [&] { buffer.await(); });
      expect_event_failure("to_vector", [&] { buffer.to_vector<float>(); });
      expect_event_failure("host_view", [&] { buffer.host_view(); });
      std::promise<std::exception_ptr> told;
      buffer.ready_event().on_ready([&told](std::exception_ptr e) { told.set_value(e); });
      std::exception_ptr failure = told.get_future().get();
      ASSERT_NE(failure, nullptr);
      EXPECT_EQ(error_of<RuntimeError>([&] { std::rethrow_exception(failure); }),
                "PJRT_Event_OnReady: lost [DATA_LOSS]");
    }
    auto part = fails("PJRT_Buffer_ToHostBuffer");
    Future<std::vector<float>> future = good.to_vector_async<float>();
    expect_event_failure("get", [&] { future.get(); });
    expect_event_failure("get again", [&] { future.get(); });
    good.to_vector_async<float>();  // nobody asks
    auto launch_fails = fails("PJRT_LoadedExecutable_Execute");
    expect_event_failure("launch", [&] { scenario::launch_program(both); });
  }
  EXPECT_EQ(fake().live(), 0);
}

TEST(Pjrt, WorkThatIsUnderWayIsWaitedFor) {
  using Clock = std::chrono::steady_clock;
  constexpr auto delay = std::chrono::milliseconds(40);
  Client client = Client::create(fake().load());
  Buffer buffer = scenario::matrix(client.device());
  {
    Part part("EVENT_DELAY_MS", std::to_string(delay.count()));
    auto start = Clock::now();
    Future<std::vector<float>> future = buffer.to_vector_async<float>();
    EXPECT_FALSE(future.ready());
    EXPECT_EQ(future.get(), (std::vector<float>{1, 2, 3, 4}));
    EXPECT_GE(Clock::now() - start, delay);
    EXPECT_THAT(error_of([&] { future.get(); }), HasSubstr("handed over before"));

    start = Clock::now();
    buffer.to_vector_async<float>();  // is still being written to when it goes
    EXPECT_GE(Clock::now() - start, delay);

    start = Clock::now();
    Buffer copy = buffer.copy_to(client.device(1));
    Event event = copy.ready_event();
    EXPECT_FALSE(event.ready());
    std::promise<Clock::time_point> called;
    event.on_ready([&called](std::exception_ptr failure) {
      EXPECT_EQ(failure, nullptr);
      called.set_value(Clock::now());
    });
    EXPECT_GE(called.get_future().get() - start, delay);
    EXPECT_TRUE(event.ready());

    // A chain of results that are not there yet.
    LoadedExecutable program = client.compile(programs::fake_negate);
    Buffer two = Buffer::from_host<float>(client.device(), std::vector<float>{1, 2}, {2});
    std::vector<Buffer> once = program.run({&buffer, &two});
    std::vector<Buffer> twice = program.run({&once[0], &once[1]});
    EXPECT_FALSE(twice[0].ready_event().ready());
    EXPECT_EQ(twice[0].host_view().as<float>()[2], 3);
    EXPECT_EQ(twice[1].to_vector<float>(), (std::vector<float>{1, 2}));
  }
}

TEST(Pjrt, AnEventOutlivesItsBuffer) {
  Part part("EVENT_DELAY_MS", "20");
  std::promise<void> called;
  Event event;
  {
    Client client = Client::create(fake().load());
    event = scenario::matrix(client.device()).ready_event();
    event.on_ready([&called](std::exception_ptr) { called.set_value(); });
  }
  event.await();
  called.get_future().wait();
  EXPECT_TRUE(event.ready());
  event = Event();
  for (int i = 0; i < 1000 && fake().live() > 0; i++) {  // the callback's own hold on the event
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  EXPECT_EQ(fake().live(), 0);
}

}  // namespace
}  // namespace sturnus
