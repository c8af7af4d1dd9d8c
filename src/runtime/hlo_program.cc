#include <sturnus/runtime/error.h>
#include <sturnus/runtime/hlo_program.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <unordered_set>

#include "src/runtime/wire.h"

// Field and enum numbers are those of xla/service/hlo.proto and xla/xla_data.proto in openxla/xla.

namespace sturnus {
namespace {

using internal::WireField;
using internal::WireReader;

constexpr std::int64_t tuple_type = 13;

// By PrimitiveType; Sturnus has none for those that follow.
constexpr std::array<std::optional<DType>, 19> dtypes = {
    std::nullopt, DType::boolean, DType::i8,   DType::i16,   DType::i32, DType::i64, DType::u8,
    DType::u16,   DType::u32,     DType::u64,  DType::f16,   DType::f32, DType::f64, std::nullopt,
    std::nullopt, DType::c64,     DType::bf16, std::nullopt, DType::c128};

std::optional<DType> dtype_of_primitive(std::int64_t primitive_type) {
  auto index = static_cast<std::uint64_t>(primitive_type);
  return index < dtypes.size() ? dtypes[index] : std::nullopt;
}

// Whether no extent is negative and the size in bytes, zero extents aside, is an int64.
bool is_countable(const ArrayType& type) {
  auto bytes = static_cast<std::int64_t>(size_of(type.dtype));
  return std::all_of(type.shape.begin(), type.shape.end(), [&](std::int64_t extent) {
    return extent >= 0 && !__builtin_mul_overflow(bytes, std::max<std::int64_t>(extent, 1), &bytes);
  });
}

void append(std::vector<std::int64_t>& all, const std::vector<std::int64_t>& more) {
  all.insert(all.end(), more.begin(), more.end());
}

// Appends the leaves of a ShapeProto.
void append_types(HloTypes& types, const WireField& shape, int depth = 0) {
  constexpr int deepest = 100;  // protobuf's own limit
  if (depth > deepest) {
    throw Error("parse_hlo: tuples are nested deeper than " + std::to_string(deepest) +
                " levels at byte " + std::to_string(shape.offset) + ". The program is damaged.");
  }
  std::int64_t element = 0;
  Shape extents;
  bool dynamic = false;
  std::vector<WireField> parts;
  for (const WireField& field : WireReader(shape)) {
    switch (field.number) {
      case 2:
        element = field.value;
        break;
      case 3:
        append(extents, field.integers());
        break;
      case 4:
        parts.push_back(field);
        break;
      case 6: {
        auto flags = field.integers();
        dynamic |= std::any_of(flags.begin(), flags.end(), [](auto flag) { return flag != 0; });
        break;
      }
    }
  }
  if (element == tuple_type) {
    for (const WireField& part : parts) append_types(types, part, depth + 1);
    return;
  }
  types.emplace_back();
  auto dtype = dtype_of_primitive(element);
  if (!dtype || dynamic) return;
  ArrayType type{*dtype, std::move(extents)};
  if (is_countable(type)) types.back() = std::move(type);
}

// From a WhileLoopBackendConfig, which XLA keeps as JSON: {"known_trip_count":{"n":"10"}, ...}.
std::optional<std::int64_t> known_trip_count(std::string_view config) {
  constexpr std::string_view key = R"("known_trip_count":{"n":")";
  auto at = config.find(key);
  if (at == std::string_view::npos) return std::nullopt;
  config.remove_prefix(at + key.size());
  std::int64_t count = 0;
  auto [end, error] = std::from_chars(config.data(), config.data() + config.size(), count);
  if (error != std::errc() || count < 0) return std::nullopt;
  return count;
}

HloInstruction read_instruction(const WireField& message) {
  HloInstruction instruction;
  std::string_view backend_config;
  for (const WireField& field : WireReader(message)) {
    switch (field.number) {
      case 1:
        instruction.name = field.bytes;
        break;
      case 2:
        instruction.opcode = field.bytes;
        break;
      case 3:
        append_types(instruction.results, field);
        break;
      case 11:
        instruction.fusion_kind = field.bytes;
        break;
      case 28:
        instruction.custom_call_target = field.bytes;
        break;
      case 35:
        instruction.id = field.value;
        break;
      case 36:
        append(instruction.operand_ids, field.integers());
        break;
      case 38:
        append(instruction.called_ids, field.integers());
        break;
      case 43:
        backend_config = field.bytes;
        break;
    }
  }
  if (instruction.opcode == "while") instruction.trip_count = known_trip_count(backend_config);
  return instruction;
}

HloComputation read_computation(const WireField& message) {
  HloComputation computation;
  for (const WireField& field : WireReader(message)) {
    switch (field.number) {
      case 1:
        computation.name = field.bytes;
        break;
      case 2:
        computation.instructions.push_back(read_instruction(field));
        break;
      case 5:
        computation.id = field.value;
        break;
    }
  }
  return computation;
}

HloSignature read_signature(const WireField& program_shape) {
  HloSignature signature;
  for (const WireField& field : WireReader(program_shape)) {
    switch (field.number) {
      case 1:
        append_types(signature.parameters, field);
        break;
      case 2:
        append_types(signature.results, field);
        break;
    }
  }
  return signature;
}

// The HloModuleProto in `bytes`.
WireField module_of(std::string_view bytes, std::string_view format) {
  WireField module{.type = internal::WireType::bytes};
  if (format == "hlo") {
    module.bytes = bytes;
  } else if (format == "hlo_with_config") {
    for (const WireField& field : WireReader(bytes)) {
      if (field.number == 1) module = field;
    }
  } else {
    throw Error("parse_hlo: the program has the format '" + std::string(format) +
                "', and only 'hlo' and 'hlo_with_config' can be read.");
  }
  return module;
}

void check_calls(const HloProgram& program) {
  std::unordered_set<std::int64_t> before;
  for (const HloComputation& computation : program.computations) {
    for (const HloInstruction& instruction : computation.instructions) {
      for (std::int64_t callee : instruction.called_ids) {
        if (before.contains(callee)) continue;
        throw Error("parse_hlo: instruction '" + instruction.name + "' calls computation " +
                    std::to_string(callee) + ", which does not stand before its caller '" +
                    computation.name + "'. The program is damaged.");
      }
    }
    if (!before.insert(computation.id).second) {
      throw Error("parse_hlo: two computations have the id " + std::to_string(computation.id) +
                  ". The program is damaged.");
    }
  }
  if (!before.contains(program.entry_id)) {
    throw Error("parse_hlo: the program has no computation " + std::to_string(program.entry_id) +
                ", which is its entry. It is cut off or damaged.");
  }
}

}  // namespace

