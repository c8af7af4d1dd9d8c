#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sturnus/runtime/error.h>
#include <sturnus/runtime/host_callback.h>
#include <sturnus/runtime/log.h>
#include <sturnus/runtime/plugin.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <set>
#include <thread>

#include "src/runtime/pjrt.h"
#include "tests/runtime/fake.h"

namespace sturnus {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;

std::string refusal(const fs::path& file) {
  return error_of<PluginError>([&] { Plugin::load(file); });
}

// ------------------------------------------------------------------------------ a good plugin

TEST(Plugin, SaysWhatItIs) {
  fs::path file = fake().fresh_file();
  Plugin plugin = Plugin::load(file);
  EXPECT_EQ(plugin.path(), file);
  EXPECT_EQ(plugin.api_version(), Plugin::header_version());
  EXPECT_EQ(plugin.stablehlo_version(), "1.13.3");
  EXPECT_EQ(plugin.attributes().at("xla_version"), NamedValue(std::int64_t{2}));
  EXPECT_EQ(plugin.attributes().size(), 3u);
  scenario::use_everything(plugin);
  EXPECT_EQ(fake().live(), 0);
}

TEST(Plugin, IsLoadedOnce) {
  fs::path file = fake().fresh_file();
  long before = fake().calls("PJRT_Plugin_Initialize");
  Plugin first = Plugin::load(file);
  fs::path link = file.parent_path() / "link.so";
  fs::create_symlink(file.filename(), link);
  for (const fs::path& same :
       {file, link, file.parent_path() / "." / file.filename(), fs::relative(file)}) {
    EXPECT_EQ(&Plugin::load(same).api(), &first.api()) << same;
    EXPECT_EQ(&Plugin::find(same.string()).api(), &first.api()) << same;
  }
  EXPECT_EQ(fake().calls("PJRT_Plugin_Initialize"), before + 1);
}

TEST(Plugin, IsLoadedOnceByThreads) {
  fs::path file = fake().fresh_file();
  long before = fake().calls("PJRT_Plugin_Initialize");
  std::vector<const internal::Api*> loaded(8);
  {
    std::vector<std::jthread> threads;
    for (const internal::Api*& api : loaded) {
      threads.emplace_back([&api, &file] { api = &Plugin::load(file).api(); });
    }
  }
  EXPECT_EQ(std::set(loaded.begin(), loaded.end()).size(), 1u);
  EXPECT_EQ(fake().calls("PJRT_Plugin_Initialize"), before + 1);
}

TEST(Plugin, PrintsNothing) {
  testing::internal::CaptureStderr();
  testing::internal::CaptureStdout();
  scenario::use_everything(fake().load());
  EXPECT_THROW(Plugin::load("/nowhere/plugin.so"), PluginError);
  {
    Part missing("MISSING", "PJRT_Client_Create");
    EXPECT_THROW(Client::create(fake().load()), RuntimeError);
  }
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "");
}

TEST(Plugin, IsToldToKeepQuietUnlessTheUserSaysOtherwise) {
  Variable unset("TF_CPP_MIN_LOG_LEVEL", std::nullopt);
  fake().load();
  EXPECT_STREQ(std::getenv("TF_CPP_MIN_LOG_LEVEL"), "3");
  Variable chosen("TF_CPP_MIN_LOG_LEVEL", "0");
  fake().load();
  EXPECT_STREQ(std::getenv("TF_CPP_MIN_LOG_LEVEL"), "0");
}

TEST(Plugin, WithoutForeignFunctionsCannotCallTheHost) {
  Plugin plugin = fake().load();
  EXPECT_EQ(plugin.no_host_callbacks(), "it has no foreign function interface");
  EXPECT_EQ(error_of<Error>([&] { internal::check_host_callbacks(Client::create(plugin)); }),
            "host callback: programs of the plugin " + plugin.path().string() +
                " cannot call functions of the host: it has no foreign function interface. Run the "
                "function on the CPU, or without debug_print");
}

// --------------------------------------------------------------------------------- versions

TEST(Plugin, MayBeOlderOrNewer) {
  for (int minor : {0, 40, 80, 81, 82, 116, 1000}) {
    Part part("MINOR", std::to_string(minor));
    Plugin plugin = fake().load();
    EXPECT_EQ(plugin.api_version(), (ApiVersion{0, minor}));
    scenario::use_everything(plugin);
  }
}

TEST(Plugin, OfAnotherMajorVersionIsRefused) {
  for (int major : {1, 2, -1}) {
    Part part("MAJOR", std::to_string(major));
    fs::path file = fake().fresh_file();
    long before = fake().calls("PJRT_Plugin_Initialize");
    EXPECT_EQ(refusal(file), "Plugin::load: " + file.string() + " speaks PJRT API " +
                                 std::to_string(major) +
                                 ".81, Sturnus speaks 0.81, and the first numbers must be equal. "
                                 "Use another plugin");
    EXPECT_EQ(fake().calls("PJRT_Plugin_Initialize"), before) << "called before it is understood";
  }
}

