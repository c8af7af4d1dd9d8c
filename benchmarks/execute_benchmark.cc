// What a call of a compiled program costs beyond the plugin's own time: the same program on the
// same resident scalar, once through the C API as bare as it gets, once through
// LoadedExecutable::run.
#include <benchmark/benchmark.h>
#include <dlfcn.h>
#include <sturnus/runtime/executable.h>
#include <sturnus/runtime/plugin_search.h>

#include <cstdlib>

#include "pjrt_c_api.h"

namespace {

constexpr char program_text[] = R"(
module @twice {
  func.func public @main(%x: tensor<f32>) -> tensor<f32> {
    %y = stablehlo.add %x, %x : tensor<f32>
    return %y : tensor<f32>
  }
})";

void check(const PJRT_Api* api, PJRT_Error* error) {
  if (error == nullptr) return;
  PJRT_Error_Message_Args message{PJRT_Error_Message_Args_STRUCT_SIZE, nullptr, error, nullptr, 0};
  api->PJRT_Error_Message(&message);
  std::fprintf(stderr, "%.*s\n", static_cast<int>(message.message_size), message.message);
  std::exit(1);
}

void await_and_destroy(const PJRT_Api* api, PJRT_Event* event) {
  PJRT_Event_Await_Args await{PJRT_Event_Await_Args_STRUCT_SIZE, nullptr, event};
  check(api, api->PJRT_Event_Await(&await));
  PJRT_Event_Destroy_Args destroy{PJRT_Event_Destroy_Args_STRUCT_SIZE, nullptr, event};
  check(api, api->PJRT_Event_Destroy(&destroy));
}

void destroy_buffer(const PJRT_Api* api, PJRT_Buffer* buffer) {
  PJRT_Buffer_Destroy_Args destroy{PJRT_Buffer_Destroy_Args_STRUCT_SIZE, nullptr, buffer};
  check(api, api->PJRT_Buffer_Destroy(&destroy));
}

// `bare` runs the program by the C API alone; `wait` also waits for the result each time.
void bare(benchmark::State& state, bool wait) {
  void* library = dlopen(sturnus::find_plugin("cpu").file.c_str(), RTLD_NOW | RTLD_LOCAL);
  auto* api = reinterpret_cast<const PJRT_Api* (*)()>(dlsym(library, "GetPjrtApi"))();
  PJRT_Plugin_Initialize_Args initialize{PJRT_Plugin_Initialize_Args_STRUCT_SIZE, nullptr};
  check(api, api->PJRT_Plugin_Initialize(&initialize));
  PJRT_Client_Create_Args client{};
  client.struct_size = PJRT_Client_Create_Args_STRUCT_SIZE;
  check(api, api->PJRT_Client_Create(&client));
  PJRT_Client_AddressableDevices_Args devices{};
  devices.struct_size = PJRT_Client_AddressableDevices_Args_STRUCT_SIZE;
  devices.client = client.client;
  check(api, api->PJRT_Client_AddressableDevices(&devices));

  PJRT_Program program{};
  program.struct_size = PJRT_Program_STRUCT_SIZE;
  program.code = const_cast<char*>(program_text);
  program.code_size = sizeof(program_text) - 1;
  program.format = "mlir";
  program.format_size = 4;
  std::string options = sturnus::CompileOptions().serialize();
  PJRT_Client_Compile_Args compile{};
  compile.struct_size = PJRT_Client_Compile_Args_STRUCT_SIZE;
  compile.client = client.client;
  compile.program = &program;
  compile.compile_options = options.data();
  compile.compile_options_size = options.size();
  check(api, api->PJRT_Client_Compile(&compile));

  float value = 3;
  PJRT_Client_BufferFromHostBuffer_Args send{};
  send.struct_size = PJRT_Client_BufferFromHostBuffer_Args_STRUCT_SIZE;
  send.client = client.client;
  send.data = &value;
  send.type = PJRT_Buffer_Type_F32;
  send.device = devices.addressable_devices[0];
  check(api, api->PJRT_Client_BufferFromHostBuffer(&send));
  await_and_destroy(api, send.done_with_host_buffer);

  for (auto _ : state) {
    std::int64_t kept = 0;
    PJRT_ExecuteOptions run{};
    run.struct_size = PJRT_ExecuteOptions_STRUCT_SIZE;
    run.non_donatable_input_indices = &kept;
    run.num_non_donatable_input_indices = 1;
    PJRT_Buffer* const* input = &send.buffer;
    PJRT_Buffer* result = nullptr;
    PJRT_Buffer** output = &result;
    PJRT_LoadedExecutable_Execute_Args execute{};
    execute.struct_size = PJRT_LoadedExecutable_Execute_Args_STRUCT_SIZE;
    execute.executable = compile.executable;
    execute.options = &run;
    execute.argument_lists = &input;
    execute.num_devices = 1;
    execute.num_args = 1;
    execute.output_lists = &output;
    check(api, api->PJRT_LoadedExecutable_Execute(&execute));
    if (wait) {
      PJRT_Buffer_ReadyEvent_Args ready{PJRT_Buffer_ReadyEvent_Args_STRUCT_SIZE, nullptr, result,
                                        nullptr};
      check(api, api->PJRT_Buffer_ReadyEvent(&ready));
      await_and_destroy(api, ready.event);
    }
    destroy_buffer(api, result);
  }

  destroy_buffer(api, send.buffer);
  PJRT_LoadedExecutable_Destroy_Args destroy{PJRT_LoadedExecutable_Destroy_Args_STRUCT_SIZE,
                                             nullptr, compile.executable};
  check(api, api->PJRT_LoadedExecutable_Destroy(&destroy));
  PJRT_Client_Destroy_Args end{PJRT_Client_Destroy_Args_STRUCT_SIZE, nullptr, client.client};
  check(api, api->PJRT_Client_Destroy(&end));
}

void sturnus_run(benchmark::State& state, bool wait) {
  sturnus::Client client = sturnus::Client::create("cpu");
  sturnus::LoadedExecutable twice = client.compile(program_text);
  sturnus::Buffer x = sturnus::Buffer::scalar(client.device(), 3.0f);
  for (auto _ : state) {
    std::vector<sturnus::Buffer> results = twice.run({&x});
    if (wait) results[0].await();
  }
}

BENCHMARK_CAPTURE(bare, execute, false)->Repetitions(9)->ReportAggregatesOnly();
BENCHMARK_CAPTURE(sturnus_run, execute, false)->Repetitions(9)->ReportAggregatesOnly();
BENCHMARK_CAPTURE(bare, execute_and_wait, true)->Repetitions(9)->ReportAggregatesOnly();
BENCHMARK_CAPTURE(sturnus_run, execute_and_wait, true)->Repetitions(9)->ReportAggregatesOnly();

}  // namespace

BENCHMARK_MAIN();
