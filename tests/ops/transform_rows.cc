// Rows of the ops that transforms and control flow make.
#include <sturnus/functional/checkpoint.h>
#include <sturnus/functional/control_flow.h>
#include <sturnus/functional/custom.h>
#include <sturnus/functional/debug.h>
#include <sturnus/functional/vmap.h>
#include <sturnus/ops/arithmetic.h>
#include <sturnus/ops/creation.h>
#include <sturnus/ops/reduce.h>
#include <sturnus/ops/transcendental.h>

#include "tests/ops/op_table.h"

namespace sturnus::testing {
namespace {

Array grows(const Arrays& x, std::int64_t steps) {
  return fori_loop(
      0, steps, [&](Array, Array y) { return sin(y) * x[1] + x[0]; }, x[0]);
}

// A derivative by hand that is the right one, so that differences can check it.
Array custom_product(const Array& a, const Array& b) {
  return custom_jvp([](Array p, Array q) { return sin(p) * q; },
                    [](Array p, Array q, Array dp, Array dq) {
                      Array s = sin(p);
                      return std::pair(s * q, dp * (cos(p) * q) + s * dq);
                    })(a, b);
}

Array custom_backward(const Array& a, const Array& b) {
  return custom_vjp([](Array p, Array q) { return sin(p) * q; },
                    [](Array p, Array q) { return std::pair(sin(p) * q, std::tuple(p, q)); },
                    [](std::tuple<Array, Array> kept, Array ct) {
                      auto [p, q] = kept;
                      Array dp = ct * cos(p) * q;
                      return std::tuple(dp, ct * sin(p));
                    })(a, b);
}

Array over_members(const Array& x, Array (*collective)(Operand, std::string_view)) {
  return vmap([&](Array one) { return sin(one) * collective(one * one, "members"); },
              {.axis_name = "members"})(x);
}

}  // namespace

std::vector<Row> transform_rows() {
  return {
      {"scan of three", [](const Arrays& x) { return grows(x, 3); }, {{3}, {3}}},
      {"scan backwards over stacked arrays",
       [](const Arrays& x) {
         auto step = [&](Array carry, Array one) {
           Array next = tanh(carry * one + x[1]);
           return std::pair(next, next * one);
         };
         auto [last, all] = scan(step, x[1], x[0], {.reverse = true});
         return all * last;
       },
       {{4, 2}, {2}}},
      {"debug_print",
       [](const Arrays& x) {
         static const bool quiet = (set_debug_sink([](const std::string&) {}), true);
         return quiet ? x[1] * debug_print("x", x[0] * x[1]) : Array();
       },
       {{3}, {3}}},
      {"while",
       [](const Arrays& x) {
         auto step = [&](const std::pair<Array, Array>& s) {
           return std::pair(s.first + 1, sin(s.second) * x[1]);
         };
         auto more = [](const std::pair<Array, Array>& s) { return s.first < 3; };
         return while_loop(more, step, std::pair(Array(0), x[0])).second;
       },
       {{3}, {3}},
       -1.5,
       1.5,
       {},
       3,
       1e-6,
       /*reverse=*/false},
      {"case",
       [](const Arrays& x) {
         return cond(
             sum(x[0]) > 0.0, [&](Array y) { return sin(y) * x[1]; },
             [&](Array y) { return y * y * y; }, x[0]);
       },
       {{3}, {3}}},
      {"case of three",
       [](const Arrays& x) {
         using Branch = std::function<Array(Array)>;
         std::vector<Branch> branches = {[](Array y) { return cos(y); },
                                         [&](Array y) { return y * x[0]; },
                                         [](Array y) { return exp(y); }};
         Array index = convert(floor(x[1]), DType::i32) + 1;
         return switch_(index, branches, x[0]);
       },
       {{3}, {}},
       -0.9,
       0.9},
      {"checkpoint",
       [](const Arrays& x) {
         return checkpoint([](Array a, Array b) { return sin(a * b) * exp(a); })(x[0], x[1]);
       },
       {{3}, {3}}},
      {"checkpoint in a scan",
       [](const Arrays& x) {
         return fori_loop(
             0, 3,
             [&](Array, Array y) { return checkpoint([&](Array z) { return sin(z) * x[1]; })(y); },
             x[0]);
       },
       {{3}, {3}},
       -1.5,
       1.5,
       {},
       2},
      {"custom_jvp", [](const Arrays& x) { return custom_product(x[0], x[1]); }, {{3}, {3}}},
      {"custom_vjp", [](const Arrays& x) { return custom_backward(x[0], x[1]); }, {{3}, {3}}},
      {"psum", [](const Arrays& x) { return over_members(x[0], psum); }, {{4, 2}}},
      {"pmean", [](const Arrays& x) { return over_members(x[0], pmean); }, {{4}}},
      {"pmax", [](const Arrays& x) { return over_members(x[0], pmax); }, {{4}}},
      {"pmin", [](const Arrays& x) { return over_members(x[0], pmin); }, {{4, 2}}},
      {"all_gather",
       [](const Arrays& x) {
         return vmap([](Array one) { return sin(one) * all_gather(one * one, "members"); },
                     {.axis_name = "members"})(x[0]);
       },
       {{4}}},
      {"associative_scan",
       [](const Arrays& x) {
         return associative_scan([](Array a, Array b) { return a * b; }, x[0]);
       },
       {{5, 2}}},
      {"map",
       [](const Arrays& x) { return map([](Array a) { return sum(sin(a)); }, x[0]); },
       {{3, 2}}},
  };
}

}  // namespace sturnus::testing
