// A PJRT plugin that plays working, old, new and broken plugins for the tests of the runtime.
//
// Environment variables choose the part. The first group is read by GetPjrtApi, which returns a new
// table each time; the others are read by every call, so set them while no call is under way. NAME
// is a function of the C API: PJRT_Client_Create. Copies of the library share no state.
//
// | STURNUS_FAKE_...      |                                                                       |
// |-----------------------|-----------------------------------------------------------------------|
// | NULL_API=1            | GetPjrtApi returns null                                               |
// | MAJOR=n, MINOR=n      | version claimed; 0 and 81                                             |
// | API_SIZE=n            | size of the table claimed; functions past it abort                    |
// | MISSING=NAME,...      | these functions are null                                              |
// |                       |                                                                       |
// | FAIL=NAME[@n][:code[:message]],... | the call returns an error, of code 13; with @n only the  |
// |                       | n-th call since loading does                                          |
// | EVENT_FAIL=...        | the same, but the call succeeds and its event carries the error       |
// | EVENT_DELAY_MS=n      | transfers and executions happen n ms later in another thread          |
// | STRICT_SIZE=1         | newer: argument structs grew by 16 bytes, smaller ones are refused    |
// | STRICT_SIZE=NAME,...  | only these, or PJRT_ExecuteOptions, PJRT_Program, which 1 leaves out  |
// | OLD_STRUCTS=1         | older: fields appended later are neither read nor written             |
// | NULL_ATTRIBUTES=1,2,3 | named values are null; left unset; have odd names, types and sizes    |
// | NOISE=1               | creating a client and compiling print to standard error               |
// | DEVICES=n             | devices of a client, or of a topology without a name; 2               |
// | REMOTE_DEVICES=n      | further devices of a client, of process 1 and not addressable; 0      |
// | PLATFORM=name         | platform; "fake"                                                      |
// | ON_CPU=0              | buffers claim not to be in host memory                                |
// | COLUMN_MAJOR=1        | device memory is column-major                                         |
// | HLO_FILE=path         | optimized program, instead of a small valid HloModuleProto            |
// | HLO_FORMAT=name       | its format: "hlo", or "hlo_with_config" as XLA's own plugins answer   |
//
// A program is any text. Its parameters are its "%arg0: tensor<2x3xf32>", and it returns each of
// them, negated if it says fake.negate_f32. fake.donate:0 donates a parameter, fake.syntax_error
// does not parse. A topology is named like "v5e:2x4", or by the option topology=1x1x8.
//
// Exported beside GetPjrtApi, to be found by dlsym:
// - long fake_plugin_live(const char* kind): handles not destroyed yet, of the kind error, event,
//   client, buffer, executable, loaded, topology or serialized; of all kinds if null.
// - long fake_plugin_calls(const char* name): calls of NAME since loading.
// - const char* fake_plugin_last(const char* what, size_t* size): the program, compile_options,
//   client_options or topology_options seen last; valid until the thread asks again.
//
// Misuse aborts with a message: a null handle or one destroyed before, a client destroyed before
// its buffers and executables, the error of an event that is not ready, empty compile options.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <deque>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <memory>
#include <mutex>
#include <numeric>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "tests/runtime/fake_plugin_handles.h"
#include "tests/runtime/fake_plugin_parts.h"
#include "tests/runtime/fake_plugin_program.h"

