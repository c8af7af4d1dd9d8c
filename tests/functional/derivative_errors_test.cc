// Bad input of derivatives.
#include "tests/functional/misused_trees.h"

namespace sturnus {
namespace {

const std::string not_linear =
    "custom_jvp: the rule is not linear in the tangents, so reverse mode has no meaning for it "
    "(<here>). Make it so, or use forward mode (jvp, jacfwd)";

std::string without_end(const std::string& function) {
  return function +
         ": a rule calls the function that it belongs to, without end (<here>). Call the function "
         "that was wrapped, or wrap it once more with rules of its own";
}

Array custom_of_itself(Array x) {
  return custom_jvp(same, [](Array y, Array dy) { return std::pair(custom_of_itself(y), dy); })(x);
}
Array reverse_of_itself(Array x) {
  auto forward = [](Array y) { return std::pair(reverse_of_itself(y), y); };
  return custom_vjp(same, forward, [](Array, Array ct) { return ct; })(x);
}

TEST(Errors, Derivatives) {
  auto axes = [](Array x, Array) { return x; };
  auto by_net = [](const Net& n) { return n.layers[0].w; };
  auto first_total = [](Array x, Array y) { return sum(x * y); };
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
      {"hvp, another argument", [&] { hvp<1>(first_total, std::tuple(x3(), x3()), zeros({2})); },
       shape_error,
       "hvp: argument 1 is f32[3], its tangent is f32[2] (<here>). Give tangents of the arguments' "
       "types"},
      {"hvp, structure of a part",
       [&] {
         auto f = [&](Array x, const Net& n) { return sum(x * by_net(n)); };
         hvp<0, 1>(f, std::tuple(zeros({2}), net(1)), std::tuple(zeros({2}), net(2)));
       },
       tree_error,
       "hvp: <1>.layers has 1 element in x and has 2 elements in v (<here>). Give both the same "
       "structure"},
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
      {"derivatives of a whole number", [] { derivatives(same, 3, 2); }, shape_error,
       "derivatives: the argument is i32[], but must be a real scalar (<here>). Write 3.0 rather "
       "than 3, or convert it to f32"},
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
       [] { grad([](Array x) { return sum(convert(x, DType::i32)); })(x3()); }, dtype_error,
       "grad: the function returns i32[], made at <here>, but a gradient is of one real number, "
       "such as f32[] (<here>). Compute it in f32; whole numbers do not vary"},
      {"grad of a complex number", [] { grad(total)(z3()); }, dtype_error,
       "grad: the function returns c64[], made at <here>, but a gradient is of one real number, "
       "such as f32[] (<here>). Take a real number of it, such as abs or real"},
      {"hessian of a vector", [] { hessian(same)(x3()); }, shape_error,
       "hessian: the function returns f32[3], but a gradient is of one real number, such as f32[] "
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
      {"jacfwd by integers, one of several", [&] { jacfwd<0, 1>(axes)(x3(), whole3()); },
       dtype_error, no_derivative("jacfwd", "argument 1 is i32[3]")},
      {"jacrev by integers", [] { jacrev(same)(whole3()); }, dtype_error,
       no_derivative("jacrev", "argument 0 is i32[3]")},
      {"hessian by integers", [] { hessian(total)(whole3()); }, dtype_error,
       no_derivative("hessian", "argument 0 is i32[3]")},
      {"hvp by integers", [&] { hvp<1>(axes, std::tuple(x3(), whole3()), whole3()); }, dtype_error,
       no_derivative("hvp", "argument 1 is i32[3]")},
      {"hessian_diagonal by integers", [] { hessian_diagonal(total)(whole3()); }, dtype_error,
       no_derivative("hessian_diagonal", "argument 0 is i32[3]")},
      {"laplacian by integers", [] { laplacian(total)(whole3()); }, dtype_error,
       no_derivative("laplacian", "argument 0 is i32[3]")},
      {"jvp by integers", [] { jvp(same, 3, 1); }, dtype_error,
       no_derivative("jvp", "argument 0 is i32[]")},
      {"jvp by integers, one of several",
       [&] { jvp(axes, std::tuple(x3(), whole3()), std::tuple(x3(), whole3())); }, dtype_error,
       no_derivative("jvp", "argument 1 is i32[3]")},
      {"linearize by integers", [] { linearize(same, 3); }, dtype_error,
       no_derivative("linearize", "argument 0 is i32[]")},
      {"vjp by integers", [] { vjp(same, x3() > 0.0); }, dtype_error,
       no_derivative("vjp", "argument 0 is bool[3]")},
      {"jet by integers", [] { jet(same, whole3(), List{whole3()}); }, dtype_error,
       no_derivative("jet", "argument 0 is i32[3]")},
      {"reverse mode through fori_loop with bounds of the program",
       [] {
         grad([](Array x) {
           auto twice = [](Array, Array y) { return 2.0 * y; };
           return sum(fori_loop(Array(0), Array(3), twice, x));
         })(ones({3}));
       },
       error,
       "fori_loop: reverse mode needs to know how many iterations there are (<here>). Use scan, or "
       "fori_loop with fixed bounds, or forward mode (jvp)"},
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
      {"custom_jvp that is not linear, gradient",
       [] {
         auto f = custom_jvp(same, [](Array x, Array dx) { return std::pair(x, dx * dx); });
         grad([&](Array x) { return sum(f(x)); })(x3());
       },
       error, not_linear},
      {"custom_jvp that is not linear, pullback",
       [] {
         auto f = custom_jvp(
             same, [](Array x, Array dx) { return std::pair(x, where(dx > 0.0, dx, 2.0 * dx)); });
         vjp(f, x3()).second(x3());
       },
       error, not_linear},
      {"custom_jvp that is not linear, in a loop",
       [] {
         auto f = custom_jvp(same, [](Array x, Array dx) { return std::pair(x, dx * dx); });
         grad([&](Array x) {
           return sum(fori_loop(
               0, 3, [&](Array, Array y) { return f(y); }, x));
         })(x3());
       },
       error, not_linear},
      {"custom_jvp of itself", [] { custom_of_itself(x3()); }, error, without_end("custom_jvp")},
      {"custom_vjp of itself",
       [] { grad([](Array x) { return sum(reverse_of_itself(x)); })(x3()); }, error,
       without_end("custom_vjp")},
      {"custom_vjp, forward mode of what is not linear",
       [] {
         auto clipped = custom_vjp(
             same, [](Array x) { return std::pair(x, x); },
             [](Array, Array ct) { return clamp(-1.0, ct, 1.0); });
         jvp(clipped, x3(), x3());
       },
       error,
       "custom_vjp: the backward pass is not linear in the cotangent, so forward mode (jvp, "
       "jacfwd, "
       "jet) has no meaning for it (<here>). Use reverse mode (grad, vjp, jacrev), or write a "
       "custom_jvp"},
      {"custom_jvp, another tree",
       [] { custom_jvp(same, [](Array x, Array dx) { return std::pair(x, List{dx}); })(x3()); },
       tree_error,
       "custom_jvp: the tree is a sturnus::Array in the result of the function and a "
       "std::vector<sturnus::Array> in the rule's derivative (<here>). Give both the same "
       "structure"},
      {"custom_vjp, a value with more arrays",
       [] {
         auto f = [](Array x) { return List{x}; };
         auto forward = [](Array x) { return std::pair(List{x, 7.0 * x}, x); };
         custom_vjp(f, forward, [](Array, List ct) { return ct[0]; })(x3());
       },
       tree_error,
       "custom_vjp: the tree has 1 element in the result of the function and has 2 elements in the "
       "forward pass's value (<here>). Give both the same structure"},
      {"custom_vjp, a cotangent of another tree",
       [] {
         auto f = [](List l) { return l[0]; };
         auto forward = [](List l) { return std::pair(l[0], l[1]); };
         auto backward = [](Array b, Array ct) { return std::tuple(ct, b); };
         custom_vjp(f, forward, backward)(list(2));
       },
       tree_error,
       "custom_vjp: the tree is a std::vector<sturnus::Array> in the arguments and a "
       "std::tuple<sturnus::Array, sturnus::Array> in the result of the backward pass (<here>). "
       "Give both the same structure"},
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

}  // namespace
}  // namespace sturnus
