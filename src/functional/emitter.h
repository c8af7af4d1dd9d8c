// Prints a graph as StableHLO in MLIR's generic form, which every plugin version reads.
#pragma once

#include <sturnus/functional/graph.h>

#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace sturnus::internal {

/// tensor<3x4xf32>
std::string mlir_type(const ArrayType& type);
/// (tensor<3xf32>, tensor<i1>)
std::string mlir_types(const ArrayTypes& types);
/// A number as an element of a dense attribute, exact for the type, infinities and NaN included.
std::string mlir_number(const Number& value, DType dtype);
/// name = array<i64: 1, 2>
std::string mlir_integers(std::string_view name, const std::vector<std::int64_t>& values);
/// name = 3 : i64
std::string mlir_integer(std::string_view name, std::int64_t value);
/// name = "text", whatever characters the text has
std::string mlir_string(std::string_view name, std::string_view text);
/// The shortest decimal that reads back as the same element of a floating type; of other types as
/// the same double.
std::string shortest_text(double value, DType dtype = DType::f64);

class Emitter {
 public:
  /// One line: the results of `node` are those of the StableHLO op `hlo` on its inputs.
  void line(const Node& node, std::string_view hlo, std::string_view attributes);
  /// The same with regions between inputs and attributes, and other operands than the node's
  /// inputs.
  void line(const Node& node, std::string_view hlo, const std::vector<std::string>& operands,
            const ArrayTypes& operand_types, std::string_view regions, std::string_view attributes);
  /// A call of a function of the host, which gets `arguments` and the string `parameter`: see
  /// runtime/host_callback.h.
  void host_call(std::string_view callback, std::string_view parameter, const Arrays& arguments);
  /// The results of `node` are what a function of the host makes of its inputs; the function has no
  /// other effect.
  void host_call(const Node& node, std::string_view callback, std::string_view parameter);
  /// The same with other operands than the node's inputs, by their names.
  void host_call(const Node& node, std::string_view callback, std::string_view parameter,
                 const std::vector<std::string>& operands, const ArrayTypes& operand_types);
  /// A region whose arguments are `parameters` and that returns `outputs`.
  std::string region(const Arrays& parameters, const Arrays& outputs);
  /// A region without arguments that returns `outputs`, and sees everything printed before it.
  std::string open_region(const Arrays& outputs);
  /// A region on two scalars that returns one StableHLO op of them: the inside of a reduction.
  std::string binary_region(std::string_view hlo, DType dtype);
  /// A constant that is not in the graph; returns its name.
  std::string constant(std::string_view value, const ArrayType& type);

  /// The node is a constant with these elements, in row-major order as the host has them.
  void literal(const Node& node, std::string_view bytes);

  std::string name_of(const Array& array) const;
  std::vector<std::string> names_of(const Arrays& arrays) const;
  /// A StableHLO while on the node's inputs, of which the first are its results. `go_on` and `next`
  /// are graphs of `parameters`, which stand for the inputs.
  void loop(const Node& node, const Arrays& parameters, const Array& go_on, const Arrays& next);
  /// A StableHLO while that repeats `body` on `start` while `condition` holds; gives what stands
  /// for its results in the graphs of a lowering rule. Both may use only what they are given.
  Arrays loop(const Arrays& start, const std::function<Array(const Arrays&)>& condition,
              const std::function<Arrays(const Arrays&)>& body);
  /// Prints `replacement`, a graph of the node's inputs, in place of the node.
  void expand(const Node& node, const Arrays& replacement);
  /// The results of `node` are called what its inputs are called: the op is nothing at run time.
  void pass_through(const Node& node);

  /// What the program is for: "cpu", "cuda", "tpu". An op may have a lowering for each.
  const std::string& platform() const { return platform_; }
  /// Whether the program will run in this process on arrays in the host's memory, and so may call
  /// functions of the host where these are faster.
  bool on_host() const { return on_host_; }
  /// The same, but not where that would keep a small loop from being one function: see
  /// small_loops.h.
  bool calls_host() const;

  /// The whole module. `donors` marks arguments whose memory the program may reuse.
  static std::string module(std::string_view name, const Arrays& parameters, const Arrays& outputs,
                            const Mask& donors = {}, std::string_view platform = "cpu",
                            bool on_host = false);

 private:
  using Names = std::unordered_map<const Node*, std::vector<std::string>>;
  std::string fresh() { return "%" + std::to_string(next_++); }
  void bind_parameter(const Array& parameter, std::string name);
  /// The text of what `outputs` need and is not printed yet, and their return.
  std::string returning(const Arrays& outputs);
  /// Finds loops among `nodes` that others do on the way: a loop that computes a value, and the one
  /// that computes it again for its derivative, become one.
  void join_loops(const std::vector<const Node*>& nodes);
  /// Prints what `outputs` need and is not printed yet.
  void body(const Arrays& outputs);

  /// Prints a while and gives the names of its results; as a call where small_loops.h says so.
  std::vector<std::string> print_while(const Arrays& start, const Arrays& parameters,
                                       const Array& go_on, const Arrays& next);

  /// What a loop does in one pass.
  struct Content {
    bool by_element = true;  // no op calls a library
    std::size_t lines = 0;
    std::int64_t largest = 0;  // elements of a result
    void add(std::string_view hlo, const ArrayTypes& results);
    void add(const Content& inner);
    bool is_small() const;
  };

  std::string platform_ = "cpu";
  bool on_host_ = false;
  std::string text_;
  std::vector<std::string> functions_;
  Content content_;     // of the loop that is being printed
  int open_loops_ = 0;  // that what is being printed is inside of
  Names names_;
  Arrays expanded_;  // kept alive, since names go by address
  std::unordered_map<const Node*, Arrays> joined_loops_;
  int next_ = 0;
};

}  // namespace sturnus::internal
