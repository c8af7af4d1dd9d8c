// What the tests of the inference layer share: numbers between host and device.
#pragma once

#include <sturnus/functional/doubles.h>
#include <sturnus/ops/arithmetic.h>
#include <sturnus/runtime/error.h>

#include <random>
#include <string>
#include <vector>

#include "tests/runtime/cpu.h"

namespace sturnus {

using Doubles = std::vector<double>;

/// The elements as doubles.
inline Doubles doubles(const Array& x) { return to_doubles(x); }

/// An array of the given element type.
inline Array device_array(const Doubles& values, Shape shape, DType dtype = DType::f64) {
  return array(values, std::move(shape), dtype);
}

/// Normal numbers, the same for the same seed.
inline Doubles random_numbers(std::size_t count, unsigned seed, double sd = 1) {
  std::mt19937 bits(seed);
  std::normal_distribution<double> normal(0, sd);
  Doubles result(count);
  for (double& value : result) value = normal(bits);
  return result;
}

/// The bytes of the elements, to compare to the bit.
inline std::string bytes_of(const Array& x) {
  return visit_dtype(x.dtype(), [&](auto zero) {
    auto values = x.to_vector<decltype(zero)>();
    return std::string(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(zero));
  });
}

}  // namespace sturnus
