// The part of XLA's foreign function interface that host callbacks need, as plain structs. The
// layouts are those of version 0.x of its C API (xla/ffi/api/c_api.h) and of PJRT's extension for
// it (xla/pjrt/c/pjrt_c_api_ffi_extension.h), OpenXLA, Apache License 2.0. Every struct begins with
// its size: newer versions append fields, older ones are refused by their size.
#pragma once

#include <cstddef>
#include <cstdint>

#include "pjrt_c_api.h"

namespace sturnus::internal::ffi {

struct Extension {
  std::size_t struct_size;
  int type;
  Extension* next;
};
inline constexpr int metadata_extension = 1;

struct Version {
  std::size_t struct_size;
  Extension* extensions;
  int major;
  int minor;
};

/// Asked for when a handler is registered: the version it was made for.
struct Metadata {
  std::size_t struct_size;
  Version version;
};
struct MetadataExtension {
  Extension base;
  Metadata* metadata;
};

struct Error;
struct ErrorCreateArguments {
  std::size_t struct_size;
  Extension* extensions;
  const char* message;
  int code;
};

struct ErrorDestroyArguments {
  std::size_t struct_size;
  Extension* extensions;
  Error* error;
};

struct ScheduleArguments {
  std::size_t struct_size;
  Extension* extensions;
  void* context;
  void (*task)(void* data);
  void* data;
};
struct ThreadCountArguments {
  std::size_t struct_size;
  Extension* extensions;
  void* context;
  std::int64_t* count;
};

/// The threads at its end are missing in older versions.
struct Functions {
  std::size_t struct_size;
  Extension* extensions;
  Version version;
  const void* internal;
  Error* (*create_error)(ErrorCreateArguments*);
  void* error_message;
  void (*destroy_error)(ErrorDestroyArguments*);
  void* others[8];  // handlers, streams, states, memory
  Error* (*schedule)(ScheduleArguments*);
  Error* (*thread_count)(ThreadCountArguments*);
};
struct Buffer {
  std::size_t struct_size;
  Extension* extensions;
  int element_type;
  void* data;
  std::int64_t rank;
  std::int64_t* extents;
};

/// Arguments or results; `kinds` are 1 for buffers.
struct Values {
  std::size_t struct_size;
  Extension* extensions;
  std::int64_t count;
  int* kinds;
  void** values;
};

struct Bytes {
  const char* data;
  std::size_t size;
};

struct Attributes {
  std::size_t struct_size;
  Extension* extensions;
  std::int64_t count;
  int* kinds;
  Bytes** names;
  void** values;
};
inline constexpr int string_attribute = 4;

struct Call {
  std::size_t struct_size;
  Extension* extensions;
  const Functions* functions;
  void* context;
  int stage;
  Values arguments;
  Values results;
  Attributes attributes;
};

/// An early form had one more field in the middle. Plugins of that time ask for a larger
/// struct_size than `register_size`, and so refuse this one.
struct RegisterArguments {
  std::size_t struct_size;
  const char* target;
  std::size_t target_size;
  void* handler;
  const char* platform;
  std::size_t platform_size;
  int traits;
};
inline constexpr std::size_t register_size = offsetof(RegisterArguments, traits) + sizeof(int);

/// PJRT's extension.
struct PjrtExtension {
  PJRT_Extension_Base base;
  void* register_type;
  void* add_user_data;
  PJRT_Error* (*register_handler)(RegisterArguments*);
};

}  // namespace sturnus::internal::ffi
