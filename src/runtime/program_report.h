// What a compiled program costs: instructions, kernels, collectives and memory.
#pragma once

#include <sturnus/runtime/hlo_program.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace sturnus {

/// Numbers of instructions by kind: the opcode, with the target for a custom-call. Both halves of
/// an asynchronous operation are one: "all-gather-start" and "all-gather-done" are "all-gather".
using Counts = std::map<std::string, std::int64_t>;

/// The sum over all kinds.
std::int64_t total_count(const Counts& counts);

/// How often devices exchange data, and how much: per device, the larger of what goes in and out.
struct CollectiveUse {
  std::int64_t count = 0;
  std::int64_t bytes = 0;
  bool operator==(const CollectiveUse&) const = default;
};

/// What one device does to execute a computation once. Calls are followed. Of a conditional the
/// branch with the most kernels counts. A loop counts as often as it runs, or once when that is not
/// known.
struct Work {
  Counts kernels;         // operations that are launched; a fusion is one
  std::int64_t free = 0;  // parameters, constants, tuples, bitcasts and the like
  std::map<std::string, CollectiveUse> collectives;  // by kind
  bool has_open_loops = false;                       // a loop of unknown length was counted once
};

struct LoopReport {
  std::string body;                        // the computation's name
  std::optional<std::int64_t> trip_count;  // where XLA knows it
  Work iteration;  // of the body, and of the condition unless the trip count makes it needless
};

struct ProgramReport {
  std::string name;
  Counts instructions;            // of the whole program, each once, fused ones too
  Work run;                       // one execution
  std::vector<LoopReport> loops;  // outer before inner

  // Known to whoever compiled the program; 0 when the plugin does not say.
  double compile_seconds = 0;
  std::int64_t code_bytes = 0;
  std::int64_t serialized_bytes = 0;  // code and what goes with it, as Executable::serialize gives
  std::int64_t argument_bytes = 0;
  std::int64_t output_bytes = 0;
  std::int64_t temporary_bytes = 0;
  std::int64_t alias_bytes = 0;
};

/// Counts what `program` does; the caller adds compile time and memory.
ProgramReport make_report(const HloProgram& program);

/// The report as an aligned table for a terminal.
std::string to_string(const ProgramReport& report);

}  // namespace sturnus
