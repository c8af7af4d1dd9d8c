#include <sturnus/runtime/client.h>
#include <sturnus/runtime/error.h>
#include <sturnus/runtime/host_callback.h>
#include <sturnus/runtime/host_columns.h>
#include <sturnus/runtime/host_order.h>
#include <sturnus/runtime/host_product.h>
#include <sturnus/runtime/host_random.h>
#include <sturnus/runtime/host_sum.h>

#include <exception>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "src/runtime/ffi.h"
#include "src/runtime/pjrt.h"
#include "src/runtime/threads.h"

namespace sturnus {
namespace {

struct Callbacks {
  std::mutex mutex;
  std::map<std::string, std::shared_ptr<const HostCallback>, std::less<>> by_name = {
      own(internal::host_columns_name, internal::host_columns_callback),
      own(internal::host_product_name, internal::host_product_callback),
      own(internal::host_order_name, internal::host_order_callback),
      own(internal::host_pair_order_name, internal::host_pair_order_callback),
      own(internal::host_pair_median_name, internal::host_pair_median_callback),
      own(internal::host_sobol_name, internal::host_sobol_callback),
      own(internal::host_sum_name, internal::host_sum_callback),
      own(internal::host_threefry_name, internal::host_threefry_callback)};

  // What lowering rules call, so that every process has it.
  static std::pair<const std::string, std::shared_ptr<const HostCallback>> own(
      std::string_view name, void (*callback)(const HostCall&)) {
    return {std::string(name), std::make_shared<const HostCallback>(callback)};
  }
};

Callbacks& callbacks() {
  static auto& instance = *new Callbacks;  // programs may run while statics are destroyed
  return instance;
}

std::shared_ptr<const HostCallback> find_callback(std::string_view name) {
  std::lock_guard lock(callbacks().mutex);
  auto found = callbacks().by_name.find(name);
  if (found != callbacks().by_name.end()) return found->second;
  throw Error("host callback: the program calls \"" + std::string(name) +
              "\", which this process does not have. Add it with add_host_callback before the "
              "program runs");
}

namespace ffi = internal::ffi;

// The element types by their numbers in xla_data.proto.
DType dtype_of_element(int element_type) {
  switch (element_type) {
    case 1:
      return DType::boolean;
    case 2:
      return DType::i8;
    case 3:
      return DType::i16;
    case 4:
      return DType::i32;
    case 5:
      return DType::i64;
    case 6:
      return DType::u8;
    case 7:
      return DType::u16;
    case 8:
      return DType::u32;
    case 9:
      return DType::u64;
    case 10:
      return DType::f16;
    case 16:
      return DType::bf16;
    case 11:
      return DType::f32;
    case 12:
      return DType::f64;
    case 15:
      return DType::c64;
    case 18:
      return DType::c128;
    default:
      throw Error("host callback: an argument has XLA's element type " +
                  std::to_string(element_type) + ", which Sturnus does not know. Convert it first");
  }
}

std::vector<HostArray> host_arrays(const ffi::Values& values) {
  std::vector<HostArray> result;
  for (std::int64_t i = 0; i < values.count; i++) {
    const auto& buffer = *static_cast<const ffi::Buffer*>(values.values[i]);
    if (buffer.struct_size < sizeof(ffi::Buffer)) {
      throw Error("host callback: the plugin's buffers are of an older kind (" +
                  std::to_string(buffer.struct_size) + " bytes). Use a newer plugin");
    }
    result.push_back({{dtype_of_element(buffer.element_type),
                       Shape(buffer.extents, buffer.extents + buffer.rank)},
                      buffer.data});
  }
  return result;
}

std::string_view string_attribute(const ffi::Attributes& attributes, std::string_view name) {
  for (std::int64_t i = 0; i < attributes.count; i++) {
    const ffi::Bytes& own = *attributes.names[i];
    if (std::string_view(own.data, own.size) != name) continue;
    if (attributes.kinds[i] != ffi::string_attribute) break;
    const auto& text = *static_cast<const ffi::Bytes*>(attributes.values[i]);
    return {text.data, text.size};
  }
  throw Error("host callback: the program's call has no string \"" + std::string(name) + "\"");
}

// When a handler is registered, XLA asks which version of the interface it was made for. Ours uses
// only what all versions 0.x have, so it is made for the one that asks.
bool answer_metadata(const ffi::Call& call) {
  for (ffi::Extension* extension = call.extensions; extension != nullptr;
       extension = extension->next) {
    if (extension->type != ffi::metadata_extension) continue;
    ffi::Version& version = reinterpret_cast<ffi::MetadataExtension*>(extension)->metadata->version;
    version.major = 0;
    version.minor = call.functions == nullptr ? 1 : call.functions->version.minor;
    return true;
  }
  return false;
}

ffi::Error* failure(const ffi::Functions* functions, const char* message) noexcept {
  constexpr int internal_error = 13;
  ffi::ErrorCreateArguments arguments{sizeof(arguments), nullptr, message, internal_error};
  return functions->create_error(&arguments);
}

/// The threads that run the program which makes a call.
class PluginThreads final : public internal::Threads {
 public:
  explicit PluginThreads(const ffi::Call& call) : call_(call) {}

