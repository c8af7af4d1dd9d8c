#include <sturnus/runtime/product_kernels.h>

#include <algorithm>
#include <cstring>
#include <type_traits>
#include <utility>
#include <vector>

// Every function below is inlined into one of those at the end, and takes over the instruction set
// that is named there.
namespace sturnus::internal {
namespace {

template <class Real, int width>
struct VectorOf {
  using Type [[gnu::vector_size(width * sizeof(Real))]] = Real;
};
template <class Real, int width>
using Vector = typename VectorOf<Real, width>::Type;

template <class V, class Real>
[[gnu::always_inline]] inline void load(V& value, const Real* from) {
  std::memcpy(&value, from, sizeof value);
}

template <class V, class Real>
[[gnu::always_inline]] inline void store(const V& value, Real* to) {
  std::memcpy(to, &value, sizeof value);
}

// The sum of the elements, by halves.
template <class Real, int width>
[[gnu::always_inline]] inline Real total(const Vector<Real, width>& v) {
  if constexpr (width == 1) {
    return v[0];
  } else {
    Vector<Real, width / 2> low, high;
    std::memcpy(&low, &v, sizeof low);
    std::memcpy(&high, reinterpret_cast<const char*>(&v) + sizeof low, sizeof high);
    return total<Real, width / 2>(low + high);
  }
}

// Memory that will be needed soon, a few lines of the cache at a time.
class Prefetch {
 public:
  void add(const void* data, std::int64_t bytes, std::int64_t steps) {
    auto* from = static_cast<const char*>(data);
    ranges_[count_++] = {from, from + bytes, (bytes / line + steps) / steps};
  }
  [[gnu::always_inline]] void step() {
    for (int i = 0; i < count_; i++) {
      Range& range = ranges_[i];
      for (std::int64_t k = 0; k < range.lines && range.at < range.end; k++, range.at += line) {
        __builtin_prefetch(range.at, 0, 2);
      }
    }
  }

