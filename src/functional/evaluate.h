// Runs graphs.
#pragma once

#include <sturnus/functional/debug_nans.h>
#include <sturnus/functional/graph.h>
#include <sturnus/runtime/executable.h>

namespace sturnus::internal {

/// A program and the concrete arrays that it was traced over, which are its last arguments.
struct Compiled {
  LoadedExecutable executable;
  std::vector<std::shared_ptr<const Buffer>> captured;
};

/// Programs of more operations take XLA long to compile.
inline constexpr std::size_t huge_program = 50'000;
/// Warns of a traced program that has more operations than `limit`.
void warn_if_huge(std::string_view function, const Arrays& outputs, std::size_t limit, Where where);

/// Compiles `outputs` as a function of `parameters`. Equal programs are compiled once per process.
Compiled compile_graph(std::string_view name, const Arrays& parameters, const Arrays& outputs,
                       const Mask& donors, const Device& device);

/// Lets go of all programs that are kept in case that they are asked for again.
void clear_programs();
/// How many there are.
std::size_t kept_programs();

/// Puts copies on `device` in the places of buffers that are elsewhere; it gives the copies.
std::vector<Buffer> bring_to(const Device& device, std::vector<const Buffer*>& buffers);

/// Runs a program; results in the order of the outputs it was compiled for. `taker` is what
/// messages call the one that takes the donated arguments: a text that is never freed.
Arrays run(const Compiled& compiled, std::vector<const Buffer*> arguments,
           const std::vector<int>& donate = {}, const char* taker = nullptr);

/// The same, checked while a DebugNans lives; then nothing is donated, since what is wrong is found
/// by computing it again. The graph is that of the program, or null when it is not known.
Arrays run_checked(const Compiled& compiled, std::vector<const Buffer*> arguments,
                   const std::vector<int>& donate, const TracedGraph* graph,
                   const char* taker = nullptr);

/// A program from StableHLO, or from its machine code unless that is empty or refused.
Compiled load_compiled(const std::string& stablehlo, const std::string& code, const Device& device);

/// The values of `outputs`, which depend on concrete arrays only, on the device of the first of
/// these.
/// Throws TraceError when one depends on a placeholder.
Arrays evaluate(const Arrays& outputs);

/// f(), whose ops become one program rather than one each when no trace is open.
template <class F>
Array as_one_program(const F& f) {
  Array result;
  {
    Trace trace;
    result = f();
  }
  return Trace::open() || result.concrete() ? result : evaluate({result})[0];
}

}  // namespace sturnus::internal
