// The graph: every traced value is an output of a node; a node is an op applied to values.
//
// Invariants.
//  - Nodes never change, and a node's id is larger than the ids of all it depends on.
//  - The same op on the same inputs is the same node while it lives (hash-consing), so whatever
//    nested transforms compute twice is computed once.
//  - A value depends on a placeholder if and only if the placeholder can be reached from it. That
//    alone tells traces apart: there are no levels, and closures over outer values just work.
#pragma once

#include <sturnus/functional/array.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace sturnus {

/// A value that was used where it cannot be: a traced array as a number, a placeholder after its
/// trace.
class TraceError : public Error {
 public:
  using Error::Error;
};

/// Shapes that do not fit.
class ShapeError : public Error {
 public:
  using Error::Error;
};

/// Element types that do not fit.
class DtypeError : public Error {
 public:
  using Error::Error;
};

namespace internal {

class Emitter;
using Mask = std::vector<bool>;
using ArrayTypes = std::vector<ArrayType>;
/// Taylor coefficients c[0], c[1], ... of a value along a curve: sum of c[k] t^k. An empty one is
/// zero.
using Series = Arrays;

/// Values of the graph `outputs` when those of `leaves` are `values`, all concrete. `place` says
/// which run of the graph it is, for messages: "iteration 3 of scan".
using RunGraph = std::function<Arrays(const Arrays& outputs, const Arrays& leaves,
                                      const Arrays& values, const std::string& place)>;

/// What the graph knows of an op: its parameters' identity and its rules. Ops are plain structs in
/// src/ops; op.h makes an Op of each. A null Array stands for a zero tangent or cotangent, and for
/// "nothing" in the result of `simplify`.
class Op {
 public:
  virtual ~Op() = default;
  virtual std::string_view name() const = 0;
  /// The name of the struct, which several ops may share: "choose" for maximum and minimum.
  virtual std::string_view kind() const = 0;
  virtual std::string parameters() const = 0;
  virtual std::size_t hash() const = 0;
  virtual bool equals(const Op& other) const = 0;

  /// The types of the results. Throws ShapeError or DtypeError when the inputs do not fit.
  virtual ArrayTypes infer(const Arrays& x) const = 0;
  /// An equal value that is simpler, or nothing. Must be exact for all finite inputs.
  virtual Array simplify(const Arrays& x) const = 0;
  /// The same op on other inputs.
  virtual Arrays apply(const Arrays& x) const = 0;
  /// Tangents of the results y from tangents dx of the inputs x.
  virtual Arrays jvp(const Arrays& x, const Arrays& y, const Arrays& dx) const = 0;
  /// Whether the results are constant wherever they are differentiable, as those of a comparison.
  virtual bool is_stepwise() const = 0;
  /// Cotangents of the inputs that `linear` marks, from those of the results.
  virtual Arrays transpose(const Arrays& ct, const Arrays& x, const Mask& linear) const = 0;
  /// The op for n problems at once: inputs that `mapped` marks, and all results, have the extra
  /// axis 0.
  virtual Arrays batch(const Arrays& x, const Mask& mapped, std::int64_t n) const = 0;
  /// Whether the results are the same for all problems: then those of `batch` have no extra axis.
  virtual bool is_shared(const Mask& mapped) const = 0;
  /// Whether the op has a rule for series. If not, one follows from jvp.
  virtual bool has_jet() const = 0;
  /// Coefficients k > 0 of the results y on series x, given coefficients 0 to k of x and 0 to k - 1
  /// of y.
  virtual Arrays jet(const std::vector<Series>& x, const std::vector<Series>& y,
                     std::size_t k) const = 0;
  /// Whether the op is a loop that one like it can run along with.
  virtual bool is_loop() const = 0;
  /// If the op on x is a part of `other` on other_x: the results of both, from one loop. Else
  /// nothing.
  virtual Arrays run_within(const Arrays& x, const Op& other, const Arrays& other_x) const = 0;
  /// Computes the op on concrete inputs, one after another of the graphs that it is made of; ops
  /// that are made of none do nothing. To find what goes wrong inside loops and branches.
  virtual void replay(const Arrays& x, const RunGraph& run) const = 0;
  /// How many operations the graphs have that are its parameters: bodies of loops and branches.
  virtual std::size_t inner_size() const = 0;
  /// Prints the op as StableHLO.
  virtual void lower(Emitter& emitter, const Node& node) const = 0;
};

struct Node : std::enable_shared_from_this<Node> {
  std::uint64_t id = 0;
  std::unique_ptr<const Op> op;
  Arrays inputs;
  ArrayTypes types;
  Where where;
  std::size_t hash = 0;
};

/// The results of `op` on `inputs`: computed at once when no trace is open and all inputs are
/// concrete, else as values of the graph.
Arrays emit(std::unique_ptr<const Op> op, const Arrays& inputs);

/// While one lives, operations build a graph also when all their inputs are concrete.
class Trace {
 public:
  Trace();
  ~Trace();
  Trace(const Trace&) = delete;
  /// Whether this thread is tracing.
  static bool open();
};

/// While one lives, the operations of this thread are charged to a line of user code. The outermost
/// one counts: what a library function does inside is charged to the line that called it. An
/// unknown line charges nothing. `function`, where it is given, is whom messages speak of instead
/// of the functions of which that one is made; there too the outermost counts.
class Blame {
 public:
  explicit Blame(Where where, std::string_view function = {});
  ~Blame();
  Blame(const Blame&) = delete;
  static Where current();
  /// `function`, or the one that messages are to speak of instead.
  static std::string_view named(std::string_view function);