 private:
  static constexpr std::int64_t line = 64;
  struct Range {
    const char *at, *end;
    std::int64_t lines;  // at each step
  };
  Range ranges_[3];
  int count_ = 0;
};

template <class Real>
struct Product {
  std::int64_t m, k, n;
  const Real* left;
  std::int64_t left_row, left_column;  // strides
  const Real* right;
  std::int64_t right_row, right_first;  // stride, and the column that stands first
  Real* result;
  Prefetch* soon;
};

// Rows i to i + height and columns j to j + vectors * width of the result: the sums stay in
// registers, and each k adds the product of a column of the left operand and a row of the right
// one.
template <class Real, int width, int height, int vectors>
[[gnu::always_inline]] inline void add_outer_products(const Product<Real>& p, std::int64_t i,
                                                      std::int64_t j) {
  using V = Vector<Real, width>;
  V sums[height][vectors];
#pragma GCC unroll 16
  for (int h = 0; h < height; h++) {
#pragma GCC unroll 16
    for (int v = 0; v < vectors; v++) sums[h][v] = V{};
  }
  const Real *left = p.left + i * p.left_row, *right = p.right + (j - p.right_first);
  for (std::int64_t k = 0; k < p.k; k++, left += p.left_column, right += p.right_row) {
    V row[vectors];
#pragma GCC unroll 16
    for (int v = 0; v < vectors; v++) load(row[v], right + v * width);
#pragma GCC unroll 16
    for (int h = 0; h < height; h++) {
#pragma GCC unroll 16
      for (int v = 0; v < vectors; v++) sums[h][v] += left[h * p.left_row] * row[v];
    }
  }
  std::int64_t count = p.n - j;
#pragma GCC unroll 16
  for (int h = 0; h < height; h++) {
    Real* to = p.result + (i + h) * p.n + j;
    if (count >= vectors * width) {
#pragma GCC unroll 16
      for (int v = 0; v < vectors; v++) store(sums[h][v], to + v * width);
    } else {
      Real row[vectors * width];
#pragma GCC unroll 16
      for (int v = 0; v < vectors; v++) store(sums[h][v], row + v * width);
      std::copy_n(row, count, to);
    }
  }
}

// Elements (i, j) to (i + height, j + breadth): both operands have the k one after the other.
template <class Real, int width, int height, int breadth>
[[gnu::always_inline]] inline void inner_products(const Product<Real>& p, std::int64_t i,
                                                  std::int64_t j) {
  using V = Vector<Real, width>;
  V sums[height][breadth];
#pragma GCC unroll 16
  for (int h = 0; h < height; h++) {
#pragma GCC unroll 16
    for (int b = 0; b < breadth; b++) sums[h][b] = V{};
  }
  const Real *left = p.left + i * p.k, *right = p.right + j * p.k;
  std::int64_t k = 0;
  for (; k + width <= p.k; k += width) {
    V row[breadth];
#pragma GCC unroll 16
    for (int b = 0; b < breadth; b++) load(row[b], right + b * p.k + k);
#pragma GCC unroll 16
    for (int h = 0; h < height; h++) {
      V column;
      load(column, left + h * p.k + k);
#pragma GCC unroll 16
      for (int b = 0; b < breadth; b++) sums[h][b] += column * row[b];
    }
  }
  if (k < p.k) {  // the last vector once more, without what was added before
    using Bits = Vector<std::conditional_t<sizeof(Real) == 4, std::int32_t, std::int64_t>, width>;
    Bits lane;
    for (int w = 0; w < width; w++) lane[w] = w;
    Bits is_new = lane >= static_cast<int>(width - (p.k - k));
    k = p.k - width;
    V row[breadth];
#pragma GCC unroll 16
    for (int b = 0; b < breadth; b++) load(row[b], right + b * p.k + k);
#pragma GCC unroll 16
    for (int h = 0; h < height; h++) {
      V column;
      load(column, left + h * p.k + k);
      column = reinterpret_cast<V>(reinterpret_cast<Bits>(column) & is_new);
#pragma GCC unroll 16
      for (int b = 0; b < breadth; b++) {
        sums[h][b] += column * reinterpret_cast<V>(reinterpret_cast<Bits>(row[b]) & is_new);
      }
    }
  }
#pragma GCC unroll 16
  for (int h = 0; h < height; h++) {
#pragma GCC unroll 16
    for (int b = 0; b < breadth; b++) {
      p.result[(i + h) * p.n + j + b] = total<Real, width>(sums[h][b]);
    }
  }
}

template <class Real, int width, int height>
[[gnu::always_inline]] inline void inner_rows(const Product<Real>& p, std::int64_t i) {
  std::int64_t j = 0;
  for (; j + 3 <= p.n; j += 3) inner_products<Real, width, height, 3>(p, i, j);
  for (; j < p.n; j++) inner_products<Real, width, height, 1>(p, i, j);
}

template <class Real, int width>
[[gnu::always_inline]] inline void by_inner_products(const Product<Real>& p) {
  std::int64_t i = 0;
  for (; i + 4 <= p.m; i += 4) inner_rows<Real, width, 4>(p, i);
  for (; i < p.m; i++) inner_rows<Real, width, 1>(p, i);
}

// How many rows a tile may have: its sums, a row of the right operand and a factor of the left one
// stay in the 32 registers of long vectors, or the 16 of others.
template <class Real, int width, int vectors>
constexpr int highest_tile = (width * sizeof(Real) == 64 ? 24 : 12) / std::max(vectors, 2);

template <class Real, int width, int height, int vectors>
[[gnu::always_inline]] inline void tile_of_height(const Product<Real>& p, std::int64_t wanted,
                                                  std::int64_t i, std::int64_t j) {
  if (wanted == height) return add_outer_products<Real, width, height, vectors>(p, i, j);
  if constexpr (height > 1) tile_of_height<Real, width, height - 1, vectors>(p, wanted, i, j);
}

// All rows, in tiles of nearly one height: 20 rows are four times 5, not three times 6 and 2, since
// few sums would wait for each other.
template <class Real, int width, int vectors>
[[gnu::always_inline]] inline void outer_columns(const Product<Real>& p, std::int64_t j) {
  // Short sums are over before a large tile pays for its beginning and end.
  constexpr int most = highest_tile<Real, width, vectors>;
  std::int64_t i = 0, highest = p.k < 64 ? std::min(most, 12 / std::max(vectors, 2)) : most;
  for (std::int64_t tiles = (p.m + highest - 1) / highest; tiles > 0; tiles--) {
    std::int64_t height = (p.m - i + tiles - 1) / tiles;
    tile_of_height<Real, width, most, vectors>(p, height, i, j);
    p.soon->step();
    i += height;
  }
}

constexpr std::int64_t vectors_of(std::int64_t count, std::int64_t width) {
  return (count + width - 1) / width;
}

// to[j, i] = from[i, j] for 4 x 4 elements.
template <class Real>
[[gnu::always_inline]] inline void transpose_tile(const Real* from, std::int64_t from_row, Real* to,
                                                  std::int64_t to_row) {
  Vector<Real, 4> a, b, c, d;
  load(a, from), load(b, from + from_row), load(c, from + 2 * from_row),
      load(d, from + 3 * from_row);
  auto ab = __builtin_shufflevector(a, b, 0, 4, 1, 5),
       cd = __builtin_shufflevector(c, d, 0, 4, 1, 5);
  store(__builtin_shufflevector(ab, cd, 0, 1, 4, 5), to);
  store(__builtin_shufflevector(ab, cd, 2, 3, 6, 7), to + to_row);
  ab = __builtin_shufflevector(a, b, 2, 6, 3, 7), cd = __builtin_shufflevector(c, d, 2, 6, 3, 7);
  store(__builtin_shufflevector(ab, cd, 0, 1, 4, 5), to + 2 * to_row);
  store(__builtin_shufflevector(ab, cd, 2, 3, 6, 7), to + 3 * to_row);
}

// Columns j to j + vectors * width of the right operand, [n, k] if it is `transposed`, as k rows
// that stand one after the other. Columns beyond the last are whatever was there.
template <class Real, int width, int vectors>
[[gnu::always_inline]] inline void copy_columns(const Product<Real>& p, bool transposed,
                                                std::int64_t j, Real* to) {
  constexpr std::int64_t length = vectors * width;
  std::int64_t columns = std::min(length, p.n - j);
  if (!transposed) {
    for (std::int64_t k = 0; k < p.k; k++) {
      std::copy_n(p.right + k * p.right_row + j, columns, to + k * length);
    }
    return;
  }
  const Real* from = p.right + j * p.k;
  std::int64_t k4 = p.k / 4 * 4, columns4 = columns / 4 * 4;
  for (std::int64_t c = 0; c < columns4; c += 4) {
    for (std::int64_t k = 0; k < k4; k += 4) {
      transpose_tile(from + c * p.k + k, p.k, to + k * length + c, length);
    }
  }
  for (std::int64_t c = 0; c < columns; c++) {
    for (std::int64_t k = c < columns4 ? k4 : 0; k < p.k; k++) {
      to[k * length + c] = from[c * p.k + k];
    }
  }
}

enum class Right { in_place, copied, transposed };

// A strip of columns. Its part of the right operand is copied where many tiles read it, since rows
// far apart would fall on the same lines of the cache.
template <class Real, int width, int vectors>
[[gnu::always_inline]] inline void outer_strip(const Product<Real>& p, Right right, std::int64_t j,
                                               std::vector<Real>& scratch) {
  Product<Real> strip = p;
  if (right != Right::in_place) {
    scratch.resize(static_cast<std::size_t>(p.k * vectors * width));
    copy_columns<Real, width, vectors>(p, right == Right::transposed, j, scratch.data());
    strip.right = scratch.data();
    strip.right_row = vectors * width;
    strip.right_first = j;
  }
  outer_columns<Real, width, vectors>(strip, j);
}

// The last columns are whole vectors again, some of them done twice; a result of less than that has
// rows of the right operand that are filled up to it.
template <class Real, int width>
[[gnu::always_inline]] inline void by_outer_products(const Product<Real>& p, Right right,
                                                     std::vector<Real>& scratch) {
  constexpr std::int64_t cache = 16384;  // half of the innermost one
  bool narrow =
      right != Right::in_place && p.k * 2 * width * static_cast<std::int64_t>(sizeof(Real)) > cache;
  std::int64_t j = 0, left = vectors_of(p.n, width);
  auto begin = [&](int vectors) {
    return std::max<std::int64_t>(std::min(j, p.n - vectors * width), 0);
  };
  if (!narrow) {
    for (; left >= 4 || left == 2; left -= 2, j += 2 * width) {
      outer_strip<Real, width, 2>(p, right, begin(2), scratch);
    }
    if (left == 3) return outer_strip<Real, width, 3>(p, right, begin(3), scratch);
  }
  for (; left > 0; left--, j += width) outer_strip<Real, width, 1>(p, right, begin(1), scratch);
}

template <class Real, int bytes>
[[gnu::always_inline]] inline void products(ProductLayout layout, ProductExtents e,
                                            const Real* left, const Real* right, Real* result) {
  constexpr int width = bytes / sizeof(Real);
  bool mk = layout == ProductLayout::mk_kn || layout == ProductLayout::mk_nk;
  bool kn = layout == ProductLayout::mk_kn || layout == ProductLayout::km_kn;
  if (e.n == 1 && !mk) {  // the transposed product has longer rows
    std::swap(e.m, e.n);
    std::swap(left, right);
    std::swap(e.left_step, e.right_step);
    mk = kn = true;
  }
  if (e.n == 1) kn = false;
  bool inner = mk && !kn && e.k >= width && (e.m < 4 || e.n < 4);
  bool few_columns = e.n < 3 * width && e.n % width != 0;
  bool many_tiles = e.m >= 4 * highest_tile<Real, width, 2>;
  Right how = !kn ? Right::transposed : few_columns || many_tiles ? Right::copied : Right::in_place;
  static thread_local std::vector<Real> scratch;
  std::int64_t left_size = e.m * e.k, right_size = e.k * e.n, result_size = e.m * e.n;
  constexpr std::int64_t cached = 1 << 20;  // bytes
  constexpr std::int64_t item = sizeof(Real);
  bool far = e.batch * item * (left_size + right_size + result_size) > cached;
  std::int64_t tiles =
      std::max<std::int64_t>(e.m / highest_tile<Real, width, 2> * vectors_of(e.n, 2 * width), 1);
  for (std::int64_t b = 0; b < e.batch; b++) {
    Prefetch soon;
    if (far && b + 1 < e.batch) {
      soon.add(left + (b + 1) * e.left_step, item * left_size, tiles);
      soon.add(right + (b + 1) * e.right_step, item * right_size, tiles);
      soon.add(result + (b + 1) * result_size, item * result_size, tiles);
    }
    Product<Real> p{e.m,
                    e.k,
                    e.n,
                    left + b * e.left_step,
                    mk ? e.k : 1,
                    mk ? 1 : e.m,
                    right + b * e.right_step,
                    kn ? e.n : 1,
                    0,
                    result + b * e.m * e.n,
                    &soon};
    if (inner) {
      by_inner_products<Real, width>(p);
    } else {
      by_outer_products<Real, width>(p, how, scratch);
    }
  }
}

template <class Real>
using Function = void(ProductLayout, const ProductExtents&, const Real*, const Real*, Real*);

template <class Real>
void plain(ProductLayout layout, const ProductExtents& extents, const Real* left, const Real* right,
           Real* result) {
  products<Real, 16>(layout, extents, left, right, result);
}

#ifdef __x86_64__
template <class Real>
[[gnu::target("avx2,fma")]] void avx2(ProductLayout layout, const ProductExtents& extents,
                                      const Real* left, const Real* right, Real* result) {
  products<Real, 32>(layout, extents, left, right, result);
}

template <class Real>
[[gnu::target("avx512f")]] void avx512(ProductLayout layout, const ProductExtents& extents,
                                       const Real* left, const Real* right, Real* result) {
  constexpr std::int64_t width = 64 / sizeof(Real);
  // 20 columns are 3 short vectors or 2 long ones.
  bool too_wide = 3 * vectors_of(extents.n, width) * width >=
                  4 * vectors_of(extents.n, width / 2) * (width / 2);
  if (too_wide) return avx2(layout, extents, left, right, result);
  products<Real, 64>(layout, extents, left, right, result);
}

template <class Real>
Function<Real>* best() {
  if (__builtin_cpu_supports("avx512f")) return avx512<Real>;
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return avx2<Real>;
  return plain<Real>;
}
#else
template <class Real>
Function<Real>* best() {
  return plain<Real>;
}
#endif

}  // namespace

template <class Real>
void multiply_here(ProductLayout layout, const ProductExtents& extents, const Real* left,
                   const Real* right, Real* result) {
  static Function<Real>* const function = best<Real>();
  function(layout, extents, left, right, result);
}

template void multiply_here(ProductLayout, const ProductExtents&, const float*, const float*,
                            float*);
template void multiply_here(ProductLayout, const ProductExtents&, const double*, const double*,
                            double*);

}  // namespace sturnus::internal
