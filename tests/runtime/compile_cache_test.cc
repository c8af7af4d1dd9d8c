#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sturnus/runtime/compile_cache.h>
#include <sturnus/runtime/log.h>
#include <sys/resource.h>

#include <csignal>
#include <cstring>
#include <fstream>
#include <iostream>
#include <mutex>
#include <sstream>
#include <thread>

#include "tests/runtime/cpu.h"

namespace sturnus {
namespace {

namespace fs = std::filesystem;

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

std::string read(const fs::path& file) {
  std::ifstream stream(file, std::ios::binary);
  std::ostringstream bytes;
  bytes << stream.rdbuf();
  return bytes.str();
}

void write(const fs::path& file, std::string_view bytes) {
  std::ofstream(file, std::ios::binary) << bytes;
}

std::vector<fs::path> files_in(const fs::path& folder) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(folder)) files.push_back(entry.path());
  return files;
}

// -------------------------------------------------------------------------------- the cache alone

class Cache : public testing::Test {
 protected:
  std::optional<std::string> load(std::string_view key) {
    problem = "";
    return cache.load(key, problem);
  }
  TemporaryFolder folder;
  CompileCache cache{folder.path() / "made" / "when needed"};
  std::string problem;
};

TEST_F(Cache, GivesBackWhatWasStored) {
  const std::string binary("\0\xff\n\r binary \0", 14);
  const std::pair<std::string, std::string> entries[] = {
      {"key", "value"},
      {"", "empty key"},
      {"empty value", ""},
      {binary, binary},
      {std::string(100000, 'k'), std::string(3000000, 'v')}};
  for (const auto& [key, value] : entries) {
    EXPECT_EQ(load(key), std::nullopt);
    EXPECT_EQ(problem, "");
    EXPECT_EQ(cache.store(key, value), "");
  }
  for (const auto& [key, value] : entries) {
    EXPECT_TRUE(load(key) == value);
    EXPECT_EQ(problem, "");
  }
  EXPECT_EQ(files_in(cache.folder()).size(), std::size(entries)) << "drafts are left";
}

TEST_F(Cache, ReplacesAndRemoves) {
  cache.store("key", "old");
  cache.store("key", "new");
  EXPECT_EQ(load("key"), "new");
  cache.remove("key");
  cache.remove("key");
  EXPECT_EQ(load("key"), std::nullopt);
  EXPECT_EQ(problem, "");
  EXPECT_THAT(files_in(cache.folder()), IsEmpty());
}

TEST_F(Cache, NoticesEveryTruncation) {
  cache.store("the key", "the value");
  std::string whole = read(cache.file_of("the key"));
  for (std::size_t size = 0; size < whole.size(); size++) {
    write(cache.file_of("the key"), std::string_view(whole).substr(0, size));
    EXPECT_EQ(load("the key"), std::nullopt) << size;
    EXPECT_EQ(problem,
              "the entry " + cache.file_of("the key").string() + " is damaged and was removed");
    EXPECT_FALSE(fs::exists(cache.file_of("the key")));
  }
  write(cache.file_of("the key"), whole + "more");
  EXPECT_EQ(load("the key"), std::nullopt);
  EXPECT_NE(problem, "");
  write(cache.file_of("the key"), whole);
  EXPECT_EQ(load("the key"), "the value");
}

TEST_F(Cache, NoticesEveryFlippedByte) {
  cache.store("the key", "the value");
  std::string whole = read(cache.file_of("the key"));
  for (std::size_t at = 0; at < whole.size(); at++) {
    for (unsigned bit : {0x01u, 0x80u, 0xffu}) {
      std::string flipped = whole;
      flipped[at] = static_cast<char>(static_cast<unsigned char>(flipped[at]) ^ bit);
      write(cache.file_of("the key"), flipped);
      EXPECT_EQ(load("the key"), std::nullopt) << at;
      EXPECT_THAT(problem, HasSubstr("is damaged and was removed"));
    }
  }
}

TEST_F(Cache, DoesNotTakeAnotherKeysEntry) {
  cache.store("one", "value");
  fs::copy(cache.file_of("one"), cache.file_of("other"));  // as if both had the same hash
  EXPECT_EQ(load("other"), std::nullopt);
  EXPECT_EQ(problem, "");
  cache.store("other", "its own");
  EXPECT_EQ(load("other"), "its own");
  EXPECT_EQ(load("one"), "value");
}

