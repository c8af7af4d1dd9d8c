// Bad input of new arrays.
#include <sturnus/functional/vmap.h>
#include <sturnus/ops/creation.h>
#include <sturnus/ops/rearrange.h>
#include <sturnus/ops/shape.h>

#include "tests/functional/misuse.h"
#include "tests/ops/error_messages.h"

namespace sturnus {
namespace {

std::string ragged(const std::string& axis, const std::string& counts) {
  return "array: the lists along axis " + axis + " have " + counts +
         " elements (<here>). Give every row the same number of elements";
}
std::string uneven(const std::string& axis, const std::string& elements) {
  return "array: along axis " + axis + " a number stands beside a list of " + elements +
         " (<here>). Put all numbers into equally many braces";
}
std::string too_many(const std::string& function,
                     const std::string& shape = "[1099511627776,1099511627776]") {
  return function + ": the shape " + shape +
         " has 2^59 elements or more (<here>). Give smaller extents";
}

TEST(Errors, Creation) {
  expect_answers({
      {"array, ragged vectors",
       [] {
         array(std::vector<std::vector<float>>{{1, 2}, {3}});
       },
       shape_error, ragged("1", "2 and 1")},
      {"array, ragged vectors inside",
       [] {
         array(std::vector<std::vector<std::vector<float>>>{{{1}, {2}}, {{3}, {}}});
       },
       shape_error, ragged("2", "1 and 0")},
      {"array, ragged braces",
       [] {
         array({{1, 2}, {3}});
       },
       shape_error, ragged("1", "2 and 1")},
      {"array, ragged depths",
       [] {
         array({{1, 2}, 3});
       },
       shape_error, uneven("0", "2 elements")},
      {"array, a list behind a number",
       [] {
         array({{1, 2}, {3, {4}}});
       },
       shape_error, uneven("1", "1 element")},
      {"iota", [] { iota({3}, 0, DType::boolean); }, dtype_error,
       "iota: elements of type bool do not count (<here>). Ask for i32 or another type of numbers"},
      {"a number", [] { full({3}, -1, DType::u8); }, dtype_error,
       "full: the number -1 does not fit into u8, which holds 0 to 255 (<here>). Use a type that "
       "holds it, such as i64"},
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
      {"zeros, too many",
       [] {
         zeros({1LL << 40, 1LL << 40});
       },
       shape_error, too_many("zeros")},
      {"ones, too many", [] { ones({1LL << 59}, DType::c128); }, shape_error,
       too_many("ones", "[576460752303423488]")},
      {"eye, too many", [] { eye(1LL << 40); }, shape_error, too_many("eye")},
      {"broadcast_to, too many",
       [] {
         broadcast_to(1.0, {1LL << 40, 1LL << 40});
       },
       shape_error, too_many("broadcast_to")},
      {"repeat, too many", [] { repeat(x3(), 1LL << 60); }, shape_error,
       too_many("repeat", "[3458764513820540928]")},
      {"repeat, more than an integer holds", [] { repeat(x3(), 1LL << 62); }, shape_error,
       too_many("repeat", "[9223372036854775807]")},
      {"tile, too many",
       [] {
         tile(x3(), {1LL << 62, 1LL << 62});
       },
       shape_error, too_many("tile", "[4611686018427387904,9223372036854775807]")},
      {"tile of nothing",
       [] {
         tile(zeros({0, 3}), {1, 1LL << 62});
       },
       shape_error, too_many("tile", "[0,9223372036854775807]")},
      {"pad, too many", [] { pad(x3(), 0.0, {1LL << 60}, {0}); }, shape_error,
       too_many("pad", "[1152921504606846979]")},
      {"pad, more than an integer holds", [] { pad(x3(), 0.0, {1LL << 62}, {1LL << 62}); },
       shape_error, too_many("pad", "[9223372036854775807]")},
      {"pad, between", [] { pad(x3(), 0.0, {0}, {0}, {1LL << 62}); }, shape_error,
       too_many("pad", "[9223372036854775807]")},
      {"reshape, more than an integer holds",
       [] {
         reshape(x3(), {1LL << 32, 1LL << 32});
       },
       shape_error,
       "reshape: f32[3] has 3 elements, which do not fill the shape [4294967296,4294967296] "
       "(<here>). The product of the extents must be 3; one of them may be -1, the rest"},
      {"reshape of nothing",
       [] {
         reshape(zeros({0}), {0, 1LL << 60});
       },
       shape_error, too_many("reshape", "[0,1152921504606846976]")},
      {"concatenate, too many",
       [] {
         Array empty = zeros({0, 1LL << 58});
         concatenate({empty, empty}, 1);
       },
       shape_error, too_many("concatenate", "[0,576460752303423488]")},
      {"promotion, too many",
       [] {
         vmap(
             [](Array x) {
               return x * zeros({1 << 30, 1});
             },
             {.in_axes = none, .axis_size = 1LL << 40})(x3());
       },
       shape_error, too_many("broadcast", "[1099511627776,1073741824,3]")},
      {"arange, too many", [] { arange(0, 1e300); }, shape_error,
       "arange: from 0 to 1e+300 there are 1e+300 elements (<here>). Give fewer than 2^59"},
      {"ones", [] { ones({-1}); }, shape_error, negative("ones", "[-1]")},
      {"full", [] { full({-1}, 2); }, shape_error, negative("full", "[-1]")},
      {"iota", [] { iota({-1}, 0); }, shape_error, negative("iota", "[-1]")},
      {"arange, count", [] { arange(-3); }, shape_error, negative("arange", "[-3]")},
      {"linspace, count", [] { linspace(0, 1, -3); }, shape_error, negative("linspace", "[-3]")},
      {"logspace, count", [] { logspace(0, 1, -3); }, shape_error, negative("logspace", "[-3]")},
      {"eye", [] { eye(-2); }, shape_error, negative("eye", "[-2,-2]")},
      {"arange, step", [] { arange(0, 1, 0); }, error,
       "arange: steps of 0 from 0 to 1 never end (<here>). Give finite ends and a step that is not "
       "0"},
      {"iota", [] { iota({3}, 1); }, shape_error, no_axis("iota", "1", "i32[3]")},
  });
}

}  // namespace
}  // namespace sturnus
