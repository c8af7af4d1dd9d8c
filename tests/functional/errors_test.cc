// Bad input: one table of misuses, each with the exception and the message that answer it.
#include <gtest/gtest.h>
#include <sturnus/runtime/log.h>
#include <sturnus/sturnus.h>

#include <functional>
#include <limits>
#include <optional>
#include <regex>
#include <string>
#include <typeindex>
#include <vector>

namespace sturnus {
namespace {

struct Row {
  std::string name;
  std::function<void()> misuse;
  std::type_index type;
  std::string message;  // with <here> for the line of the row
};

struct Answer {
  std::type_index type = typeid(void);
  std::string message = "nothing was thrown";
};

std::string without_lines(const std::string& message) {
  static const std::regex line("errors_test\\.cc:[0-9]+");
  return std::regex_replace(message, line, "<here>");
}

Answer answer_to(const std::function<void()>& misuse) {
  try {
    misuse();
  } catch (const std::exception& error) {
    return {typeid(error), without_lines(error.what())};
  }
  return {};
}

void expect_answers(const std::vector<Row>& rows) {
  for (const Row& row : rows) {
    Answer answer = answer_to(row.misuse);
    EXPECT_EQ(answer.message, row.message) << row.name;
    EXPECT_TRUE(answer.type == row.type)
        << row.name << ": " << answer.type.name() << " instead of " << row.type.name();
  }
}

const std::type_index error = typeid(Error), shape_error = typeid(ShapeError),
                      dtype_error = typeid(DtypeError), tree_error = typeid(TreeError),
                      trace_error = typeid(TraceError);

struct Layer {
  Array w, b;
};
struct Net {
  std::vector<Layer> layers;
  int depth = 1;
};
struct Counted {
  Array x;
  int steps = 0;
};
using List = std::vector<Array>;

Net net(std::size_t layers) {
  Net result;
  for (std::size_t i = 0; i < layers; i++) result.layers.push_back({zeros({2}), zeros({})});
  return result;
}
List list(std::size_t length) { return List(length, zeros({})); }

Array x3() { return zeros({3}); }
Array x23() { return zeros({2, 3}); }
Array whole3() { return zeros({3}, DType::i32); }
Array z3() { return zeros({3}, DType::c64); }
Array nothing() { return zeros({0}); }
Array total(Array x) { return sum(x); }
Array same(Array x) { return x; }

const char* const broadcasting = "Extents must be equal or 1, counted from the last axis";

std::string mismatch(const std::string& function, const std::string& types) {
  return function + ": " + types + " do not fit together (<here>). " + broadcasting;
}
std::string no_axis(const std::string& function, const std::string& axis, const std::string& type) {
  bool one = type.find(',') == type.npos;
  return function + ": axis " + axis + " of " + type + ", which has " +
         (one ? "1 axis (<here>). Name one from -1 to 0"
              : "2 axes (<here>). Name one from -2 to 1");
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
std::string no_derivative(const std::string& function, const std::string& which) {
  return function + ": " + which +
         ", which has no derivative (<here>). Convert it to f32, or leave it out of the arguments "
         "to differentiate by";
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
      {"ravel", [] { ravel(net(1)).second(zeros({4})); }, shape_error,
       "ravel: the tree is made of 3 elements, the vector is f32[4]. Give a vector like the one "
       "that "
       "ravel gave"},
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
      {"vmap, in_axes", [] { vmap(same, {.in_axes = {1}})(x3()); }, shape_error,
       no_axis("vmap, in_axes of argument 0", "1", "f32[3]")},
      {"vmap, in_axes of a part", [] { vmap([](const Net& n) { return n.layers[0].w; })(net(1)); },
       shape_error,
       "vmap, in_axes of argument 0 .layers[0].b: axis 0 of f32[], which has no axes (<here>). "
       "Give "
       "it one with expand_dims"},
      {"vmap, out_axes", [] { vmap(same, {.out_axes = 1})(x3()); }, shape_error,
       no_axis("vmap, out_axes", "1", "f32[3]")},
      {"permutation", [] { permutation(key(1), x3(), 1); }, shape_error,
       no_axis("permutation", "1", "f32[3]")},
  });
}

TEST(Errors, TreesAndTypesOfTransforms) {
  auto axes = [](Array x, Array) { return x; };
  auto by_net = [](const Net& n) { return n.layers[0].w; };
  expect_answers({
      // Tangents and cotangents.
      {"jvp, structure", [] { jvp([](const List& x) { return x[0]; }, list(2), list(3)); },
       tree_error,
       "jvp: the tree has 2 elements in x and has 3 elements in the tangents (<here>). Give both "
       "the "
       "same structure"},
      {"jvp, structure of a part", [&] { jvp(by_net, net(1), net(2)); }, tree_error,
       "jvp: .layers has 1 element in x and has 2 elements in the tangents (<here>). Give both the "
       "same structure"},
      {"jvp, shape", [] { jvp(same, x3(), zeros({2})); }, shape_error,
       "jvp: argument 0 is f32[3], its tangent is f32[2] (<here>). Give tangents of the arguments' "
       "types"},
      {"jvp, element type", [] { jvp(same, x3(), zeros({3}, DType::f64)); }, shape_error,
       "jvp: argument 0 is f32[3], its tangent is f64[3] (<here>). Give tangents of the arguments' "
       "types"},
      {"jvp, one of several", [&] { jvp(axes, std::tuple(x3(), x3()), std::tuple(x3(), x23())); },
       shape_error,
       "jvp: argument 1 is f32[3], its tangent is f32[2,3] (<here>). Give tangents of the "
       "arguments' "
       "types"},
      {"hvp", [] { hvp(total, x3(), zeros({2})); }, shape_error,
       "hvp: argument 0 is f32[3], its tangent is f32[2] (<here>). Give tangents of the arguments' "
       "types"},
      {"linearize, shape", [] { linearize(same, x3()).second(zeros({2})); }, shape_error,
       "linearize: the tangent is f32[2], its value is f32[3] (<here>). Give it the value's type"},
      {"linearize, structure",
       [] { linearize([](const List& x) { return x[0]; }, list(2)).second(list(1)); }, tree_error,
       "linearize: the tree has 2 elements in x and has 1 element in the tangents (<here>). Give "
       "both the same structure"},
      {"vjp, shape", [] { vjp(same, x3()).second(zeros({2})); }, shape_error,
       "vjp: the cotangent is f32[2], its value is f32[3] (<here>). Give it the value's type"},
      {"vjp, element type of a part",
       [] {
         auto layer = [](Array x) { return Layer{x, sum(x)}; };
         vjp(layer, x3()).second(Layer{x3(), zeros({}, DType::f64)});
       },
       shape_error,
       "vjp: the cotangent .b is f64[], its value is f32[] (<here>). Give it the value's type"},
      {"vjp, structure",
       [] {
         vjp([](Array x) { return List{x, x}; }, x3()).second(list(1));
       },
       tree_error,
       "vjp: the tree has 2 elements in the value and has 1 element in the cotangent (<here>). "
       "Give "
       "both the same structure"},
      {"vjp under vmap names no line of the library",
       [] {
         vmap(vjp(same, x3()).second)(zeros({4, 2}));
       },
       shape_error, "vjp: the cotangent is f32[2], its value is f32[3]. Give it the value's type"},
      {"jet",
       [] {
         jet(same, x3(), List{x3(), zeros({2})});
       },
       shape_error,
       "jet: argument 0 is f32[3], its derivative of order 2 is f32[2] (<here>). Give derivatives "
       "of "
       "the arguments' types"},
      {"derivatives of a vector", [] { derivatives(same, x3(), 2); }, shape_error,
       "derivatives: the argument is f32[3], but must be a real scalar (<here>). Use jet for "
       "curves "
       "in other spaces"},
      {"derivatives, order", [] { derivatives(same, 1.0, -1); }, error,
       "derivatives: the order is -1 (<here>). Give the highest order wanted, 0 or more"},

      // What can be differentiated.
      {"grad of a vector", [] { grad(same)(x3()); }, shape_error,
       "grad: the function returns f32[3], but a gradient is of one real number, such as f32[] "
       "(<here>). Reduce it, for instance with sum, or use jacrev"},
      {"value_and_grad of a vector", [] { value_and_grad([](Array x) { return x * x; })(x3()); },
       shape_error,
       "value_and_grad: the function returns f32[3], made at <here>, but a gradient is of one real "
       "number, such as f32[] (<here>). Reduce it, for instance with sum, or use jacrev"},
      {"grad of an integer",
       [] { grad([](Array x) { return sum(convert(x, DType::i32)); })(x3()); }, shape_error,
       "grad: the function returns i32[], made at <here>, but a gradient is of one real number, "
       "such "
       "as f32[] (<here>). Reduce it, for instance with sum, or use jacrev"},
      {"grad of a complex number", [] { grad(total)(z3()); }, shape_error,
       "grad: the function returns c64[], made at <here>, but a gradient is of one real number, "
       "such "
       "as f32[] (<here>). Reduce it, for instance with sum, or use jacrev"},
      {"hessian of a vector", [] { hessian(same)(x3()); }, shape_error,
       "grad: the function returns f32[3], but a gradient is of one real number, such as f32[] "
       "(<here>). Reduce it, for instance with sum, or use jacrev"},
      {"grad by integers", [] { grad(total)(whole3()); }, dtype_error,
       no_derivative("grad", "argument 0 is i32[3]")},
      {"grad by bool", [] { grad(total)(x3() > 0.0); }, dtype_error,
       no_derivative("grad", "argument 0 is bool[3]")},
      {"grad by integers, one of several", [&] { grad<1>(axes)(x3(), whole3()); }, dtype_error,
       no_derivative("grad", "argument 1 is i32[3]")},
      {"grad by integers, a part",
       [] {
         grad([](const Layer& l) { return sum(l.w); })(Layer{x3(), whole3()});
       },
       dtype_error, no_derivative("grad", "argument 0 .b is i32[3]")},
      {"value_and_grad by integers", [] { value_and_grad(total)(whole3()); }, dtype_error,
       no_derivative("value_and_grad", "argument 0 is i32[3]")},
      {"jacfwd by integers", [] { jacfwd(same)(whole3()); }, dtype_error,
       no_derivative("jacfwd", "argument 0 is i32[3]")},
      {"jacrev by integers", [] { jacrev(same)(whole3()); }, dtype_error,
       no_derivative("jacrev", "argument 0 is i32[3]")},
      {"hessian by integers", [] { hessian(total)(whole3()); }, dtype_error,
       no_derivative("hessian", "argument 0 is i32[3]")},
      {"hessian_diagonal by integers", [] { hessian_diagonal(total)(whole3()); }, dtype_error,
       no_derivative("hessian_diagonal", "argument 0 is i32[3]")},
      {"laplacian by integers", [] { laplacian(total)(whole3()); }, dtype_error,
       no_derivative("laplacian", "argument 0 is i32[3]")},
      {"reverse mode through while_loop",
       [] {
         grad([](Array x) {
           return sum(while_loop([](Array y) { return sum(y) < 10.0; },
                                 [](Array y) { return 2.0 * y; }, x));
         })(ones({3}));
       },
       error,
       "while_loop: reverse mode needs to know how many iterations there are (<here>). Use scan, "
       "or "
       "fori_loop with fixed bounds, or forward mode (jvp)"},

      // vmap.
      {"vmap, no argument mapped", [] { vmap(same, {.in_axes = {none}})(x3()); }, shape_error,
       "vmap: no argument is mapped: in_axes is none for all arrays (<here>). Give at least one of "
       "in_axes an axis"},
      {"vmap, unequal extents", [&] { vmap(axes)(x3(), zeros({4})); }, shape_error,
       "vmap: the mapped axis of argument 1, f32[4], has extent 4, that of argument 0, f32[3], has "
       "extent 3 (<here>). Map axes of one extent, or pass an argument whole with none"},
      {"vmap, entries of in_axes", [&] { vmap(axes, {.in_axes = {0}})(x3(), x3()); }, shape_error,
       "vmap: in_axes has 1 entries, the number of arguments is 2 (<here>). Give one entry per "
       "argument"},
      {"vmap, path in in_axes",
       [&] {
         vmap(by_net, {.in_axes = {by_path({{".layer", 0}})}})(net(1));
       },
       tree_error,
       "vmap: in_axes of argument 0 names .layer, which leads to no array of the tree {layers: "
       "[{w: "
       "*, b: *}], depth: 1} (<here>). Name a part of one of .layers[0].w, .layers[0].b"},
      {"vmap, path in out_axes",
       [] {
         vmap(same, {.out_axes = by_path({{".w", 0}})})(x3());
       },
       tree_error,
       "vmap: out_axes names .w, which leads to no array of the tree * (<here>). Give one axis for "
       "the whole tree"},
      {"vmap, a result passed whole", [] { vmap(same, {.out_axes = none})(x3()); }, shape_error,
       "vmap: out_axes passes a result of type f32[] whole, but it differs along the mapped axis "
       "(<here>). Give it an axis"},
      {"psum, unknown axis", [] { psum(1.0, "members"); }, error,
       "psum: no vmap around has an axis named \"members\"; named axes here: none (<here>). Give "
       "vmap "
       ".axis_name"},
      {"axis_index, unknown axis",
       [] { vmap([](Array x) { return x + axis_index("b"); }, {.axis_name = "a"})(x3()); }, error,
       "axis_index: no vmap around has an axis named \"b\"; named axes here: a (<here>). Give vmap "
       ".axis_name"},
      {"axis_size, unknown axis", [] { axis_size("a"); }, error,
       "axis_size: no vmap around has an axis named \"a\"; named axes here: none (<here>). Give "
       "vmap "
       ".axis_name"},

      // Branches.
      {"cond, types",
       [] {
         cond(
             true, same, [](Array) { return zeros({2}); }, x3());
       },
       shape_error,
       "cond: result of one branch is f32[2], of another f32[3] (<here>). Make all branches return "
       "the same types"},
      {"cond, types of a part",
       [] {
         auto one = [](Array x) { return Layer{x, x}; };
         auto other = [](Array x) { return Layer{x, sum(x)}; };
         cond(true, one, other, x3());
       },
       shape_error,
       "cond: result .b of one branch is f32[], of another f32[3] (<here>). Make all branches "
       "return "
       "the same types"},
      {"cond, trees",
       [] {
         cond(
             true, [] { return list(1); }, [] { return list(2); });
       },
       tree_error,
       "cond: the tree has 2 elements in one branch and has 1 element in another (<here>). Give "
       "both "
       "the same structure"},
      {"cond, static parts",
       [] {
         cond(
             true,
             [] {
               return Counted{x3(), 1};
             },
             [] {
               return Counted{x3(), 2};
             });
       },
       tree_error,
       "cond: .steps is 2 in one branch and is 1 in another (<here>). Give both the same "
       "structure"},
      {"cond, condition", [] { cond(x3() > 0.0, same, same, x3()); }, shape_error,
       "cond: the choice is bool[3], but must be bool[] (<here>). Reduce it, or use where to "
       "choose "
       "element by element"},
      {"cond, condition of reals", [] { cond(1.5, same, same, x3()); }, shape_error,
       "cond: the choice is f32[], but must be bool[] (<here>). Reduce it, or use where to choose "
       "element by element"},
      {"switch_, types",
       [] {
         using Branch = std::function<Array(Array)>;
         switch_(0, std::vector<Branch>{same, total}, x3());
       },
       shape_error,
       "switch_: result of one branch is f32[3], of another f32[] (<here>). Make all branches "
       "return "
       "the same types"},
      {"switch_, trees",
       [] {
         using Branch = std::function<List()>;
         switch_(0, std::vector<Branch>{[] { return list(1); }, [] { return list(2); }});
       },
       tree_error,
       "switch_: the tree has 1 element in one branch and has 2 elements in another (<here>). Give "
       "both the same structure"},
      {"switch_, index", [] { switch_(0.5, std::vector{same}, x3()); }, shape_error,
       "switch_: the choice is f32[], but must be an integer scalar (<here>). Reduce it, or use "
       "where "
       "to choose element by element"},
      {"switch_, no branches", [] { switch_(0, std::vector<std::function<Array(Array)>>{}, x3()); },
       error, "switch_: there are no branches (<here>). Give at least one"},

      // Loops.
      {"scan, carry of another type",
       [] {
         scan([](Array c, Array x) { return std::pair(c + convert(x, DType::f64), x); }, 0.0, x3());
       },
       shape_error,
       "scan: carry out is f64[], carry in is f32[] (<here>). Make both the same type"},
      {"scan, carry that gains arrays",
       [] {
         auto longer = [](List c, Array x) {
           c.push_back(x);
           return std::pair(c, x);
         };
         scan(longer, list(1), x3());
       },
       tree_error,
       "scan: the tree has 1 element in carry in and has 2 elements in carry out (<here>). Give "
       "both "
       "the same structure"},
      {"scan, carry that loses arrays",
       [] { scan([](List, Array x) { return std::pair(list(0), x); }, list(1), x3()); }, tree_error,
       "scan: the tree has 1 element in carry in and has 0 elements in carry out (<here>). Give "
       "both "
       "the same structure"},
      {"scan, unequal lengths",
       [] {
         scan([](Array c, const Layer& x) { return std::pair(c, x.w); }, 0.0,
              Layer{x3(), zeros({2})});
       },
       shape_error,
       "scan: f32[2] cannot be taken apart along axis 0 in 3 steps (<here>). Give all xs the same "
       "extent there"},
      {"scan, a scalar x",
       [] { scan([](Array c, Array x) { return std::pair(c, x); }, 0.0, Array(1.0)); }, shape_error,
       "scan: f32[] cannot be taken apart along axis 0 (<here>). Give all xs the same extent "
       "there"},
      {"scan, no xs",
       [] { scan([](Array c, const List&) { return std::pair(c, c); }, 0.0, list(0)); },
       shape_error, "scan: xs has no arrays (<here>). Use fori_loop"},
      {"map, unequal lengths",
       [] {
         map([](const Layer& l) { return l.w; }, Layer{x3(), x23()});
       },
       shape_error,
       "scan: f32[2,3] cannot be taken apart along axis 0 in 3 steps (<here>). Give all xs the "
       "same "
       "extent there"},
      {"fori_loop, carry of another shape",
       [] {
         fori_loop(
             0, 3,
             [](Array, const Layer& l) {
               return Layer{l.w, l.w};
             },
             Layer{x3(), zeros({})});
       },
       shape_error,
       "fori_loop: carry out .b is f32[3], carry in is f32[] (<here>). Make both the same type"},
      {"fori_loop, carry that gains arrays",
       [] {
         auto longer = [](Array, List c) {
           c.push_back(Array(1.0));
           return c;
         };
         fori_loop(0, 3, longer, list(1));
       },
       tree_error,
       "fori_loop: the tree has 1 element in carry in and has 2 elements in carry out (<here>). "
       "Give "
       "both the same structure"},
      {"fori_loop, a static part that would be lost",
       [] {
         fori_loop(
             0, 3,
             [](Array, Counted c) {
               return Counted{c.x, c.steps + 1};
             },
             Counted{x3()});
       },
       tree_error,
       "fori_loop: .steps is 0 in carry in and is 1 in carry out (<here>). Give both the same "
       "structure"},
      {"while_loop, carry of another type",
       [] { while_loop([](Array x) { return x < 3; }, [](Array x) { return x + 0.5; }, 1); },
       shape_error,
       "while_loop: carry out is f32[], carry in is i32[] (<here>). Make both the same type"},
      {"while_loop, carry that loses arrays",
       [] {
         while_loop([](const List& c) { return c[0] < 3.0; }, [](const List&) { return list(1); },
                    list(2));
       },
       tree_error,
       "while_loop: the tree has 2 elements in carry in and has 1 element in carry out (<here>). "
       "Give "
       "both the same structure"},
      {"while_loop, condition of several",
       [] { while_loop([](Array x) { return x < 3.0; }, same, x3()); }, shape_error,
       "while_loop: the condition gives bool[3], but must give bool[] (<here>). Compare it, and "
       "reduce it with any or all"},
      {"while_loop, condition that is no bool", [] { while_loop(total, same, x3()); }, shape_error,
       "while_loop: the condition gives f32[], but must give bool[] (<here>). Compare it, and "
       "reduce "
       "it with any or all"},
      {"associative_scan, types",
       [] { associative_scan([](Array a, Array b) { return a < b; }, x3()); }, shape_error,
       "associative_scan: combine gives bool[1] of two f32[1] (<here>). Make it keep the type of "
       "each "
       "array"},
      {"associative_scan, lengths",
       [] {
         associative_scan([](Layer a, Layer) { return a; }, Layer{x3(), zeros({2})});
       },
       shape_error,
       "associative_scan: f32[2] cannot be taken apart along axis 0 in 3 steps (<here>). Give all "
       "xs "
       "the same extent there"},

      // Rules of one's own.
      {"custom_jvp, types",
       [] { custom_jvp(same, [](Array x, Array dx) { return std::pair(x, sum(dx)); })(x3()); },
       shape_error,
       "custom_jvp: the rule, whose result is value and tangent, gives (f32[3], f32[]), but must "
       "give "
       "(f32[3], f32[3]) (<here>). Make it return these types"},
      {"custom_vjp, forward",
       [] {
         custom_vjp(
             same, [](Array x) { return std::pair(sum(x), x); },
             [](Array, Array ct) { return ct; })(x3());
       },
       shape_error,
       "custom_vjp: the forward pass, beside residuals, gives (f32[]), but must give (f32[3]) "
       "(<here>). Make it return these types"},
      {"custom_vjp, backward",
       [] {
         custom_vjp(
             same, [](Array x) { return std::pair(x, x); },
             [](Array, Array ct) { return sum(ct); })(x3());
       },
       shape_error,
       "custom_vjp: the backward pass gives (f32[]), but must give (f32[3]) (<here>). Make it "
       "return "
       "these types"},
      {"custom_jvp, a captured value",
       [] {
         grad([](Array a) {
           auto f = [&](Array x) { return a * x; };
           auto rule = [&](Array x, Array dx) { return std::pair(a * x, a * dx); };
           return custom_jvp(f, rule)(Array(2.0));
         })(1.0);
       },
       error,
       "custom_jvp: the function uses a value from outside by which is being differentiated "
       "(<here>). "
       "Pass it as an argument, so that the rule sees it"},
  });
}

TEST(Errors, Traces) {
  Array leaked;
  auto leak = [&](Array x) {
    leaked = x * 2.0;
    return x;
  };
  const std::string outside =
      " has a type but no value: it was made while a function was traced, or by abstract_array or "
      "eval_shape (<here>). Return what a traced function computes instead of storing it outside";
  const std::string inside =
      " belongs to a function that is being traced, and has no value yet (<here>). Use where, cond "
      "or while_loop for decisions, and debug_print to look at it";
  expect_answers({
      {"item in grad", [] { grad([](Array x) { return x * x.item<float>(); })(1.0); }, trace_error,
       "item: this f32[]" + inside},
      {"item of a result in jit",
       [] { jit([](Array x) { return x + sum(x).item<float>(); })(x3()); }, trace_error,
       "item: this f32[], made at <here>," + inside},
      {"to_vector in vmap",
       [] { vmap([](Array x) { return x + x.to_vector<float>()[0]; })(x23()); }, trace_error,
       "to_vector: this f32[3], made at <here>," + inside},
      {"buffer in scan",
       [] {
         scan([](Array c, Array x) { return std::pair(c, x + c.buffer().item<float>()); }, 0.0,
              x3());
       },
       trace_error, "buffer: this f32[]" + inside},
      {"await in while_loop",
       [] { while_loop([](Array x) { return x.await() < 1.0; }, same, 0.0); }, trace_error,
       "await: this f32[]" + inside},
      {"a leaked value read",
       [&] {
         jit(leak)(x3());
         leaked.item<float>();
       },
       trace_error, "item: this f32[3], made at <here>," + outside},
      {"a leaked value used and read",
       [&] {
         grad([&](Array x) { return sum(leak(x)); })(x3());
         (leaked + 1.0).to_vector<float>();
       },
       trace_error, "to_vector: this f32[3], made at <here>," + outside},
      {"a leaked value used in another trace",
       [&] {
         vmap(leak)(x3());
         jit([&](Array x) { return x + leaked; })(x3());
       },
       trace_error,
       "vmap: an array of type f32[] that stood for an argument of the traced function is used "
       "after "
       "the function returned. Return it from the function instead of storing it outside"},
      {"a value of eval_shape", [] { eval_shape(same, x3()).item<float>(); }, trace_error,
       "item: this f32[3]" + outside},
      {"Array() in an operation", [] { Array() + 1.0; }, error,
       "Array: Array() has no type and no value. Assign it a value first"},
      {"Array() read", [] { Array().item<float>(); }, error,
       "Array: Array() has no type and no value. Assign it a value first"},
      {"item of several", [] { x3().item<float>(); }, error,
       "item: f32[3] has 3 elements, 1 were given or asked for (<here>). Make the numbers equal"},
      {"item of another type", [] { Array(1.0).item<double>(); }, error,
       "item: the array is f32[], asked for elements of f64 (<here>). Ask for f32, or convert on "
       "the "
       "device"},
      {"to_vector of another type", [] { x3().to_vector<int>(); }, error,
       "to_vector: the array is f32[3], asked for elements of i32 (<here>). Ask for f32, or "
       "convert "
       "on the device"},
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
      {"jit, donate", [] { jit(same, {.donate = {1}})(x3()); }, error,
       "jit: donate names argument 1, the number of arguments is 1 (<here>). Name one of these, "
       "counted from 0"},
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
       no_elements("argmax", "f32[0]", "[0]")},
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

TEST(Errors, DonatedArrays) {
  auto step = jit([](Array x) { return x + 1.0; }, {.donate = {0}});
  Array x = x3();
  step(x);
  const std::string gone =
      " was donated to jit (<here>), and has no contents. Use the result of that run instead, or "
      "do "
      "not donate it";
  expect_answers({
      {"read", [&] { x.to_vector<float>(); }, error, "Buffer::to_host: f32[3]" + gone},
      {"printed", [&] { to_string(x); }, error, "Buffer::to_host: f32[3]" + gone},
      {"awaited", [&] { x.await(); }, error, "Buffer::ready_event: f32[3]" + gone},
      {"used", [&] { x + 1.0; }, error, "main: argument 0 (f32[3])" + gone},
      {"passed again", [&] { step(x); }, error, "jit: argument 0 (f32[3])" + gone},
      {"captured", [&] { jit([&](Array y) { return x + y; })(x3()); }, error,
       "jit: argument 1 (f32[3])" + gone},
  });
}

TEST(Errors, HugeGraphsAreWarnedOf) {
  std::vector<std::string> lines;
  set_log_sink([&](LogLevel level, std::string_view text) {
    if (level == LogLevel::warning) lines.push_back(without_lines(std::string(text)));
  });
  auto unrolled = [](Array x) {
    for (int i = 0; i < 20; i++) x = sin(x);
    return x;
  };
  auto rolled = [](Array x) {
    return fori_loop(
        0, 20, [](Array, Array y) { return sin(y); }, x);
  };
  jit(unrolled, {.warn_above = 20})(1.0);
  jit(unrolled, {.warn_above = 21})(1.0);
  jit(rolled, {.warn_above = 20})(1.0);
  set_log_sink({});
  EXPECT_EQ(lines, std::vector<std::string>{
                       "jit: the traced program has 21 operations, more than the limit of 20, and "
                       "XLA will take long to compile it (<here>). A C++ loop is traced once per "
                       "pass: use scan or fori_loop, which are traced once"});
}

}  // namespace
}  // namespace sturnus
