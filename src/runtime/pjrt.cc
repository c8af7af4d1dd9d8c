#include "src/runtime/pjrt.h"

#include <charconv>
#include <cstring>
#include <vector>

namespace sturnus {

std::string to_string(const NamedValue& value) {
  struct Printer {
    std::string operator()(const std::string& text) const { return text; }
    std::string operator()(std::int64_t number) const { return std::to_string(number); }
    std::string operator()(float number) const { return std::to_string(number); }
    std::string operator()(bool flag) const { return flag ? "true" : "false"; }
    std::string operator()(const std::vector<std::int64_t>& numbers) const {
      std::string text;
      for (std::int64_t number : numbers) {
        if (!text.empty()) text += '.';
        text += std::to_string(number);
      }
      return text;
    }
  };
  return std::visit(Printer{}, value);
}

namespace internal {
namespace {

constexpr std::array<PJRT_Buffer_Type, dtype_count> buffer_types = {
    PJRT_Buffer_Type_PRED, PJRT_Buffer_Type_S8,  PJRT_Buffer_Type_S16,  PJRT_Buffer_Type_S32,
    PJRT_Buffer_Type_S64,  PJRT_Buffer_Type_U8,  PJRT_Buffer_Type_U16,  PJRT_Buffer_Type_U32,
    PJRT_Buffer_Type_U64,  PJRT_Buffer_Type_F16, PJRT_Buffer_Type_BF16, PJRT_Buffer_Type_F32,
    PJRT_Buffer_Type_F64,  PJRT_Buffer_Type_C64, PJRT_Buffer_Type_C128};

}  // namespace

void Api::destroy(PJRT_Error* error) const noexcept {
  Request<PJRT_Error_Destroy_Args> request;
  request.error = error;
  table_->PJRT_Error_Destroy(&request);
}

RuntimeError Api::to_exception(PJRT_Error* error, std::string_view call) const {
  Request<PJRT_Error_GetCode_Args> code;
  code.error = error;
  code.code = PJRT_Error_Code_UNKNOWN;
  if (PJRT_Error* nested = attempt<&PJRT_Api::PJRT_Error_GetCode>(code)) destroy(nested);
  std::string message(message_of(error));
  destroy(error);
  return RuntimeError(std::string(call), static_cast<ErrorCode>(code.code), std::move(message));
}

std::string_view Api::message_of(const PJRT_Error* error) const noexcept {
  Request<PJRT_Error_Message_Args> request;
  request.error = error;
  table_->PJRT_Error_Message(&request);
  return request.message == nullptr ? std::string_view()
                                    : std::string_view(request.message, request.message_size);
}

std::size_t size_asked_for(std::string_view message, std::string_view name,
                           std::string_view suffix) noexcept {
  for (std::string_view expected :
       {std::string_view("Unexpected "), name, suffix, std::string_view(" size: expected ")}) {
    if (message.substr(0, expected.size()) != expected) return 0;
    message.remove_prefix(expected.size());
  }
  std::size_t size = 0;
  std::from_chars(message.data(), message.data() + message.size(), size);
  return size;
}

const PJRT_Extension_Base* Api::extension(PJRT_Extension_Type type) const {
  // By its bytes: a newer plugin has types that our enumeration cannot hold.
  auto is_asked_for = [type](const PJRT_Extension_Base& extension) {
    return std::memcmp(&extension.type, &type, sizeof type) == 0;
  };
  const PJRT_Extension_Base* extension = table_->extension_start;
  while (extension != nullptr && !is_asked_for(*extension)) extension = extension->next;
  return extension;
}

void Api::throw_missing(std::string_view function) const {
  throw RuntimeError(std::string(function), ErrorCode::unimplemented,
                     "the plugin " + plugin_ + " (PJRT API " + std::to_string(major()) + "." +
                         std::to_string(minor()) +
                         ") does not have this function; Sturnus was built for " +
                         std::to_string(PJRT_API_MAJOR) + "." + std::to_string(PJRT_API_MINOR) +
                         ". Use a newer plugin");
}

PJRT_Buffer_Type to_pjrt(DType dtype) { return buffer_types[static_cast<std::size_t>(dtype)]; }

DType from_pjrt(PJRT_Buffer_Type type) {
  for (std::size_t i = 0; i < buffer_types.size(); i++) {
    if (buffer_types[i] == type) return static_cast<DType>(i);
  }
  throw Error(
      "Buffer: the plugin's element type " + std::to_string(static_cast<int>(type)) +
      " has no host type in Sturnus. Convert it on the device to one of f16, bf16, f32, ...");
}

NamedValues from_pjrt(const PJRT_NamedValue* values, std::size_t count) {
  NamedValues result;
  if (values == nullptr) return result;
  for (std::size_t i = 0; i < count; i++) {
    const PJRT_NamedValue& value = values[i];
    NamedValue& slot = result[std::string(value.name, value.name_size)];
    switch (value.type) {
      case PJRT_NamedValue_kString:
        slot = std::string(value.string_value, value.value_size);
        break;
      case PJRT_NamedValue_kInt64:
        slot = value.int64_value;
        break;
      case PJRT_NamedValue_kInt64List:
        slot = std::vector(value.int64_array_value, value.int64_array_value + value.value_size);
        break;
      case PJRT_NamedValue_kFloat:
        slot = value.float_value;
        break;
      case PJRT_NamedValue_kBool:
        slot = value.bool_value;
        break;
    }
  }
  return result;
}

std::vector<PJRT_NamedValue> to_pjrt(const NamedValues& values) {
  struct Writer {
    PJRT_NamedValue& out;
    void operator()(const std::string& text) const {
      out.type = PJRT_NamedValue_kString;
      out.string_value = text.data();
      out.value_size = text.size();
    }
    void operator()(std::int64_t number) const {
      out.type = PJRT_NamedValue_kInt64;
      out.int64_value = number;
    }
    void operator()(const std::vector<std::int64_t>& numbers) const {
      out.type = PJRT_NamedValue_kInt64List;
      out.int64_array_value = numbers.data();
      out.value_size = numbers.size();
    }
    void operator()(float number) const {
      out.type = PJRT_NamedValue_kFloat;
      out.float_value = number;
    }
    void operator()(bool flag) const {
      out.type = PJRT_NamedValue_kBool;
      out.bool_value = flag;
    }
  };
  std::vector<PJRT_NamedValue> result;
  for (const auto& [name, value] : values) {
    PJRT_NamedValue out{};
    out.struct_size = PJRT_NamedValue_STRUCT_SIZE;
    out.name = name.data();
    out.name_size = name.size();
    out.value_size = 1;
    std::visit(Writer{out}, value);
    result.push_back(out);
  }
  return result;
}

Request<PJRT_Program> stablehlo_program(std::string_view text) {
  static constexpr std::string_view format = "mlir";
  Request<PJRT_Program> program;
  program.code = const_cast<char*>(text.data());
  program.code_size = text.size();
  program.format = format.data();
  program.format_size = format.size();
  return program;
}

}  // namespace internal
}  // namespace sturnus
