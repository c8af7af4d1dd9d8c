// Compiled programs.
#pragma once

#include <sturnus/runtime/buffer.h>
#include <sturnus/runtime/client.h>
#include <sturnus/runtime/dtype.h>
#include <sturnus/runtime/error.h>
#include <sturnus/runtime/event.h>
#include <sturnus/runtime/program_report.h>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

struct PJRT_Event;

namespace sturnus {
namespace internal {
struct ExecutableState;
struct LoadedState;
}  // namespace internal

/// Bytes that a program needs on one device.
struct MemoryStats {
  std::int64_t code = 0;
  std::int64_t arguments = 0;
  std::int64_t outputs = 0;
  std::int64_t aliased = 0;  // of the arguments, what outputs reuse
  std::int64_t temporary = 0;
  std::int64_t peak = 0;  // 0 when the plugin does not say
};

/// A program after XLA's passes: a serialised HloModuleProto ("hlo") or one with its configuration
/// ("hlo_with_config").
struct OptimizedProgram {
  std::string format;
  std::string bytes;
};

/// A compiled program, perhaps for a device that is not here. A cheap, copyable handle.
class Executable {
 public:
  std::string name() const;
  int replicas() const;
  int partitions() const;
  /// Types of the arguments and results of one device, where known: empty when the plugin does not
  /// tell its optimized program, an absent entry for a type that Sturnus has no host type for.
  const std::vector<std::optional<ArrayType>>& parameter_types() const;
  const std::vector<std::optional<ArrayType>>& result_types() const;
  int result_count() const;

  /// Equal for equal programs compiled with equal options; empty when the plugin has none.
  std::string fingerprint() const;
  /// XLA's estimate by property, for instance "flops", "bytes accessed"; empty when the plugin has
  /// none, as for devices that are not here.
  std::map<std::string, double> cost_analysis() const;
  MemoryStats memory_stats() const;
  std::int64_t code_bytes() const;
  OptimizedProgram optimized_program() const;
  /// Instructions, loops, collectives and memory in one table.
  ProgramReport report() const;
  /// Seconds that the compilation took; 0 for a program that was loaded.
  double compile_seconds() const;
  /// Bytes that `Client::load` reads, on the same plugin and kind of machine.
  std::string serialize() const;

 protected:
  friend class Client;
  friend class Topology;
  explicit Executable(std::shared_ptr<const internal::ExecutableState> state)
      : state_(std::move(state)) {}
  std::shared_ptr<const internal::ExecutableState> state_;
};

struct RunOptions {
  /// Arguments that the program may overwrite and that are gone afterwards. Only those that the
  /// program marks as reusable (`tf.aliasing_output`, `jax.buffer_donor`) are.
  std::vector<int> donate = {};
  /// Who takes them, for messages about later uses; a text that is never freed. Unless given it is
  /// not said.
  const char* taker = nullptr;
  /// How many of the last arguments the program brings along, which messages call captured arrays.
  std::size_t captured = 0;
  /// Where a portable program runs; default: where it was compiled for.
  std::optional<Device> device = {};
};

/// The results of a program on each of its devices, and when each device is done.
struct Launch {
  std::vector<std::vector<Buffer>> results;
  std::vector<Event> done;
};

/// A program that is ready to run on devices of a client.
class LoadedExecutable : public Executable {
 public:
  /// The devices it runs on, in the order of its argument lists.
  std::vector<Device> devices() const;

  /// Runs on one device. Returns at once; the results become ready when the program is done. Throws
  /// Error when the number or a type of the arguments is wrong.
  std::vector<Buffer> run(std::span<const Buffer* const> arguments,
                          const RunOptions& options = {}) const;
  std::vector<Buffer> run(std::initializer_list<const Buffer*> arguments,
                          const RunOptions& options = {}) const {
    return run(std::span(arguments.begin(), arguments.size()), options);
  }

  /// Runs on all devices at once: arguments[d] are those of devices()[d].
  Launch launch(std::span<const std::vector<const Buffer*>> arguments,
                const RunOptions& options = {}) const;

 private:
  friend class Client;
  LoadedExecutable(std::shared_ptr<const internal::ExecutableState> program,
                   std::shared_ptr<const internal::LoadedState> loaded)
      : Executable(std::move(program)), loaded_(std::move(loaded)) {}
  void check_arguments(std::span<const Buffer* const> arguments) const;
  void execute(PJRT_Buffer* const* const* arguments, std::size_t argument_count,
               PJRT_Buffer** const* results, PJRT_Event** done, std::size_t device_count,
               const RunOptions& options) const;
  std::vector<Buffer> adopt_results(PJRT_Buffer* const* results) const;
  void check_donation(std::span<const Buffer* const> arguments, const RunOptions& options) const;
  void check_presence(std::span<const Buffer* const> arguments, PJRT_Device* device,
                      std::size_t captured = 0) const;
  void check_device(const std::optional<Device>& chosen) const;
  std::shared_ptr<const internal::LoadedState> loaded_;
};

}  // namespace sturnus
