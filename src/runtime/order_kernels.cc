#include <sturnus/runtime/order_kernels.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <type_traits>
#include <vector>

namespace sturnus::internal {
namespace {

template <class Real>
using KeyOf = std::conditional_t<sizeof(Real) == 4, std::int32_t, std::int64_t>;

// The number's bits, so that integers compare as the numbers do: those below the sign are flipped
// for negative ones. Its own inverse.
template <class Key>
Key flipped(Key bits) {
  return bits ^ (bits >> (8 * sizeof(Key) - 1) & std::numeric_limits<Key>::max());
}

template <class Real>
KeyOf<Real> key_of(Real x) {
  using Key = KeyOf<Real>;
  return std::isnan(x) ? std::numeric_limits<Key>::max() : flipped(std::bit_cast<Key>(x));
}

template <class Key>
using RankOfKeys = Key(const Key* keys, std::int64_t count, std::int64_t rank);

// The key of a rank, bit by bit from the sign on: a bit is set if at most `rank` keys are smaller
// than what it makes. Every pass is a loop over whole vectors without branches, so that this is
// quicker than partitioning.
template <class Key>
[[gnu::always_inline]] inline Key bisect(const Key* keys, std::int64_t count, std::int64_t rank) {
  using Bits = std::make_unsigned_t<Key>;
  Key found = std::numeric_limits<Key>::min();
  for (Bits bit = Bits{1} << (8 * sizeof(Key) - 1); bit != 0; bit >>= 1) {
    // The sign bit of the smallest key is set, the others are not: xor makes each larger.
    Key raised = static_cast<Key>(static_cast<Bits>(found) ^ bit);
    Key below = 0;
    for (std::int64_t i = 0; i < count; i++) below += keys[i] < raised ? 1 : 0;
    if (below <= rank) found = raised;
  }
  return found;
}

template <class Key>
Key plain(const Key* keys, std::int64_t count, std::int64_t rank) {
  return bisect(keys, count, rank);
}

#ifdef __x86_64__
template <class Key>
[[gnu::target("avx2")]] Key avx2(const Key* keys, std::int64_t count, std::int64_t rank) {
  return bisect(keys, count, rank);
}
template <class Key>
[[gnu::target("avx512f")]] Key avx512(const Key* keys, std::int64_t count, std::int64_t rank) {
  return bisect(keys, count, rank);
}
template <class Key>
RankOfKeys<Key>* best() {
  if (__builtin_cpu_supports("avx512f")) return avx512<Key>;
  return __builtin_cpu_supports("avx2") ? avx2<Key> : plain<Key>;
}
#else
template <class Key>
RankOfKeys<Key>* best() {
  return plain<Key>;
}
#endif

template <class Key>
Key key_of_rank(const std::vector<Key>& keys, std::int64_t rank) {
  static RankOfKeys<Key>* const function = best<Key>();
  return function(keys.data(), std::ssize(keys), rank);
}

// The same bisection where there are too many pairs to hold: those nearer than a candidate are
// counted on sorted elements, where the end of what is near to i only grows with i.
template <class Real>
Real bisect_sorted(const std::vector<Real>& sorted, std::int64_t rank) {
  using Key = KeyOf<Real>;
  std::int64_t count = std::ssize(sorted);
  Key found = 0;
  for (Key bit = Key{1} << (8 * sizeof(Key) - 2); bit != 0; bit >>= 1) {
    Real candidate = std::bit_cast<Real>(found | bit);
    std::int64_t nearer = 0, end = 0;
    for (std::int64_t i = 0; i < count; i++) {
      while (end < count && sorted[end] - sorted[i] < candidate) end++;
      nearer += std::max<std::int64_t>(end - i - 1, 0);
    }
    if (nearer <= rank) found |= bit;
  }
  // A thread that takes numbers below the smallest normal one for 0 finds the last of these.
  Real distance = std::bit_cast<Real>(found);
  return distance < std::numeric_limits<Real>::min() ? 0 : distance;
}

// Up to here counting among all pairs by vectors is quicker.
constexpr std::int64_t all_pairs_up_to = 64;

}  // namespace

template <class Real>
void order_statistics_here(std::span<const Real> elements, std::span<const std::int64_t> ranks,
                           Real* result) {
  static thread_local std::vector<KeyOf<Real>> keys;
  keys.resize(elements.size());
  std::transform(elements.begin(), elements.end(), keys.begin(), key_of<Real>);
  for (std::int64_t rank : ranks) {
    *result++ = std::bit_cast<Real>(flipped(key_of_rank(keys, rank)));
  }
}

template <class Real>
Real pair_order_statistic_here(std::span<const Real> elements, std::int64_t rank) {
  static thread_local std::vector<Real> finite;
  finite.clear();
  for (Real x : elements) {
    if (std::isfinite(x)) finite.push_back(x);
  }
  std::int64_t count = std::ssize(finite);
  if (rank >= count * (count - 1) / 2) return std::numeric_limits<Real>::infinity();
  if (count > all_pairs_up_to) {
    std::sort(finite.begin(), finite.end());
    return bisect_sorted(finite, rank);
  }
  static thread_local std::vector<KeyOf<Real>> keys;
  keys.clear();
  for (std::int64_t i = 0; i < count; i++) {
    for (std::int64_t j = 0; j < i; j++) {
      keys.push_back(std::bit_cast<KeyOf<Real>>(std::abs(finite[i] - finite[j])));
    }
  }
  return std::bit_cast<Real>(key_of_rank(keys, rank));
}

template void order_statistics_here(std::span<const float>, std::span<const std::int64_t>, float*);
template void order_statistics_here(std::span<const double>, std::span<const std::int64_t>,
                                    double*);
template float pair_order_statistic_here(std::span<const float>, std::int64_t);
template double pair_order_statistic_here(std::span<const double>, std::int64_t);

}  // namespace sturnus::internal