TEST_F(Cache, SurvivesAFolderInPlaceOfAnEntry) {
  fs::create_directories(cache.file_of("key"));
  EXPECT_EQ(load("key"), std::nullopt);
  EXPECT_THAT(problem, HasSubstr("is damaged"));
  EXPECT_EQ(cache.store("key", "value"), "");
  EXPECT_EQ(load("key"), "value");
  fs::remove(cache.file_of("key"));
  fs::create_directories(cache.file_of("key") / "in the way");
  EXPECT_EQ(load("key"), std::nullopt);
  EXPECT_THAT(cache.store("key", "value"),
              StartsWith("cannot write " + cache.file_of("key").string()));
  EXPECT_EQ(files_in(cache.folder()).size(), 1u) << "the draft is left";
}

TEST_F(Cache, SaysWhyItCannotStore) {
  write(folder.path() / "file", "");
  CompileCache below_a_file(folder.path() / "file" / "cache");
  EXPECT_THAT(below_a_file.store("key", "value"),
              AllOf(StartsWith("cannot make the folder " + below_a_file.folder().string()),
                    HasSubstr("Not a directory")));
  EXPECT_EQ(below_a_file.load("key", problem), std::nullopt);
  EXPECT_EQ(problem, "");
  below_a_file.remove("key");
}

TEST_F(Cache, LeavesNothingBehindWhenTheDiskIsFull) {
  cache.store("key", "small");
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  rlimit little{.rlim_cur = 1000, .rlim_max = before.rlim_max};
  auto handler = std::signal(SIGXFSZ, SIG_IGN);
  setrlimit(RLIMIT_FSIZE, &little);  // as good as a disk with 1000 bytes left
  std::string said = cache.store("key", std::string(100000, 'x'));
  setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, handler);
  EXPECT_THAT(said, AllOf(StartsWith("cannot write "), HasSubstr("File too large")));
  EXPECT_EQ(files_in(cache.folder()).size(), 1u) << "the draft is left";
  EXPECT_EQ(load("key"), "small");
}

// ----------------------------------------------------------------------------- concurrent writers

std::string value_of(int writer, int round) {
  return std::to_string(writer) + ":" +
         std::string(static_cast<std::size_t>(1000 + 7 * round), 'x');
}

// Stores and loads the same few keys all the time: a reader sees a whole entry or none. Returns
// the number of anything else.
int contend(const CompileCache& cache, int writer) {
  int wrong = 0;
  for (int round = 0; round < 200; round++) {
    std::string key = "key " + std::to_string(round % 3), problem;
    if (!cache.store(key, value_of(writer, round)).empty()) wrong++;
    auto value = cache.load(key, problem);
    if (!value || !problem.empty()) {
      wrong++;
    } else {
      std::size_t colon = value->find(':');
      if (value->find_first_not_of('x', colon + 1) != value->npos) wrong++;
      if (value->size() < 1001 || (value->size() - colon - 1001) % 7 != 0) wrong++;
    }
  }
  return wrong;
}

TEST_F(Cache, IsSharedByThreads) {
  std::atomic<int> wrong = 0;
  {
    std::vector<std::jthread> writers;
    for (int t = 0; t < 8; t++) writers.emplace_back([&, t] { wrong += contend(cache, t); });
  }
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(files_in(cache.folder()).size(), 3u) << "drafts are left";
}

TEST_F(Cache, IsSharedByProcesses) {
  std::vector<pid_t> writers;
  for (int p = 0; p < 4; p++) {
    writers.push_back(start_self({"--contend", cache.folder().string(), std::to_string(p)}));
  }
  for (pid_t writer : writers) EXPECT_EQ(exit_code(writer), 0);
  EXPECT_EQ(files_in(cache.folder()).size(), 3u) << "drafts are left";
}

// ----------------------------------------------------------------------------- through the client

Client client_with(const fs::path& folder) {
  ClientOptions options;
  options.compile_cache = folder;
  options.create_options = {{"cpu_device_count", std::int64_t{4}}};
  return Client::create("cpu", options);
}

void expect_twice(const LoadedExecutable& program) {
  Buffer a = vector_of({1, 2, 3, 4}, program.devices()[0]);
  EXPECT_EQ(program.run({&a})[0].to_vector<float>(), (std::vector<float>{2, 4, 6, 8}));
}

// "hits misses rejected" of a client that compiles `twice` once, which must come out right.
std::string use_of(const fs::path& folder) {
  Client client = client_with(folder);
  expect_twice(client.compile(programs::twice));
  CacheUse use = client.cache_use();
  return std::to_string(use.hits) + " " + std::to_string(use.misses) + " " +
         std::to_string(use.rejected);
}

class CachedCompile : public testing::Test {
 protected:
  CachedCompile() {
    set_log_sink([this](LogLevel level, std::string_view text) {
      std::lock_guard lock(mutex_);
      warnings.push_back((level == LogLevel::warning ? "warning: " : "info: ") + std::string(text));
    });
  }
  ~CachedCompile() override { set_log_sink({}); }