namespace {

using namespace fake;

// -------------------------- The functions: one overload per argument struct ----------------------

void give(auto& container, auto& data, size_t& size) {
  data = container.data();
  size = container.size();
}

void give(const std::vector<PJRT_NamedValue>& values, const PJRT_NamedValue*& data, size_t& size) {
  static const auto& odd = *new std::vector<PJRT_NamedValue>([] {
    std::vector<PJRT_NamedValue> list(2);  // without name, of an unknown type
    list[1].type = static_cast<PJRT_NamedValue_Type>(7);
    list.push_back(named("stablehlo_current_version", "1.13.3"));
    list.push_back(named("xla_version", Dims()));
    return list;
  }());
  const long part = number("NULL_ATTRIBUTES");
  if (part == 0) data = values.data(), size = values.size();
  if (part == 1) data = nullptr, size = 0;
  if (part == 3) data = odd.data(), size = odd.size();
}

template <class Holder>
void give(std::string bytes, const char*& data, size_t& size, Holder*& holder,
          void (*&deleter)(Holder*)) {
  holder = new Holder;
  holder->bytes = std::move(bytes);
  deleter = destroy<Holder>;
  give(holder->bytes, data, size);
}

void make_noise() {
  if (number("NOISE")) std::fputs("W0000 00:00:0.0 1 fake_plugin.cc:1] noise\n", stderr);
}

// Errors, plugin, events

void run(PJRT_Error_Destroy_Args& a) { destroy(a.error); }
void run(PJRT_Error_Message_Args& a) {
  give(use(a.error).failure.message, a.message, a.message_size);
}
void run(PJRT_Error_GetCode_Args& a) { a.code = use(a.error).failure.code; }

void run(PJRT_Plugin_Initialize_Args&) {}
void run(PJRT_Plugin_Attributes_Args& a) {
  static const auto& current = *new Dims{1, 13, 3};
  static const auto& minimum = *new Dims{0, 9, 0};
  static const auto& attributes = *new std::vector<PJRT_NamedValue>{
      named("xla_version", int64_t{2}), named("stablehlo_current_version", current),
      named("stablehlo_minimum_version", minimum)};
  give(attributes, a.attributes, a.num_attributes);
}

void run(PJRT_Event_Destroy_Args& a) { destroy(a.event); }
void run(PJRT_Event_IsReady_Args& a) { a.is_ready = use(a.event).signal->ready(); }
void run(PJRT_Event_Await_Args& a) {
  if (const Status& status = use(a.event).signal->wait()) throw *status;
}
void run(PJRT_Event_Error_Args& a) {
  if (!use(a.event).signal->ready()) die("PJRT_Event_Error of an event that is not ready");
  if (const Status& status = a.event->signal->wait()) throw *status;
}
void run(PJRT_Event_OnReady_Args& a) {
  use(a.event).signal->on_ready([callback = a.callback, arg = a.user_arg](const Status& status) {
    callback(status ? new PJRT_Error(*status) : nullptr, arg);
  });
}

// Clients, devices, memories

void run(PJRT_Client_Create_Args& a) {
  note("client_options", lines_of(options_of(a.create_options, a.num_options)));
  make_noise();
  a.client = new PJRT_Client;
}
void run(PJRT_Client_Destroy_Args& a) {
  if (a.client && use(a.client).dependents > 0) {
    die(std::to_string(a.client->dependents) + " buffers or executables outlive their client");
  }
  destroy(a.client);
}
void run(PJRT_Client_PlatformName_Args& a) {
  give(use(a.client).platform, a.platform_name, a.platform_name_size);
}
void run(PJRT_Client_PlatformVersion_Args& a) {
  give(use(a.client).version, a.platform_version, a.platform_version_size);
}
void run(PJRT_Client_ProcessIndex_Args& a) { a.process_index = use(a.client).process; }
void run(PJRT_Client_Devices_Args& a) { give(use(a.client).devices, a.devices, a.num_devices); }
void run(PJRT_Client_AddressableDevices_Args& a) {
  give(use(a.client).addressable, a.addressable_devices, a.num_addressable_devices);
}
void run(PJRT_Client_AddressableMemories_Args& a) {
  give(use(a.client).memories, a.addressable_memories, a.num_addressable_memories);
}

void run(PJRT_DeviceDescription_Id_Args& a) { a.id = use(a.device_description).id; }
void run(PJRT_DeviceDescription_ProcessIndex_Args& a) {
  a.process_index = use(a.device_description).process;
}
void run(PJRT_DeviceDescription_Attributes_Args& a) {
  give(use(a.device_description).attributes, a.attributes, a.num_attributes);
}
void run(PJRT_DeviceDescription_Kind_Args& a) {
  give(use(a.device_description).kind, a.device_kind, a.device_kind_size);
}
void run(PJRT_DeviceDescription_ToString_Args& a) {
  give(use(a.device_description).text, a.to_string, a.to_string_size);
}

void run(PJRT_Device_GetDescription_Args& a) { a.device_description = &use(a.device).description; }
void run(PJRT_Device_IsAddressable_Args& a) { a.is_addressable = use(a.device).addressable; }
void run(PJRT_Device_LocalHardwareId_Args& a) {
  a.local_hardware_id = use(a.device).addressable ? a.device->description.id : -1;
}
void run(PJRT_Device_AddressableMemories_Args& a) {
  give(use(a.device).memories, a.memories, a.num_memories);
}
void run(PJRT_Device_DefaultMemory_Args& a) { a.memory = &use(a.device).memory; }
void run(PJRT_Device_MemoryStats_Args& a) {
  a.bytes_in_use = 1024 * (use(a.device).description.id + 1);
  a.bytes_limit = int64_t{1} << 30;
  a.bytes_limit_is_set = true;
}

void run(PJRT_Memory_Id_Args& a) { a.id = use(a.memory).id; }
void run(PJRT_Memory_Kind_Args& a) { give(use(a.memory).kind, a.kind, a.kind_size); }
void run(PJRT_Memory_ToString_Args& a) { give(use(a.memory).text, a.to_string, a.to_string_size); }

// Buffers

PJRT_Device& target(PJRT_Device* device, PJRT_Memory* memory) {
  PJRT_Device& chosen = memory ? use(memory).device : use(device);
  if (!chosen.addressable) invalid(chosen.description.text + " is not addressable");
  return chosen;
}

void run(PJRT_Client_BufferFromHostBuffer_Args& a) {
  constexpr auto kCall = "PJRT_Client_BufferFromHostBuffer";
  use(a.client);
  PJRT_Device& device = target(a.device, a.memory);
  const Type type(a.type, a.dims, a.num_dims);
  if (a.num_byte_strides != 0 && a.num_byte_strides != a.num_dims) invalid("wrong byte_strides");
  const Dims layout = layout_of(a.num_dims, a.device_layout, number("COLUMN_MAJOR"));
  const Dims to = strides_of(type, layout);
  const Dims from = a.num_byte_strides ? Dims(a.byte_strides, a.byte_strides + a.num_dims)
                                       : strides_of(type, layout_of(a.num_dims, nullptr, false));
  const auto data = static_cast<std::byte*>(const_cast<void*>(a.data));
  const auto nothing = [] {};
  auto storage = std::make_shared<Storage>(type.bytes());
  SignalPtr done = storage->defined;
  const auto transfer = [=] { copy_strided(type, data, from, storage->data, to); };
  if (a.host_buffer_semantics == PJRT_HostBufferSemantics_kImmutableOnlyDuringCall) {
    transfer();
    done = already();
    defer(kCall, storage->defined, {}, nothing);
  } else if (a.host_buffer_semantics == PJRT_HostBufferSemantics_kImmutableUntilTransferCompletes ||
             from != to) {
    defer(kCall, storage->defined, {}, transfer);
  } else {
    const bool writable = a.host_buffer_semantics == PJRT_HostBufferSemantics_kMutableZeroCopy;
    done = std::make_shared<Signal>();
    storage = std::make_shared<Storage>(data, writable, [done] { done->set(); });
    defer(kCall, storage->defined, {}, nothing);
  }
  a.done_with_host_buffer = new PJRT_Event(done);
  a.buffer = new PJRT_Buffer(device, type, layout, storage);
}
void run(PJRT_Buffer_ToHostBuffer_Args& a) {
  PJRT_Buffer& source = use(a.src);
  const Type& type = source.type;
  if (!a.dst) {
    a.dst_size = type.bytes();
    return;
  }
  if (a.dst_size < type.bytes()) {
    invalid("`dst_size` must be >= " + std::to_string(type.bytes()) + ", got " +
            std::to_string(a.dst_size) + ".");
  }
  const Dims host =
      a.host_layout ? layout_of(type.dims.size(), a.host_layout, false) : source.layout;
  auto done = already(PJRT_Buffer::deleted());
  if (StoragePtr storage = source.share()) {
    done = std::make_shared<Signal>();
    defer("PJRT_Buffer_ToHostBuffer", done, {storage},
          [type, data = storage->data, from = strides_of(type, source.layout),
           dst = static_cast<std::byte*>(a.dst),
           to = strides_of(type, host)] { copy_strided(type, data, from, dst, to); });
  }
  a.event = new PJRT_Event(done);
}
PJRT_Buffer* copy(const char* call, PJRT_Buffer& from, PJRT_Device& device) {
  const StoragePtr source = from.need();
  const auto storage = std::make_shared<Storage>(from.type.bytes());
  defer(call, storage->defined, {source}, [storage, data = source->data] {
    std::copy_n(data, storage->owned.size(), storage->data);
  });
  return new PJRT_Buffer(device, from.type, from.layout, storage);
}
void run(PJRT_Buffer_CopyToDevice_Args& a) {
  a.dst_buffer = copy("PJRT_Buffer_CopyToDevice", use(a.buffer), target(a.dst_device, nullptr));
}
void run(PJRT_Buffer_CopyToMemory_Args& a) {
  a.dst_buffer = copy("PJRT_Buffer_CopyToMemory", use(a.buffer), target(nullptr, a.dst_memory));
}
void run(PJRT_Buffer_ReadyEvent_Args& a) {
  const StoragePtr storage = use(a.buffer).share();
  const Status failed = injected("EVENT_FAIL", "PJRT_Buffer_ReadyEvent");
  a.event = new PJRT_Event(failed    ? already(failed)
                           : storage ? storage->defined
                                     : already(PJRT_Buffer::deleted()));
}
void run(PJRT_Buffer_Destroy_Args& a) { destroy(a.buffer); }
void run(PJRT_Buffer_Delete_Args& a) { use(a.buffer).take(); }
void run(PJRT_Buffer_IsDeleted_Args& a) { a.is_deleted = !use(a.buffer).share(); }
void run(PJRT_Buffer_ElementType_Args& a) { a.type = use(a.buffer).type.element.type; }
void run(PJRT_Buffer_Dimensions_Args& a) { give(use(a.buffer).type.dims, a.dims, a.num_dims); }
void run(PJRT_Buffer_GetMemoryLayout_Args& a) {
  auto& tiled = a.layout.tiled;
  a.layout.struct_size = PJRT_Buffer_MemoryLayout_STRUCT_SIZE;
  a.layout.type = PJRT_Buffer_MemoryLayout_Type_Tiled;
  tiled.struct_size = PJRT_Buffer_MemoryLayout_Tiled_STRUCT_SIZE;
  give(use(a.buffer).layout, tiled.minor_to_major, tiled.minor_to_major_size);
}
void run(PJRT_Buffer_OnDeviceSizeInBytes_Args& a) {
  a.on_device_size_in_bytes = use(a.buffer).type.bytes();
}
void run(PJRT_Buffer_Device_Args& a) { a.device = &use(a.buffer).device; }
void run(PJRT_Buffer_Memory_Args& a) { a.memory = &use(a.buffer).device.memory; }
void run(PJRT_Buffer_IsOnCpu_Args& a) { a.is_on_cpu = use(a.buffer).on_cpu; }
void run(PJRT_Buffer_UnsafePointer_Args& a) {
  a.buffer_pointer = reinterpret_cast<uintptr_t>(use(a.buffer).need()->data);
}
void run(PJRT_Buffer_IncreaseExternalReferenceCount_Args& a) { ++use(a.buffer).references; }
void run(PJRT_Buffer_DecreaseExternalReferenceCount_Args& a) {
  if (--use(a.buffer).references >= 0) return;
  ++a.buffer->references;
  invalid("Attempting to decrease reference on a buffer with zero reference count.");
}

// Executables

std::shared_ptr<Program> compile(const PJRT_Program* program, const char* options, size_t size) {
  check_size("PJRT_Program", "", PJRT_Program_STRUCT_SIZE, program->struct_size);
  const std::string format(program->format, program->format_size);
  if (format != "mlir" && format != "hlo") invalid("Unknown program format '" + format + "'.");
  const std::string text(program->code, program->code_size), bytes(options, size);
  note("program", text);
  note("compile_options", bytes);
  make_noise();
  return std::make_shared<Program>(text, bytes);
}

void run(PJRT_Client_Compile_Args& a) {
  auto program = compile(a.program, a.compile_options, a.compile_options_size);
  a.executable = new PJRT_LoadedExecutable(use(a.client), program);
}
void run(PJRT_Compile_Args& a) {
  auto program = compile(a.program, a.compile_options, a.compile_options_size);
  if (program->devices() > use(a.topology).descriptions.size()) {
    invalid("The program needs " + std::to_string(program->devices()) + " devices");
  }
  a.executable = new PJRT_Executable(program);
}
void run(PJRT_Executable_Destroy_Args& a) { destroy(a.executable); }
void run(PJRT_Executable_Name_Args& a) {
  give(use(a.executable).program->name, a.executable_name, a.executable_name_size);
}
void run(PJRT_Executable_NumReplicas_Args& a) {
  a.num_replicas = use(a.executable).program->replicas;
}
void run(PJRT_Executable_NumPartitions_Args& a) {
  a.num_partitions = use(a.executable).program->partitions;
}
void run(PJRT_Executable_NumOutputs_Args& a) {
  a.num_outputs = use(a.executable).program->types.size();
}
void run(PJRT_Executable_SizeOfGeneratedCodeInBytes_Args& a) {
  a.size_in_bytes = use(a.executable).program->text.size();
}
void run(PJRT_Executable_Fingerprint_Args& a) {
  const std::string& fingerprint = use(a.executable).program->fingerprint;
  give(fingerprint, a.executable_fingerprint, a.executable_fingerprint_size);
}
void run(PJRT_Executable_GetCostAnalysis_Args& a) {
  give(std::as_const(use(a.executable).program->cost), a.properties, a.num_properties);
}
void run(PJRT_Executable_GetCompiledMemoryStats_Args& a) {
  const Program& program = *use(a.executable).program;
  a.generated_code_size_in_bytes = program.text.size();
  a.argument_size_in_bytes = program.bytes([](size_t) { return true; });
  a.output_size_in_bytes = a.argument_size_in_bytes;
  a.alias_size_in_bytes = program.bytes([&](size_t i) { return program.donated.count(i) > 0; });
  a.temp_size_in_bytes = 64;
  a.host_generated_code_size_in_bytes = 1;
  a.host_argument_size_in_bytes = 2;
  a.host_output_size_in_bytes = 3;
  a.host_alias_size_in_bytes = 4;
  a.host_temp_size_in_bytes = 5;
  a.peak_memory_in_bytes = 2 * a.argument_size_in_bytes - a.alias_size_in_bytes + 64;
}
void run(PJRT_Executable_OutputElementTypes_Args& a) {
  give(use(a.executable).program->element_types, a.output_types, a.num_output_types);
}
void run(PJRT_Executable_OutputDimensions_Args& a) {
  a.dims = use(a.executable).program->dims.data();
  give(a.executable->program->ranks, a.dim_sizes, a.num_outputs);
}
void run(PJRT_Executable_OptimizedProgram_Args& a) {
  static const std::string kFormats[] = {"hlo", "hlo_with_config"};
  const bool with_config = setting("HLO_FORMAT") == kFormats[1];
  std::string code = use(a.executable).program->hlo();
  if (with_config) code = field(1, code);
  if (const std::string path = setting("HLO_FILE"); !path.empty()) {
    std::ifstream file(path, std::ios::binary);
    code.assign(std::istreambuf_iterator<char>(file), {});
  }
  check_size("PJRT_Program", "", PJRT_Program_STRUCT_SIZE, a.program->struct_size);
  give(kFormats[with_config], a.program->format, a.program->format_size);
  if (!a.program->code) {
    a.program->code_size = code.size();
  } else if (a.program->code_size < code.size()) {
    invalid("code_size is too small");
  } else {
    code.copy(a.program->code, code.size());
  }
}
void run(PJRT_Executable_Serialize_Args& a) {
  const Program& program = *use(a.executable).program;
  give(field(1, program.fingerprint) + field(2, program.options) + field(3, program.text),
       a.serialized_bytes, a.serialized_bytes_size, a.serialized_executable,
       a.serialized_executable_deleter);
}
void run(PJRT_Executable_DeserializeAndLoad_Args& a) {
  std::map<uint64_t, std::string> parts;
  for_each_field({a.serialized_executable, a.serialized_executable_size}, "executable",
                 [&](uint64_t id, uint64_t, std::string_view bytes) { parts[id] = bytes; });
  if (parts[2].empty() || Program(parts[3], parts[2]).fingerprint != parts[1]) {
    invalid("failed to deserialize executable");
  }
  if (a.overridden_serialized_compile_options) {
    parts[2].assign(a.overridden_serialized_compile_options,
                    a.overridden_serialized_compile_options_size);
  }
  auto program = std::make_shared<Program>(parts[3], parts[2]);
  a.loaded_executable = new PJRT_LoadedExecutable(use(a.client), program);
}

void run(PJRT_LoadedExecutable_Destroy_Args& a) { destroy(a.executable); }
void run(PJRT_LoadedExecutable_GetExecutable_Args& a) {
  a.executable = new PJRT_Executable(use(a.loaded_executable).program);
}
void run(PJRT_LoadedExecutable_AddressableDevices_Args& a) {
  give(use(a.executable).devices, a.addressable_devices, a.num_addressable_devices);
}
void run(PJRT_LoadedExecutable_Delete_Args& a) { use(a.executable).deleted = true; }
void run(PJRT_LoadedExecutable_IsDeleted_Args& a) { a.is_deleted = use(a.executable).deleted; }

void check_argument(const Program& program, PJRT_Device& device, PJRT_Buffer* const* arguments,
                    size_t i, bool donate) {
  PJRT_Buffer& buffer = use(arguments[i]);
  buffer.need();
  if (&buffer.device != &device) {
    invalid("Buffer passed to Execute() as argument " + std::to_string(i) +
            " to replica 0 is on device " + buffer.device.description.text +
            ", but replica is assigned to device " + device.description.text + ".");
  }
  if (buffer.type.bytes() != program.types[i].bytes()) {
    invalid("Executable expected parameter " + std::to_string(i) + " of size " +
            std::to_string(program.types[i].bytes()) + " but got buffer with incompatible size " +
            std::to_string(buffer.type.bytes()));
  }
  if (!donate) return;
  if (buffer.references > 0) invalid("Donation requested for buffer with external reference");
  if (std::count(arguments, arguments + program.types.size(), &buffer) > 1) {
    invalid("Attempt to donate the same buffer twice in Execute()");
  }
}

// One device's share. A donated parameter hands its memory on to the result.
SignalPtr launch(const Program& program, PJRT_Device& device, PJRT_Buffer* const* arguments,
                 PJRT_Buffer** results, const auto& donates) {
  const auto done = std::make_shared<Signal>();
  std::vector<StoragePtr> inputs, outputs;
  for (size_t i = 0; i < program.types.size(); ++i) {
    const StoragePtr input = donates(i) ? arguments[i]->take() : arguments[i]->share();
    if (!input) throw PJRT_Buffer::deleted();
    inputs.push_back(input);
    outputs.push_back(donates(i) && input->writable
                          ? std::make_shared<Storage>(input->data, true, [input] {})
                          : std::make_shared<Storage>(program.types[i].bytes()));
    outputs[i]->defined = done;
  }
  std::vector<std::function<void()>> steps;
  for (size_t i = 0; i < outputs.size(); ++i) {
    results[i] = new PJRT_Buffer(device, program.types[i], arguments[i]->layout, outputs[i]);
    steps.push_back([from = inputs[i]->data, to = outputs[i], bytes = program.types[i].bytes(),
                     negates = program.negates] {
      if (from != to->data) std::copy_n(from, bytes, to->data);
      for (size_t last = 3; negates && last < bytes; last += 4) to->data[last] ^= std::byte{0x80};
    });
  }
  defer("PJRT_LoadedExecutable_Execute", done, inputs, [steps] {
    for (auto& step : steps) step();
  });
  return done;
}

void run(PJRT_LoadedExecutable_Execute_Args& a) {
  check_size("PJRT_ExecuteOptions", "", PJRT_ExecuteOptions_STRUCT_SIZE, a.options->struct_size);
  if (use(a.executable).deleted) invalid("Execute() called on a deleted executable");
  const Program& program = *a.executable->program;
  const auto devices =
      a.execute_device ? std::vector{&use(a.execute_device)} : a.executable->devices;
  if (a.num_devices != devices.size()) {
    invalid("Attempted to execute with " + std::to_string(a.num_devices) +
            " argument lists when local device count is " + std::to_string(devices.size()) +
            " (total replica count: " + std::to_string(program.replicas) +
            ", partition count: " + std::to_string(program.partitions) + ")");
  }
  if (a.num_args != program.types.size()) {
    invalid("Execution supplied " + std::to_string(a.num_args) +
            " buffers but compiled program expected " + std::to_string(program.types.size()) +
            " buffers");
  }
  const int64_t* kept = a.options->non_donatable_input_indices;
  const auto donates = [&, end = kept + a.options->num_non_donatable_input_indices](int64_t i) {
    return program.donated.count(i) > 0 && std::count(kept, end, i) == 0;
  };
  for (size_t d = 0; d < devices.size(); ++d) {  // nothing is donated before all is checked
    for (size_t i = 0; i < a.num_args; ++i) {
      check_argument(program, *devices[d], a.argument_lists[d], i, donates(i));
    }
  }
  for (size_t d = 0; d < devices.size(); ++d) {
    auto done = launch(program, *devices[d], a.argument_lists[d], a.output_lists[d], donates);
    if (a.device_complete_events) a.device_complete_events[d] = new PJRT_Event(done);
  }
}

// Topologies

void run(PJRT_TopologyDescription_Create_Args& a) {
  Options options = options_of(a.create_options, a.num_options);
  note("topology_options", lines_of(options));
  const std::string name(a.topology_name ? a.topology_name : "", a.topology_name_size);
  a.topology = new PJRT_TopologyDescription(options.count("topology") ? options["topology"] : name);
}
void run(PJRT_TopologyDescription_Destroy_Args& a) { destroy(a.topology); }
void run(PJRT_TopologyDescription_PlatformName_Args& a) {
  give(use(a.topology).platform, a.platform_name, a.platform_name_size);
}
void run(PJRT_TopologyDescription_PlatformVersion_Args& a) {
  give(use(a.topology).version, a.platform_version, a.platform_version_size);
}
void run(PJRT_TopologyDescription_GetDeviceDescriptions_Args& a) {
  give(use(a.topology).descriptions, a.descriptions, a.num_descriptions);
}
void run(PJRT_TopologyDescription_Serialize_Args& a) {
  give(use(a.topology).name, a.serialized_bytes, a.serialized_bytes_size, a.serialized_topology,
       a.serialized_topology_deleter);
}

// -------------------------------------------- The table ------------------------------------------

// Where these structs ended before later versions appended to them.
template <class Args>
constexpr size_t kOldSize = -1;
template <>
constexpr size_t kOldSize<PJRT_Executable_GetCompiledMemoryStats_Args> =
    offsetof(PJRT_Executable_GetCompiledMemoryStats_Args, host_generated_code_size_in_bytes);
template <>
constexpr size_t kOldSize<PJRT_Executable_DeserializeAndLoad_Args> =
    offsetof(PJRT_Executable_DeserializeAndLoad_Args, overridden_serialized_compile_options);
template <>
constexpr size_t kOldSize<PJRT_LoadedExecutable_Execute_Args> =
    offsetof(PJRT_LoadedExecutable_Execute_Args, execute_device);

template <size_t kLength>
struct Text {
  constexpr Text(const char (&text)[kLength]) { std::copy_n(text, kLength, value); }
  char value[kLength];
};

// Every call goes through here: it is counted, checked and failed as asked, and `run` sees and
// fills only the part of the struct that both sides know.
template <Text kName, size_t kSize, class Result, class Args>
Result call(Args* args) {
  constexpr bool kCanFail = !std::is_void_v<Result>;  // where it cannot, XLA goes on as well
  count_calls(kName.value, 1);
  try {
    const size_t known = number("OLD_STRUCTS") ? std::min(kSize, kOldSize<Args>) : kSize;
    if constexpr (kCanFail) {
      check_size(kName.value, "_Args", known, args->struct_size);
      if (const Status status = injected("FAIL", kName.value)) throw *status;
    }
    Args both{};
    const size_t shared = std::min(known, args->struct_size);
    std::memcpy(&both, args, shared);
    run(both);
    std::memcpy(args, &both, shared);
  } catch (const Failure& failure) {
    if constexpr (kCanFail) return new PJRT_Error(failure);
  }
  if constexpr (kCanFail) return nullptr;
}

template <Text kName, size_t kSize, class Result, class Args>
void install(Result (*&function)(Args*)) {
  function = lists("MISSING", kName.value) ? nullptr : call<kName, kSize, Result, Args>;
}

// The one macro: a name as a string, as a size and as a field. Functions not listed are null.
#define FAKE(NAME) install<"PJRT_" #NAME, PJRT_##NAME##_Args_STRUCT_SIZE>(api.PJRT_##NAME)

void install_all(PJRT_Api& api) {
  FAKE(Error_Destroy), FAKE(Error_Message), FAKE(Error_GetCode), FAKE(Plugin_Initialize),
      FAKE(Plugin_Attributes), FAKE(Event_Destroy), FAKE(Event_IsReady), FAKE(Event_Error),
      FAKE(Event_Await), FAKE(Event_OnReady), FAKE(Client_Create), FAKE(Client_Destroy),
      FAKE(Client_PlatformName), FAKE(Client_ProcessIndex), FAKE(Client_PlatformVersion),
      FAKE(Client_Devices), FAKE(Client_AddressableDevices), FAKE(Client_AddressableMemories),
      FAKE(Client_Compile), FAKE(Client_BufferFromHostBuffer), FAKE(DeviceDescription_Id),
      FAKE(DeviceDescription_ProcessIndex), FAKE(DeviceDescription_Attributes),
      FAKE(DeviceDescription_Kind), FAKE(DeviceDescription_ToString), FAKE(Device_GetDescription),
      FAKE(Device_IsAddressable), FAKE(Device_LocalHardwareId), FAKE(Device_AddressableMemories),
      FAKE(Device_DefaultMemory), FAKE(Device_MemoryStats), FAKE(Memory_Id), FAKE(Memory_Kind),
      FAKE(Memory_ToString), FAKE(Compile), FAKE(Executable_Destroy), FAKE(Executable_Name),
      FAKE(Executable_NumReplicas), FAKE(Executable_NumPartitions), FAKE(Executable_NumOutputs),
      FAKE(Executable_SizeOfGeneratedCodeInBytes), FAKE(Executable_Fingerprint),
      FAKE(Executable_GetCostAnalysis), FAKE(Executable_GetCompiledMemoryStats),
      FAKE(Executable_OutputElementTypes), FAKE(Executable_OutputDimensions),
      FAKE(Executable_OptimizedProgram), FAKE(Executable_Serialize),
      FAKE(Executable_DeserializeAndLoad), FAKE(LoadedExecutable_Destroy),
      FAKE(LoadedExecutable_GetExecutable), FAKE(LoadedExecutable_AddressableDevices),
      FAKE(LoadedExecutable_Delete), FAKE(LoadedExecutable_IsDeleted),
      FAKE(LoadedExecutable_Execute), FAKE(Buffer_Destroy), FAKE(Buffer_ElementType),
      FAKE(Buffer_Dimensions), FAKE(Buffer_GetMemoryLayout), FAKE(Buffer_OnDeviceSizeInBytes),
      FAKE(Buffer_Device), FAKE(Buffer_Memory), FAKE(Buffer_Delete), FAKE(Buffer_IsDeleted),
      FAKE(Buffer_CopyToDevice), FAKE(Buffer_CopyToMemory), FAKE(Buffer_ToHostBuffer),
      FAKE(Buffer_IsOnCpu), FAKE(Buffer_ReadyEvent), FAKE(Buffer_UnsafePointer),
      FAKE(Buffer_IncreaseExternalReferenceCount), FAKE(Buffer_DecreaseExternalReferenceCount),
      FAKE(TopologyDescription_Create), FAKE(TopologyDescription_Destroy),
      FAKE(TopologyDescription_PlatformName), FAKE(TopologyDescription_PlatformVersion),
      FAKE(TopologyDescription_GetDeviceDescriptions), FAKE(TopologyDescription_Serialize);
}

#undef FAKE

void past_the_end() { die("a function past the end of the PJRT_Api table was called"); }

// Room behind the table, for versions that claim functions unknown to this header.
struct Table {
  PJRT_Api api{};
  std::byte later_functions[1024]{};
};

}  // namespace

