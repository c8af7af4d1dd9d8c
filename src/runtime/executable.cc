#include <sturnus/runtime/error.h>
#include <sturnus/runtime/executable.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <numeric>

#include "src/runtime/state.h"

namespace sturnus {

using internal::Api;

// --------------------------------------------------------------------------- what a program is

std::string Executable::name() const {
  auto reply = state_->handle.api().call<&PJRT_Api::PJRT_Executable_Name>(
      [this](auto& args) { args.executable = state_->handle.get(); });
  return {reply.executable_name, reply.executable_name_size};
}

int Executable::replicas() const {
  auto reply = state_->handle.api().call<&PJRT_Api::PJRT_Executable_NumReplicas>(
      [this](auto& args) { args.executable = state_->handle.get(); });
  return static_cast<int>(reply.num_replicas);
}

int Executable::partitions() const {
  auto reply = state_->handle.api().call<&PJRT_Api::PJRT_Executable_NumPartitions>(
      [this](auto& args) { args.executable = state_->handle.get(); });
  return static_cast<int>(reply.num_partitions);
}

const std::vector<std::optional<ArrayType>>& Executable::parameter_types() const {
  return state_->signature.parameters;
}
const std::vector<std::optional<ArrayType>>& Executable::result_types() const {
  return state_->signature.results;
}
int Executable::result_count() const { return state_->result_count; }
double Executable::compile_seconds() const { return state_->compile_seconds; }

namespace {

// Text as it is, raw bytes (which TPU fingerprints are) in hexadecimal.
std::string printable(std::string_view bytes) {
  if (std::all_of(bytes.begin(), bytes.end(), [](unsigned char c) { return std::isprint(c); })) {
    return std::string(bytes);
  }
  static constexpr char digits[] = "0123456789abcdef";
  std::string result;
  for (unsigned char byte : bytes) result += {digits[byte >> 4], digits[byte & 15]};
  return result;
}

// What `ask` gives, or an empty value when the plugin does not know the question.
template <class Ask>
auto if_implemented(Ask ask) -> decltype(ask()) {
  try {
    return ask();
  } catch (const RuntimeError& error) {
    if (error.code() == ErrorCode::unimplemented) return {};
    throw;
  }
}

}  // namespace

std::string Executable::fingerprint() const {
  return if_implemented([this]() -> std::string {
    auto reply = state_->handle.api().call<&PJRT_Api::PJRT_Executable_Fingerprint>(
        [this](auto& args) { args.executable = state_->handle.get(); });
    return printable({reply.executable_fingerprint, reply.executable_fingerprint_size});
  });
}

std::map<std::string, double> Executable::cost_analysis() const {
  NamedValues properties = if_implemented([this] {
    auto reply = state_->handle.api().call<&PJRT_Api::PJRT_Executable_GetCostAnalysis>(
        [this](auto& args) { args.executable = state_->handle.get(); });
    return internal::from_pjrt(reply.properties, reply.num_properties);
  });
  std::map<std::string, double> result;
  for (const auto& [name, value] : properties) {
    if (auto* number = std::get_if<float>(&value)) result[name] = *number;
    if (auto* number = std::get_if<std::int64_t>(&value)) {
      result[name] = static_cast<double>(*number);
    }
  }
  return result;
}

MemoryStats Executable::memory_stats() const {
  auto reply = state_->handle.api().call<&PJRT_Api::PJRT_Executable_GetCompiledMemoryStats>(
      [this](auto& args) { args.executable = state_->handle.get(); });
  return {reply.generated_code_size_in_bytes, reply.argument_size_in_bytes,
          reply.output_size_in_bytes,         reply.alias_size_in_bytes,
          reply.temp_size_in_bytes,           reply.peak_memory_in_bytes};
}

std::int64_t Executable::code_bytes() const {
  return state_->handle.api()
      .call<&PJRT_Api::PJRT_Executable_SizeOfGeneratedCodeInBytes>(
          [this](auto& args) { args.executable = state_->handle.get(); })
      .size_in_bytes;
}

namespace {

OptimizedProgram fetch_optimized_program(const internal::ExecutableHandle& executable) {
  internal::Request<PJRT_Program> program;
  auto ask = [&] {
    executable.api().call_with<&PJRT_Api::PJRT_Executable_OptimizedProgram>(
        program, "PJRT_Program", [&](auto& args) {
          args.executable = executable.get();
          args.program = &program;
        });
  };
  ask();  // for the size
  OptimizedProgram result;
  result.bytes.resize(program.code_size);
  program.code = result.bytes.data();
  ask();
  result.format = {program.format, program.format_size};
  return result;
}

}  // namespace

OptimizedProgram Executable::optimized_program() const {
  return fetch_optimized_program(state_->handle);
}

ProgramReport Executable::report() const {
  OptimizedProgram program = optimized_program();
  ProgramReport report = make_report(parse_hlo(program.bytes, program.format));
  MemoryStats memory = if_implemented([this] { return memory_stats(); });
  report.compile_seconds = compile_seconds();
  report.code_bytes = memory.code > 0 ? memory.code : code_bytes();
  report.serialized_bytes = std::ssize(if_implemented([this] { return serialize(); }));
  report.argument_bytes = memory.arguments;
  report.output_bytes = memory.outputs;
  report.temporary_bytes = memory.temporary;
  report.alias_bytes = memory.aliased;
  return report;
}

std::string Executable::serialize() const {
  // XLA's CPU client serialises a loaded program without its code.
  if (!state_->serialized.empty()) return state_->serialized;
  auto reply = state_->handle.api().call<&PJRT_Api::PJRT_Executable_Serialize>(
      [this](auto& args) { args.executable = state_->handle.get(); });
  std::string bytes(reply.serialized_bytes, reply.serialized_bytes_size);
  reply.serialized_executable_deleter(reply.serialized_executable);
  return bytes;
}

std::shared_ptr<internal::ExecutableState> internal::describe_executable(
    std::shared_ptr<const void> owner, const Api& api, PJRT_Executable* executable,
    double compile_seconds) {
  auto state = std::make_shared<ExecutableState>();
  state->owner = std::move(owner);
  state->handle = {api, executable};
  state->compile_seconds = compile_seconds;
  auto reply = api.call<&PJRT_Api::PJRT_Executable_NumOutputs>(
      [executable](auto& args) { args.executable = executable; });
  state->result_count = static_cast<int>(reply.num_outputs);
  try {
    OptimizedProgram program = fetch_optimized_program(state->handle);
    state->signature = entry_signature(program.bytes, program.format);
    state->signature_known = true;
  } catch (const Error&) {
    // Some plugins keep their program to themselves: then the plugin alone checks arguments.
  }
  return state;
}

// ------------------------------------------------------------------------------ errors of compile

void internal::throw_compile_error(const RuntimeError& error, std::string_view program) {
  // MLIR diagnostics read "...:<line>:<column>: error: ..."; show the line they mean.
  std::string detail = error.detail();
  while (!detail.empty() && detail.back() == '\n') detail.pop_back();
  std::string_view rest = detail;
  std::size_t at = rest.find(": error:");
  if (at != rest.npos) {
    std::string_view before = rest.substr(0, at);
    std::size_t column_at = before.rfind(':');
    std::size_t line_at = column_at == 0 ? before.npos : before.rfind(':', column_at - 1);
    std::size_t line = 0;
    if (column_at != before.npos && line_at != before.npos) {
      std::from_chars(before.data() + line_at + 1, before.data() + column_at, line);
    }
    std::string_view text = program;
    for (std::size_t n = 1; n < line && !text.empty(); n++) {
      text.remove_prefix(std::min(text.find('\n'), text.size() - 1) + 1);
    }
    if (line > 0 && !text.empty()) {
      detail += "\n  line " + std::to_string(line) +
                " of the program: " + std::string(text.substr(0, text.find('\n')));
    }
  }
  throw RuntimeError(error.call(), error.code(), detail);
}

// ------------------------------------------------------------------------------------------ run

void internal::LoadedState::prepare(const ExecutableState& program) {
  auto reply = handle.api().call<&PJRT_Api::PJRT_LoadedExecutable_AddressableDevices>(
      [this](auto& args) { args.executable = handle.get(); });
  devices.assign(reply.addressable_devices,
                 reply.addressable_devices + reply.num_addressable_devices);
  result_types.resize(static_cast<std::size_t>(program.result_count));
  for (std::size_t i = 0; i < result_types.size(); i++) {
    const HloTypes& types = program.signature.results;
    if (i < types.size() && types[i]) {
      result_types[i] = std::make_shared<const ArrayType>(*types[i]);
    }
  }
  every_argument.resize(program.signature.parameters.size());
  std::iota(every_argument.begin(), every_argument.end(), 0);
}

std::vector<Device> LoadedExecutable::devices() const {
  std::vector<Device> result;
  for (PJRT_Device* device : loaded_->devices) result.push_back(Device(loaded_->client, device));
  return result;
}

namespace {

// A list that is usually short: no allocation up to 16 elements, which keeps calls of small
// programs cheap.
template <class T>
class ShortList {
 public:
  explicit ShortList(std::size_t size) : size_(size) {
    if (size > inline_.size()) heap_.resize(size);
  }
  T* data() { return heap_.empty() ? inline_.data() : heap_.data(); }
  T& operator[](std::size_t i) { return data()[i]; }
  std::size_t size() const { return size_; }