TEST(Plugin, WithoutATableIsRefused) {
  Part part("NULL_API", "1");
  EXPECT_THAT(refusal(fake().fresh_file()), HasSubstr("GetPjrtApi returned null"));
}

// A table that ends before a function, or within it, does not have it. Functions behind the end
// abort when called.
TEST(Plugin, MayHaveAShorterTable) {
  static const FakePlugin& plugin = *new FakePlugin;  // some of its handles
  static auto& kept = *new std::vector<Client>;       // cannot be destroyed
  std::size_t first = offsetof(PJRT_Api, PJRT_Error_Destroy);
  std::size_t complete = sizeof(PJRT_Api);
  for (std::size_t size = 8; size <= complete + 16; size += 4) {
    SCOPED_TRACE(size);
    Part part("API_SIZE", std::to_string(size));
    if (size < offsetof(PJRT_Api, PJRT_Plugin_Initialize)) {
      EXPECT_THAT(refusal(plugin.fresh_file()),
                  AllOf(HasSubstr("has an incomplete PJRT API: "),
                        HasSubstr(size < first ? std::to_string(size) + " bytes" : "functions")));
      continue;
    }
    Plugin loaded = plugin.load();
    int failed = 0;
    auto attempt = [&failed](auto&& part) {
      try {
        part();
      } catch (const RuntimeError& error) {
        failed++;
        EXPECT_EQ(error.code(), ErrorCode::unimplemented) << error.what();
        EXPECT_NE(std::find(std::begin(used_functions), std::end(used_functions), error.call()),
                  std::end(used_functions))
            << error.what();
      }
    };
    attempt([&] { scenario::use_topology(loaded); });
    attempt([&] { kept.push_back(Client::create(loaded)); });
    if (failed < 2) {
      for (auto part : scenario::client_parts) attempt([&] { part(kept.back()); });
    }
    // The last function that the runtime cannot do without.
    std::size_t needed = offsetof(PJRT_Api, PJRT_Executable_GetCompiledMemoryStats) + 8;
    EXPECT_EQ(failed > 0, size < needed);
  }
}

// ------------------------------------------------------------------------- missing functions

// What the runtime can do without: the answer is empty, or nothing is said.
const std::set<std::string_view> dispensable = {"PJRT_Plugin_Initialize",
                                                "PJRT_Plugin_Attributes",
                                                "PJRT_DeviceDescription_Attributes",
                                                "PJRT_Device_MemoryStats",
                                                "PJRT_Executable_Fingerprint",
                                                "PJRT_Executable_GetCostAnalysis",
                                                "PJRT_Buffer_GetMemoryLayout"};

TEST(Plugin, MayLackAnyFunction) {
  for (std::string_view function : used_functions) {
    SCOPED_TRACE(function);
    std::string missing(function);
    // Nobody can destroy a client whose buffers cannot be destroyed.
    if (is_destructor(function)) missing += ",PJRT_Client_Destroy";
    Part part("MISSING", missing);
    if (function.starts_with("PJRT_Error_")) {
      EXPECT_THAT(refusal(fake().fresh_file()), HasSubstr("error functions are missing"));
      continue;
    }
    static const FakePlugin& of_leaks = *new FakePlugin;
    Plugin plugin = (is_destructor(function) ? of_leaks : fake()).load();
    if (dispensable.contains(function) || is_destructor(function)) {
      EXPECT_NO_THROW(scenario::use_everything(plugin));
    } else {
      try {
        scenario::use_everything(plugin);
        ADD_FAILURE() << "no exception";
      } catch (const RuntimeError& error) {
        EXPECT_EQ(error.call(), function);
        EXPECT_EQ(error.code(), ErrorCode::unimplemented);
        EXPECT_EQ(error.detail(), "the plugin " + plugin.path().string() +
                                      " (PJRT API 0.81) does not have this function; Sturnus was "
                                      "built for 0.81. Use a newer plugin");
      }
    }
    EXPECT_EQ(fake().live(), 0);
  }
}

TEST(Plugin, AnswersEmptyWhereAFunctionCanBeSpared) {
  std::string missing;
  for (std::string_view function : dispensable) missing += std::string(function) + ",";
  Part part("MISSING", missing);
  Plugin plugin = fake().load();
  EXPECT_EQ(plugin.stablehlo_version(), "");
  EXPECT_TRUE(plugin.attributes().empty());
  Client client = Client::create(plugin);
  EXPECT_TRUE(client.device().description().attributes.empty());
  EXPECT_EQ(client.device().description().kind, "Fake device");
  EXPECT_FALSE(client.device().memory_use());
  LoadedExecutable program = client.compile(programs::fake_negate);
  EXPECT_EQ(program.fingerprint(), "");
  EXPECT_TRUE(program.cost_analysis().empty());
  EXPECT_EQ(scenario::matrix(client.device()).host_view().as<float>()[3], 4);
}

