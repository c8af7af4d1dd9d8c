// Bad input of operations.
#include <cmath>
#include <limits>

#include "tests/functional/misuse.h"

namespace sturnus {
namespace {

Array nothing() { return zeros({0}); }

const char* const broadcasting = "Extents must be equal or 1, counted from the last axis";

std::string mismatch(const std::string& function, const std::string& types) {
  return function + ": " + types + " do not fit together (<here>). " + broadcasting;
}
std::string not_real(const std::string& function) {
  return function + ": c64[3] is complex, but must be real (<here>). Take abs, real or imag of it";
}
std::string no_numbers(const std::string& function) {
  return function +
         ": operands are bool[3], but must be numbers (<here>). Convert them to i32, or use ^, & "
         "and "
         "! for logic";
}
std::string no_bits(const std::string& function, const std::string& type) {
  return function + ": operands are " + type +
         ", but bits and logic are of bool and integers (<here>). Compare or convert them first, "
         "or "
         "use logical_and and its kin";
}
std::string no_elements(const std::string& function, const std::string& type,
                        const std::string& axes) {
  return function + ": " + type + " has no elements along the axes " + axes +
         " to choose from (<here>). Give it some, or treat the empty case apart";
}
std::string negative(const std::string& function, const std::string& shape) {
  return function + ": the shape " + shape +
         " has a negative extent (<here>). Give extents of 0 or more";
}

TEST(Errors, Shapes) {
  expect_answers({
      {"add", [] { x3() + zeros({2}); }, shape_error, mismatch("add", "f32[3] and f32[2]")},
      {"subtract",
       [] {
         x3() - x23();
         x3() - zeros({4, 2});
       },
       shape_error, mismatch("subtract", "f32[3] and f32[4,2]")},
      {"multiply", [] { x3() * zeros({2}); }, shape_error,
       mismatch("multiply", "f32[3] and f32[2]")},
      {"divide", [] { x3() / zeros({2}); }, shape_error, mismatch("divide", "f32[3] and f32[2]")},
      {"pow", [] { pow(x3(), zeros({2})); }, shape_error, mismatch("pow", "f32[3] and f32[2]")},
      {"maximum", [] { maximum(x3(), zeros({2})); }, shape_error,
       mismatch("maximum", "f32[3] and f32[2]")},
      {"compare", [] { (void)(x3() < zeros({2})); }, shape_error,
       mismatch("compare", "f32[3] and f32[2]")},
      {"atan2", [] { atan2(x3(), zeros({2})); }, shape_error,
       mismatch("atan2", "f32[3] and f32[2]")},
      {"logaddexp", [] { logaddexp(x3(), zeros({2})); }, shape_error,
       mismatch("logaddexp", "f32[3] and f32[2]")},
      {"where, the values", [] { where(true, x3(), zeros({2})); }, shape_error,
       mismatch("where", "f32[3] and f32[2]")},
      {"where, the condition", [] { where(zeros({2}) > 0.0, x3(), 0.0); }, shape_error,
       mismatch("where", "bool[2] and f32[3]")},
      {"matmul", [] { matmul(x23(), x23()); }, shape_error,
       "matmul: f32[2,3] has 3 columns, f32[2,3] has 2 rows (<here>). Make these equal, for "
       "instance "
       "with transpose"},
      {"matmul of a stack",
       [] {
         matmul(zeros({5, 2, 3}), zeros({4, 2}));
       },
       shape_error,
       "matmul: f32[5,2,3] has 3 columns, f32[4,2] has 4 rows (<here>). Make these equal, for "
       "instance with transpose"},
      {"matmul of stacks",
       [] {
         matmul(zeros({5, 2, 3}), zeros({4, 3, 2}));
       },
       shape_error, mismatch("matmul", "f32[5] and f32[4]")},
      {"matmul of scalars", [] { matmul(x3(), 2.0); }, shape_error,
       "matmul: operands are f32[3] and f32[] (<here>). Use * for scalars"},
      {"dot", [] { dot(x3(), zeros({2})); }, shape_error,
       "dot: f32[3] has 3 columns, f32[2] has 2 rows (<here>). Make these equal, for instance with "
       "transpose"},
      {"dot_general, extents",
       [] { dot_general(x3(), zeros({2}), {.left_sum = {0}, .right_sum = {0}}); }, shape_error,
       "dot_general: axis 0 of f32[3] does not fit axis 0 of f32[2] (<here>). Name axes of one "
       "extent"},
      {"dot_general, counts", [] { dot_general(x3(), x3(), {.left_sum = {0}}); }, shape_error,
       "dot_general: 0 batch and 1 summed axes of f32[3], 0 and 0 of f32[3] (<here>). Name as many "
       "on the left as on the right"},
      {"tensordot", [] { tensordot(x3(), x23(), 2); }, shape_error,
       "tensordot: 2 axes of f32[3] and f32[2,3] (<here>). Sum over no more axes than both have"},
      {"einsum, extents", [] { einsum("ij,jk->ik", x23(), x23()); }, shape_error,
       "einsum: label 'j' of \"ij,jk->ik\" is 3 in f32[2,3] and 2 in f32[2,3] (<here>). Give axes "
       "of "
       "different extents different labels"},
      {"einsum, axes", [] { einsum("i->i", x23()); }, shape_error,
       "einsum: \"i\" of \"i->i\" does not fit the axes of f32[2,3] (<here>). Give each axis a "
       "label, "
       "or write \"...\" for the others"},
      {"einsum, operands", [] { einsum("i,j->ij", x3()); }, error,
       "einsum: \"i,j->ij\" is for 2 operands, 1 were given (<here>). Give one operand per list of "
       "labels"},
      {"einsum, spec", [] { einsum("i+->i", x3()); }, error,
       "einsum: \"i+->i\" has '+', which is neither a letter nor \"...\" (<here>). Write labels, "
       "commas and \"->\" only"},
      {"einsum, output", [] { einsum("i->j", x3()); }, error,
       "einsum: label 'j' of the output of \"i->j\" is in no operand (<here>). Name labels of "
       "operands only"},
      {"einsum, output twice", [] { einsum("ij->ii", x23()); }, error,
       "einsum: label 'i' is twice in the output of \"ij->ii\" (<here>). Name each label once "
       "there"},
      {"einsum of nothing", [] { einsum("", Arrays{}); }, error,
       "einsum: no operands were given (<here>). Give at least one"},
      {"concatenate",
       [] {
         concatenate({x23(), zeros({2, 4})}, 0);
       },
       shape_error,
       "concatenate: f32[2,3] and f32[2,4] differ in more than axis 0 (<here>). Make the other "
       "extents equal"},
      {"concatenate, axes",
       [] {
         concatenate({x23(), x3()});
       },
       shape_error,
       "concatenate: f32[2,3] and f32[3] differ in more than axis 0 (<here>). Make the other "
       "extents equal"},
      {"concatenate of nothing", [] { concatenate({}); }, shape_error,
       "concatenate: no arrays were given (<here>). Give at least one"},
      {"stack",
       [] {
         stack({x3(), zeros({2})});
       },
       shape_error,
       "stack: f32[3] and f32[2] have different shapes (<here>). Give all the same shape"},
      {"stack of nothing", [] { stack({}); }, shape_error,
       "stack: no arrays were given (<here>). Give at least one"},
      {"broadcast_to",
       [] {
         broadcast_to(x3(), {3, 2});
       },
       shape_error,
       "broadcast_to: f32[3] does not fit into f32[3,2] (<here>). Its extents must be equal or 1, "
       "counted from the last axis"},
      {"broadcast_to fewer axes", [] { broadcast_to(x23(), {3}); }, shape_error,
       "broadcast_to: f32[2,3] does not fit into f32[3] (<here>). Its extents must be equal or 1, "
       "counted from the last axis"},
      {"reshape", [] { reshape(x23(), {4}); }, shape_error,
       "reshape: f32[2,3] has 6 elements, which do not fill the shape [4] (<here>). The product of "
       "the extents must be 6; one of them may be -1, the rest"},
      {"reshape, two open",
       [] {
         reshape(x23(), {-1, -1});
       },
       shape_error,
       "reshape: f32[2,3] has 6 elements, which do not fill the shape [-1,-1] (<here>). The "
       "product "
       "of the extents must be 6; one of them may be -1, the rest"},
      {"reshape, one open",
       [] {
         reshape(x23(), {4, -1});
       },
       shape_error,
       "reshape: f32[2,3] has 6 elements, which do not fill the shape [4,-1] (<here>). The product "
       "of the extents must be 6; one of them may be -1, the rest"},
      {"reshape, negative",
       [] {
         reshape(x23(), {-2, -3});
       },
       shape_error,
       "reshape: f32[2,3] has 6 elements, which do not fill the shape [-2,-3] (<here>). The "
       "product "
       "of the extents must be 6; one of them may be -1, the rest"},
      {"transpose, an axis twice",
       [] {
         transpose(x23(), {0, 0});
       },
       shape_error,
       "transpose: [0,0] is not a permutation of the axes of f32[2,3] (<here>). Name each axis "
       "once"},
      {"transpose, an axis missing", [] { transpose(x23(), {0}); }, shape_error,
       "transpose: [0] is not a permutation of the axes of f32[2,3] (<here>). Name each axis once"},
      {"split", [] { split(x3(), 2); }, shape_error,
       "split: axis 0 of f32[3] has no 2 equal parts (<here>). Give the positions at which to "
       "split "
       "instead"},
      {"tile", [] { tile(x3(), {-1}); }, shape_error,
       "tile: f32[3] cannot be repeated [-1] times (<here>). Give counts of 0 or more"},
      {"repeat", [] { repeat(x3(), -1); }, shape_error,
       "repeat: f32[3] cannot be repeated -1 times (<here>). Give a count of 0 or more"},
      {"diag", [] { diag(x23()); }, shape_error,
       "diag: f32[2,3] is not a vector (<here>). For the diagonal of a matrix use diagonal"},
      {"trace", [] { trace(x3()); }, shape_error,
       "trace: f32[3] is not a matrix or a stack of them (<here>). The last two axes are rows and "
       "columns"},
      {"tril", [] { tril(x3()); }, shape_error,
       "tril: f32[3] is not a matrix or a stack of them (<here>). The last two axes are rows and "
       "columns"},
      {"meshgrid", [] { meshgrid({x23()}); }, shape_error,
       "meshgrid: f32[2,3] is not a vector (<here>). Give one vector for each axis of the grid"},
      {"pad, lists",
       [] {
         pad(x3(), 0.0, {1, 1}, {1});
       },
       shape_error,
       "pad: for f32[3] there are 2 low, 1 high and 1 interior numbers, and a value of type f32[] "
       "(<here>). Give one of each per axis, and a scalar value"},
      {"pad, cut", [] { pad(x3(), 0.0, {-4}, {0}); }, shape_error,
       "pad: axis 0 of f32[3] would have -1 elements, with 0 between neighbours (<here>). Cut off "
       "no "
       "more than there is, and put 0 or more between"},
      {"convolution, axes", [] { convolution(x3(), x3()); }, shape_error,
       "convolution: x is f32[3], the kernel f32[3], in 1 group (<here>). Give x batch and feature "
       "axes, the kernel both feature axes, then both the spatial axes"},
      {"convolution, features",
       [] {
         convolution(zeros({1, 4, 8}), zeros({2, 3, 3}));
       },
       shape_error,
       "convolution: x is f32[1,4,8], the kernel f32[2,3,3], in 1 group (<here>). Axis 1 of x must "
       "be groups times axis 1 of the kernel, and groups divide its axis 0"},
      {"convolution, options",
       [] {
         convolution(zeros({1, 4, 8}), zeros({2, 4, 3}), {.strides = {1, 1}});
       },
       shape_error,
       "convolution: an option has 2 entries, f32[1,4,8] has 1 spatial axes (<here>). Give one "
       "entry per spatial axis"},
      {"convolution, stride",
       [] {
         convolution(zeros({1, 4, 8}), zeros({2, 4, 3}), {.strides = {0}});
       },
       shape_error,
       "convolution: x is f32[1,4,8], the kernel f32[2,4,3], in 1 group (<here>). Give strides and "
       "dilations of 1 or more"},
      {"convolve", [] { convolve(x23(), x3()); }, shape_error,
       "convolve: operands are f32[2,3] and f32[3] (<here>). Give vectors with elements"},
      {"max_pool, window",
       [] {
         max_pool(zeros({1, 1, 4}), {5});
       },
       shape_error,
       "max_pool: axis 2 of f32[1,1,4] has no room for a window of 5 that moves by 5 (<here>). "
       "Give "
       "a window from 1 to the extent, and a stride of 1 or more"},
      {"avg_pool, axes", [] { avg_pool(x3(), {2}); }, shape_error,
       "avg_pool: a window of [2] for f32[3] (<here>). x needs a batch and a feature axis, the "
       "window and each option one entry for each other axis"},
      {"cholesky", [] { cholesky(x23()); }, shape_error,
       "cholesky: f32[2,3] is not square (<here>). Give as many rows as columns"},
      {"cholesky of a vector", [] { cholesky(x3()); }, shape_error,
       "cholesky: f32[3] is not a matrix (<here>). The last two axes are rows and columns"},
      {"solve", [] { solve(x23(), x3()); }, shape_error,
       "solve: f32[2,3] is not square (<here>). Give as many rows as columns"},
      {"solve, the right side",
       [] {
         solve(zeros({2, 2}), x3());
       },
       shape_error,
       "solve: the right side f32[3] does not fit the matrix f32[2,2] (<here>). Give it as many "
       "rows"},
      {"triangular_solve",
       [] {
         triangular_solve(zeros({2, 2}), x3());
       },
       shape_error,
       "triangular_solve: the right side f32[3] does not fit the matrix f32[2,2] (<here>). Give it "
       "as many rows"},
      {"solve_positive",
       [] {
         solve_positive(zeros({2, 2}), x3());
       },
       shape_error,
       "solve_positive: the right side f32[3] does not fit the matrix f32[2,2] (<here>). Give it "
       "as "
       "many rows"},
      {"inverse", [] { inverse(x23()); }, shape_error,
       "inverse: f32[2,3] is not square (<here>). Give as many rows as columns"},
      {"det", [] { det(x23()); }, shape_error,
       "det: f32[2,3] is not square (<here>). Give as many rows as columns"},
      {"eigh", [] { eigh(x23()); }, shape_error,
       "eigh: f32[2,3] is not square (<here>). Give as many rows as columns"},
      {"svd", [] { svd(x3()); }, shape_error,
       "svd: f32[3] is not a matrix (<here>). The last two axes are rows and columns"},
      {"qr", [] { qr(x3()); }, shape_error,
       "qr: f32[3] is not a matrix (<here>). The last two axes are rows and columns"},
      {"matrix_power", [] { matrix_power(x23(), 2); }, shape_error,
       "matrix_power: f32[2,3] is not square (<here>). Give as many rows as columns"},
      {"lstsq", [] { lstsq(x23(), zeros({2})); }, shape_error,
       "lstsq: f32[2,3] has fewer rows than columns, and the solution is not unique (<here>). Add "
       "rows that say which one you want"},
      {"fft, axes", [] { fft(x3(), 2); }, shape_error,
       "fft: 2 axes of f32[3] (<here>). Transform the last 1, 2 or 3, and no more than there are"},
      {"irfft, length", [] { irfft(z3(), 1, 7); }, shape_error,
       "irfft: 7 entries from c64[3] (<here>). Give n / 2 + 1 entries for n"},
      {"sort_by_key", [] { sort_by_key(x3(), {zeros({2})}); }, shape_error,
       "sort: the keys are f32[3], values to sort with them are f32[2] (<here>). Give them one "
       "shape"},
      {"reduce, init", [] { reduce(x3(), x3(), [](Array a, Array b) { return a * b; }); },
       shape_error,
       "reduce: init is f32[3], but must be a scalar (<here>). Give one value; combine acts on "
       "elements"},
      {"reduce, combine", [] { reduce(x3(), 1.0, [](Array a, Array b) { return a < b; }); },
       shape_error, "reduce: combine returns bool[] for two f32[] (<here>). Make it return f32[]"},
      {"array, ragged vectors",
       [] {
         array(std::vector<std::vector<float>>{{1, 2}, {3}});
       },
       shape_error,
       "array: the lists have different lengths or depths (<here>). Give every row the same number "
       "of elements"},
      {"array, ragged braces",
       [] {
         array({{1, 2}, {3}});
       },
       shape_error,
       "array: the lists have different lengths or depths (<here>). Give every row the same number "
       "of elements"},
      {"array, ragged depths",
       [] {
         array({{1, 2}, 3});
       },
       shape_error,
       "array: the lists have different lengths or depths (<here>). Give every row the same number "
       "of elements"},
      {"array, shape",
       [] {
         array(std::vector<float>{1, 2}, {3});
       },
       error,
       "array: f32[3] has 3 elements, 2 were given or asked for (<here>). Make the numbers equal"},
      {"zeros",
       [] {
         zeros({2, -1});
       },
       shape_error, negative("zeros", "[2,-1]")},
      {"ones", [] { ones({-1}); }, shape_error, negative("ones", "[-1]")},
      {"full", [] { full({-1}, 2); }, shape_error, negative("full", "[-1]")},
      {"iota", [] { iota({-1}, 0); }, shape_error, negative("iota", "[-1]")},
      {"arange, count", [] { arange(-3); }, shape_error, negative("arange", "[-3]")},
      {"linspace, count", [] { linspace(0, 1, -3); }, shape_error, negative("linspace", "[-3]")},
      {"logspace, count", [] { logspace(0, 1, -3); }, shape_error, negative("linspace", "[-3]")},
      {"eye", [] { eye(-2); }, shape_error, negative("eye", "[-2,-2]")},
      {"one_hot", [] { one_hot(1, -2); }, shape_error, negative("one_hot", "[-2]")},
      {"broadcast_to, negative", [] { broadcast_to(1.0, {-2}); }, shape_error,
       negative("broadcast_to", "[-2]")},
      {"arange, step", [] { arange(0, 1, 0); }, error,
       "arange: steps of 0 from 0 to 1 never end (<here>). Give finite ends and a step that is not "
       "0"},
      {"sobol", [] { sobol(4, 300); }, shape_error,
       "sobol: points 0 to 4 in 300 dimensions (<here>). There are 2^32 points in up to 256 "
       "dimensions"},
      {"sobol, count", [] { sobol(-4, 2); }, shape_error, negative("sobol", "[-4,2]")},
  });
}

TEST(Errors, ElementTypes) {
  expect_answers({
      {"and", [] { x3() & x3(); }, dtype_error, no_bits("and", "f32[3]")},
      {"or", [] { x3() | whole3(); }, dtype_error, no_bits("or", "f32[3]")},
      {"xor", [] { z3() ^ z3(); }, dtype_error, no_bits("xor", "c64[3]")},
      {"not", [] { !x3(); }, dtype_error, no_bits("not", "f32[3]")},
      {"complement", [] { ~x3(); }, dtype_error, no_bits("not", "f32[3]")},
      {"shift", [] { shift_left(x3(), 1); }, dtype_error, no_bits("shift_left", "f32[3]")},
      {"negate", [] { -(x3() > 0.0); }, dtype_error, no_numbers("negate")},
      {"subtract", [] { (x3() > 0.0) - (x3() > 0.0); }, dtype_error, no_numbers("subtract")},
      {"remainder of bool", [] { (x3() > 0.0) % (x3() > 0.0); }, dtype_error,
       no_numbers("remainder")},
      {"shift of bool", [] { shift_left(x3() > 0.0, x3() > 0.0); }, dtype_error,
       no_numbers("shift_left")},
      {"cbrt", [] { cbrt(z3()); }, dtype_error, not_real("cbrt")},
      {"hypot", [] { hypot(z3(), x3()); }, dtype_error, not_real("hypot")},
      {"less", [] { (void)(z3() < z3()); }, dtype_error, not_real("compare")},
      {"greater", [] { (void)(z3() > 0.0); }, dtype_error, not_real("compare")},
      {"maximum", [] { maximum(z3(), x3()); }, dtype_error, not_real("maximum")},
      {"minimum", [] { minimum(z3(), x3()); }, dtype_error, not_real("minimum")},
      {"remainder", [] { z3() % z3(); }, dtype_error, not_real("remainder")},
      {"floor", [] { floor(z3()); }, dtype_error, not_real("floor")},
      {"ceil", [] { ceil(z3()); }, dtype_error, not_real("ceil")},
      {"round", [] { round(z3()); }, dtype_error, not_real("round")},
      {"trunc", [] { trunc(z3()); }, dtype_error, not_real("trunc")},
      {"max", [] { max(z3()); }, dtype_error, not_real("max")},
      {"min", [] { min(z3()); }, dtype_error, not_real("min")},
      {"argmax", [] { argmax(z3()); }, dtype_error, not_real("argmax")},
      {"sort", [] { sort(z3()); }, dtype_error, not_real("sort")},
      {"median", [] { median(z3()); }, dtype_error, not_real("median")},
      {"cummax", [] { cummax(z3()); }, dtype_error, not_real("cummax")},
      {"bitcast", [] { bitcast(x3(), DType::f64); }, dtype_error,
       "bitcast: f32[3] and f64 have elements of different sizes (<here>). Choose a type of the "
       "same "
       "size, or use convert"},
      {"make_complex", [] { make_complex(z3(), z3()); }, dtype_error,
       "make_complex: the parts are c64[3], but must be of f32 or f64 (<here>). Convert them "
       "first"},
      {"rfft", [] { rfft(z3()); }, dtype_error, "rfft: c64[3] is not real (<here>). Use fft"},
      {"cholesky",
       [] {
         cholesky(zeros({2, 2}, DType::c64));
       },
       dtype_error,
       "cholesky: the matrix is c64[2,2], but must be of f32 or f64 (<here>). Convert it first"},
      {"take", [] { take(x3(), x3()); }, dtype_error,
       "take: the indices are f32[3], but must be integers (<here>). Choose with where when they "
       "are a mask"},
      {"take_along_axis", [] { take_along_axis(x3(), x3() > 0.0, 0); }, dtype_error,
       "take_along_axis: the indices are bool[3], but must be integers (<here>). Choose with where "
       "when they are a mask"},
      {"one_hot", [] { one_hot(x3(), 4); }, dtype_error,
       "one_hot: the indices are f32[3], but must be integers (<here>). Choose with where when "
       "they "
       "are a mask"},
      {"a mask as subscript", [] { x3()[x3() > 0.0]; }, dtype_error,
       "subscript: an array is bool[3], but must be of integers (<here>). Choose with where when "
       "it "
       "is a mask"},
      {"gather", [] { gather(x3(), zeros({1}), {.collapsed = {0}, .start_map = {0}}, {1}); },
       dtype_error, "gather: the indices are f32[1], but must be integers (<here>). Convert them"},
      {"dynamic_slice", [] { dynamic_slice(x3(), {Array(1.0)}, {1}); }, dtype_error,
       "dynamic_slice: an index is f32[], but must be an integer scalar (<here>). Convert it, or "
       "use "
       "take for several positions"},
      {"dynamic_index", [] { dynamic_index(x3(), 1.5); }, dtype_error,
       "dynamic_index: an index is f32[], but must be an integer scalar (<here>). Convert it, or "
       "use "
       "take for several positions"},
      {"an integer beyond i32", [] { Array(std::int64_t{1} << 40); }, dtype_error,
       "Array: the integer 1099511627776 does not fit into i32, the default. Write Array(value, "
       "DType::i64)"},
  });
}

TEST(Errors, Axes) {
  expect_answers({
      {"sum", [] { sum(x23(), 2); }, shape_error, no_axis("sum", "2", "f32[2,3]")},
      {"sum of a scalar", [] { sum(Array(1.0), 0); }, shape_error,
       "sum: axis 0 of f32[], which has no axes (<here>). Give it one with expand_dims"},
      {"sum, an axis twice",
       [] {
         sum(x23(), {{1, -1}});
       },
       shape_error, "sum: axis -1 of f32[2,3] is named twice (<here>). Name each axis once"},
      {"mean", [] { mean(x23(), -3); }, shape_error, no_axis("mean", "-3", "f32[2,3]")},
      {"max", [] { max(x23(), 2); }, shape_error, no_axis("max", "2", "f32[2,3]")},
      {"prod", [] { prod(x23(), 2); }, shape_error, no_axis("prod", "2", "f32[2,3]")},
      {"var", [] { var(x23(), 2); }, shape_error, no_axis("var", "2", "f32[2,3]")},
      {"norm", [] { norm(x23(), 2); }, shape_error, no_axis("norm", "2", "f32[2,3]")},
      {"any", [] { any(x23(), 2); }, shape_error, no_axis("any", "2", "f32[2,3]")},
      {"argmax", [] { argmax(x23(), 2); }, shape_error, no_axis("argmax", "2", "f32[2,3]")},
      {"argmin", [] { argmin(x23(), 2); }, shape_error, no_axis("argmin", "2", "f32[2,3]")},
      {"softmax", [] { softmax(x3(), 1); }, shape_error, no_axis("softmax", "1", "f32[3]")},
      {"log_softmax", [] { log_softmax(x3(), 1); }, shape_error,
       no_axis("log_softmax", "1", "f32[3]")},
      {"logsumexp", [] { logsumexp(x3(), 1); }, shape_error, no_axis("logsumexp", "1", "f32[3]")},
      {"cumsum", [] { cumsum(x3(), 1); }, shape_error, no_axis("cumsum", "1", "f32[3]")},
      {"cumprod", [] { cumprod(x3(), 1); }, shape_error, no_axis("cumprod", "1", "f32[3]")},
      {"sort", [] { sort(x3(), 1); }, shape_error, no_axis("sort", "1", "f32[3]")},
      {"argsort", [] { argsort(x3(), 1); }, shape_error, no_axis("argsort", "1", "f32[3]")},
      {"order_statistic", [] { order_statistic(x3(), 0, 1); }, shape_error,
       no_axis("order_statistic", "1", "f32[3]")},
      {"median", [] { median(x3(), 1); }, shape_error, no_axis("median", "1", "f32[3]")},
      {"quantile", [] { quantile(x3(), 0.5, 1); }, shape_error, no_axis("quantile", "1", "f32[3]")},
      {"reduce",
       [] {
         reduce(
             x3(), 0.0, [](Array a, Array b) { return a + b; }, 1);
       },
       shape_error, no_axis("reduce", "1", "f32[3]")},
      {"take", [] { take(x3(), 0, 1); }, shape_error, no_axis("take", "1", "f32[3]")},
      {"take_along_axis", [] { take_along_axis(x3(), whole3(), 1); }, shape_error,
       no_axis("take_along_axis", "1", "f32[3]")},
      {"dynamic_index", [] { dynamic_index(x3(), 0, 1); }, shape_error,
       no_axis("dynamic_index", "1", "f32[3]")},
      {"concatenate",
       [] {
         concatenate({x3(), x3()}, 1);
       },
       shape_error, no_axis("concatenate", "1", "f32[3]")},
      {"stack",
       [] {
         stack({x3(), x3()}, 2);
       },
       shape_error, no_axis("stack", "2", "f32[2,3]")},
      {"expand_dims", [] { expand_dims(x3(), 2); }, shape_error,
       no_axis("expand_dims", "2", "f32[3,1]")},
      {"squeeze", [] { squeeze(x3(), {1}); }, shape_error, no_axis("squeeze", "1", "f32[3]")},
      {"squeeze, not 1", [] { squeeze(x23(), {0}); }, shape_error,
       "squeeze: axis 0 of f32[2,3] has extent 2 (<here>). Name axes of extent 1, or take one "
       "position with x[i]"},
      {"swapaxes", [] { swapaxes(x23(), 0, 2); }, shape_error,
       no_axis("swapaxes", "2", "f32[2,3]")},
      {"transpose",
       [] {
         transpose(x23(), {0, 2});
       },
       shape_error, no_axis("transpose", "2", "f32[2,3]")},
      {"flip", [] { flip(x3(), {1}); }, shape_error, no_axis("flip", "1", "f32[3]")},
      {"split", [] { split(x3(), 3, 1); }, shape_error, no_axis("split", "1", "f32[3]")},
      {"roll", [] { roll(x3(), 1, 1); }, shape_error, no_axis("roll", "1", "f32[3]")},
      {"repeat", [] { repeat(x3(), 2, 1); }, shape_error, no_axis("repeat", "1", "f32[3]")},
      {"iota", [] { iota({3}, 1); }, shape_error, no_axis("iota", "1", "i32[3]")},
      {"dot_general", [] { dot_general(x3(), x3(), {.left_sum = {1}, .right_sum = {0}}); },
       shape_error, no_axis("dot_general", "1", "f32[3]")},
      {"permutation", [] { permutation(key(1), x3(), 1); }, shape_error,
       no_axis("permutation", "1", "f32[3]")},
  });
}

TEST(Errors, Positions) {
  expect_answers({
      {"x[5]", [] { x3()[5]; }, shape_error,
       "subscript: position 5 is outside of axis 0 of f32[3] (<here>). Give one from -3 to 2"},
      {"x[-4]", [] { x3()[-4]; }, shape_error,
       "subscript: position -4 is outside of axis 0 of f32[3] (<here>). Give one from -3 to 2"},
      {"x(0, 3)", [] { x23()(0, 3); }, shape_error,
       "subscript: position 3 is outside of axis 1 of f32[2,3] (<here>). Give one from -3 to 2"},
      {"at(5)", [] { (void)x3().at(5).set(1.0); }, shape_error,
       "subscript: position 5 is outside of axis 0 of f32[3] (<here>). Give one from -3 to 2"},
      {"at, values", [] { (void)x23().at(0).add(zeros({2})); }, shape_error,
       "subscript: f32[2] does not fit into f32[3] (<here>). Its extents must be equal or 1, "
       "counted "
       "from the last axis"},
      {"a position in nothing", [] { nothing()[0]; }, shape_error,
       "subscript: position 0 is outside of axis 0 of f32[0] (<here>). It has no elements"},
      {"positions in nothing", [] { nothing()[Array(0)]; }, shape_error,
       "subscript: a position within an empty axis of f32[0] (<here>). Give the axis elements "
       "first"},
      {"a step of 0",
       [] {
         x3()(Slice{0, 3, 0});
       },
       shape_error, "subscript: a step of 0 in a slice of f32[3] (<here>). Give a step that moves"},
      {"too many subscripts", [] { x3()(0, 0); }, shape_error,
       "subscript: 2 subscripts for the 1 axes of f32[3] (<here>). Give no more than one per axis"},
      {"two ellipses", [] { x23()(ellipsis, ellipsis); }, shape_error,
       "subscript: more than one ellipsis in a subscript of f32[2,3] (<here>). Write one"},
      {"arrays that do not fit", [] { x23()(whole3(), zeros({2}, DType::i32)); }, shape_error,
       mismatch("subscript", "i32[3] and i32[2]")},
      {"slice, outside", [] { slice(x3(), {1}, {4}); }, shape_error,
       "slice: 1 to 4 by 1 is not within axis 0 of f32[3] (<here>). Give 0 <= start <= stop <= "
       "extent "
       "and a step of 1 or more"},
      {"slice, step", [] { slice(x3(), {1}, {2}, {0}); }, shape_error,
       "slice: 1 to 2 by 0 is not within axis 0 of f32[3] (<here>). Give 0 <= start <= stop <= "
       "extent "
       "and a step of 1 or more"},
      {"slice, lists", [] { slice(x23(), {1}, {2}); }, shape_error,
       "slice: for f32[2,3] there are 1 starts, 1 stops and 2 steps (<here>). Give one of each per "
       "axis"},
      {"take from nothing", [] { take(nothing(), 0); }, shape_error,
       no_elements("take", "f32[0]", "[0]")},
      {"take_along_axis, axes", [] { take_along_axis(x23(), whole3(), 0); }, shape_error,
       "take_along_axis: the indices are i32[3], the array is f32[2,3] (<here>). Give them as many "
       "axes"},
      {"gather, coordinates",
       [] { gather(x3(), zeros({2}, DType::i32), {.collapsed = {0}, .start_map = {0}}, {1}); },
       shape_error,
       "gather: the indices are i32[2] for 1 indexed axes (<here>). Give their last axis one entry "
       "for each of these"},
      {"gather, sizes",
       [] { gather(x3(), zeros({1}, DType::i32), {.offset = {0}, .start_map = {0}}, {4}); },
       shape_error,
       "gather: f32[3] at i32[1], slices [4] (<here>). Make slices no larger than the array"},
      {"scatter, updates",
       [] { scatter_add(x3(), zeros({1}, DType::i32), x23(), {.offset = {0}, .start_map = {0}}); },
       shape_error,
       "scatter: the updates are f32[2,3] for f32[3] at i32[1] (<here>). Make them f32[2]"},
      {"dynamic_slice, sizes", [] { dynamic_slice(x3(), {Array(0)}, {4}); }, shape_error,
       "dynamic_slice: f32[4] is not a part of f32[3] (<here>). Give one size per axis, no larger "
       "than its extent"},
      {"dynamic_slice, too many sizes",
       [] {
         dynamic_slice(x3(), {Array(0)}, {1, 1});
       },
       shape_error,
       "dynamic_slice: f32[1,1] is not a part of f32[3] (<here>). Give one size per axis, no "
       "larger "
       "than its extent"},
      {"dynamic_slice, indices",
       [] {
         dynamic_slice(x23(), {Array(0)}, {1, 1});
       },
       shape_error,
       "dynamic_slice: f32[2,3] needs one index per axis, 1 were given (<here>). Give 2"},
      {"dynamic_update_slice", [] { dynamic_update_slice(x3(), zeros({4}), {Array(0)}); },
       shape_error,
       "dynamic_update_slice: f32[4] does not fit into f32[3] (<here>). Give a part with as many "
       "axes, none longer"},
      {"top_k", [] { top_k(x3(), 4); }, shape_error,
       "top_k: 4 elements along the last axis of f32[3] (<here>). Ask for no more than there are"},
      {"order_statistic", [] { order_statistic(x3(), 3); }, shape_error,
       "order_statistic: there is no element of rank 3 along axis 0 of f32[3] (<here>). Ranks "
       "count "
       "from 0, the smallest"},
      {"pair_order_statistic", [] { pair_order_statistic(x3(), arange(3)); }, shape_error,
       "pair_order_statistic: the ranks are i32[3], the elements f32[3] (<here>). Give a whole "
       "number for each row of at least 2 elements"},
      {"pair_median", [] { pair_median(array(std::vector<float>{1})); }, shape_error,
       "pair_median: the elements are f32[1] (<here>). Give rows of at least 2"},
      {"quantile", [] { quantile(x3(), 1.5); }, error,
       "quantile: q is 1.5 (<here>). Give a number from 0 to 1"},
      {"key_at", [] { key_at(split(key(1), 2), 2); }, shape_error,
       "key_at: there is no key 2 in u32[2,2] (<here>). Keys in a stack u32[n,2] count from 0 to n "
       "- "
       "1"},
  });
}

TEST(Errors, EmptyArrays) {
  double inf = std::numeric_limits<double>::infinity();
  expect_answers({
      {"max", [] { max(nothing()); }, shape_error, no_elements("max", "f32[0]", "[0]")},
      {"min along an axis",
       [] {
         min(zeros({0, 3}), 0);
       },
       shape_error, no_elements("min", "f32[0,3]", "[0]")},
      {"argmax", [] { argmax(nothing()); }, shape_error, no_elements("argmax", "f32[0]", "[0]")},
      {"argmin", [] { argmin(nothing(), 0); }, shape_error, no_elements("argmin", "f32[0]", "[0]")},
      {"median", [] { median(nothing()); }, shape_error, no_elements("median", "f32[0]", "[0]")},
      {"quantile", [] { quantile(nothing(), 0.5); }, shape_error,
       no_elements("quantile", "f32[0]", "[0]")},
      {"order_statistic", [] { order_statistic(nothing(), 0); }, shape_error,
       "order_statistic: there is no element of rank 0 along axis 0 of f32[0] (<here>). Ranks "
       "count "
       "from 0, the smallest"},
      {"norm", [&] { norm(nothing(), {}, inf); }, shape_error,
       no_elements("norm", "f32[0]", "[0]")},
      {"fft", [] { fft(nothing()); }, shape_error,
       "fft: f32[0] has no element along the transformed axes (<here>). Give it some, or treat the "
       "empty case apart"},
      {"convolve", [] { convolve(nothing(), x3()); }, shape_error,
       "convolve: operands are f32[0] and f32[3] (<here>). Give vectors with elements"},
  });
}

// Where nothing has an answer, as in NumPy.
TEST(Errors, EmptyArraysWithAnAnswer) {
  auto number = [](const Array& x) { return x.item<float>(); };
  EXPECT_EQ(number(sum(nothing())), 0);
  EXPECT_EQ(number(prod(nothing())), 1);
  EXPECT_TRUE(std::isnan(number(mean(nothing()))));
  EXPECT_TRUE(std::isnan(number(var(nothing()))));
  EXPECT_EQ(number(norm(nothing())), 0);
  EXPECT_EQ(number(logsumexp(nothing())), -std::numeric_limits<float>::infinity());
  EXPECT_FALSE(any(nothing()).item<bool>());
  EXPECT_TRUE(all(nothing()).item<bool>());
  EXPECT_EQ(softmax(nothing()).shape(), Shape{0});
  EXPECT_EQ(cumsum(nothing()).shape(), Shape{0});
  EXPECT_EQ(sort(nothing()).shape(), Shape{0});
  EXPECT_EQ(linspace(0, 1, 0).shape(), Shape{0});
  EXPECT_EQ(arange(0).shape(), Shape{0});
  EXPECT_EQ(max(zeros({0, 3}), 1).shape(), Shape{0});
  EXPECT_EQ(take(x3(), zeros({0}, DType::i32)).shape(), Shape{0});
  EXPECT_EQ(vmap(same)(nothing()).shape(), Shape{0});
}

TEST(Errors, OptionsAndNumbers) {
  expect_answers({
      {"norm, order", [] { norm(x3(), {}, 3); }, error,
       "norm: the order is 3 (<here>). Give 1, 2 or infinity"},
      {"polygamma", [] { polygamma(-1, 1.0); }, error,
       "polygamma: the order is -1 (<here>). Give an order of 0 or more"},
      {"normal, shape", [] { normal(key(1), {-2}); }, shape_error, negative("normal", "[-2]")},
      {"uniform, shape", [] { uniform(key(1), {-2}); }, shape_error, negative("uniform", "[-2]")},
      {"uniform, limits", [] { uniform(key(1), {2}, x3(), 4.0); }, shape_error,
       "uniform: f32[3] does not fit into f32[2] (<here>). Its extents must be equal or 1, counted "
       "from the last axis"},
      {"uniform, type", [] { uniform(key(1), {2}, 0, 1, DType::i32); }, dtype_error,
       "random: numbers of type i32 are not floating point (<here>). Ask for f32 or f64"},
      {"bits, type", [] { bits(key(1), {2}, DType::i32); }, dtype_error,
       "bits: i32 is not an unsigned integer (<here>). Ask for u8, u16, u32 or u64"},
      {"randint, type", [] { randint(key(1), {2}, 0, 5, DType::f32); }, dtype_error,
       "randint: numbers of type f32 are not integers (<here>). Ask for i32 or another integer "
       "type, "
       "or use uniform"},
      {"a stack of keys", [] { normal(split(key(1), 4)); }, shape_error,
       "normal: the key is u32[4,2], but must be u32[2] (<here>). Make one with key(seed), and use "
       "vmap for a stack of keys"},
      {"an array as key", [] { normal(Key{x3()}); }, shape_error,
       "normal: the key is f32[3], but must be u32[2] (<here>). Make one with key(seed), and use "
       "vmap "
       "for a stack of keys"},
      {"split, a stack of keys", [] { split(split(key(1), 4), 2); }, shape_error,
       "split: the key is u32[4,2], but must be u32[2] (<here>). Make one with key(seed), and use "
       "vmap for a stack of keys"},
      {"split, count", [] { split(key(1), -1); }, shape_error, negative("split", "[-1]")},
      {"fold_in", [] { fold_in(key(1), x3()); }, dtype_error,
       "fold_in: the data is f32[3], but must be an integer scalar (<here>). Give one integer, "
       "such "
       "as the number of an iteration"},
      {"truncated_normal", [] { truncated_normal(key(1), 2, 1); }, error,
       "truncated_normal: low is 2, high is 1 (<here>). Make low smaller than high"},
      {"bernoulli, probability", [] { bernoulli(key(1), 1.5); }, error,
       "bernoulli: the probability is 1.5 (<here>). Give a number from 0 to 1"},
      {"bernoulli, shape", [] { bernoulli(key(1), x3(), Shape{2}); }, shape_error,
       "bernoulli: f32[3] does not fit into f32[2] (<here>). Its extents must be equal or 1, "
       "counted "
       "from the last axis"},
      {"categorical", [] { categorical(key(1), 1.0); }, shape_error,
       "categorical: logits are f32[] (<here>). Give one logit for each index, along the last "
       "axis"},
      {"categorical of nothing", [] { categorical(key(1), nothing()); }, shape_error,
       "categorical: logits are f32[0] (<here>). Give one logit for each index, along the last "
       "axis"},
      {"dirichlet", [] { dirichlet(key(1), 1.0); }, shape_error,
       "dirichlet: the parameter is f32[] (<here>). Give one number for each part, along the last "
       "axis"},
      {"multivariate_normal", [] { multivariate_normal(key(1), x3(), eye(2)); }, shape_error,
       "multivariate_normal: the mean f32[3] does not fit the covariance f32[2,2] (<here>). Give "
       "as "
       "many entries as the covariance has rows"},
      {"choice, too many", [] { choice(key(1), 3, {4}, {.replace = false}); }, shape_error,
       "choice: i32[4] without repetition from 3 (<here>). Ask for no more than there are, or set "
       ".replace"},
      {"choice, weights", [] { choice(key(1), 3, {4}, {.weights = zeros({2})}); }, shape_error,
       "choice: weights are f32[2], there are 3 things to choose from (<here>). Give one weight "
       "for "
       "each"},
      {"choice from nothing", [] { choice(key(1), 0, {4}); }, shape_error,
       "choice: i32[4] from 0 things (<here>). Give some to choose from"},
      {"permutation, count", [] { permutation(key(1), -1); }, shape_error,
       negative("permutation", "[-1]")},
  });
}

}  // namespace
}  // namespace sturnus
