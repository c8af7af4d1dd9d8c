// Trees that tests of bad input give to transforms.
#pragma once

#include <sturnus/sturnus.h>

#include <string>
#include <vector>

#include "tests/functional/misuse.h"

namespace sturnus {

struct Layer {
  Array w, b;
};
struct Net {
  std::vector<Layer> layers;
  int depth = 1;
};
struct Counted {
  Array x;
  int steps = 0;
};
using List = std::vector<Array>;

inline Net net(std::size_t layers) {
  Net result;
  for (std::size_t i = 0; i < layers; i++) result.layers.push_back({zeros({2}), zeros({})});
  return result;
}
inline List list(std::size_t length) { return List(length, zeros({})); }

inline Array total(Array x) { return sum(x); }

inline std::string no_derivative(const std::string& function, const std::string& which) {
  return function + ": " + which +
         ", which has no derivative (<here>). Convert it to f32, or leave it out of the arguments "
         "to differentiate by";
}

inline std::string no_value(const std::string& which, bool with_line) {
  return which + " is Array(), which has no type and no value" + (with_line ? " (<here>)" : "") +
         ". Assign it one, or let it be a std::optional<Array>";
}

}  // namespace sturnus