 private:
  std::size_t size_;
  std::array<T, 16> inline_{};
  std::vector<T> heap_;
};

std::string argument_name(const std::string& program, std::size_t index) {
  return program + ": argument " + std::to_string(index);
}

}  // namespace

void LoadedExecutable::check_arguments(std::span<const Buffer* const> arguments) const {
  const auto& wanted = state_->signature.parameters;
  if (state_->signature_known && arguments.size() != wanted.size()) {
    std::string types;
    for (const auto& type : wanted)
      types += (types.empty() ? "" : ", ") + (type ? type->str() : "?");
    throw Error(name() + ": the program takes " + std::to_string(wanted.size()) + " arguments (" +
                types + "), " + std::to_string(arguments.size()) + " were given");
  }
  for (std::size_t i = 0; i < arguments.size(); i++) {
    const Buffer* argument = arguments[i];
    if (argument == nullptr || !*argument) {
      throw Error(argument_name(name(), i) + " is an empty buffer. Fill it with Buffer::from_host");
    }
    if (argument->client_ != loaded_->client) {
      throw Error(argument_name(name(), i) + " (" + argument->type().str() +
                  ") belongs to another client. Copy it through the host");
    }
    if (i < wanted.size() && wanted[i] && argument->type() != *wanted[i]) {
      throw Error(argument_name(name(), i) + " is " + argument->type().str() +
                  ", the program takes " + wanted[i]->str());
    }
  }
}

void LoadedExecutable::execute(PJRT_Buffer* const* const* arguments, std::size_t argument_count,
                               PJRT_Buffer** const* results, PJRT_Event** done,
                               std::size_t device_count, const RunOptions& options) const {
  const internal::LoadedState& loaded = *loaded_;
  internal::Request<PJRT_ExecuteOptions> run;
  run.struct_size = loaded.options_size.load(std::memory_order_relaxed);
  std::vector<std::int64_t> kept;
  run.non_donatable_input_indices = loaded.every_argument.data();
  run.num_non_donatable_input_indices = loaded.every_argument.size();
  if (!options.donate.empty() || loaded.every_argument.size() != argument_count) {
    for (std::size_t i = 0; i < argument_count; i++) {
      if (std::find(options.donate.begin(), options.donate.end(), static_cast<int>(i)) ==
          options.donate.end()) {
        kept.push_back(static_cast<std::int64_t>(i));
      }
    }
    run.non_donatable_input_indices = kept.data();
    run.num_non_donatable_input_indices = kept.size();
  }
  loaded.handle.api().call_with<&PJRT_Api::PJRT_LoadedExecutable_Execute>(
      run, "PJRT_ExecuteOptions", [&](auto& args) {
        args.executable = loaded.handle.get();
        args.options = &run;
        args.argument_lists = arguments;
        args.num_devices = device_count;
        args.num_args = argument_count;
        args.output_lists = results;
        args.device_complete_events = done;
        args.execute_device = options.device ? options.device->handle() : nullptr;
      });
  loaded.options_size.store(run.struct_size, std::memory_order_relaxed);
}

std::vector<Buffer> LoadedExecutable::adopt_results(PJRT_Buffer* const* results) const {
  const auto& types = loaded_->result_types;
  std::vector<Buffer> buffers;
  buffers.reserve(types.size());
  for (std::size_t i = 0; i < types.size(); i++) {
    buffers.push_back(Buffer(loaded_->client, results[i], types[i]));
  }
  return buffers;
}

void LoadedExecutable::check_donation(std::span<const Buffer* const> arguments,
                                      const RunOptions& options) const {
  for (int index : options.donate) {
    if (index < 0 || static_cast<std::size_t>(index) >= arguments.size()) {
      throw Error(name() + ": RunOptions::donate names argument " + std::to_string(index) +
                  ", the program takes " + std::to_string(arguments.size()));
    }
    const Buffer* donated = arguments[static_cast<std::size_t>(index)];
    if (std::count(arguments.begin(), arguments.end(), donated) > 1) {
      throw Error(argument_name(name(), static_cast<std::size_t>(index)) + " (" +
                  donated->type().str() + ") is donated" +
                  (options.taker == nullptr ? "" : " to " + std::string(options.taker)) +
                  ", and also another argument. Pass a copy");
    }
  }
}

void LoadedExecutable::check_presence(std::span<const Buffer* const> arguments, PJRT_Device* device,
                                      std::size_t captured) const {
  for (std::size_t i = 0; i < arguments.size(); i++) {
    const Buffer& argument = *arguments[i];
    bool own = i + captured < arguments.size();
    std::string which = (own ? argument_name(name(), i) : name() + ": a captured array") + " (" +
                        argument.type().str() + ")";
    if (argument.released()) argument.throw_released(which);
    Device here = argument.device();
    if (here.handle() != device) {
      throw Error(
          which + " is on device " + std::to_string(here.id()) + ", the program runs on device " +
          std::to_string(Device(loaded_->client, device).id()) + ". Copy it with Buffer::copy_to");
    }
  }
}

void LoadedExecutable::check_device(const std::optional<Device>& chosen) const {
  const auto& devices = loaded_->devices;
  if (devices.size() > 1) {
    throw Error(name() + ": the program runs on " + std::to_string(devices.size()) +
                " devices. Use launch with one argument list per device");
  }
  if (!chosen) {
    if (!devices.empty()) return;
    throw Error(name() + ": the program is portable. Choose where it runs with RunOptions::device");
  }
  if (chosen->client() != loaded_->client) {
    throw Error(name() + ": RunOptions::device belongs to another client");
  }
  if (!devices.empty() && devices[0] != chosen->handle()) {
    throw Error(name() + ": the program was compiled for device " +
                std::to_string(Device(loaded_->client, devices[0]).id()) +
                ", RunOptions::device is " + std::to_string(chosen->id()) +
                ". Compile it with CompileOptions::portable to choose");
  }
}

std::vector<Buffer> LoadedExecutable::run(std::span<const Buffer* const> arguments,
                                          const RunOptions& options) const {
  check_device(options.device);
  check_arguments(arguments);
  check_donation(arguments, options);
  ShortList<PJRT_Buffer*> inputs(arguments.size());
  for (std::size_t i = 0; i < arguments.size(); i++) inputs[i] = arguments[i]->handle();
  ShortList<PJRT_Buffer*> outputs(loaded_->result_types.size());
  PJRT_Buffer* const* input_list = inputs.data();
  PJRT_Buffer** output_list = outputs.data();
  try {
    execute(&input_list, arguments.size(), &output_list, nullptr, 1, options);
  } catch (const RuntimeError&) {
    check_presence(arguments, options.device ? options.device->handle() : loaded_->devices[0],
                   options.captured);
    throw;
  }
  for (int index : options.donate) {
    arguments[static_cast<std::size_t>(index)]->taker_ = options.taker;
  }
  std::vector<Buffer> results = adopt_results(output_list);
  for (Buffer& result : results) result.ask_type();
  return results;
}

Launch LoadedExecutable::launch(std::span<const std::vector<const Buffer*>> arguments,
                                const RunOptions& options) const {
  std::size_t devices = loaded_->devices.size();
  if (devices == 0 || options.device) {
    throw Error(name() + ": RunOptions::device and portable programs are for run; launch uses " +
                "the devices that the program was compiled for");
  }
  if (arguments.size() != devices) {
    throw Error(name() + ": the program runs on " + std::to_string(devices) + " devices, " +
                std::to_string(arguments.size()) + " argument lists were given");
  }
  std::vector<std::vector<PJRT_Buffer*>> inputs(devices);
  std::vector<std::vector<PJRT_Buffer*>> outputs(devices);
  std::vector<PJRT_Buffer* const*> input_lists;
  std::vector<PJRT_Buffer**> output_lists;
  for (std::size_t d = 0; d < devices; d++) {
    check_arguments(arguments[d]);
    check_donation(arguments[d], options);
    // Beforehand, because XLA's CPU client never launches again once it refused a launch.
    check_presence(arguments[d], loaded_->devices[d]);
    if (arguments[d].size() != arguments[0].size()) {
      throw Error(name() + ": device " + std::to_string(d) + " is given " +
                  std::to_string(arguments[d].size()) + " arguments, device 0 " +
                  std::to_string(arguments[0].size()));
    }
    for (const Buffer* argument : arguments[d]) inputs[d].push_back(argument->handle());
    outputs[d].resize(loaded_->result_types.size());
    input_lists.push_back(inputs[d].data());
    output_lists.push_back(outputs[d].data());
  }
  std::vector<PJRT_Event*> done(devices, nullptr);
  execute(input_lists.data(), inputs[0].size(), output_lists.data(), done.data(), devices, options);
  Launch launch;
  for (std::size_t d = 0; d < devices; d++) {
    launch.results.push_back(adopt_results(outputs[d].data()));
    launch.done.push_back(internal::make_event(loaded_->client, loaded_->handle.api(), done[d]));
  }
  for (std::vector<Buffer>& results : launch.results) {  // all are owned before a question fails
    for (Buffer& result : results) result.ask_type();
  }
  return launch;
}

}  // namespace sturnus