 private:
  bool outermost_, named_;
};

/// " (pinn.cc:41)" for the line that is being charged, for messages; empty when unknown.
std::string where_text();
/// "function: fault (pinn.cc:41). remedy", with the line that is being charged: how all messages
/// read.
std::string message(std::string_view function, const std::string& fault, std::string_view remedy);

/// An input of a traced function, which is distinct from all others. `owner` names the transform
/// and `where` the line that asks for it, for messages.
Array placeholder(const ArrayType& type, std::string_view owner, Where where = {});
Arrays placeholders(const ArrayTypes& types, std::string_view owner, Where where = {});
/// Input `index` of a closed graph (a loop's body): equal ones are the same value.
Array parameter(int index, const ArrayType& type);
/// One number everywhere, towards zero for integers. StableHLO: constant. Throws DtypeError, for
/// `function`, when the type cannot hold the number.
Array full(const Number& value, const ArrayType& type, std::string_view function = "full");
/// The number that `full` put everywhere, if the array is of that kind and a double holds it.
std::optional<double> splat(const Array& array);
/// A concrete array.
Array constant(std::shared_ptr<const Buffer> buffer);
/// The buffer of a concrete array, else null.
std::shared_ptr<const Buffer> constant_value(const Array& array);

ArrayTypes types_of(const Arrays& arrays);
/// Nodes that are made from now on have this id or a larger one.
std::uint64_t next_node_id();

/// The nodes from which `outputs` can be reached and that depend on one of `roots`, inputs before
/// users; the roots' own nodes are not among them.
std::vector<const Node*> dependents(const Arrays& outputs, const Arrays& roots);
/// All nodes from which `outputs` can be reached, inputs before users.
std::vector<const Node*> reachable(const Arrays& outputs);
/// How many operations that is, with those of loops and branches once.
std::size_t size_of_graph(const Arrays& outputs);

/// The values of a graph under a rewrite. Values without an image are their own.
class Image {
 public:
  void set(const Array& from, Array to) {
    images_[{from.node().get(), from.output()}] = std::move(to);
  }
  void set(const Node& from, const Arrays& to);
  bool has(const Array& from) const {
    return images_.count({from.node().get(), from.output()}) > 0;
  }
  Array operator()(const Array& from) const;
  Arrays operator()(const Arrays& from) const;

 private:
  struct Key {
    const Node* node;
    int output;
    bool operator==(const Key&) const = default;
  };
  struct KeyHash {
    std::size_t operator()(const Key& key) const {
      return std::hash<const void*>()(key.node) * 31 + static_cast<std::size_t>(key.output);
    }
  };
  std::unordered_map<Key, Array, KeyHash> images_;
};

/// `outputs` with the values `from` replaced by `to`.
Arrays substitute(const Arrays& outputs, const Arrays& from, const Arrays& to);

}  // namespace internal
}  // namespace sturnus
