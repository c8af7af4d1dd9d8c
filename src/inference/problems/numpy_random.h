// The streams of NumPy's legacy generator `numpy.random.RandomState`, which NumPy keeps frozen: the
// noise of the published experiments is its output, so their data can be made again from a seed.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <random>

namespace sturnus {

class NumpyRandom {
 public:
  explicit NumpyRandom(std::uint32_t seed) : bits_(seed) {}

  /// Uniform on [0, 1) with 53 random bits, as `random_sample()`.
  double uniform() {
    auto high = static_cast<std::uint64_t>(bits_() >> 5);
    auto low = static_cast<std::uint64_t>(bits_() >> 6);
    return static_cast<double>((high << 26) + low) * 0x1p-53;
  }

  /// Standard normal by Marsaglia's polar method, the second of each pair kept, as
  /// `standard_normal()`.
  double normal() {
    if (has_spare_) {
      has_spare_ = false;
      return spare_;
    }
    double x, y, square;
    do {
      x = 2 * uniform() - 1;
      y = 2 * uniform() - 1;
      square = x * x + y * y;
    } while (square >= 1 || square == 0);
    double factor = std::sqrt(-2 * std::log(square) / square);
    spare_ = factor * x;
    has_spare_ = true;
    return factor * y;
  }

  /// Uniform on 0, ..., bound - 1 by masking and rejection, as `randint(bound)`; bound >= 2.
  std::uint32_t integer(std::uint32_t bound) {
    std::uint32_t mask = std::bit_ceil(bound) - 1;
    std::uint32_t value;
    do {
      value = static_cast<std::uint32_t>(bits_()) & mask;
    } while (value >= bound);
    return value;
  }

 private:
  std::mt19937 bits_;
  double spare_ = 0;
  bool has_spare_ = false;
};

}  // namespace sturnus
