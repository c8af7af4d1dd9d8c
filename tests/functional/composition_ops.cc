#include "tests/functional/composition_ops.h"

#include <sturnus/functional/checkpoint.h>
#include <sturnus/functional/control_flow.h>
#include <sturnus/functional/custom.h>
#include <sturnus/functional/grad.h>
#include <sturnus/functional/jacobian.h>
#include <sturnus/functional/jit.h>
#include <sturnus/functional/vmap.h>
#include <sturnus/ops/arithmetic.h>
#include <sturnus/ops/complex.h>
#include <sturnus/ops/convolution.h>
#include <sturnus/ops/creation.h>
#include <sturnus/ops/cumulative.h>
#include <sturnus/ops/dot.h>
#include <sturnus/ops/einsum.h>
#include <sturnus/ops/fft.h>
#include <sturnus/ops/index.h>
#include <sturnus/ops/linalg.h>
#include <sturnus/ops/order.h>
#include <sturnus/ops/rearrange.h>
#include <sturnus/ops/reduce.h>
#include <sturnus/ops/shape.h>
#include <sturnus/ops/subscript.h>
#include <sturnus/ops/transcendental.h>
#include <sturnus/ops/triangular.h>

#include <algorithm>

namespace sturnus::testing {
namespace {

// Element i of the result by `f(i)`.
template <class F>
Four each(const F& f) {
  Four r;
  for (std::size_t i = 0; i < 4; i++) r[i] = f(i);
  return r;
}

template <class F>
Taylor total(const F& f) {
  Taylor r;
  for (std::size_t i = 0; i < 4; i++) r = r + f(i);
  return r;
}

Taylor total(const Four& a) {
  return total([&](std::size_t i) { return a[i]; });
}

bool is_less(const Taylor& a, const Taylor& b) { return a.c[0] < b.c[0]; }

std::size_t largest(const Four& a) {
  return static_cast<std::size_t>(std::max_element(a.begin(), a.end(), is_less) - a.begin());
}

Array square_matrix(const Array& a) { return reshape(a, {2, 2}); }

// A matrix that is far from singular, and positive definite with its transpose.
Four near_three(const Four& a) {
  return each([&](auto i) {
    Taylor t = tanh(a[i]);
    if (i % 3 == 0) t.c[0] += 3;
    return t;
  });
}
Array near_three(const Array& a) { return square_matrix(tanh(a)) + 3.0 * eye(2, DType::f64); }

}  // namespace

std::vector<CompositionOp> elementwise_ops() {
  return {
      {"a + b",
       [](const Four& a, const Four& b) { return each([&](auto i) { return a[i] + b[i]; }); },
       [](const Array& a, const Array& b) { return a + b; }},
      {"a * b",
       [](const Four& a, const Four& b) { return each([&](auto i) { return a[i] * b[i]; }); },
       [](const Array& a, const Array& b) { return a * b; }},
      {"sin(a)", [](const Four& a, const Four&) { return each([&](auto i) { return sin(a[i]); }); },
       [](const Array& a, const Array&) { return sin(a); }},
      {"exp(-0.5 * a * a)",
       [](const Four& a, const Four&) {
         return each([&](auto i) { return exp(-0.5 * (a[i] * a[i])); });
       },
       [](const Array& a, const Array&) { return exp(-0.5 * a * a); }},
      {"where(a > b, a * b, tanh(a))",
       [](const Four& a, const Four& b) {
         return each([&](auto i) { return is_less(b[i], a[i]) ? a[i] * b[i] : tanh(a[i]); });
       },
       [](const Array& a, const Array& b) { return where(a > b, a * b, tanh(a)); }},
  };
}

std::vector<CompositionOp> structural_ops() {
  return {
      {"sum(a) * sin(b)",
       [](const Four& a, const Four& b) {
         return each([&](auto i) { return total(a) * sin(b[i]); });
       },
       [](const Array& a, const Array& b) { return sum(a) * sin(b); }},
      {"max(a) * b",
       [](const Four& a, const Four& b) {
         return each([&](auto i) { return a[largest(a)] * b[i]; });
       },
       [](const Array& a, const Array& b) { return max(a) * b; }},
      {"prod(a) + b",
       [](const Four& a, const Four& b) {
         return each([&](auto i) { return a[0] * a[1] * a[2] * a[3] + b[i]; });
       },
       [](const Array& a, const Array& b) { return prod(a) + b; }},
      {"cumsum(a)",
       [](const Four& a, const Four&) {
         return each(
             [&](auto i) { return total([&](auto j) { return j <= i ? a[j] : Taylor(); }); });
       },
       [](const Array& a, const Array&) { return cumsum(a); }},
      {"sort(a)",
       [](Four a, const Four&) {
         std::stable_sort(a.begin(), a.end(), is_less);
         return a;
       },
       [](const Array& a, const Array&) { return sort(a); }},
      {"dot(a, b) * a",
       [](const Four& a, const Four& b) {
         Taylor product = total([&](auto j) { return a[j] * b[j]; });
         return each([&](auto i) { return product * a[i]; });
       },
       [](const Array& a, const Array& b) { return dot(a, b) * a; }},
      {"a as a matrix times b as one",
       [](const Four& a, const Four& b) {
         return each(
             [&](auto i) { return a[i / 2 * 2] * b[i % 2] + a[i / 2 * 2 + 1] * b[2 + i % 2]; });
       },
       [](const Array& a, const Array& b) {
         return reshape(matmul(square_matrix(a), square_matrix(b)), {4});
       }},
      {"einsum(ij,kj->ki) of a and b as matrices",
       [](const Four& a, const Four& b) {
         return each([&](auto n) {
           auto k = n / 2, i = n % 2;
           return a[2 * i] * b[2 * k] + a[2 * i + 1] * b[2 * k + 1];
         });
       },
       [](const Array& a, const Array& b) {
         return reshape(einsum("ij,kj->ki", square_matrix(a), square_matrix(b)), {4});
       }},
      {"a as a matrix, transposed",
       [](const Four& a, const Four&) {
         return Four{a[0], a[2], a[1], a[3]};
       },
       [](const Array& a, const Array&) { return ravel(transpose(square_matrix(a))); }},
      {"the middle of a, then the ends of b",
       [](const Four& a, const Four& b) {
         return Four{a[1], a[2], b[3], b[0]};
       },
       [](const Array& a, const Array& b) {
         return concatenate({slice(a, {1}, {3}), flip(slice(b, {0}, {4}, {3}), {0})});
       }},
      {"roll(a, 1) * b",
       [](const Four& a, const Four& b) {
         return each([&](auto i) { return a[(i + 3) % 4] * b[i]; });
       },
       [](const Array& a, const Array& b) { return roll(a, 1) * b; }},
      {"a[{2, 0, 0, 3}]",
       [](const Four& a, const Four&) {
         return Four{a[2], a[0], a[0], a[3]};
       },
       [](const Array& a, const Array&) {
         return a[array(std::vector<int>{2, 0, 0, 3})];
       }},
      {"a.at({1, 1, 3, 0}).add(b)",
       [](const Four& a, const Four& b) {
         return Four{a[0] + b[3], a[1] + b[0] + b[1], a[2], a[3] + b[2]};
       },
       [](const Array& a, const Array& b) {
         return a.at(array(std::vector<int>{1, 1, 3, 0})).add(b);
       }},
      {"a[argmax(b)] + sin(b)",
       [](const Four& a, const Four& b) {
         return each([&](auto i) { return a[largest(b)] + sin(b[i]); });
       },
       [](const Array& a, const Array& b) { return dynamic_index(a, argmax(b)) + sin(b); }},
      {"a with a[argmax(a)] = b[0]",
       [](Four a, const Four& b) {
         a[largest(a)] = b[0];
         return a;
       },
       [](const Array& a, const Array& b) {
         return dynamic_update_slice(a, b(Slice{0, 1}), {argmax(a)});
       }},
      {"convolve(a, b, same)",
       [](const Four& a, const Four& b) {
         return each([&](auto i) {
           return total([&](auto j) {
             return j <= i + 1 && i + 1 - j < 4 ? a[j] * b[i + 1 - j] : Taylor();
           });
         });
       },
       [](const Array& a, const Array& b) { return convolve(a, b, ConvolveMode::same); }},
      {"real(ifft(fft(a) * fft(b)))",
       [](const Four& a, const Four& b) {
         return each(
             [&](auto i) { return total([&](auto j) { return a[j] * b[(i + 4 - j) % 4]; }); });
       },
       [](const Array& a, const Array& b) { return real(ifft(fft(a) * fft(b))); }},
      {"solve(3 + tanh(a) as a matrix, b as one)",
       [](const Four& a, const Four& b) {
         Four m = near_three(a);
         Taylor r = reciprocal(m[0] * m[3] + -1 * (m[1] * m[2]));
         return Four{r * (m[3] * b[0] + -1 * (m[1] * b[2])), r * (m[3] * b[1] + -1 * (m[1] * b[3])),
                     r * (m[0] * b[2] + -1 * (m[2] * b[0])),
                     r * (m[0] * b[3] + -1 * (m[2] * b[1]))};
       },
       [](const Array& a, const Array& b) {
         return ravel(solve(near_three(a), square_matrix(b)));
       }},
      {"cholesky of m + m^T for m = 3 + tanh(a) as a matrix, times b",
       [](const Four& a, const Four& b) {
         Four m = near_three(a);
         Taylor first = sqrt(2 * m[0]), below = (m[1] + m[2]) * reciprocal(first);
         Taylor last = sqrt(2 * m[3] + -1 * (below * below));
         return Four{first * b[0], Taylor(), below * b[2], last * b[3]};
       },
       [](const Array& a, const Array& b) {
         Array m = near_three(a);
         return ravel(cholesky(m + transpose(m))) * b;
       }},
  };
}

std::vector<CompositionOp> nested_ops() {
  return {
      {"checkpoint(tanh(a) * b)",
       [](const Four& a, const Four& b) { return each([&](auto i) { return tanh(a[i]) * b[i]; }); },
       [](const Array& a, const Array& b) {
         return checkpoint([](Array x, Array y) { return tanh(x) * y; })(a, b);
       }},
      {"jit(sin)(a) + b",
       [](const Four& a, const Four& b) { return each([&](auto i) { return sin(a[i]) + b[i]; }); },
       [](const Array& a, const Array& b) { return jit([](Array x) { return sin(x); })(a) + b; }},
      {"sin with a custom_jvp",
       [](const Four& a, const Four&) { return each([&](auto i) { return sin(a[i]); }); },
       [](const Array& a, const Array&) {
         return custom_jvp([](Array x) { return sin(x); },
                           [](Array x, Array dx) { return std::pair(sin(x), cos(x) * dx); })(a);
       }},
      {"tanh with a custom_vjp",
       [](const Four& a, const Four&) { return each([&](auto i) { return tanh(a[i]); }); },
       [](const Array& a, const Array&) {
         return custom_vjp([](Array x) { return tanh(x); },
                           [](Array x) {
                             Array y = tanh(x);
                             return std::pair(y, y);
                           },
                           [](Array y, Array ct) { return (1.0 - y * y) * ct; })(a);
       }},
      {"cond(sum(a) > 0, a * b, sin(a))",
       [](const Four& a, const Four& b) {
         bool positive = total(a).c[0] > 0;
         return each([&](auto i) { return positive ? a[i] * b[i] : sin(a[i]); });
       },
       [](const Array& a, const Array& b) {
         return cond(
             sum(a) > 0.0, [](Array x, Array y) { return x * y; },
             [](Array x, Array) { return sin(x); }, a, b);
       }},
      {"switch_(argmax(b), a, sin(a), a * b)",
       [](const Four& a, const Four& b) {
         std::size_t chosen = largest(b);
         return each([&](auto i) {
           return chosen == 0 ? a[i] : chosen == 1 ? sin(a[i]) : a[i] * b[i];
         });
       },
       [](const Array& a, const Array& b) {
         using Branch = std::function<Array(Array, Array)>;
         std::vector<Branch> branches = {[](Array x, Array) { return x; },
                                         [](Array x, Array) { return sin(x); },
                                         [](Array x, Array y) { return x * y; }};
         return switch_(argmax(b), branches, a, b);
       }},
      {"fori_loop of y = sin(y) * b, from a",
       [](const Four& a, const Four& b) {
         return each([&](auto i) { return sin(sin(sin(a[i]) * b[i]) * b[i]) * b[i]; });
       },
       [](const Array& a, const Array& b) {
         return fori_loop(
             0, 3, [&](Array, Array y) { return sin(y) * b; }, a);
       }},
      {"scan of c = sin(c + x), y = c * x, over a, from b[0]",
       [](const Four& a, const Four& b) {
         Taylor carry = b[0];
         return each([&](auto i) {
           carry = sin(carry + a[i]);
           return carry * a[i];
         });
       },
       [](const Array& a, const Array& b) {
         auto step = [](Array carry, Array x) {
           Array next = sin(carry + x);
           return std::pair(next, next * x);
         };
         return scan(step, b[0], a).second;
       }},
      {"scan from the end of c = c * x + sum(b), over a",
       [](const Four& a, const Four& b) {
         Taylor carry = a[0];
         Four r;
         for (std::size_t i = 4; i-- > 0;) r[i] = carry = carry * a[i] + total(b);
         return r;
       },
       [](const Array& a, const Array& b) {
         auto step = [&](Array carry, Array x) {
           Array next = carry * x + sum(b);
           return std::pair(next, next);
         };
         return scan(step, a[0], a, {.reverse = true}).second;
       }},
      {"associative_scan of products over a",
       [](const Four& a, const Four&) {
         return Four{a[0], a[0] * a[1], a[0] * a[1] * a[2], a[0] * a[1] * a[2] * a[3]};
       },
       [](const Array& a, const Array&) {
         return associative_scan([](Array x, Array y) { return x * y; }, a);
       }},
      {"vmap over a of sum(b * sin(x * b))",
       [](const Four& a, const Four& b) {
         return each(
             [&](auto i) { return total([&](auto j) { return b[j] * sin(a[i] * b[j]); }); });
       },
       [](const Array& a, const Array& b) {
         return vmap([&](Array x) { return sum(b * sin(x * b)); })(a);
       }},
      {"vmap over columns of a as a matrix of sum(v) * v, as rows",
       [](const Four& a, const Four&) {
         return Four{(a[0] + a[2]) * a[0], (a[0] + a[2]) * a[2], (a[1] + a[3]) * a[1],
                     (a[1] + a[3]) * a[3]};
       },
       [](const Array& a, const Array&) {
         return ravel(vmap([](Array v) { return sum(v) * v; }, {.in_axes = {1}})(square_matrix(a)));
       }},
      {"vmap over a of x - pmean(x)",
       [](const Four& a, const Four&) {
         return each([&](auto i) { return a[i] + -0.25 * total(a); });
       },
       [](const Array& a, const Array&) {
         return vmap([](Array x) { return x - pmean(x, "i"); }, {.axis_name = "i"})(a);
       }},
      {"vmap over a of psum(x * x) * x",
       [](const Four& a, const Four&) {
         Taylor squares = total([&](auto i) { return a[i] * a[i]; });
         return each([&](auto i) { return squares * a[i]; });
       },
       [](const Array& a, const Array&) {
         return vmap([](Array x) { return psum(x * x, "i") * x; }, {.axis_name = "i"})(a);
       }},
      {"vmap over a of pmax(x) * sin(x)",
       [](const Four& a, const Four&) {
         return each([&](auto i) { return a[largest(a)] * sin(a[i]); });
       },
       [](const Array& a, const Array&) {
         return vmap([](Array x) { return pmax(x, "i") * sin(x); }, {.axis_name = "i"})(a);
       }},
      {"vmap over a of dot(all_gather(sin(x)), b) + x",
       [](const Four& a, const Four& b) {
         Taylor product = total([&](auto i) { return sin(a[i]) * b[i]; });
         return each([&](auto i) { return product + a[i]; });
       },
       [](const Array& a, const Array& b) {
         return vmap([&](Array x) { return dot(all_gather(sin(x), "i"), b) + x; },
                     {.axis_name = "i"})(a);
       }},
      {"hessian_diagonal of sum(sin(y * b)) at a",
       [](const Four& a, const Four& b) {
         return each([&](auto i) { return -1 * (sin(a[i] * b[i]) * b[i] * b[i]); });
       },
       [](const Array& a, const Array& b) {
         return hessian_diagonal([&](Array y) { return sum(sin(y * b)); })(a);
       }},
      {"laplacian of sum(sin(y * b)) at a, times b",
       [](const Four& a, const Four& b) {
         Taylor all = total([&](auto i) { return -1 * (sin(a[i] * b[i]) * b[i] * b[i]); });
         return each([&](auto i) { return all * b[i]; });
       },
       [](const Array& a, const Array& b) {
         return laplacian([&](Array y) { return sum(sin(y * b)); })(a) * b;
       }},
      {"grad of sum(sin(y * b)) at a",
       [](const Four& a, const Four& b) {
         return each([&](auto i) { return cos(a[i] * b[i]) * b[i]; });
       },
       [](const Array& a, const Array& b) {
         return grad([&](Array y) { return sum(sin(y * b)); })(a);
       }},
      {"jvp of sin at a along b",
       [](const Four& a, const Four& b) { return each([&](auto i) { return cos(a[i]) * b[i]; }); },
       [](const Array& a, const Array& b) {
         return jvp([](Array y) { return sin(y); }, a, b).second;
       }},
      {"vmap over a of grad of x * sin(x)",
       [](const Four& a, const Four&) {
         return each([&](auto i) { return sin(a[i]) + a[i] * cos(a[i]); });
       },
       [](const Array& a, const Array&) {
         return vmap(grad([](Array x) { return x * sin(x); }))(a);
       }},
  };
}

std::vector<CompositionOp> forward_only_ops() {
  return {
      {"while_loop of y = 0.5 * sin(y) * tanh(b), until sum(y * y) < 0.1, from a",
       [](Four a, const Four& b) {
         while (total([&](auto i) { return a[i] * a[i]; }).c[0] >= 0.1) {
           a = each([&](auto i) { return 0.5 * (sin(a[i]) * tanh(b[i])); });
         }
         return a;
       },
       [](const Array& a, const Array& b) {
         return while_loop([](Array y) { return sum(y * y) >= 0.1; },
                           [&](Array y) { return 0.5 * sin(y) * tanh(b); }, a);
       }},
      {"fori_loop of y = sin(y) + b, as often as a has positive elements, from a",
       [](Four a, const Four& b) {
         auto count = std::count_if(a.begin(), a.end(), [](const Taylor& x) { return x.c[0] > 0; });
         for (; count > 0; count--) a = each([&](auto i) { return sin(a[i]) + b[i]; });
         return a;
       },
       [](const Array& a, const Array& b) {
         return fori_loop(
             Array(0), sum(convert(a > 0.0, DType::i32)),
             [&](Array, Array y) { return sin(y) + b; }, a);
       }},
  };
}

}  // namespace sturnus::testing
