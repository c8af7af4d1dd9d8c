// What users are told of their mistakes: bad input, and the whole message.
// Every message says what is wrong with both facts, where ("here" stands for file and line), and
// what to do.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sturnus/functional/collective.h>
#include <sturnus/functional/control_flow.h>
#include <sturnus/functional/custom.h>
#include <sturnus/functional/grad.h>
#include <sturnus/functional/jacobian.h>
#include <sturnus/functional/jit.h>
#include <sturnus/functional/vmap.h>
#include <sturnus/ops/arithmetic.h>
#include <sturnus/ops/creation.h>
#include <sturnus/ops/dot.h>
#include <sturnus/ops/index.h>
#include <sturnus/ops/reduce.h>
#include <sturnus/ops/shape.h>
#include <sturnus/ops/subscript.h>
#include <sturnus/ops/transcendental.h>
#include <sturnus/runtime/log.h>

#include <functional>
#include <regex>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace sturnus {
namespace {

std::string message_of(const std::function<void()>& f) {
  try {
    f();
  } catch (const Error& error) {
    return std::regex_replace(error.what(), std::regex("errors_test\\.cc:[0-9]+"), "here");
  } catch (const std::exception& error) {
    return std::string("not an Error: ") + error.what();
  }
  return "no error";
}

struct Mistake {
  std::string name;
  std::function<void()> make;
  std::string message;
};

struct Pair {
  Array a, b;
};

Array vec(int n) { return zeros({n}); }
Array mat(int n, int m) { return zeros({n, m}); }
Array doubled(Array x) { return 2.0 * x; }

const std::vector<Mistake>& mistakes() {
  static const auto& all = *new std::vector<Mistake>{
      // Shapes and element types.
      {"broadcasting", [] { vec(3) + vec(4); }, ""},
      {"broadcasting of matrices", [] { mat(2, 3) * mat(3, 2); }, ""},
      {"element types", [] { vec(3) + zeros({3}, DType::i32); }, ""},
      {"two widths of reals", [] { vec(3) + zeros({3}, DType::f64); }, ""},
      {"sine of integers", [] { sin(zeros({3}, DType::i32)); }, ""},
      {"bits of reals", [] { vec(3) & vec(3); }, ""},
      {"matmul", [] { matmul(mat(2, 3), mat(4, 2)); }, ""},
      {"dot", [] { dot(vec(3), vec(4)); }, ""},
      {"matmul of scalars", [] { matmul(Array(1.0), vec(3)); }, ""},
      {"reshape", [] { reshape(mat(2, 3), {4}); }, ""},
      {"reshape with two open extents",
       [] {
         reshape(mat(2, 3), {-1, -1});
       },
       ""},
      {"broadcast_to", [] { broadcast_to(vec(3), {4}); }, ""},
      {"concatenate",
       [] {
         concatenate({mat(2, 3), mat(2, 4)}, 0);
       },
       ""},
      {"concatenate nothing", [] { concatenate({}); }, ""},
      {"stack",
       [] {
         stack({vec(3), vec(4)});
       },
       ""},
      {"squeeze", [] { squeeze(mat(2, 3), {0}); }, ""},
      {"where", [] { where(vec(3) > 0.0, vec(3), vec(4)); }, ""},
      {"where without a bool", [] { where(vec(3), vec(3), vec(3)); }, ""},
      {"ragged braces",
       [] {
         array({{1, 2}, {3}});
       },
       ""},
      {"a number that does not fit", [] { Array(std::int64_t{1} << 40); }, ""},
      // Axes and indices.
      {"axis of sum", [] { sum(vec(3), {1}); }, ""},
      {"axis twice",
       [] {
         sum(mat(2, 3), {{0, -2}});
       },
       ""},
      {"axis of flip", [] { flip(vec(3), {-2}); }, ""},
      {"permutation",
       [] {
         transpose(mat(2, 3), {0, 0});
       },
       ""},
      {"index too large", [] { vec(3)[3]; }, ""},
      {"index too small", [] { vec(3)[-4]; }, ""},
      {"too many indices", [] { vec(3)(0, 0); }, ""},
      {"slice", [] { slice(vec(3), {1}, {5}); }, ""},
      {"dynamic_slice", [] { dynamic_slice(vec(3), {Array(0)}, {5}); }, ""},
      // Nothing to reduce.
      {"max of nothing", [] { max(vec(0)); }, ""},
      {"min of nothing", [] { min(mat(2, 0), {1}); }, ""},
      {"argmax of nothing", [] { argmax(vec(0)); }, ""},
      {"argmin of nothing", [] { argmin(mat(0, 2), 0); }, ""},
      // Values that are not there.
      {"an empty array", [] { sin(Array()); }, ""},
      {"the type of an empty array", [] { Array().shape(); }, ""},
      {"item of several", [] { vec(3).item<float>(); }, ""},
      {"item of another type", [] { Array(1.0).item<double>(); }, ""},
      {"item while tracing",
       [] {
         jit([](Array x) {
           Array y = 2.0 * x;
           return y * y.item<float>();
         })(1.0);
       },
       ""},
      {"a placeholder that outlived its trace",
       [] {
         Array kept;
         jit([&](Array x) {
           kept = x;
           return x;
         })(1.0);
         (kept + 1.0).item<float>();
       },
       ""},
      {"a placeholder that outlived its gradient",
       [] {
         Array kept;
         grad([&](Array x) {
           kept = x * x;
           return x;
         })(1.0);
         jit([&](Array x) { return x + kept; })(1.0);
       },
       ""},
      {"a donated argument",
       [] {
         Array x = vec(3).await();
         auto f = jit([](Array y) { return y + 1.0; }, {.donate = {0}});
         f(x);
         f(x);
       },
       ""},
      {"donating an argument that is not there", [] { jit(doubled, {.donate = {1}})(vec(3)); }, ""},
      // Derivatives.
      {"grad of a vector", [] { grad(doubled)(vec(3)); }, ""},
      {"grad of an integer result",
       [] { grad([](Array x) { return convert(sum(x), DType::i32); })(vec(3)); }, ""},
      {"grad by integers", [] { grad([](Array x) { return x; })(Array(1)); }, ""},
      {"tangent of another type", [] { jvp(doubled, vec(3), vec(4)); }, ""},
      {"too few tangents",
       [] {
         using Args = std::tuple<std::vector<Array>>;
         jvp([](std::vector<Array> x) { return x[0]; }, Args(std::vector<Array>{vec(3), vec(3)}),
             Args(std::vector<Array>{vec(3)}));
       },
       ""},
      {"cotangent of another type", [] { vjp(doubled, vec(3)).second(vec(4)); }, ""},
      {"tangent of a linear map", [] { linearize(doubled, vec(3)).second(vec(4)); }, ""},
      {"reverse mode through while_loop",
       [] {
         grad([](Array x) {
           return sum(while_loop([](Array y) { return sum(y) < 10.0; }, doubled, x));
         })(ones({3}));
       },
       ""},
      {"custom_jvp of another type",
       [] {
         custom_jvp(doubled, [](Array x, Array dx) { return std::pair(2.0 * x, sum(dx)); })(vec(3));
       },
       ""},
      {"custom_vjp with another forward pass",
       [] {
         custom_vjp(
             doubled, [](Array x) { return std::pair(sum(x), x); },
             [](Array x, Array ct) { return ct * x; })(vec(3));
       },
       ""},
      {"custom_vjp with another cotangent",
       [] {
         custom_vjp(
             doubled, [](Array x) { return std::pair(2.0 * x, x); },
             [](Array, Array ct) { return sum(ct); })(vec(3));
       },
       ""},
      // vmap.
      {"in_axes of another count",
       [] {
         vmap(doubled, {.in_axes = {0, 0}})(vec(3));
       },
       ""},
      {"mapped axes of different lengths",
       [] { vmap([](Array a, Array b) { return a + b; })(vec(3), vec(4)); }, ""},
      {"in_axes out of range", [] { vmap(doubled, {.in_axes = {1}})(vec(3)); }, ""},
      {"vmap of a scalar", [] { vmap(doubled)(1.0); }, ""},
      {"nothing mapped", [] { vmap(doubled, {.in_axes = {none}})(vec(3)); }, ""},
      {"out_axes out of range", [] { vmap(doubled, {.out_axes = 2})(vec(3)); }, ""},
      {"out_axes of a mapped result", [] { vmap(doubled, {.out_axes = none})(vec(3)); }, ""},
      {"a path to nothing",
       [] {
         vmap([](const Pair& p) { return p.a + p.b; },
              {.in_axes = {by_path({{".c", 0}})}})(Pair{vec(3), vec(3)});
       },
       ""},
      {"a collective without its axis", [] { psum(vec(3), "members"); }, ""},
      {"a collective with another axis",
       [] { vmap([](Array x) { return pmean(x, "members"); }, {.axis_name = "batch"})(vec(3)); },
       ""},
      // Loops and branches.
      {"a carry that changes its type",
       [] {
         fori_loop(
             0, 3,
             [](Array, const Pair& p) {
               return Pair{p.a, convert(p.b, DType::f64)};
             },
             Pair{vec(3), vec(3)});
       },
       ""},
      {"a carry that changes its shape",
       [] {
         while_loop([](Array x) { return sum(x) < 1.0; },
                    [](Array x) {
                      return stack({x, x});
                    },
                    vec(3));
       },
       ""},
      {"a carry that changes its length",
       [] {
         fori_loop(
             0, 3,
             [](Array, std::vector<Array> c) {
               c.push_back(c[0]);
               return c;
             },
             std::vector<Array>{vec(3)});
       },
       ""},
      {"a condition that is no bool",
       [] { while_loop([](Array x) { return x; }, doubled, vec(3)); }, ""},
      {"xs of different lengths",
       [] {
         scan([](Array c, const Pair& x) { return std::pair(c, x.a); }, Array(0.0),
              Pair{vec(3), vec(4)});
       },
       ""},
      {"branches of different types",
       [] {
         cond(
             Array(true),
             [](Array x) {
               return Pair{x, x};
             },
             [](Array x) {
               return Pair{x, sum(x)};
             },
             vec(3));
       },
       ""},
      {"branches of different length",
       [] {
         cond(
             Array(true), [](Array x) { return std::vector<Array>{x}; },
             [](Array x) {
               return std::vector<Array>{x, x};
             },
             vec(3));
       },
       ""},
      {"a choice by several", [] { cond(vec(3) > 0.0, doubled, doubled, vec(3)); }, ""},
      {"no branches", [] { switch_(0, std::vector<Array (*)(Array)>{}, vec(3)); }, ""},
  };
  return all;
}

class Errors : public ::testing::TestWithParam<std::size_t> {};

TEST_P(Errors, SayWhatWhereAndWhatToDo) {
  const Mistake& mistake = mistakes()[GetParam()];
  EXPECT_EQ(message_of(mistake.make), mistake.message);
}

INSTANTIATE_TEST_SUITE_P(Mistakes, Errors, ::testing::Range<std::size_t>(0, mistakes().size()),
                         [](const auto& info) {
                           std::string name = mistakes()[info.param].name;
                           for (char& c : name) c = std::isalnum(c) ? c : '_';
                           return name;
                         });

// The line is the user's, also for what library functions do inside.
TEST(ErrorLine, IsTheOneThatMadeTheMistake) {
  std::string text;
  try {
    mean(vec(3) + 1.0, {2});
  } catch (const Error& error) {
    text = error.what();
  }
  EXPECT_THAT(text, ::testing::HasSubstr("errors_test.cc:" + std::to_string(__LINE__ - 4)));
}

TEST(HugeGraphs, AreWarnedOfWithTheirSizeAndTheRemedy) {
  std::vector<std::string> lines;
  set_log_sink([&lines](LogLevel, std::string_view line) { lines.emplace_back(line); });
  auto unrolled = [](Array x) {
    for (int i = 0; i < 30; i++) x = sin(x);
    return x;
  };
  jit(unrolled, {.warn_above = 31})(1.0);
  EXPECT_TRUE(lines.empty());
  jit(unrolled, {.warn_above = 30})(1.0);
  set_log_sink({});
  EXPECT_THAT(lines, ::testing::ElementsAre(
                         "jit: the traced program has 31 operations, and XLA will take long to "
                         "compile it. A C++ loop is traced once per pass: use scan or fori_loop, "
                         "which are traced once"));
}

}  // namespace
}  // namespace sturnus