extern "C" {

[[gnu::visibility("default")]] const PJRT_Api* GetPjrtApi() {
  if (number("NULL_API")) return nullptr;
  static auto& tables = *new std::deque<Table>;  // whoever has an older table goes on using it
  static auto& mutex = *new std::mutex;
  std::scoped_lock lock(mutex);
  Table& table = tables.emplace_back();
  PJRT_Api& api = table.api;
  api.struct_size = number("API_SIZE", PJRT_Api_STRUCT_SIZE);
  api.pjrt_api_version.struct_size = PJRT_Api_Version_STRUCT_SIZE;
  api.pjrt_api_version.major_version = number("MAJOR", PJRT_API_MAJOR);
  api.pjrt_api_version.minor_version = number("MINOR", PJRT_API_MINOR);
  install_all(api);
  void (*const poison)() = past_the_end;
  for (size_t at = api.struct_size; at + sizeof poison <= sizeof table; at += sizeof poison) {
    std::memcpy(reinterpret_cast<std::byte*>(&table) + at, &poison, sizeof poison);
  }
  return &api;
}

[[gnu::visibility("default")]] long fake_plugin_live(const char* kind) {
  const std::map<std::string, long> counts = {
      {"error", PJRT_Error::count()},
      {"event", PJRT_Event::count()},
      {"client", PJRT_Client::count()},
      {"buffer", PJRT_Buffer::count()},
      {"executable", PJRT_Executable::count()},
      {"loaded", PJRT_LoadedExecutable::count()},
      {"topology", PJRT_TopologyDescription::count()},
      {"serialized", PJRT_SerializedExecutable::count() + PJRT_SerializedTopology::count()}};
  if (kind) return counts.at(kind);
  return std::accumulate(counts.begin(), counts.end(), 0L,
                         [](long sum, const auto& entry) { return sum + entry.second; });
}

[[gnu::visibility("default")]] long fake_plugin_calls(const char* name) {
  return count_calls(name);
}

[[gnu::visibility("default")]] const char* fake_plugin_last(const char* what, size_t* size) {
  thread_local std::string value;
  std::scoped_lock lock(journal().mutex);
  value = journal().last[what];
  if (size) *size = value.size();
  return value.c_str();
}

}  // extern "C"
