// Closed graphs: the bodies of loops and branches.
#pragma once

#include <sturnus/functional/graph.h>

#include <string>

namespace sturnus::internal {

/// A graph whose only open inputs are parameters 0, 1, ..., so that equal bodies are equal values.
struct Body {
  ArrayTypes parameters;
  Arrays outputs;

  /// The outputs for given arguments, as part of the graph around.
  Arrays operator()(const Arrays& arguments) const;
  /// The leaves that stand for the parameters.
  Arrays leaves() const;

  std::size_t graph_size() const { return size_of_graph(outputs); }
  std::size_t hash() const;
  bool operator==(const Body& other) const;
  std::string str() const;
};

struct Closed {
  Body body;        // parameters: the roots, then what is captured
  Arrays captured;  // values of the graph around that the outputs use
};

/// Makes a body of `outputs`, which depend on `roots` and on values of the graph around. What does
/// not depend on the roots stays outside.
Closed close(const Arrays& outputs, const Arrays& roots);
/// Makes a body without roots of what was made since `next_node_id()` was `since`.
Closed close_since(const Arrays& outputs, std::uint64_t since);

/// Cotangents of those of the arguments `x` that `linear` marks, in which the body is linear, from
/// those of its outputs.
Arrays pull_back_body(const Body& body, const Arrays& x, const Mask& linear, const Arrays& ct);

/// The body for n problems at once, on inputs like `x`, of which `mapped` marks those with the
/// extra axis 0. All outputs have it.
Closed spread_body(const Body& body, const Arrays& x, const Mask& mapped, std::int64_t n);

}  // namespace sturnus::internal
