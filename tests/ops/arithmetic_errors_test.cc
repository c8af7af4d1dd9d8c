// Bad input of elementwise functions.
#include <sturnus/functional/control_flow.h>
#include <sturnus/ops/arithmetic.h>
#include <sturnus/ops/complex.h>
#include <sturnus/ops/special.h>
#include <sturnus/ops/transcendental.h>

#include "tests/functional/misuse.h"
#include "tests/ops/error_messages.h"

namespace sturnus {
namespace {

TEST(Errors, Elementwise) {
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
      {"where, the values", [] { where(true, x3(), zeros({2})); }, shape_error,
       mismatch("where", "f32[3] and f32[2]")},
      {"where, the condition", [] { where(zeros({2}) > 0.0, x3(), 0.0); }, shape_error,
       mismatch("where", "bool[2] and f32[3]")},
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
      {"bitcast", [] { bitcast(x3(), DType::f64); }, dtype_error,
       "bitcast: f32[3] and f64 have elements of different sizes (<here>). Choose a type of the "
       "same size, or use convert"},
      {"bitcast of bool", [] { bitcast(x3() > 0.0, DType::u8); }, dtype_error,
       "bitcast: bool[3] and u8 do not have the same bits (<here>). Use convert for bool, real and "
       "imag for complex numbers"},
      {"bitcast of complex", [] { bitcast(z3(), DType::f64); }, dtype_error,
       "bitcast: c64[3] and f64 do not have the same bits (<here>). Use convert for bool, real and "
       "imag for complex numbers"},
      {"a number that does not fit", [] { whole3() + 3000000000; }, dtype_error,
       "add: the number 3000000000 does not fit into i32, which holds -2147483648 to 2147483647 "
       "(<here>). Use a type that holds it, such as i64"},
      {"make_complex", [] { make_complex(z3(), z3()); }, dtype_error,
       "make_complex: the parts are c64[3], but must be of f32 or f64 (<here>). Convert them "
       "first"},
      {"an integer beyond i32", [] { Array(std::int64_t{1} << 40); }, dtype_error,
       "Array: the integer 1099511627776 does not fit into i32, the default (<here>). Write "
       "Array(value, DType::i64)"},
      {"an integer that becomes an array", [] { Array x = 1LL << 40; }, dtype_error,
       "Array: the integer 1099511627776 does not fit into i32, the default (<here>). Write "
       "Array(value, DType::i64)"},
      {"an integer that starts a loop",
       [] {
         fori_loop(
             0, 3, [](Array, Array x) { return x; }, 1LL << 40);
       },
       dtype_error,
       "Array: the integer 1099511627776 does not fit into i32, the default. Write "
       "Array(value, DType::i64)"},
      {"a number of a type that cannot hold it", [] { Array(300, DType::u8); }, dtype_error,
       "Array: the number 300 does not fit into u8, which holds 0 to 255 (<here>). Use a type that "
       "holds it, such as i64"},
      {"polygamma", [] { polygamma(-1, 1.0); }, error,
       "polygamma: the order is -1 (<here>). Give an order of 0 or more"},
  });
}

}  // namespace
}  // namespace sturnus
