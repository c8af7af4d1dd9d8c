// Eigenvalues and singular values by Jacobi rotations, n / 2 at a time: rows i and i + n/2 form a
// pair, and after each step the rows move on so that n - 1 steps bring every pair together once
// (R. Brent and F. Luk, The solution of singular-value and symmetric eigenvalue problems on
// multiprocessor arrays, SIAM J. Sci. Stat. Comput. 6, 1985).
#include <sturnus/functional/control_flow.h>
#include <sturnus/functional/op.h>
#include <sturnus/ops/arithmetic.h>
#include <sturnus/ops/creation.h>
#include <sturnus/ops/dot.h>
#include <sturnus/ops/linalg.h>
#include <sturnus/ops/order.h>
#include <sturnus/ops/rearrange.h>
#include <sturnus/ops/reduce.h>
#include <sturnus/ops/shape.h>
#include <sturnus/ops/transcendental.h>

#include <cmath>

#include "src/ops/elementwise.h"
#include "src/ops/limits.h"
#include "src/ops/matrices.h"

namespace sturnus {
namespace internal {
namespace {

constexpr int most_sweeps = 30;

// Rows begin, ..., end - 1 of [stack, rows, columns].
Array rows_between(const Array& a, std::int64_t begin, std::int64_t end) {
  return slice(a, {0, begin, 0}, {a.shape()[0], end, a.shape()[2]});
}

// Each row of the first half moves down the line, each of the second up; the first row stays.
Array moved_on(const Array& a) {
  std::int64_t n = a.shape()[1], half = n / 2;
  if (half == 1) return a;
  return concatenate(
      {rows_between(a, 0, 1), rows_between(a, half, half + 1), rows_between(a, 1, half - 1),
       rows_between(a, half + 1, n), rows_between(a, half - 1, half)},
      1);
}

struct Rotation {
  Array cosine, sine;  // [stack, n / 2, 1]
};

// The rotation by at most 45 degrees that makes p and q orthogonal, from the products pp, qq, pq.
Rotation rotation_of(const Array& pp, const Array& qq, const Array& pq) {
  Array none = pq == 0.0;
  Array tau = (qq - pp) / (2.0 * where(none, 1.0, pq));
  Array root = sqrt(1.0 + tau * tau);
  Array tangent = where(tau < 0.0, -1.0, ones_of(tau.type())) / (abs(tau) + root);
  tangent = where(none, 0.0, tangent);
  Array cosine = rsqrt(1.0 + tangent * tangent);
  return {cosine, tangent * cosine};
}

Array rotated_rows(const Array& a, const Rotation& by) {
  std::int64_t n = a.shape()[1], half = n / 2;
  Array top = rows_between(a, 0, half), bottom = rows_between(a, half, n);
  Array new_top = by.cosine * top - by.sine * bottom;
  Array new_bottom = by.sine * top + by.cosine * bottom;
  return concatenate({new_top, new_bottom}, 1);
}

// The matrix that is made diagonal (or whose rows are made orthogonal), the product of the
// rotations, how many sweeps were made, and what is left to do.
struct Sweeps {
  Array matrix, vectors, count, left;
};

Sweeps swept(const Array& matrix, const std::function<Sweeps(const Sweeps&)>& step,
             const std::function<Array(const Array&)>& left) {
  std::int64_t batch = matrix.shape()[0], n = matrix.shape()[1];
  Sweeps start{matrix, identity({batch}, n, n, matrix.dtype()), Array(0), left(matrix)};
  auto open = [](const Sweeps& now) {
    Array few = now.count < most_sweeps;
    return few & (now.left > 0.0);
  };
  auto sweep = [&](const Sweeps& now) {
    auto one = [&](const Array&, const Sweeps& state) { return step(state); };
    Sweeps next = fori_loop(0, std::max<std::int64_t>(n - 1, 1), one, now);
    return Sweeps{next.matrix, next.vectors, now.count + 1, left(next.matrix)};
  };
  return sturnus::while_loop(open, sweep, start);
}

// 0 when no element of x, relative to `scale`, is above the precision, else the largest.
Array largest_left(const Array& x, const Array& scale) {
  Array relative = abs(x) - limits_of(x.dtype()).epsilon * scale;
  return maximum(max(relative), 0.0);
}

// Rows sorted by one number for each; keys: [stack, n].
Array sorted_rows(const Array& keys, const Array& a) {
  return sort_by_key(broadcast(keys, a.shape(), {0, 1}), {a}, 1)[1];
}

// ---------------------------------------------------------------------------------- eigenvalues

// Results: the eigenvalues, and the eigenvectors as columns.
struct Eigh {
  static constexpr std::string_view name = "eigh";
  ArrayTypes infer(const Arrays& x) const {
    Shape values = x[0].shape();
    values.pop_back();
    return {{x[0].dtype(), values}, x[0].type()};
  }
  // With c = v^T da v: dw = diag(c), dv = v (f c) with f[i, j] = 1 / (w[j] - w[i]) off the
  // diagonal.
  Arrays jvp(const Arrays&, const Arrays& y, const Arrays& dx) const {
    const Array &w = y[0], &v = y[1];
    Array c = matmul(transposed(v), matmul(dx[0], v));
    std::int64_t n = rows_of(v);
    Array one = identity(stack_of(v), n, n, v.dtype());
    Array gap = as_row(w) - as_column(w);
    Array f = (1.0 - one) / (gap + one);
    return {diagonal(c), matmul(v, f * c)};
  }
  Arrays batch(const Arrays& x, const Mask&, std::int64_t) const { return make_all(*this, x); }
  void lower(Emitter& emitter, const Node& node) const {
    if (lowered_as_empty(emitter, node)) return;
    Array a = with_flat_stack(node.inputs[0]);
    std::int64_t batch = a.shape()[0], n = a.shape()[1], even = n + n % 2;
    Array bound = max(sum(abs(a), {{2}, true}), {{1}, true});  // of all eigenvalues
    Array start = a;
    if (even != n) {
      // One more row and column, whose eigenvalue is larger than all others.
      start = pad(a, 0.0, {0, 0, 0}, {0, 1, 1});
      Array corner = (iota(start.shape(), 1) == n) & (iota(start.shape(), 2) == n);
      start = where(corner, 2.0 * bound + 1.0, start);
    }
    Array off_diagonal = 1.0 - identity({batch}, even, even, a.dtype());
    auto left = [&](const Array& now) { return largest_left(now * off_diagonal, 0.25 * bound); };
    Sweeps end = swept(start, step, left);
    Array values = diagonal(end.matrix);
    Array sorted = sort(values, 1);
    Array vectors = transposed(sorted_rows(values, end.vectors));
    emitter.expand(node,
                   {reshape_to(slice(sorted, {0, 0}, {batch, n}), node.types[0].shape),
                    reshape_to(slice(vectors, {0, 0, 0}, {batch, n, n}), node.types[1].shape)});
  }
  static Sweeps step(const Sweeps& now) {
    const Array& a = now.matrix;
    std::int64_t batch = a.shape()[0], n = a.shape()[1], half = n / 2;
    auto block = [&](std::int64_t row, std::int64_t column) {
      return as_column(diagonal(slice(a, {0, row, column}, {batch, row + half, column + half})));
    };
    Rotation by = rotation_of(block(0, 0), block(half, half), block(0, half));
    Array rows = moved_on(rotated_rows(a, by));
    Array both = moved_on(rotated_rows(transposed(rows), by));
    return {both, moved_on(rotated_rows(now.vectors, by)), now.count, now.left};
  }
};

// ------------------------------------------------------------------------------ singular values

// For matrices with no fewer rows than columns. Results: u, s, v^T.
struct Svd {
  static constexpr std::string_view name = "svd";
  ArrayTypes infer(const Arrays& x) const {
    std::int64_t n = columns_of(x[0]);
    Shape stack = stack_of(x[0]);
    return {x[0].type(), {x[0].dtype(), joined(stack, {n})}, {x[0].dtype(), joined(stack, {n, n})}};
  }
  // With c = u^T da v and f[i, j] = 1 / (s[j]^2 - s[i]^2) off the diagonal: ds = diag(c),
  // du = u (f (c s + s c^T)) + (1 - u u^T) da v / s, dv = v (f (s c + c^T s)).
  Arrays jvp(const Arrays&, const Arrays& y, const Arrays& dx) const {
    const Array &u = y[0], &s = y[1], &vt = y[2];
    Array da_v = matmul(dx[0], transposed(vt));
    Array c = matmul(transposed(u), da_v);
    std::int64_t n = rows_of(vt);
    Array one = identity(stack_of(vt), n, n, vt.dtype());
    Array row = as_row(s), column = as_column(s);
    Array f = (1.0 - one) / ((row - column) * (row + column) + one);
    Array ct = transposed(c);
    Array left = f * (c * row + column * ct);
    Array right = f * (column * c + ct * row);
    Array du = matmul(u, left) + (da_v - matmul(u, c)) / row;
    return {du, diagonal(c), matmul(transposed(right), vt)};
  }
  Arrays batch(const Arrays& x, const Mask&, std::int64_t) const { return make_all(*this, x); }
  void lower(Emitter& emitter, const Node& node) const {
    if (lowered_as_empty(emitter, node)) return;
    // Columns of a as rows, so that rotating rows makes them orthogonal.
    Array a = transposed(with_flat_stack(node.inputs[0]));
    std::int64_t batch = a.shape()[0], n = a.shape()[1], m = a.shape()[2], even = n + n % 2;
    // Scaled, so that squares neither overflow nor vanish.
    Array scale = max(abs(a), {{1, 2}, true});
    Array start = a / where(scale == 0.0, 1.0, scale);
    if (even != n) start = pad(start, 0.0, {0, 0, 0}, {0, 1, 0});
    Array off_diagonal = 1.0 - identity({batch}, even, even, a.dtype());
    auto left = [&](const Array& now) {
      Array products = matmul(now, transposed(now));
      Array lengths = sqrt(diagonal(products));
      Array size = as_column(lengths) * as_row(lengths);
      return largest_left(products * off_diagonal, static_cast<double>(m) * size);
    };
    Sweeps end = swept(start, step, left);
    Array lengths = sqrt(sum(end.matrix * end.matrix, 2));
    Array descending = -lengths;
    Array s = sort_by_key(descending, {lengths}, 1)[1];
    Array safe = where(s == 0.0, 1.0, s);
    Array u = transposed(sorted_rows(descending, end.matrix) / as_column(safe));
    Array vt = sorted_rows(descending, end.vectors);
    Array s_scaled = slice(s, {0, 0}, {batch, n}) * reshape_to(scale, {batch, 1});
    emitter.expand(node, {reshape_to(slice(u, {0, 0, 0}, {batch, m, n}), node.types[0].shape),
                          reshape_to(s_scaled, node.types[1].shape),
                          reshape_to(slice(vt, {0, 0, 0}, {batch, n, n}), node.types[2].shape)});
  }
  static Sweeps step(const Sweeps& now) {
    const Array& a = now.matrix;
    std::int64_t n = a.shape()[1], half = n / 2;
    Array top = rows_between(a, 0, half), bottom = rows_between(a, half, n);
    auto product = [](const Array& x, const Array& y) { return sum(x * y, {{2}, true}); };
    Rotation by = rotation_of(product(top, top), product(bottom, bottom), product(top, bottom));
    return {moved_on(rotated_rows(a, by)), moved_on(rotated_rows(now.vectors, by)), now.count,
            now.left};
  }
};

}  // namespace
}  // namespace internal

using internal::Blame;

EighParts eigh(Operand a) {
  Blame blame(a.where, "eigh");
  Array x = internal::symmetrized(internal::to_square_matrices("eigh", a));
  Arrays parts = internal::make_all(internal::Eigh{}, {x});
  return {parts[0], parts[1]};
}

SvdParts svd(Operand a) {
  Blame blame(a.where, "svd");
  Array x = internal::to_matrices("svd", a);
  bool wide = internal::rows_of(x) < internal::columns_of(x);
  if (wide) x = internal::transposed(x);
  Arrays parts = internal::make_all(internal::Svd{}, {x});
  if (!wide) return {parts[0], parts[1], parts[2]};
  Array u = internal::transposed(parts[2]);
  return {u, parts[1], internal::transposed(parts[0])};
}

}  // namespace sturnus
