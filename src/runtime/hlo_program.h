// A compiled program as XLA leaves it: read from the HLO protobuf that plugins return, without XLA.
#pragma once

#include <sturnus/runtime/dtype.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sturnus {

/// The arrays of a value, tuples flattened; an absent entry is something that Sturnus has no type
/// for: a token, a float of 8 bits, a dynamic shape.
using HloTypes = std::vector<std::optional<ArrayType>>;

/// What a program takes and gives on each of its devices.
struct HloSignature {
  HloTypes parameters;
  HloTypes results;
};

struct HloInstruction {
  std::int64_t id = 0;
  std::string name;
  std::string opcode;  // "add", "fusion", "get-tuple-element", ...
  HloTypes results;
  std::vector<std::int64_t> operand_ids;
  std::vector<std::int64_t> called_ids;    // computations; a while has its body, then its condition
  std::string fusion_kind;                 // "kLoop", "kInput", "kOutput", "kCustom"
  std::string custom_call_target;          // of a custom-call
  std::optional<std::int64_t> trip_count;  // of a while, where XLA knows it
};

struct HloComputation {
  std::int64_t id = 0;
  std::string name;
  std::vector<HloInstruction> instructions;  // operands before their users
};

struct HloProgram {
  std::string name;
  std::int64_t entry_id = 0;
  HloSignature signature;
  std::vector<HloComputation> computations;  // callees before their callers
};

/// Reads a serialised program in the PJRT format "hlo" (HloModuleProto) or "hlo_with_config"
/// (HloModuleProtoWithConfig). Throws Error for another format, for damaged bytes, and for a
/// program without an entry or with calls of computations that do not stand before their callers.
HloProgram parse_hlo(std::string_view bytes, std::string_view format);

/// The program as text: computations, and in them one instruction per line.
std::string to_string(const HloProgram& program);

/// Reads only what the program takes and gives; cheap, whatever the size of the program.
HloSignature entry_signature(std::string_view bytes, std::string_view format);

}  // namespace sturnus
