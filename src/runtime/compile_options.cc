#include <sturnus/runtime/compile_options.h>
#include <sturnus/runtime/error.h>

#include "src/runtime/wire.h"

namespace sturnus {

using internal::WireWriter;

// The field numbers are those of xla/pjrt/proto/compile_options.proto and xla/xla_data.proto.

namespace {

// DeviceAssignmentProto lists, for each partition ("computation"), the devices of its replicas.
WireWriter assignment_message(const CompileOptions& options) {
  WireWriter writer;
  writer.varint(1, options.replicas).varint(2, options.partitions);
  for (int partition = 0; partition < options.partitions; partition++) {
    std::vector<std::int64_t> devices;
    for (const auto& replica : options.device_assignment) {
      devices.push_back(replica[static_cast<std::size_t>(partition)]);
    }
    writer.message(3, WireWriter().packed(1, devices));
  }
  return writer;
}

void check(const CompileOptions& options) {
  std::string grid = std::to_string(options.replicas) + " x " + std::to_string(options.partitions);
  if (options.replicas < 1 || options.partitions < 1) {
    throw Error("CompileOptions: replicas x partitions is " + grid + "; both must be at least 1");
  }
  if (options.device_assignment.empty()) return;
  bool fits = options.device_assignment.size() == static_cast<std::size_t>(options.replicas);
  for (const auto& replica : options.device_assignment) {
    fits = fits && replica.size() == static_cast<std::size_t>(options.partitions);
  }
  if (!fits) {
    throw Error("CompileOptions: device_assignment must be replicas x partitions, here " + grid +
                " device ids");
  }
}

WireWriter flag_value(const XlaFlag& flag) {
  WireWriter writer;
  if (auto* text = std::get_if<std::string>(&flag)) writer.bytes(1, *text);
  if (auto* truth = std::get_if<bool>(&flag)) writer.varint(2, *truth);
  if (auto* number = std::get_if<std::int64_t>(&flag)) writer.varint(3, *number);
  if (auto* number = std::get_if<double>(&flag)) writer.real(4, *number);
  return writer;
}

}  // namespace

std::string CompileOptions::serialize() const {
  check(*this);
  WireWriter build;
  build
      .varint(1, -1)  // device_ordinal: any
      .varint(4, replicas)
      .varint(5, partitions)
      .varint(6, spmd)
      .varint(19, shardy);
  if (!device_assignment.empty()) build.message(9, assignment_message(*this));
  WireWriter options;
  options.message(3, build).varint(4, portable);
  for (const auto& [name, flag] : xla_flags) {
    options.message(7, WireWriter().bytes(1, name).message(2, flag_value(flag)));
  }
  return options.str();
}

}  // namespace sturnus