  // The entry's file, and the key in it, when there is only one.
  fs::path only_file() {
    auto files = files_in(folder.path());
    EXPECT_EQ(files.size(), 1u);
    return files.at(0);
  }
  std::string only_key() {
    std::string bytes = read(only_file());
    std::uint64_t size = 0;
    std::memcpy(&size, bytes.data() + 16, sizeof(size));  // behind the magic and the checksum
    return bytes.substr(24, size);
  }

  TemporaryFolder folder;
  std::vector<std::string> warnings;

 private:
  std::mutex mutex_;
};

TEST_F(CachedCompile, HitsTheSecondTime) {
  Client client = client_with(folder.path());
  LoadedExecutable first = client.compile(programs::twice);
  LoadedExecutable second = client.compile(programs::twice);
  expect_twice(first);
  expect_twice(second);
  EXPECT_GT(first.compile_seconds(), 0);
  EXPECT_EQ(second.compile_seconds(), 0);
  EXPECT_EQ(first.fingerprint(), second.fingerprint());
  EXPECT_EQ(client.cache_use().hits, 1);
  EXPECT_EQ(client.cache_use().misses, 1);
  EXPECT_EQ(client.cache_use().rejected, 0);
  EXPECT_THAT(warnings, IsEmpty());
}

TEST_F(CachedCompile, HitsInAnotherClientAndAnotherProcess) {
  EXPECT_EQ(use_of(folder.path()), "0 1 0");
  EXPECT_EQ(use_of(folder.path()), "1 0 0");
  EXPECT_EQ(exit_code(start_self({"--use", folder.path().string(), "1 0 0"})), 0);
  fs::remove(only_file());
  EXPECT_EQ(exit_code(start_self({"--use", folder.path().string(), "0 1 0"})), 0);
  EXPECT_EQ(use_of(folder.path()), "1 0 0");
  EXPECT_THAT(warnings, IsEmpty());
}

TEST_F(CachedCompile, MissesForAnythingElse) {
  use_of(folder.path());
  Client client = client_with(folder.path());
  client.compile(std::string(programs::twice) + "\n");
  client.compile(programs::twice, {.replicas = 2});
  client.compile(programs::twice, {.portable = true});
  client.compile(programs::twice, {.xla_flags = {{"xla_cpu_enable_fast_math", true}}});
  EXPECT_EQ(client.cache_use().hits, 0);
  EXPECT_EQ(client.cache_use().misses, 4);

  ClientOptions fewer;
  fewer.compile_cache = folder.path();
  fewer.create_options = {{"cpu_device_count", std::int64_t{2}}};
  Client other = Client::create("cpu", fewer);
  other.compile(programs::twice);
  EXPECT_EQ(other.cache_use().hits, 0);

  setenv("XLA_FLAGS", "--xla_cpu_enable_fast_math=false", 1);
  EXPECT_EQ(use_of(folder.path()), "0 1 0");
  unsetenv("XLA_FLAGS");
  EXPECT_EQ(use_of(folder.path()), "1 0 0");
}

TEST_F(CachedCompile, KeepsNoProgramThatDoesNotCompile) {
  Client client = client_with(folder.path());
  for (int i = 0; i < 2; i++) EXPECT_THROW(client.compile("not a program"), RuntimeError);
  EXPECT_THAT(files_in(folder.path()), IsEmpty());
  EXPECT_EQ(client.cache_use().hits, 0);
}

TEST_F(CachedCompile, KeepsProgramsOfManyDevicesAndPortableOnes) {
  for (int i = 0; i < 2; i++) {
    Client client = client_with(folder.path());
    LoadedExecutable on_two = client.compile(programs::twice, {.replicas = 2});
    LoadedExecutable portable = client.compile(programs::twice, {.portable = true});
    EXPECT_EQ(client.cache_use().hits, 2 * i);
    Buffer a = vector_of({1, 2, 3, 4}, client.device(0)),
           b = vector_of({5, 6, 7, 8}, client.device(1));
    std::vector<std::vector<const Buffer*>> lists = {{&a}, {&b}};
    EXPECT_EQ(on_two.launch(lists).results[1][0].to_vector<float>()[0], 10);
    EXPECT_EQ(portable.run({&b}, {.device = client.device(1)})[0].to_vector<float>()[3], 16);
  }
}

