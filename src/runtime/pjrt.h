// The PJRT C API as C++: one template calls any of its functions.
//
//   auto reply = api.call<&PJRT_Api::PJRT_Client_Devices>([&](auto& args) { args.client = client;
//   }); use(reply.devices, reply.num_devices);
//
// `call` zeroes the arguments, sets struct_size, refuses functions that the plugin lacks, and turns
// a PJRT_Error into a RuntimeError that names the function. Versions are reconciled here and
// nowhere else: fields that an older plugin does not write read as zero, and a newer plugin that
// wants longer arguments gets them padded with zeros, which is what an absent field means.
#pragma once

#include <sturnus/runtime/dtype.h>
#include <sturnus/runtime/error.h>
#include <sturnus/runtime/named_value.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "pjrt_c_api.h"

namespace sturnus::internal {

template <class Function>
struct ArgumentsOf;
template <class Result, class Args>
struct ArgumentsOf<Result (*)(Args*)> {
  using type = Args;
};

template <auto Member>
using MemberType = std::remove_reference_t<decltype(std::declval<PJRT_Api&>().*Member)>;

/// The arguments of a C function, zeroed, with room behind them for fields of newer minors.
template <class Args>
struct Request : Args {
  std::array<std::byte, 128> newer_fields;

  Request() {
    std::memset(static_cast<void*>(this), 0, sizeof(*this));
    this->struct_size = sizeof(Args);
  }
};

/// N in the plugin's complaint "Unexpected PJRT_X_Args size: expected N, got M" about the struct
/// `name` + `suffix`, 0 in any other message.
std::size_t size_asked_for(std::string_view message, std::string_view name,
                           std::string_view suffix = "") noexcept;

/// Makes `nested`, a struct that arguments point to, as long as the plugin that gave `error` wants
/// it. False when the error is about something else.
template <class Nested>
bool grow(Request<Nested>& nested, std::string_view name, const RuntimeError& error) {
  std::size_t size = size_asked_for(error.detail(), name);
  if (size <= nested.struct_size || size > sizeof(nested)) return false;
  nested.struct_size = size;
  return true;
}

/// "PJRT_Client_Create" for &PJRT_Api::PJRT_Client_Create.
template <auto Member>
constexpr std::string_view function_name() {
  std::string_view text = __PRETTY_FUNCTION__;
  constexpr std::string_view marker = "PJRT_Api::";
  text.remove_prefix(text.find(marker) + marker.size());
  return text.substr(0, text.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                               "abcdefghijklmnopqrstuvwxyz0123456789_"));
}

class Api {
 public:
  Api(const PJRT_Api* table, std::string plugin) : table_(table), plugin_(std::move(plugin)) {}

  int major() const { return table_->pjrt_api_version.major_version; }
  int minor() const { return table_->pjrt_api_version.minor_version; }

  /// The plugin's extension of this type, or null.
  const PJRT_Extension_Base* extension(PJRT_Extension_Type type) const;

  template <auto Member>
  bool has() const {
    // The table of an older plugin is shorter than ours: never read past its end.
    return offset_of<Member>() + sizeof(void*) <= table_->struct_size && table_->*Member != nullptr;
  }

  template <auto Member, class Fill>
  auto call(Fill&& fill) const {
    Request<typename ArgumentsOf<MemberType<Member>>::type> request;
    fill(request);
    invoke<Member>(request);
    return request;
  }

  /// Like `call`, for arguments that point to `nested`, of which newer plugins may want more.
  template <auto Member, class Nested, class Fill>
  auto call_with(Request<Nested>& nested, std::string_view nested_name, Fill&& fill) const {
    try {
      return call<Member>(fill);
    } catch (const RuntimeError& error) {
      if (!grow(nested, nested_name, error)) throw;
    }
    return call<Member>(fill);
  }

  /// Like `call`, for destructors: what fails is dropped, since there is nobody to tell.
  template <auto Member, class Fill>
  void call_quietly(Fill&& fill) const noexcept {
    if (!has<Member>()) return;
    Request<typename ArgumentsOf<MemberType<Member>>::type> request;
    fill(request);
    if (PJRT_Error* error = attempt<Member>(request)) destroy(error);
  }

  /// Takes ownership of `error` and makes the exception it stands for.
  RuntimeError to_exception(PJRT_Error* error, std::string_view call) const;
  void destroy(PJRT_Error* error) const noexcept;