  std::int64_t count() const override {
    std::int64_t count = 1;
    if (call_.functions->struct_size < sizeof(ffi::Functions)) return count;
    ffi::ThreadCountArguments arguments{sizeof(arguments), nullptr, call_.context, &count};
    return succeeds(call_.functions->thread_count(&arguments)) ? count : 1;
  }
  bool schedule(void (*task)(void*), void* data) const override {
    ffi::ScheduleArguments arguments{sizeof(arguments), nullptr, call_.context, task, data};
    return succeeds(call_.functions->schedule(&arguments));
  }

 private:
  bool succeeds(ffi::Error* error) const {
    if (error == nullptr) return true;
    ffi::ErrorDestroyArguments arguments{sizeof(arguments), nullptr, error};
    call_.functions->destroy_error(&arguments);
    return false;
  }
  const ffi::Call& call_;
};

// What XLA calls. No exception may leave it.
ffi::Error* handle(ffi::Call* call) noexcept {
  if (answer_metadata(*call)) return nullptr;
  if (call->struct_size < sizeof(ffi::Call)) {
    return failure(call->functions,
                   "host callback: the plugin's foreign function interface is too old. Use a newer "
                   "plugin");
  }
  try {
    auto callback = find_callback(string_attribute(call->attributes, "callback"));
    std::vector<HostArray> arguments = host_arrays(call->arguments);
    std::vector<HostArray> results = host_arrays(call->results);
    PluginThreads threads(*call);
    (*callback)({string_attribute(call->attributes, "parameter"), arguments, results, &threads});
    return nullptr;
  } catch (const std::exception& error) {
    return failure(call->functions, error.what());
  } catch (...) {
    return failure(call->functions, "host callback: it threw something that is no std::exception");
  }
}

}  // namespace

void add_host_callback(const std::string& name, HostCallback callback) {
  auto shared = std::make_shared<const HostCallback>(std::move(callback));
  std::lock_guard lock(callbacks().mutex);
  callbacks().by_name[name] = std::move(shared);
}

namespace internal {

std::string register_host_callbacks(const Api& api) {
  const PJRT_Extension_Base* found = api.extension(PJRT_Extension_Type_FFI);
  if (found == nullptr) return "it has no foreign function interface";
  if (found->struct_size < sizeof(ffi::PjrtExtension)) {
    return "its foreign function interface cannot register functions";
  }
  auto* extension = reinterpret_cast<const ffi::PjrtExtension*>(found);
  constexpr std::string_view platform = "Host";
  ffi::RegisterArguments arguments{ffi::register_size,
                                   host_callback_target.data(),
                                   host_callback_target.size(),
                                   reinterpret_cast<void*>(&handle),
                                   platform.data(),
                                   platform.size(),
                                   0};
  if (PJRT_Error* error = extension->register_handler(&arguments)) {
    return api.to_exception(error, "PJRT_FFI_Register_Handler").what();
  }
  return {};
}

void check_host_callbacks(const Client& client) {
  std::string why = client.plugin().no_host_callbacks();
  std::string platform = client.platform_name();
  if (why.empty() && platform != "cpu") {
    why = "on " + platform + " the arrays are not in the host's memory";
  }
  if (why.empty()) return;
  throw Error("host callback: programs of the plugin " + client.plugin().path().string() +
              " cannot call functions of the host: " + why +
              ". Run the function on the CPU, or without debug_print");
}

}  // namespace internal
}  // namespace sturnus
