// Bad input of trees and traces, and of what is compiled.
#include <sturnus/runtime/log.h>
#include <sturnus/sturnus.h>

#include <optional>

#include "tests/functional/misused_trees.h"

namespace sturnus {
namespace {

TEST(Errors, ArraysWithoutValue) {
  expect_answers({
      // Axes and sizes.
      {"ravel", [] { ravel(net(1)).second(zeros({4})); }, shape_error,
       "ravel: the tree is made of 3 elements, the vector is f32[4] (<here>). Give a vector like "
       "the one that ravel gave"},
      // Leaves without a value.
      {"jit, result", [] { jit([](Array x) {
                             return Layer{x, Array()};
                           })(x3()); }, tree_error,
       no_value("jit: the result .b", true)},
      {"grad, argument",
       [] {
         grad([](const Layer& l) { return sum(l.w); })(Layer{x3(), {}});
       },
       tree_error, no_value("grad: argument 0 .b", true)},
      {"grad, another argument",
       [] {
         grad<1>([](Array x, const Layer& l) { return sum(x * l.w); })(x3(), Layer{x3(), {}});
       },
       tree_error, no_value("grad: argument 1 .b", true)},
      {"vmap, argument", [] { vmap(same)(Array()); }, tree_error,
       no_value("vmap: argument 0", true)},
      {"jit, argument",
       [] {
         jit([](const Layer& l) { return l.w; })(Layer{x3(), {}});
       },
       tree_error, no_value("jit: argument 0 .b", true)},
      {"jit, argument of a later call",
       [] {
         auto f = jit(same);
         f(x3());
         f(Array());
       },
       tree_error, no_value("jit: argument 0", true)},
      {"vjp, argument", [] { vjp(same, Array()); }, tree_error, no_value("vjp: argument 0", true)},
      {"vjp, one of several", [] { vjp([](Array x, Array) { return x; }, x3(), Array()); },
       tree_error, no_value("vjp: argument 1", false)},
      {"linearize, argument", [] { linearize(same, Array()); }, tree_error,
       no_value("linearize: argument 0", true)},
      {"lower, argument", [] { lower(same, Array()); }, tree_error,
       no_value("lower: argument 0", true)},
      {"eval_shape, argument", [] { eval_shape(same, Array()); }, tree_error,
       no_value("eval_shape: argument 0", true)},
      {"a compiled function, argument", [] { jit(same).compile(x3())(Array()); }, tree_error,
       no_value("jit: argument 0", true)},
      {"vjp, cotangent", [] { vjp(same, x3()).second(Array()); }, tree_error,
       no_value("vjp: the cotangent", true)},
      {"jvp, tangents", [] { jvp(same, x3(), Array()); }, tree_error,
       no_value("jvp: the tangents", true)},
      {"jacrev, beside the value",
       [] { jacrev(has_aux([](Array x) {
              return std::pair(x, Layer{x, {}});
            }))(x3()); },
       tree_error, no_value("jacrev: what stands beside the value .b", true)},
      {"checkpoint, result", [] { checkpoint([](Array) { return Array(); })(x3()); }, tree_error,
       no_value("checkpoint: the result", true)},
      {"scan, start",
       [] {
         scan([](Layer c, Array x) { return std::pair(c, x); }, Layer{x3(), {}}, x3());
       },
       tree_error, no_value("scan: the start .b", true)},
      {"fori_loop, carry",
       [] {
         fori_loop(
             0, 3, [](Array, Array) { return Array(); }, 1.0);
       },
       tree_error, no_value("fori_loop: carry out", true)},
      {"ravel, a leaf",
       [] {
         ravel(Layer{x3(), {}});
       },
       tree_error, no_value("ravel: the tree .b", true)},
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
       "vmap: an array of type f32[] that stood for an argument of the function traced at <here> "
       "is used after the function returned. Return it from the function instead of storing it "
       "outside"},
      {"a leaked value of a loop used in another trace",
       [&] {
         fori_loop(
             0, 3, [&](Array, Array x) { return leak(x); }, 1.0);
         grad([&](Array x) { return x * leaked; })(2.0);
       },
       trace_error,
       "fori_loop: an array of type f32[] that stood for an argument of the function traced at "
       "<here> is used after the function returned. Return it from the function instead of storing "
       "it outside"},
      {"a value of eval_shape", [] { eval_shape(same, x3()).item<float>(); }, trace_error,
       "item: this f32[3]" + outside},
      {"a value of abstract_array", [] { jit(same)(abstract_array(DType::f32, {2})); }, trace_error,
       "jit: this f32[2]" + outside},
      {"a compiled function in a trace",
       [] {
         auto compiled = jit(same).compile(x3());
         vmap([&](Array x) { return compiled(x); })(zeros({2, 3}));
       },
       trace_error, "jit: this f32[3], made at <here>," + inside},
      {"Array() in an operation", [] { Array() + 1.0; }, error,
       "Array: Array() has no type and no value (<here>). Assign it a value first"},
      {"Array() read", [] { Array().item<float>(); }, error,
       "Array: Array() has no type and no value (<here>). Assign it a value first"},
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

TEST(Errors, DonatedArrays) {
  auto step = jit([](Array x) { return x + 1.0; }, {.donate = {0}});
  Array x = x3();
  step(x);
  const std::string gone =
      " was donated to jit (<here>), and has no contents. Use the result of that run instead, or "
      "do "
      "not donate it";
  expect_answers({
      {"jit, donate", [] { jit(same, {.donate = {1}})(x3()); }, error,
       "jit: donate names argument 1, the number of arguments is 1 (<here>). Name one of these, "
       "counted from 0"},
      {"read", [&] { x.to_vector<float>(); }, error, "Buffer::to_host: f32[3]" + gone},
      {"printed", [&] { to_string(x); }, error, "Buffer::to_host: f32[3]" + gone},
      {"awaited", [&] { x.await(); }, error, "Buffer::ready_event: f32[3]" + gone},
      {"used", [&] { x + 1.0; }, error, "add: argument 0, f32[3] (<here>)," + gone},
      {"used in an operation made of several", [&] { cummax(x, 0); }, error,
       "cummax: a captured array, f32[3] (<here>)," + gone},
      {"passed again", [&] { step(x); }, error, "jit: argument 0 (f32[3])" + gone},
      {"captured", [&] { jit([&](Array y) { return x + y; })(x3()); }, error,
       "jit: a captured array, f32[3]," + gone},
      {"donated twice",
       [] {
         Array y = x3();
         jit([](Array a, Array b) { return a + b; }, {.donate = {0}})(y, y);
       },
       error,
       "jit: argument 0 (f32[3]) is donated to jit (<here>), and also another argument. Pass a "
       "copy"},
  });
}

TEST(Errors, CompiledFunctions) {
  auto by_steps = [](const Counted& c) { return c.x * static_cast<double>(c.steps); };
  auto compiled = jit(by_steps).compile(Counted{x3(), 2});
  auto power = [](Array x, int n) { return pow(x, n); };
  auto squared = jit<1>(power).compile(x3(), 2);
  Program program = lower(same, x3()).compile();
  expect_answers({
      {"a static part",
       [&] {
         compiled(Counted{x3(), 5});
       },
       tree_error,
       "jit: .steps is 2 in argument 0 as compiled and is 5 in argument 0 as called (<here>). Give "
       "both the same structure"},
      {"a static argument", [&] { squared(x3(), 3); }, tree_error,
       "jit: the tree is 2 in argument 1 as compiled and is 3 in argument 1 as called (<here>). "
       "Give both the same structure"},
      {"a type",
       [&] {
         compiled(Counted{zeros({4}), 2});
       },
       shape_error,
       "jit: argument 0 .x is f32[4], the program was compiled for f32[3] (<here>). Give it that "
       "type, or call what jit gives, which compiles for every type that comes"},
      {"a program, a type", [&] { program.run({x23()}); }, shape_error,
       "Program::run: argument 0 is f32[2,3], the program was compiled for f32[3] (<here>). Give "
       "it "
       "that type, or compile the function for this one"},
      {"a program, too many arguments",
       [&] {
         program.run({x3(), x3()});
       },
       shape_error,
       "Program::run: the number of arguments is 2, the program was compiled for 1 (<here>). Give "
       "one array for each of argument_types()"},
      {"a platform", [] { lower(same, x3()).stablehlo("gpu"); }, error,
       "Lowered::stablehlo: there is no platform \"gpu\". Name one of cpu, cuda, rocm, tpu"},
  });
}

TEST(Errors, MapsOfTrees) {
  auto first = [](Array a, Array) { return a; };
  const std::string different = " has 1 element in tree 1 and has 2 elements in tree 2";
  expect_answers({
      {"tree_map", [&] { tree_map(first, list(1), list(2)); }, tree_error,
       "tree_map: the tree" + different + " (<here>). Give both the same structure"},
      {"tree_where", [] { tree_where(Array(true), net(1), net(2)); }, tree_error,
       "tree_where: .layers" + different + " (<here>). Give both the same structure"},
      {"tree_unflatten", [] { tree_unflatten(list(2), std::span<const Array>(list(1))); },
       tree_error,
       "tree_unflatten: std::vector<sturnus::Array> has 2 leaves, given: 1; the first without one "
       "is [1] (<here>). Give as many leaves as tree_leaves of such a tree returns"},
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
  jit(rolled, {.warn_above = 30})(1.0);
  jit(unrolled, {.warn_above = 20}).compile(1.0);  // ahead of time
  EXPECT_EQ(lines.size(), 2u);
  // The body of a loop counts, and so does what runs without jit.
  auto large_body = [&](Array x) {
    return fori_loop(
        0, 2, [&](Array, Array y) { return unrolled(y); }, x);
  };
  jit(large_body, {.warn_above = 20})(1.0);
  EXPECT_EQ(lines.size(), 3u);
  lines.resize(2);
  set_log_sink({});
  std::string warning =
      "jit: the traced program has 21 operations, more than the limit of 20, and XLA will take "
      "long to compile it (<here>). A C++ loop is traced once per pass: use scan or fori_loop, "
      "which are traced once";
  EXPECT_EQ(lines, std::vector<std::string>(2, warning));
}

}  // namespace
}  // namespace sturnus
