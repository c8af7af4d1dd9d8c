// The programs of the fake plugin, and the formats that they and their options are written in.
#pragma once

#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "tests/runtime/fake_plugin_parts.h"

namespace fake {

// ------------------------------- Named values, protobuf wire format ------------------------------

// A view of a name and a value, which must outlive it.
template <class T>
PJRT_NamedValue named(std::string_view name, const T& value) {
  PJRT_NamedValue out{PJRT_NamedValue_STRUCT_SIZE, nullptr, name.data(), name.size(), {}, {}, 1};
  if constexpr (std::is_same_v<T, float>) {
    out.type = PJRT_NamedValue_kFloat;
    out.float_value = value;
  } else if constexpr (std::is_same_v<T, int64_t>) {
    out.type = PJRT_NamedValue_kInt64;
    out.int64_value = value;
  } else if constexpr (std::is_same_v<T, Dims>) {
    out.type = PJRT_NamedValue_kInt64List;
    out.int64_array_value = value.data();
    out.value_size = value.size();
  } else {
    out.type = PJRT_NamedValue_kString;
    out.string_value = value;
    out.value_size = std::strlen(value);
  }
  return out;
}

using Options = std::map<std::string, std::string>;

inline Options options_of(const PJRT_NamedValue* list, size_t count) {
  Options options;
  for (const PJRT_NamedValue* in = list; in != list + count; ++in) {
    std::string& out = options[std::string(in->name, in->name_size)];
    if (in->type == PJRT_NamedValue_kString) out.assign(in->string_value, in->value_size);
    if (in->type == PJRT_NamedValue_kInt64) out = std::to_string(in->int64_value);
    if (in->type == PJRT_NamedValue_kFloat) out = std::to_string(in->float_value);
    if (in->type == PJRT_NamedValue_kBool) out = in->bool_value ? "true" : "false";
    if (in->type != PJRT_NamedValue_kInt64List) continue;
    for (size_t i = 0; i < in->value_size; ++i) {
      out += (i ? "," : "") + std::to_string(in->int64_array_value[i]);
    }
  }
  return options;
}

inline std::string lines_of(const Options& options) {
  std::string text;
  for (const auto& [name, value] : options) text += name + "=" + value + "\n";
  return text;
}

inline std::string varint(uint64_t value) {
  std::string bytes;
  for (; value > 127; value >>= 7) bytes += static_cast<char>(value | 128);
  return bytes += static_cast<char>(value);
}
inline std::string field(uint64_t id, uint64_t value) { return varint(id << 3) + varint(value); }
inline std::string field(uint64_t id, const std::string& bytes) {
  return varint(id << 3 | 2) + varint(bytes.size()) + bytes;
}
inline std::string packed(uint64_t id, const Dims& values) {
  std::string bytes;
  for (int64_t value : values) bytes += varint(value);
  return field(id, bytes);
}

// Calls visit(id, number, bytes) for each field of a message.
void for_each_field(std::string_view message, const char* what, auto visit) {
  const auto take = [&](size_t size) {
    if (size > message.size()) invalid(std::string("failed to deserialize ") + what);
    const std::string_view taken = message.substr(0, size);
    message.remove_prefix(size);
    return taken;
  };
  const auto read = [&] {
    uint64_t value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      const uint64_t byte = static_cast<unsigned char>(take(1)[0]);
      value |= (byte & 127) << shift;
      if (byte < 128) break;
    }
    return value;
  };
  while (!message.empty()) {
    const uint64_t key = read(), type = key & 7;
    const uint64_t value = type == 0 ? read() : 0;
    const size_t size = type == 0 ? 0 : type == 1 ? 8 : type == 2 ? read() : type == 5 ? 4 : -1;
    visit(key >> 3, value, take(size));
  }
}

// ------------------------------------------ Programs ---------------------------------------------

// What stands behind each `marker`, as far as it consists of `letters`.
inline std::vector<std::string> behind(const std::string& text, const std::string& marker,
                                       const char* letters) {
  std::vector<std::string> found;
  for (size_t at = 0; (at = text.find(marker, at)) != std::string::npos;) {
    at += marker.size();
    found.push_back(text.substr(at, text.find_first_not_of(letters, at) - at));
  }
  return found;
}

struct Program {
  Program(std::string text, std::string options);

  size_t devices() const { return replicas * partitions; }
  size_t bytes(auto selects) const {
    size_t sum = 0;
    for (size_t i = 0; i < types.size(); ++i) sum += selects(i) ? types[i].bytes() : 0;
    return sum;
  }
  std::string hlo() const;

