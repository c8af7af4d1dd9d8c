#include <sturnus/runtime/host_random.h>
#include <sturnus/runtime/random_kernels.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>
#include <vector>

#include "src/runtime/number_list.h"
#include "src/runtime/threads.h"

namespace sturnus::internal {
namespace {

struct HostKey {
  std::uint32_t first, second;

  HostKey hash(std::uint32_t number) const {
    HostKey result;
    std::uint32_t zero = 0;
    threefry_here(1, &first, &second, &zero, &number, &result.first, &result.second);
    return result;
  }
  std::uint32_t bits(std::uint32_t position) const {
    HostKey words = hash(position);
    return words.first ^ words.second;
  }
};

// The exclusive or of those words(j) whose bit j is set in x.
template <class Words>
std::uint32_t combined(std::uint32_t x, const Words& words) {
  std::uint32_t result = 0;
  for (; x != 0; x &= x - 1) result ^= words(std::countr_zero(x));
  return result;
}

// ops/sobol.cc says what is random about it. From one point to the next a single bit of the Gray
// code changes.
template <class Real>
void scrambled_sobol(const HostKey& key, const std::uint32_t* directions, std::int64_t used,
                     std::int64_t dimensions, std::int64_t first, std::int64_t count,
                     Real* result) {
  constexpr int word = 32, mantissa = sizeof(Real) == 8 ? word : 24;
  HostKey for_bits = key.hash(0), for_shift = key.hash(1);
  std::vector<std::uint32_t> scrambled(static_cast<std::size_t>(used));
  for (std::int64_t d = 0; d < dimensions; d++) {
    std::uint32_t flips[word];
    for (int j = 0; j < word; j++) {
      std::uint32_t own = std::uint32_t{1} << j;
      auto position = static_cast<std::uint32_t>(j * dimensions + d);
      flips[j] = (for_bits.bits(position) & (own - 1)) | own;
    }
    for (std::int64_t u = 0; u < used; u++) {
      scrambled[static_cast<std::size_t>(u)] =
          combined(directions[u * dimensions + d], [&](int j) { return flips[j]; });
    }
    auto index = static_cast<std::uint32_t>(first);
    std::uint32_t x = for_shift.bits(static_cast<std::uint32_t>(d)) ^
                      combined(index ^ (index >> 1),
                               [&](int u) { return scrambled[static_cast<std::size_t>(u)]; });
    for (std::int64_t i = 0; i < count; i++) {
      result[i * dimensions + d] = std::ldexp(static_cast<Real>(x >> (word - mantissa)), -mantissa);
      index++;
      if (i + 1 < count) x ^= scrambled[static_cast<std::size_t>(std::countr_zero(index))];
    }
  }
}

}  // namespace

std::string host_threefry_parameter(const std::vector<std::int64_t>& repeats) {
  return numbers_text(repeats);
}

void host_threefry_callback(const HostCall& call) {
  std::vector<std::int64_t> repeats = numbers_of(call.parameter);
  std::int64_t count = call.results[0].type.size();
  std::vector<std::uint32_t> filled[4];
  const std::uint32_t* words[4];
  for (std::size_t k = 0; k < 4; k++) {
    auto given = call.arguments[k].elements<std::uint32_t>();
    words[k] = given.data();
    if (std::ssize(given) == count) continue;
    for (std::size_t i = 0; std::ssize(filled[k]) < count; i++) {
      filled[k].insert(filled[k].end(), static_cast<std::size_t>(repeats[k]),
                       given[i % given.size()]);
    }
    words[k] = filled[k].data();
  }
  auto result = [&](std::size_t i) { return call.results[i].elements<std::uint32_t>().data(); };
  constexpr std::int64_t worth_a_thread = 4096;
  in_parallel(call.threads, count, worth_a_thread, [&](std::int64_t first, std::int64_t last) {
    threefry_here(last - first, words[0] + first, words[1] + first, words[2] + first,
                  words[3] + first, result(0) + first, result(1) + first);
  });
}

std::string host_sobol_parameter(std::int64_t first) { return numbers_text({first}); }

void host_sobol_callback(const HostCall& call) {
  auto keys = call.arguments[0].elements<std::uint32_t>();
  const std::uint32_t* directions = call.arguments[1].elements<std::uint32_t>().data();
  std::int64_t used = call.arguments[1].type.shape[0];
  const ArrayType& type = call.results[0].type;
  std::int64_t dimensions = type.shape.back(), count = type.shape[type.shape.size() - 2];
  std::int64_t first_point = numbers_of(call.parameter)[0];
  auto draw = [&]<class Real>(Real) {
    Real* result = call.results[0].elements<Real>().data();
    constexpr std::int64_t worth_a_thread = 2048;  // numbers
    std::int64_t each = count * dimensions;
    in_parallel(
        call.threads, std::ssize(keys) / 2, worth_a_thread / std::max<std::int64_t>(each, 1) + 1,
        [&](std::int64_t first, std::int64_t last) {
          for (auto k = static_cast<std::size_t>(first); std::cmp_less(k, last); k++) {
            scrambled_sobol(HostKey{keys[2 * k], keys[2 * k + 1]}, directions, used, dimensions,
                            first_point, count, result + static_cast<std::int64_t>(k) * each);
          }
        });
  };
  if (type.dtype == DType::f64) {
    draw(double());
  } else {
    draw(float());
  }
}

}  // namespace sturnus::internal