HloProgram parse_hlo(std::string_view bytes, std::string_view format) {
  HloProgram program;
  for (const WireField& field : WireReader(module_of(bytes, format))) {
    switch (field.number) {
      case 1:
        program.name = field.bytes;
        break;
      case 3:
        program.computations.push_back(read_computation(field));
        break;
      case 4:
        program.signature = read_signature(field);
        break;
      case 6:
        program.entry_id = field.value;
        break;
    }
  }
  check_calls(program);
  return program;
}

HloSignature entry_signature(std::string_view bytes, std::string_view format) {
  for (const WireField& field : WireReader(module_of(bytes, format))) {
    if (field.number == 4) return read_signature(field);
  }
  throw Error("entry_signature: the program says nothing of its parameters. It is damaged.");
}

std::string to_string(const HloProgram& program) {
  auto types = [](const HloTypes& list) {
    std::string text;
    for (const auto& type : list) text += (text.empty() ? "" : ", ") + (type ? type->str() : "?");
    return list.size() == 1 ? text : "(" + text + ")";
  };
  std::map<std::int64_t, std::string> names;
  for (const HloComputation& computation : program.computations) {
    names[computation.id] = computation.name;
  }
  std::string text = "program " + program.name + "\n";
  for (const HloComputation& computation : program.computations) {
    std::map<std::int64_t, std::string> values;
    text += (computation.id == program.entry_id ? "\nentry " : "\n") + computation.name + " {\n";
    for (const HloInstruction& instruction : computation.instructions) {
      values[instruction.id] = instruction.name;
      text +=
          "  " + instruction.name + " = " + types(instruction.results) + " " + instruction.opcode;
      std::string operands;
      for (std::int64_t id : instruction.operand_ids) {
        operands += (operands.empty() ? "" : ", ") + values[id];
      }
      text += "(" + operands + ")";
      if (!instruction.fusion_kind.empty()) text += " " + instruction.fusion_kind;
      if (!instruction.custom_call_target.empty()) text += " " + instruction.custom_call_target;
      for (std::int64_t id : instruction.called_ids) text += " calls " + names[id];
      if (instruction.trip_count) text += " " + std::to_string(*instruction.trip_count) + " times";
      text += "\n";
    }
    text += "}\n";
  }
  return text;
}

}  // namespace sturnus
