// How a program is compiled: XLA's CompileOptionsProto, as a plain struct.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <variant>
#include <vector>

namespace sturnus {

/// The value of an XLA flag.
using XlaFlag = std::variant<std::string, bool, std::int64_t, double>;

struct CompileOptions {
  int replicas = 1;
  int partitions = 1;
  /// device_assignment[replica][partition] is a device id. Empty: devices 0, 1, 2, ...
  std::vector<std::vector<int>> device_assignment = {};
  /// One program for all partitions, split by its sharding annotations.
  bool spmd = false;
  /// Read the annotations as Shardy's (`sdy.sharding`) rather than GSPMD's (`mhlo.sharding`).
  bool shardy = false;
  /// A program for one device that may run on any: choose it with RunOptions::device.
  bool portable = false;
  /// XLA flags by name, for instance {"xla_cpu_enable_fast_math", true}.
  std::map<std::string, XlaFlag> xla_flags = {};

  /// The wire bytes of the CompileOptionsProto. Throws Error for counts below 1 and for a device
  /// assignment that is not replicas x partitions.
  std::string serialize() const;
};

}  // namespace sturnus