// --------------------------------------------------------------- initialisation, attributes

TEST(Plugin, ThatFailsToInitialiseIsRefusedAndTriedAgain) {
  fs::path file = fake().fresh_file();
  {
    Part part("FAIL", "PJRT_Plugin_Initialize:14:no licence");
    for (int i = 0; i < 2; i++) {
      EXPECT_EQ(refusal(file),
                "Plugin::load: " + file.string() +
                    " failed to initialise: PJRT_Plugin_Initialize: no licence [UNAVAILABLE]");
    }
  }
  EXPECT_EQ(fake().live(), 0);
  EXPECT_NO_THROW(scenario::use_everything(Plugin::load(file)));
}

TEST(Plugin, ThatSaysNothingOfItselfIsLoggedAndWorks) {
  std::vector<std::string> said;
  set_log_sink([&said](LogLevel level, std::string_view message) {
    EXPECT_EQ(level, LogLevel::info);
    said.emplace_back(message);
  });
  Part part("FAIL", "PJRT_Plugin_Attributes:12:not written yet");
  Plugin plugin = fake().load();
  set_log_sink({});
  EXPECT_EQ(said,
            std::vector<std::string>{plugin.path().string() +
                                     ": PJRT_Plugin_Attributes: not written yet [UNIMPLEMENTED]"});
  EXPECT_TRUE(plugin.attributes().empty());
  EXPECT_EQ(plugin.stablehlo_version(), "");
  EXPECT_NO_THROW(scenario::use_everything(plugin));
}

TEST(Plugin, MayGiveNullOrOddAttributes) {
  const struct {
    const char* part;
    const char* stablehlo;
    std::size_t plugin, device, cost;
  } rows[] = {{"0", "1.13.3", 3, 2, 2},
              {"1", "", 0, 0, 0},
              {"2", "", 0, 0, 0},
              // two nameless ones become one; their values are no numbers
              {"3", "1.13.3", 3, 3, 0}};
  for (const auto& row : rows) {
    SCOPED_TRACE(row.part);
    Part part("NULL_ATTRIBUTES", row.part);
    Plugin plugin = fake().load();
    EXPECT_EQ(plugin.stablehlo_version(), row.stablehlo);
    EXPECT_EQ(plugin.attributes().size(), row.plugin);
    Client client = Client::create(plugin);
    EXPECT_EQ(client.device().description().attributes.size(), row.device);
    EXPECT_EQ(client.compile(programs::fake_negate).cost_analysis().size(), row.cost);
    scenario::use_everything(plugin);
  }
}

// -------------------------------------------------------------------------- not a plugin at all

std::string math_library() {
  Dl_info info{};
  void* library = dlopen("libm.so.6", RTLD_NOW);
  EXPECT_NE(dladdr(dlsym(library, "cos"), &info), 0);
  return info.dli_fname;
}

TEST(Plugin, IsRefusedWhenItIsNone) {
  TemporaryFolder folder;
  const auto write = [&folder](const char* name, const std::string& contents) {
    std::ofstream(folder.path() / name) << contents;
    return folder.path() / name;
  };
  std::string library;
  {
    std::ifstream stream(std::getenv("STURNUS_FAKE_PLUGIN"), std::ios::binary);
    library.assign(std::istreambuf_iterator<char>(stream), {});
  }
  const std::pair<fs::path, const char*> rows[] = {
      {folder.path() / "missing.so", "does not exist. `sturnus plugins` lists"},
      {"", "does not exist"},
      {folder.path(), "is not a shared library that loads here: "},
      {write("empty.so", ""), "is not a shared library that loads here: "},
      {write("text.so", "not a library\n"), "is not a shared library that loads here: "},
      {write("header.so", library.substr(0, 30)), "is not a shared library that loads here: "},
      {write("start.so", library.substr(0, 100)), "is incomplete: the end of the file is missing"},
      {write("page.so", library.substr(0, 4096)), "is incomplete: the end of the file is missing"},
      {write("part.so", library.substr(0, library.size() / 16)), "is incomplete: "},
      {"/dev/null", "is not a shared library that loads here: "},
      {math_library(), "is a shared library but not a PJRT plugin: it has no function GetPjrtApi"},
  };
  for (const auto& [file, why] : rows) {
    EXPECT_THAT(refusal(file), AllOf(HasSubstr("Plugin::load: "), HasSubstr(why))) << file;
  }
  // Once the file is there, it is loaded.
  fs::copy_file(std::getenv("STURNUS_FAKE_PLUGIN"), folder.path() / "missing.so");
  EXPECT_EQ(Client::create((folder.path() / "missing.so").string()).platform_name(), "fake");
}

}  // namespace
}  // namespace sturnus
