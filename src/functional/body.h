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

  std::size_t hash() const;
  bool operator==(const Body& other) const;
  std::string str() const;
};

struct Closed {
  Body body;        // parameters: the roots, then what is captured
  Arrays captured;  // values of the graph around that the outputs use
};

/// Makes a body of `outputs`, which depend on `roots` and on values of the graph around.
Closed close(const Arrays& outputs, const Arrays& roots);

}  // namespace sturnus::internal
