// A traced function as a program: to look at, to compile ahead of time, to keep in a file.
#pragma once

#include <sturnus/functional/evaluate.h>
#include <sturnus/functional/graph.h>
#include <sturnus/runtime/executable.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace sturnus {

class Program;

/// A traced function of flat lists of arrays, not yet compiled.
class Lowered {
 public:
  Lowered(std::string name, Arrays parameters, Arrays outputs, internal::Mask donors = {},
          std::vector<std::string> parameter_names = {});

  /// The graph as text, one operation per line with its type and the line of code that made it.
  std::string graph() const;
  /// The program in StableHLO. Arrays that the function captured are constants of it, so that it is
  /// complete: JAX and other users of StableHLO can run it. Some operations have a faster form on
  /// one platform ("cpu", "cuda", "rocm", "tpu") than on another. Throws Error for other platforms.
  std::string stablehlo(std::string_view platform = "cpu") const;
  /// The number of operations in the graph, those of loops and branches once.
  std::size_t size() const;
  internal::ArrayTypes argument_types() const { return internal::types_of(parameters_); }
  internal::ArrayTypes result_types() const { return internal::types_of(outputs_); }

  /// The compiled program, for the default device unless another is given. Throws Error when so
  /// many programs are held that the system grants no more memory for them.
  Program compile(std::optional<Device> device = {}) const;

 private:
  std::string name_;
  Arrays parameters_, outputs_;
  internal::Mask donors_;
  std::vector<std::string> parameter_names_;
};

/// A compiled function of flat lists of arrays. A cheap, copyable handle.
class Program {
 public:
  /// The results. Arguments that are on another device are copied to the program's. Throws
  /// ShapeError when they are not as many, and of the types, that it was compiled for, TraceError
  /// when one has no value.
  Arrays run(const Arrays& arguments, Where where = Where::here()) const;

  const internal::ArrayTypes& argument_types() const { return argument_types_; }
  const internal::ArrayTypes& result_types() const { return result_types_; }
  /// XLA's program after its passes, its cost and memory: see Executable.
  const LoadedExecutable& executable() const { return compiled_.executable; }
  /// XLA's optimized program as text.
  std::string optimized() const;
  /// What a run costs: kernels, loops and memory in one table.
  std::string cost() const;

  /// Writes the program to a file, with its machine code where the plugin can serialise it. What
  /// was there before survives a failure. Throws Error when the file cannot be written. jit(f).load
  /// gives it its types again.
  void save(const std::string& path, Where where = Where::here()) const;
  /// Reads a saved program. The machine code is used when plugin and machine are the same, else the
  /// program is compiled again. Throws Error when the file cannot be read, is damaged or no
  /// program.
  static Program load(const std::string& path, std::optional<Device> device = {},
                      Where where = Where::here());

 private:
  friend class Lowered;
  explicit Program(internal::Compiled compiled)
      : compiled_(std::move(compiled)), device_(compiled_.executable.devices()[0]) {}
  internal::Compiled compiled_;
  Device device_;
  std::string name_;
  std::string stablehlo_;  // complete, captured arrays included
  internal::ArrayTypes argument_types_, result_types_;
  std::vector<int> donate_;
  std::shared_ptr<const internal::TracedGraph> graph_;  // none for a program from a file
};

/// An array without a value, to trace functions for types instead of values: lower, eval_shape.
Array abstract_array(DType dtype, Shape shape);

}  // namespace sturnus
