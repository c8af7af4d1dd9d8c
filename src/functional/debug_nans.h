// Finding the operation that makes a NaN.
#pragma once

#include <sturnus/functional/graph.h>

#include <string>
#include <vector>

namespace sturnus {

/// While one lives, what this thread computes, at once, by jit or by a Program, is checked for NaN,
/// and with NonFinite::infinity also for infinities. When a result has one, all values on the way
/// to it are computed again, and an Error names the first operation that made one of inputs that
/// had none: its result's type, the element, the line of code, and in loops and branches the
/// iteration. Of a Program that was loaded from a file, whose operations are not known, it names
/// the argument or the result.
///
///   DebugNans guard;
///   auto gradient = jit(grad(loss))(parameters);  // throws
///
/// Slow, and needs memory for all values on the way; donated arguments are kept.
class DebugNans {
 public:
  enum class NonFinite { nan, infinity };

  explicit DebugNans(NonFinite what = NonFinite::nan);
  ~DebugNans();
  DebugNans(const DebugNans&) = delete;
  /// Whether results of this thread are being checked.
  static bool on();

 private:
  int outer_;
};

namespace internal {

/// A traced function.
struct TracedGraph {
  Arrays parameters, outputs;
  std::vector<std::string> paths = {};  // of the parameters in the tuple of the arguments, if known
  Where where = {};                     // the line that traces
};

/// Throws Error when one of `results`, which are the graph's for `arguments`, is not as DebugNans
/// wants it. Without a graph it does not say which operation is to blame.
void check_values(const TracedGraph* graph, const std::vector<const Buffer*>& arguments,
                  const Arrays& results);

}  // namespace internal
}  // namespace sturnus
