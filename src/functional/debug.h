// Looking at values while programs run.
#pragma once

#include <sturnus/functional/array.h>
#include <sturnus/functional/debug_nans.h>

#include <functional>
#include <string>
#include <string_view>

namespace sturnus {
namespace internal {

/// Lets this process run programs with debug_print that another one made.
void add_printer();

}  // namespace internal

/// x, of which "label: value (file:line)" is printed each time the program computes it: in loops
/// and branches, under vmap all problems' values at once, and under grad the value, not the
/// derivative. A program computes only what its results need: use what debug_print returns, or
/// nothing is printed. Lines of one program come in no particular order, and are there when its
/// results are. Outside a trace prints at once. CPU only; throws Error for programs elsewhere.
[[nodiscard(
    "a traced program prints only what its results need: use what debug_print returns")]] Array
debug_print(std::string_view label, Operand x);

/// Gets each line of debug_print, without the line break, one at a time, from any thread.
using DebugSink = std::function<void(const std::string&)>;
/// Sends the lines of debug_print to `sink`; an empty one (the default) is standard error.
void set_debug_sink(DebugSink sink);

}  // namespace sturnus