  std::string text, options, name = "main", fingerprint;
  std::vector<Type> types;  // of parameters and of results
  bool negates;
  std::set<int64_t> donated;
  size_t replicas = 1, partitions = 1;
  std::vector<Dims> assignment;  // device ids by partition, replica; empty for the first devices

  // What the C API points to.
  std::vector<PJRT_Buffer_Type> element_types;
  Dims dims;
  std::vector<size_t> ranks;
  std::vector<PJRT_NamedValue> cost;
};

inline Program::Program(std::string text_in, std::string options_in)
    : text(std::move(text_in)), options(std::move(options_in)) {
  if (options.empty()) die("empty compile options");
  if (const size_t at = text.find("fake.syntax_error"); at != std::string::npos) {
    const auto line = std::count(text.begin(), text.begin() + at, '\n') + 1;
    const size_t column = at - (text.rfind('\n', at) + 1) + 1;  // npos + 1 is 0, the first line
    invalid("-:" + std::to_string(line) + ":" + std::to_string(column) +
            ": error: Dialect `fake' not found for custom op 'fake.syntax_error'\n");
  }
  negates = text.find("fake.negate_f32") != std::string::npos;
  const char* letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_0123456789<>";
  for (const std::string& found : behind(text, "module @", letters)) name = found;
  for (const std::string& index : behind(text, "fake.donate:", "0123456789")) {
    donated.insert(std::stol(index));
  }
  const auto parameter = [&] { return "%arg" + std::to_string(types.size()) + ": tensor<"; };
  for (auto found = behind(text, parameter(), letters); !found.empty();
       found = behind(text, parameter(), letters)) {
    const char* at = found[0].c_str();
    Dims shape;
    for (char* end; std::isdigit(*at); at = end + 1) shape.push_back(std::strtol(at, &end, 10));
    const std::string_view mlir(at, std::strlen(at) - 1);  // without the last >
    types.emplace_back(find_dtype([&](const Dtype& d) { return d.mlir == mlir; }), shape);
    element_types.push_back(types.back().element.type);
    dims.insert(dims.end(), shape.begin(), shape.end());
    ranks.push_back(shape.size());
  }
  const float read = bytes([](size_t) { return true; });
  cost = {named("bytes accessed", 2 * read), named("flops", negates ? read / 4 : 0.0f)};

  char digits[17];
  std::snprintf(digits, sizeof digits, "%016zx", std::hash<std::string>()(options + '\n' + text));
  fingerprint = digits;

  constexpr auto kProto = "CompileOptionsProto";
  for_each_field(options, kProto, [&](uint64_t id, uint64_t, std::string_view build_options) {
    if (id != 3) return;
    for_each_field(build_options, kProto, [&](uint64_t id, uint64_t value, std::string_view bytes) {
      if (id == 4) replicas = value;
      if (id == 5) partitions = value;
      if (id != 9) return;
      for_each_field(bytes, kProto, [&](uint64_t id, uint64_t, std::string_view of_partition) {
        if (id != 3) return;
        for_each_field(of_partition, kProto, [&](uint64_t, uint64_t, std::string_view ids) {
          assignment.emplace_back(ids.begin(), ids.end());  // ids below 128 are one byte each
        });
      });
    });
  });
}

// An HloModuleProto: an instruction per parameter and per result, a tuple unless there is one.
inline std::string Program::hlo() const {
  std::string instructions, parameters, shapes, shape;
  Dims results;
  const auto instruction = [&](const char* opcode, int64_t id, const std::string& shape,
                               const std::string& rest) {
    instructions += field(2, field(1, opcode + ("." + std::to_string(id))) + field(2, opcode) +
                                 field(3, shape) + field(35, id) + rest);
  };
  for (const Type& type : types) {
    shape = field(2, type.element.hlo) + packed(3, type.dims) +
            field(5, packed(1, layout_of(type.dims.size(), nullptr, false)));
    const int64_t id = 2 * results.size() + 1;
    instruction("parameter", id, shape, field(9, results.size()));
    instruction(negates ? "negate" : "copy", id + 1, shape, packed(36, {id}));
    results.push_back(id + 1);
    parameters += field(1, shape) + field(3, "p" + std::to_string(id));
    shapes += field(4, shape);
  }
  int64_t root = 2 * results.size();
  if (results.size() != 1) {
    shape = field(2, 13) + shapes;
    instruction("tuple", ++root, shape, packed(36, results));
  }
  const std::string signature = parameters + field(2, shape);
  const std::string main = field(1, "main") + instructions + field(4, signature) + field(5, 1);
  return field(1, name) + field(2, "main") + field(3, main + field(6, root)) + field(4, signature) +
         field(6, 1);
}

}  // namespace fake