 private:
  template <auto Member>
  std::size_t offset_of() const {
    return static_cast<std::size_t>(reinterpret_cast<const char*>(&(table_->*Member)) -
                                    reinterpret_cast<const char*>(table_));
  }

  template <auto Member, class Arguments>
  PJRT_Error* attempt(Arguments& request) const noexcept {
    auto& wanted = wanted_sizes_[offset_of<Member>() / sizeof(void*)];
    if (auto size = wanted.load(std::memory_order_relaxed)) request.struct_size = size;
    PJRT_Error* error = (table_->*Member)(&request);
    if (error == nullptr) return nullptr;
    std::size_t size = size_asked_for(message_of(error), function_name<Member>(), "_Args");
    if (size <= request.struct_size || size > sizeof(request)) return error;
    destroy(error);
    wanted.store(static_cast<std::uint16_t>(size), std::memory_order_relaxed);
    request.struct_size = size;
    return (table_->*Member)(&request);
  }

  template <auto Member, class Arguments>
  void invoke(Arguments& request) const {
    if (!has<Member>()) throw_missing(function_name<Member>());
    if (PJRT_Error* error = attempt<Member>(request)) {
      throw to_exception(error, function_name<Member>());
    }
  }

  std::string_view message_of(const PJRT_Error* error) const noexcept;
  [[noreturn]] void throw_missing(std::string_view function) const;

  const PJRT_Api* table_;
  std::string plugin_;
  // Per function: the struct_size that this plugin asked for, 0 while ours was good enough.
  mutable std::array<std::atomic<std::uint16_t>, sizeof(PJRT_Api) / sizeof(void*)> wanted_sizes_{};
};

/// A PJRT handle that is destroyed with its owner. `Field` is where `Destroy` takes the handle.
template <auto Destroy, auto Field>
class Handle {
 public:
  using Pointer = std::remove_reference_t<
      decltype(std::declval<typename ArgumentsOf<MemberType<Destroy>>::type&>().*Field)>;

  Handle() = default;
  Handle(const Api& api, Pointer handle) : api_(&api), handle_(handle) {}
  Handle(Handle&& other) noexcept
      : api_(other.api_), handle_(std::exchange(other.handle_, nullptr)) {}
  Handle& operator=(Handle&& other) noexcept {
    std::swap(api_, other.api_);
    std::swap(handle_, other.handle_);
    return *this;
  }
  ~Handle() {
    if (handle_ == nullptr) return;
    api_->call_quietly<Destroy>([this](auto& args) { args.*Field = handle_; });
  }

  Pointer get() const { return handle_; }
  const Api& api() const { return *api_; }

 private:
  const Api* api_ = nullptr;
  Pointer handle_ = nullptr;
};

using ClientHandle = Handle<&PJRT_Api::PJRT_Client_Destroy, &PJRT_Client_Destroy_Args::client>;
using EventHandle = Handle<&PJRT_Api::PJRT_Event_Destroy, &PJRT_Event_Destroy_Args::event>;
using BufferHandle = Handle<&PJRT_Api::PJRT_Buffer_Destroy, &PJRT_Buffer_Destroy_Args::buffer>;
using ExecutableHandle =
    Handle<&PJRT_Api::PJRT_Executable_Destroy, &PJRT_Executable_Destroy_Args::executable>;
using LoadedExecutableHandle = Handle<&PJRT_Api::PJRT_LoadedExecutable_Destroy,
                                      &PJRT_LoadedExecutable_Destroy_Args::executable>;
using TopologyHandle = Handle<&PJRT_Api::PJRT_TopologyDescription_Destroy,
                              &PJRT_TopologyDescription_Destroy_Args::topology>;

PJRT_Buffer_Type to_pjrt(DType dtype);
/// The DType of an element type; throws for those that Sturnus has no host type for.
DType from_pjrt(PJRT_Buffer_Type type);

std::map<std::string, NamedValue> from_pjrt(const PJRT_NamedValue* values, std::size_t count);
/// C views of `values`, which must outlive the result.
std::vector<PJRT_NamedValue> to_pjrt(const std::map<std::string, NamedValue>& values);

/// A program that refers to StableHLO text, which must outlive it.
Request<PJRT_Program> stablehlo_program(std::string_view text);

}  // namespace sturnus::internal
