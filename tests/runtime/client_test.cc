#include <gtest/gtest.h>
#include <sturnus/runtime/client.h>
#include <sturnus/runtime/error.h>

#include <algorithm>
#include <atomic>
#include <fstream>
#include <optional>
#include <thread>
#include <vector>

#include "tests/runtime/cpu.h"

namespace sturnus {
namespace {

TEST(Client, KnowsItsPlugin) {
  EXPECT_EQ(cpu().platform_name(), "cpu");
  EXPECT_FALSE(cpu().platform_version().empty());
  EXPECT_EQ(cpu().process_index(), 0);
  EXPECT_EQ(cpu().plugin().path().filename(), "xla_cpu_pjrt.so");
  EXPECT_EQ(cpu().plugin().api_version().major, Plugin::header_version().major);
}

TEST(Client, ListsItsDevices) {
  std::vector<Device> devices = cpu().devices();
  ASSERT_EQ(devices.size(), 4u);
  EXPECT_EQ(devices, cpu().addressable_devices());
  for (int i = 0; i < 4; i++) {
    const Device& device = devices[static_cast<std::size_t>(i)];
    EXPECT_EQ(device, cpu().device(i));
    EXPECT_EQ(device.id(), i);
    EXPECT_EQ(device.kind(), "cpu");
    EXPECT_TRUE(device.addressable());
    EXPECT_EQ(device.local_hardware_id(), i);
    DeviceDescription description = device.description();
    EXPECT_EQ(description.id, i);
    EXPECT_EQ(description.process_index, 0);
    EXPECT_EQ(description.kind, "cpu");
    EXPECT_EQ(description.text, "CpuDevice(id=" + std::to_string(i) + ")");
    EXPECT_FALSE(device.memory_use().has_value()) << "this plugin keeps no statistics";
  }
  EXPECT_NE(devices[0], devices[1]);
}

TEST(Client, ListsItsMemories) {
  std::vector<int> of_devices;
  for (const Device& device : cpu().devices()) {
    std::vector<std::string> kinds;
    for (const Memory& memory : device.memories()) {
      of_devices.push_back(memory.id());
      kinds.push_back(memory.kind());
      EXPECT_FALSE(memory.str().empty());
    }
    EXPECT_EQ(kinds, (std::vector<std::string>{"device", "pinned_host", "unpinned_host"}));
    EXPECT_EQ(device.default_memory().kind(), "device");
    EXPECT_EQ(device.default_memory().id(), device.memories()[0].id());
  }
  std::vector<int> of_client;
  for (const Memory& memory : cpu().memories()) of_client.push_back(memory.id());
  std::sort(of_client.begin(), of_client.end());
  std::sort(of_devices.begin(), of_devices.end());
  EXPECT_EQ(of_client, of_devices);
  EXPECT_EQ(std::unique(of_client.begin(), of_client.end()), of_client.end());
}

TEST(Client, RefusesADeviceThatIsNotThere) {
  for (int index : {-1, 4, 1000000}) {
    EXPECT_EQ(error_of([&] { cpu().device(index); }),
              "Client::device: there is no device " + std::to_string(index) +
                  "; cpu has 4, counted from 0. `sturnus devices` lists them");
  }
}

TEST(Client, MakesOneDeviceOfTheCpuOrAsManyAsAreAskedFor) {
  EXPECT_EQ(Client::create("cpu").devices().size(), 1u);
  for (int count : {1, 2, 8}) {
    Client client = Client::cpu(count);
    ASSERT_EQ(client.devices().size(), static_cast<std::size_t>(count));
    Buffer last = vector_of({1, 2}, client.device(count - 1));
    EXPECT_EQ(last.to_vector<float>(), (std::vector<float>{1, 2}));
  }
}

TEST(Client, IsMadeOfAPluginOrOfItsFile) {
  Client of_plugin = Client::create(cpu().plugin());
  Client of_file = Client::create(cpu().plugin().path().string());
  EXPECT_EQ(of_plugin.platform_name(), "cpu");
  EXPECT_EQ(&of_file.plugin().api(), &cpu().plugin().api()) << "the same file is opened once";
}

TEST(Client, LivesAsLongAsWhatWasMadeFromIt) {
  std::optional<Device> device;
  std::optional<Memory> memory;
  std::optional<LoadedExecutable> program;
  std::vector<Buffer> result;
  {
    Client client = Client::cpu(4);
    device = client.device(2);
    memory = client.device(1).default_memory();
    program = client.compile(programs::twice);
    Buffer a = vector_of({1, 2, 3, 4}, client.device());
    result = program->run({&a});
  }
  EXPECT_EQ(device->id(), 2);
  EXPECT_EQ(memory->kind(), "device");
  EXPECT_EQ(result[0].to_vector<float>(), (std::vector<float>{2, 4, 6, 8}));
  EXPECT_EQ(program->run({&result[0]})[0].to_vector<float>(), (std::vector<float>{4, 8, 12, 16}));
}

TEST(Client, PrintsNothing) {
  testing::internal::CaptureStderr();
  testing::internal::CaptureStdout();
  {
    Client client = Client::create("cpu");
    Buffer a = vector_of({1, 2, 3, 4}, client.device());
    LoadedExecutable program = client.compile(programs::twice);
    program.run({&a})[0].await();
    client.load(program.serialize()).run({&a})[0].await();
    EXPECT_THROW(client.compile("not a program"), RuntimeError);
    EXPECT_THROW(client.load("not a program"), RuntimeError);
    EXPECT_THROW(client.load(""), RuntimeError);
    // Sanitizers themselves print that there is no memory.
    if (!sanitized) {
      EXPECT_THROW(failing_result().await(), RuntimeError);
    }
  }
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "");
}

// ---------------------------------------------------------------------------------------- threads

// f32[n], f32[] -> f32[n]: a * s + 1, another program for every n.
std::string scaled(int n) {
  std::string type = "tensor<" + std::to_string(n) + "xf32>";
  return "module @scaled { func.func public @main(%a: " + type + ", %s: tensor<f32>) -> " + type +
         " {\n  %0 = stablehlo.broadcast_in_dim %s, dims = [] : (tensor<f32>) -> " + type +
         "\n  %1 = stablehlo.multiply %a, %0 : " + type +
         "\n  %2 = stablehlo.constant dense<1.0> : " + type +
         "\n  %3 = stablehlo.add %1, %2 : " + type + "\n  return %3 : " + type + "\n} }";
}

void compile_and_run(const Client& client, int n, int times) {
  LoadedExecutable program = client.compile(scaled(n));
  std::vector<float> values(static_cast<std::size_t>(n));
  for (int i = 0; i < times; i++) {
    for (std::size_t k = 0; k < values.size(); k++) values[k] = static_cast<float>(k) + 0.5f * i;
    Buffer a = vector_of(values, client.device());
    Buffer s = Buffer::scalar(client.device(), static_cast<float>(i));
    std::vector<float> result = program.run({&a, &s})[0].to_vector<float>();
    for (std::size_t k = 0; k < values.size(); k++) {
      ASSERT_EQ(result[k], values[k] * static_cast<float>(i) + 1) << n << " " << i << " " << k;
    }
  }
}

TEST(Client, IsSharedByThreads) {
  constexpr int threads = 8;
  LoadedExecutable twice = cpu().compile(programs::twice);
  Buffer shared = vector_of({1, 2, 3, 4});
  std::atomic<int> ready = 0;
  std::vector<std::jthread> workers;
  for (int t = 0; t < threads; t++) {
    workers.emplace_back([&, t] {
      ready++;
      while (ready < threads) std::this_thread::yield();  // all at once
      compile_and_run(cpu(), 10 + t, 50);
      for (int i = 0; i < 50; i++) {  // one program and one argument for all
        std::vector<Buffer> result = twice.run({&shared});
        ASSERT_EQ(result[0].to_vector<float>(), (std::vector<float>{2, 4, 6, 8}));
        ASSERT_EQ(shared.copy_to(cpu().device(t % 4)).to_vector<float>()[3], 4);
        ASSERT_EQ(shared.host_view().as<float>()[1], 2);
      }
    });
  }
}

TEST(Client, IsMadeAndDestroyedByThreads) {
  std::vector<std::jthread> workers;
  for (int t = 0; t < 4; t++) {
    workers.emplace_back([t] {
      for (int i = 0; i < 3; i++) compile_and_run(Client::create("cpu"), 5 + t, 3);
    });
  }
}

// ------------------------------------------------------------------------------------------ leaks

std::size_t resident_bytes() {
  std::size_t total = 0, resident = 0;
  std::ifstream("/proc/self/statm") >> total >> resident;
  return resident * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

struct Cycle {
  const char* name;
  int times;
  std::size_t bytes;  // that each would leak at the least, were something forgotten
  void (*once)();
};

const Cycle cycles[] = {
    {"transfer", 2000, 16384,
     [] {
       std::vector<float> values(4096);
       Buffer buffer = vector_of(values);
       buffer.to_vector<float>();
       buffer.copy_to(cpu().device(1)).await();
     }},
    {"alias", 2000, 16384,
     [] {
       auto values = std::make_shared<std::vector<float>>(4096);
       auto free = [values] {};
       Buffer::alias_host(cpu().device(), {DType::f32, {4096}}, values->data(), free).await();
     }},
    {"execute", 4000, 1024,
     [] {
       static const LoadedExecutable program = cpu().compile(scaled(256));
       std::vector<float> values(256);
       Buffer a = vector_of(values);
       Buffer s = Buffer::scalar(cpu().device(), 1.0f);
       program.run({&a, &s})[0].to_vector<float>();
     }},
    {"compile", 30, 65536,
     [] {
       LoadedExecutable program = cpu().compile(programs::twice);
       Buffer a = vector_of({1, 2, 3, 4});
       program.run({&a})[0].await();
       program.cost_analysis();
       program.memory_stats();
     }},
    {"compile a constant", 120, 32768,
     [] {
       cpu().compile(R"(module @seven { func.func public @main() -> tensor<f32> {
         %0 = stablehlo.constant dense<7.0> : tensor<f32>
         return %0 : tensor<f32>
       } })");
     }},
    {"load", 300, 16384,
     [] {
       static const std::string bytes = cpu().compile(programs::twice).serialize();
       cpu().load(bytes);
     }},
    {"fail", 5000, 256,
     [] {
       Buffer a = vector_of({1});
       EXPECT_THROW(cpu().load("not a program"), RuntimeError);
       EXPECT_THROW(compiled(programs::twice).run({&a}), Error);
       a.release();
       EXPECT_THROW(a.await(), Error);
     }},
};

// After a warm-up the resident memory grows by less than a quarter of what a leak would take.
TEST(Client, DoesNotLeak) {
  for (const Cycle& cycle : cycles) {
    int times = sanitized ? cycle.times / 10 : cycle.times;
    for (int i = 0; i < times / 3; i++) cycle.once();
    std::size_t before = resident_bytes();
    for (int i = 0; i < times; i++) cycle.once();
    std::size_t after = resident_bytes();
    if (sanitized) continue;  // freed memory is kept in quarantine; leaks are the sanitizer's
    std::size_t growth = after > before ? after - before : 0;
    EXPECT_LT(growth, static_cast<std::size_t>(times) * cycle.bytes / 4) << cycle.name;
  }
}

}  // namespace
}  // namespace sturnus