TEST_F(CachedCompile, CompilesAgainWhenAnEntryIsDamaged) {
  use_of(folder.path());
  fs::path file = only_file();
  std::string whole = read(file);
  std::string flipped = whole;
  flipped[whole.size() / 2] ^= 1;
  for (const std::string& damaged : {flipped, whole.substr(0, whole.size() / 2), std::string()}) {
    write(file, damaged);
    warnings.clear();
    Client client = client_with(folder.path());
    expect_twice(client.compile(programs::twice));
    EXPECT_EQ(client.cache_use().rejected, 1);
    EXPECT_EQ(client.cache_use().misses, 1);
    std::string why = "the entry " + file.string() + " is damaged and was removed";
    EXPECT_EQ(client.cache_use().last_rejection, why);
    EXPECT_THAT(warnings, ElementsAre("warning: compile cache: " + why + "; compiling again"));
    EXPECT_EQ(use_of(folder.path()), "1 0 0") << "the next run works again";
  }
}

TEST_F(CachedCompile, CompilesAgainWhenThePluginRefusesAnEntry) {
  use_of(folder.path());
  for (const char* garbage : {"not a program", ""}) {
    CompileCache(folder.path()).store(only_key(), garbage);
    warnings.clear();
    Client client = client_with(folder.path());
    expect_twice(client.compile(programs::twice));
    EXPECT_EQ(client.cache_use().rejected, 1);
    EXPECT_EQ(client.cache_use().misses, 1);
    EXPECT_THAT(client.cache_use().last_rejection,
                StartsWith("the plugin refuses to load its own program: "
                           "PJRT_Executable_DeserializeAndLoad: "));
    EXPECT_THAT(warnings, ElementsAre("warning: compile cache: " +
                                      client.cache_use().last_rejection + "; compiling again"));
    EXPECT_EQ(use_of(folder.path()), "1 0 0") << "the next run works again";
  }
}

TEST_F(CachedCompile, WorksWithoutAFolderToWriteTo) {
  write(folder.path() / "file", "");
  fs::path impossible = folder.path() / "file" / "cache";
  EXPECT_EQ(use_of(impossible), "0 1 0");
  EXPECT_THAT(warnings, ElementsAre(StartsWith("warning: compile cache: cannot make the folder " +
                                               impossible.string())));
}

TEST_F(CachedCompile, TakesItsFolderFromTheEnvironment) {
  setenv("STURNUS_COMPILE_CACHE", (folder.path() / "by environment").c_str(), 1);
  EXPECT_EQ(use_of({}), "0 1 0");
  EXPECT_EQ(use_of({}), "1 0 0");
  EXPECT_EQ(use_of(folder.path() / "by option"), "0 1 0") << "the option goes before";
  unsetenv("STURNUS_COMPILE_CACHE");
  EXPECT_EQ(use_of({}), "0 0 0");
}

TEST_F(CachedCompile, IsSharedByThreadsAndProcesses) {
  std::vector<pid_t> processes;
  for (int p = 0; p < 2; p++) {
    processes.push_back(start_self({"--use", folder.path().string(), "any"}));
  }
  Client shared = client_with(folder.path());
  {
    std::vector<std::jthread> workers;
    for (int t = 0; t < 4; t++) {
      workers.emplace_back([&] { expect_twice(shared.compile(programs::twice)); });
      workers.emplace_back([&] { use_of(folder.path()); });
    }
  }
  for (pid_t process : processes) EXPECT_EQ(exit_code(process), 0);
  CacheUse use = shared.cache_use();
  EXPECT_EQ(use.hits + use.misses, 4);
  EXPECT_EQ(use.rejected, 0);
  EXPECT_EQ(use_of(folder.path()), "1 0 0");
  EXPECT_THAT(warnings, IsEmpty());
  only_file();
}

TEST(CpuFeatures, NameTheInstructionSets) {
  std::string features = cpu_features();
  EXPECT_EQ(features, cpu_features());
#if defined(__x86_64__)
  EXPECT_THAT(features, AllOf(HasSubstr("flags"), HasSubstr(" sse2 ")));
#elif defined(__aarch64__)
  EXPECT_THAT(features, AllOf(HasSubstr("Features"), HasSubstr("asimd")));
#endif
}

// The other processes: 0 when all went well.
int use_as_expected(const fs::path& folder, const std::string& expected) {
  std::string use = use_of(folder);
  if (use != expected && expected != "any") {
    std::cerr << "the use was " << use << ", expected " << expected << "\n";
    return 1;
  }
  return testing::UnitTest::GetInstance()->ad_hoc_test_result().Failed() ? 1 : 0;
}

}  // namespace
}  // namespace sturnus

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  if (argc == 4) {
    std::string_view action = argv[1];
    if (action == "--use") return sturnus::use_as_expected(argv[2], argv[3]);
    if (action == "--contend") {
      return sturnus::contend(sturnus::CompileCache(argv[2]), std::atoi(argv[3]));
    }
  }
  return RUN_ALL_TESTS();
}
