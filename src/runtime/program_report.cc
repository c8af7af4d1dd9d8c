#include <sturnus/runtime/program_report.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <iterator>
#include <limits>
#include <string_view>
#include <unordered_map>

namespace sturnus {
namespace {

using WorkById = std::unordered_map<std::int64_t, Work>;

constexpr std::string_view start_suffix = "-start";
constexpr std::string_view done_suffix = "-done";

// Nothing to do at run time: names of values, and order.
constexpr std::array<std::string_view, 11> free_kinds = {
    "add-dependency", "after-all",
    "async-update",   "bitcast",
    "constant",       "custom-call AllocateBuffer",
    "domain",         "get-tuple-element",
    "opt-barrier",    "parameter",
    "tuple"};

constexpr std::array<std::string_view, 7> collective_kinds = {
    "all-gather",         "all-reduce",        "all-to-all",    "collective-broadcast",
    "collective-permute", "ragged-all-to-all", "reduce-scatter"};

template <class Range, class Value>
bool contains(const Range& range, const Value& value) {
  return std::find(std::begin(range), std::end(range), value) != std::end(range);
}

std::string kind_of(const HloInstruction& instruction) {
  std::string kind = instruction.opcode;
  if (kind == "custom-call") return kind + ' ' + instruction.custom_call_target;
  for (std::string_view suffix : {start_suffix, done_suffix}) {
    if (kind.ends_with(suffix)) kind.resize(kind.size() - suffix.size());
  }
  return kind;
}

// total += times * amount, for amounts that are not negative; stays at the largest number.
void add(std::int64_t& total, std::int64_t amount, std::int64_t times = 1) {
  if (__builtin_mul_overflow(amount, times, &amount) ||
      __builtin_add_overflow(total, amount, &total)) {
    total = std::numeric_limits<std::int64_t>::max();
  }
}

void add_collectives(Work& total, const Work& part, std::int64_t times = 1) {
  for (const auto& [kind, use] : part.collectives) {
    add(total.collectives[kind].count, use.count, times);
    add(total.collectives[kind].bytes, use.bytes, times);
  }
}

void add(Work& total, const Work& part, std::int64_t times = 1) {
  for (const auto& [kind, count] : part.kernels) add(total.kernels[kind], count, times);
  add(total.free, part.free, times);
  add_collectives(total, part, times);
  total.has_open_loops |= part.has_open_loops;
}

std::int64_t bytes_of(const HloTypes& types) {
  std::int64_t bytes = 0;
  for (const auto& type : types) {
    if (type) add(bytes, static_cast<std::int64_t>(type->bytes()));
  }
  return bytes;
}

// A reduce-scatter is as large as its operands; every other collective as its results.
std::int64_t exchanged_bytes(const HloComputation& computation, const HloInstruction& collective) {
  if (collective.opcode != "reduce-scatter") return bytes_of(collective.results);
  std::int64_t bytes = 0;
  for (const HloInstruction& operand : computation.instructions) {
    if (contains(collective.operand_ids, operand.id)) add(bytes, bytes_of(operand.results));
  }
  return bytes;
}

Work iteration_of(const HloInstruction& loop, const WorkById& works) {
  Work work;
  const auto& called = loop.called_ids;
  // XLA repeats the body of a loop of known length without asking the condition.
  const std::size_t asked = loop.trip_count ? 1 : 2;
  for (std::size_t i = 0; i < std::min(asked, called.size()); i++) add(work, works.at(called[i]));
  return work;
}

Work largest(const std::vector<std::int64_t>& branches, const WorkById& works) {
  Work work;
  for (std::int64_t branch : branches) {
    const Work& candidate = works.at(branch);
    if (total_count(candidate.kernels) >= total_count(work.kernels)) work = candidate;
  }
  return work;
}

// An instruction that calls nothing, or whose callees are part of it: one kernel, unless it is
// free.
void add_operation(Work& work, const HloComputation& computation,
                   const HloInstruction& instruction) {
  const std::string kind = kind_of(instruction);
  const bool starts = instruction.opcode.ends_with(start_suffix);
  const bool ends = instruction.opcode.ends_with(done_suffix);
  if (contains(free_kinds, kind)) {
    add(work.free, 1);
  } else if (!ends) {
    add(work.kernels[kind], 1);
  }
  // What the start of a collective returns contains its operands; what its end returns does not.
  if (contains(collective_kinds, kind) && !starts) {
    CollectiveUse& use = work.collectives[kind];
    add(use.count, 1);
    add(use.bytes, exchanged_bytes(computation, instruction));
  }
}

Work work_of(const HloComputation& computation, const WorkById& works) {
  Work work;
  for (const HloInstruction& instruction : computation.instructions) {
    const std::string& opcode = instruction.opcode;
    if (opcode == "while") {
      add(work, iteration_of(instruction, works), instruction.trip_count.value_or(1));
      work.has_open_loops |= !instruction.trip_count;
    } else if (opcode == "conditional") {
      add(work, largest(instruction.called_ids, works));
    } else if (opcode == "call" || opcode == "async-start") {
      for (std::int64_t callee : instruction.called_ids) add(work, works.at(callee));
    } else {
      add_operation(work, computation, instruction);
    }
    if (opcode == "fusion") {
      for (std::int64_t callee : instruction.called_ids) add_collectives(work, works.at(callee));
    }
  }
  return work;
}

std::string format_bytes(std::int64_t bytes) {
  constexpr const char* units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  auto scaled = static_cast<double>(bytes);
  std::size_t unit = 0;
  for (; scaled >= 1024 && unit + 1 < std::size(units); unit++) scaled /= 1024;
  char text[32];
  std::snprintf(text, sizeof(text), unit == 0 ? "%.0f %s" : "%.1f %s", scaled, units[unit]);
  return text;
}

// "fusion 47, copy 4": the most frequent first, rare kinds of a long list left out.
std::string format_counts(const Counts& counts) {
  constexpr std::size_t most = 7;
  std::vector<std::pair<std::int64_t, std::string>> order;
  for (const auto& [kind, count] : counts) order.emplace_back(-count, kind);
  std::sort(order.begin(), order.end());
  std::string text;
  for (std::size_t i = 0; i < std::min(most, order.size()); i++) {
    text += (i > 0 ? ", " : "") + order[i].second + ' ' + std::to_string(-order[i].first);
  }
  if (order.size() > most) text += ", " + std::to_string(order.size() - most) + " other kinds";
  return text;
}

struct Row {
  std::string label, value, note;
};

std::string format_rows(const std::vector<Row>& rows) {
  std::size_t label_width = 0, value_width = 0;
  for (const Row& row : rows) {
    label_width = std::max(label_width, row.label.size());
    value_width = std::max(value_width, row.value.size());
  }
  std::string text;
  for (const Row& row : rows) {
    std::string line = row.label + std::string(label_width - row.label.size() + 2, ' ') +
                       std::string(value_width - row.value.size(), ' ') + row.value + "  " +
                       row.note;
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + '\n';
  }
  return text;
}

}  // namespace

std::int64_t total_count(const Counts& counts) {
  std::int64_t sum = 0;
  for (const auto& [kind, count] : counts) add(sum, count);
  return sum;
}

ProgramReport make_report(const HloProgram& program) {
  ProgramReport report;
  report.name = program.name;
  WorkById works;  // callees stand before their callers, so one pass is enough
  std::unordered_map<std::int64_t, const HloComputation*> computations;
  for (const HloComputation& computation : program.computations) {
    computations[computation.id] = &computation;
    works[computation.id] = work_of(computation, works);
    for (const HloInstruction& instruction : computation.instructions) {
      if (!instruction.opcode.ends_with(done_suffix)) report.instructions[kind_of(instruction)]++;
      if (instruction.opcode != "while" || instruction.called_ids.empty()) continue;
      report.loops.push_back({computations.at(instruction.called_ids.front())->name,
                              instruction.trip_count, iteration_of(instruction, works)});
    }
  }
  std::reverse(report.loops.begin(), report.loops.end());
  report.run = works.at(program.entry_id);
  return report;
}

namespace {

// The code's size, or that of the whole program where the plugin tells no other.
Row code_row(const ProgramReport& report) {
  if (report.code_bytes > 0) return {"code", format_bytes(report.code_bytes), ""};
  if (report.serialized_bytes == 0) return {"code", "?", ""};
  return {"serialised program", format_bytes(report.serialized_bytes),
          "code and what goes with it: the plugin does not tell the code alone"};
}

}  // namespace

std::string to_string(const ProgramReport& report) {
  char seconds[32];
  std::snprintf(seconds, sizeof(seconds), "%.2f s", report.compile_seconds);
  const std::string at_least = report.run.has_open_loops ? ">= " : "";
  std::vector<Row> rows = {
      {"compile time", seconds, ""},
      code_row(report),
      {"arguments", format_bytes(report.argument_bytes), ""},
      {"outputs", format_bytes(report.output_bytes),
       report.alias_bytes > 0 ? format_bytes(report.alias_bytes) + " of them in arguments" : ""},
      {"temporary", format_bytes(report.temporary_bytes), ""},
      {"instructions", std::to_string(total_count(report.instructions)),
       format_counts(report.instructions)},
      {"kernels of one run", at_least + std::to_string(total_count(report.run.kernels)),
       format_counts(report.run.kernels)}};
  for (std::size_t i = 0; i < report.loops.size(); i++) {
    const LoopReport& loop = report.loops[i];
    const Work& work = loop.iteration;
    const std::string times = loop.trip_count ? std::to_string(*loop.trip_count) : "?";
    rows.push_back({"iteration of loop " + std::to_string(i + 1) + ", " + times + " times",
                    (work.has_open_loops ? ">= " : "") + std::to_string(total_count(work.kernels)),
                    format_counts(work.kernels) + "; " + loop.body});
  }
  for (const auto& [kind, use] : report.run.collectives) {
    rows.push_back({kind + " in one run", at_least + std::to_string(use.count),
                    format_bytes(use.bytes) + " per device"});
  }
  return report.name + '\n' + format_rows(rows);
}

}  // namespace sturnus
