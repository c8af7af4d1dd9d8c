// The steps of random programs, each in two worlds: loops over Taylor series in plain C++, and
// arrays.
#pragma once

#include <sturnus/functional/array.h>

#include <array>
#include <functional>
#include <string>
#include <vector>

#include "tests/functional/taylor.h"

namespace sturnus::testing {

/// What every step takes and gives: four numbers.
using Four = std::array<Taylor, 4>;

struct CompositionOp {
  std::string text;
  std::function<Four(const Four& a, const Four& b)> plain;
  std::function<Array(const Array& a, const Array& b)> traced;  // f64[4]
};

std::vector<CompositionOp> elementwise_ops();
std::vector<CompositionOp> structural_ops();
std::vector<CompositionOp> nested_ops();  // loops, decisions, and transforms within the program
std::vector<CompositionOp> forward_only_ops();  // loops whose length the program computes

}  // namespace sturnus::testing
