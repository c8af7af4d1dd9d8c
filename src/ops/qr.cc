#include <sturnus/functional/control_flow.h>
#include <sturnus/functional/evaluate.h>
#include <sturnus/functional/op.h>
#include <sturnus/ops/arithmetic.h>
#include <sturnus/ops/creation.h>
#include <sturnus/ops/dot.h>
#include <sturnus/ops/linalg.h>
#include <sturnus/ops/rearrange.h>
#include <sturnus/ops/reduce.h>
#include <sturnus/ops/shape.h>
#include <sturnus/ops/transcendental.h>
#include <sturnus/ops/triangular.h>

#include "src/ops/elementwise.h"
#include "src/ops/matrices.h"

namespace sturnus {
namespace internal {
namespace {

// a with rows changed by the reflection 1 - 2 v v^T / |v|^2; v: [stack, m, 1].
Array reflected(const Array& a, const Array& v) {
  Array along = matmul(transposed(v), a);
  Array length = sum(v * v, {{1}, true});
  Array scaled = along * (2.0 / where(length == 0.0, 1.0, length));
  return a - v * scaled;
}

struct Triangulation {
  Array matrix;   // [stack, m, n]
  Array normals;  // of the reflections so far, as columns: [stack, m, k]
};

// The reflection that takes column k, from its diagonal on, to a multiple of the first unit vector.
Triangulation triangulated(const Array& k, const Triangulation& now) {
  const Array& a = now.matrix;
  std::int64_t batch = a.shape()[0], m = a.shape()[1];
  Array zero(0);
  Array row = iota({batch, m, 1}, 1);
  Array column = part_at(a, {zero, zero, k}, {batch, m, 1});
  Array rest = where(row >= k, column, 0.0);
  Array largest = max(abs(rest), {{1}, true});
  Array scaled = rest / where(largest == 0.0, 1.0, largest);  // its square does not overflow
  Array norm = sqrt(sum(scaled * scaled, {{1}, true}));
  Array head = sum(where(row == k, scaled, 0.0), {{1}, true});
  Array to = where(head < 0.0, norm, -norm);
  Array normal = scaled - where(row == k, to, 0.0);
  Array normals = update_at(now.normals, normal, {zero, zero, k});
  return {reflected(a, normal), normals};
}

// Results: q and r.
struct Qr {
  static constexpr std::string_view name = "qr";
  ArrayTypes infer(const Arrays& x) const {
    std::int64_t m = rows_of(x[0]), n = columns_of(x[0]), k = std::min(m, n);
    Shape stack = stack_of(x[0]);
    return {{x[0].dtype(), joined(stack, {m, k})}, {x[0].dtype(), joined(stack, {k, n})}};
  }
  // With c = q^T da r^-1 and the antisymmetric w of its lower triangle:
  // dq = q (w - c) + da r^-1, dr = (c - w) r.
  Arrays jvp(const Arrays& x, const Arrays& y, const Arrays& dx) const {
    if (rows_of(x[0]) < columns_of(x[0])) {
      throw Error(message("qr", "the derivative for " + x[0].type().str() + " is not defined",
                          "It needs at least as many rows as columns"));
    }
    const Array &q = y[0], &r = y[1];
    TriangularOptions options{.lower = false, .transposed = true};
    Array right = transposed(triangular_solve(r, transposed(dx[0]), options));
    Array c = matmul(transposed(q), right);
    Array strict = tril(c, -1);
    Array w = strict - transposed(strict);
    Array dq = matmul(q, w - c) + right;
    return {dq, matmul(c - w, r)};
  }
  Arrays batch(const Arrays& x, const Mask&, std::int64_t) const { return make_all(*this, x); }
  void lower(Emitter& emitter, const Node& node) const {
    if (lowered_as_empty(emitter, node)) return;
    Array a = with_flat_stack(node.inputs[0]);
    std::int64_t batch = a.shape()[0], m = a.shape()[1], n = a.shape()[2], k = std::min(m, n);
    Triangulation start{a, zeros({batch, m, k}, a.dtype())};
    Triangulation end = fori_loop(0, k, triangulated, start);
    // q is the product of the reflections, applied to the first k unit vectors from the last on.
    auto back = [&](const Array& i, const Array& q) {
      Array zero(0);
      Array normal = part_at(end.normals, {zero, zero, (k - 1) - i}, {batch, m, 1});
      return reflected(q, normal);
    };
    Array q = fori_loop(0, k, back, identity({batch}, m, k, a.dtype()));
    Array r = triu(slice(end.matrix, {0, 0, 0}, {batch, k, n}));
    emitter.expand(node, {reshape_to(q, node.types[0].shape), reshape_to(r, node.types[1].shape)});
  }
};

}  // namespace
}  // namespace internal

using internal::Blame;

QrParts qr(Operand a) {
  Blame blame(a.where, "qr");
  Arrays parts = internal::make_all(internal::Qr{}, {internal::to_matrices("qr", a)});
  return {parts[0], parts[1]};
}

Array lstsq(Operand a, Operand b) {
  Blame blame(a.where, "lstsq");
  return internal::as_one_program([&] {
    Array x = internal::to_matrices("lstsq", a), y = internal::to_array(b);
    if (internal::rows_of(x) < internal::columns_of(x)) {
      throw ShapeError(internal::message(
          "lstsq", x.type().str() + " has fewer rows than columns, and the solution is not unique",
          "Add rows that say which one you want"));
    }
    auto [q, r] = qr(x);
    Array right = matmul(internal::transposed(q), y);
    return triangular_solve(r, right, {.lower = false});
  });
}

}  // namespace sturnus
