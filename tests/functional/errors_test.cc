// Bad input of trees and transforms.
#include <sturnus/runtime/log.h>
#include <sturnus/sturnus.h>

#include <optional>

#include "tests/functional/misuse.h"

namespace sturnus {
namespace {

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

Array total(Array x) { return sum(x); }

std::string no_derivative(const std::string& function, const std::string& which) {
  return function + ": " + which +
         ", which has no derivative (<here>). Convert it to f32, or leave it out of the arguments "
         "to differentiate by";
}

std::string no_value(const std::string& which, bool with_line) {
  return which + " is Array(), which has no type and no value" + (with_line ? " (<here>)" : "") +
         ". Assign it one, or let it be a std::optional<Array>";
}

TEST(Errors, TreesAndTypesOfTransforms) {
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

      // vmap.
      {"vmap, no argument mapped", [] { vmap(same, {.in_axes = {none}})(x3()); }, shape_error,
       "vmap: no argument is mapped: in_axes is none for all arrays (<here>). Give at least one of "
       "in_axes an axis, or axis_size"},
      {"vmap, unequal extents", [&] { vmap(axes)(x3(), zeros({4})); }, shape_error,
       "vmap: the mapped axis of argument 1, f32[4], has extent 4, that of argument 0, f32[3], has "
       "extent 3 (<here>). Map axes of one extent, or pass an argument whole with none"},
      {"vmap, entries of in_axes", [&] { vmap(axes, {.in_axes = {0}})(x3(), x3()); }, shape_error,
       "vmap: in_axes has 1 entries, the number of arguments is 2 (<here>). Give one entry per "
       "argument, or one without braces for all"},
      {"vmap, no arrays", [] { vmap([] { return Array(1.0); })(); }, shape_error,
       "vmap: the arguments have no arrays (<here>). Give one to map, or axis_size"},
      {"vmap, axis_size", [] { vmap(same, {.axis_size = 4})(x3()); }, shape_error,
       "vmap: the mapped axis of argument 0, f32[3], has extent 3, axis_size is 4 (<here>). Leave "
       "axis_size out, or map axes of that extent"},
      {"vmap, negative axis_size", [] { vmap(same, {.in_axes = none, .axis_size = -1})(x3()); },
       shape_error, "vmap: axis_size is -1 (<here>). Give 0 or more"},
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
       shape_error,
       "scan: xs has no arrays (<here>). Use fori_loop, or scan with none for xs and a length"},
      {"scan, length",
       [] { scan([](Array c) { return std::pair(c, c); }, 0.0, none, {.length = -1}); }, error,
       "scan: the length is -1 (<here>). Give the number of steps, 0 or more"},
      {"map, unequal lengths",
       [] {
         map([](const Layer& l) { return l.w; }, Layer{x3(), x23()});
       },
       shape_error,
       "map: f32[2,3] cannot be taken apart along axis 0 in 3 steps (<here>). Give all xs the "
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
      {"associative_scan, no arrays",
       [] { associative_scan([](List a, List) { return a; }, List{}); }, shape_error,
       "associative_scan: xs has no arrays (<here>). Give a tree with at least one"},
      {"map, no arrays", [] { map([](List a) { return a; }, List{}); }, shape_error,
       "map: xs has no arrays (<here>). Give a tree with at least one"},
      {"fori_loop with bounds of the program, types",
       [] {
         auto wider = [](Array, Array c) { return convert(c, DType::f64); };
         fori_loop(Array(0), Array(3), wider, 1.0);
       },
       shape_error,
       "fori_loop: carry out is f64[], carry in is f32[] (<here>). Make both the same type"},
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
      // Axes and sizes.
      {"ravel", [] { ravel(net(1)).second(zeros({4})); }, shape_error,
       "ravel: the tree is made of 3 elements, the vector is f32[4] (<here>). Give a vector like "
       "the one that ravel gave"},
      {"vmap, in_axes", [] { vmap(same, {.in_axes = {1}})(x3()); }, shape_error,
       no_axis("vmap, in_axes of argument 0", "1", "f32[3]")},
      {"vmap, in_axes of a part", [] { vmap([](const Net& n) { return n.layers[0].w; })(net(1)); },
       shape_error,
       "vmap, in_axes of argument 0 .layers[0].b: axis 0 of f32[], which has no axes (<here>). "
       "Give "
       "it one with expand_dims"},
      {"vmap, out_axes", [] { vmap(same, {.out_axes = 1})(x3()); }, shape_error,
       no_axis("vmap, out_axes", "1", "f32[3]")},
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
      {"fori_loop, too many steps",
       [] {
         fori_loop(
             0, 5000000000, [](Array, Array x) { return x; }, x3());
       },
       error,
       "fori_loop: there are more than 2147483647 steps from 0 to 5000000000 (<here>). Put one "
       "loop "
       "inside of another"},
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
      {"passed again", [&] { step(x); }, error, "jit: argument 0 (f32[3])" + gone},
      {"captured", [&] { jit([&](Array y) { return x + y; })(x3()); }, error,
       "jit: a captured array (f32[3])" + gone},
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
  jit(rolled, {.warn_above = 20})(1.0);
  jit(unrolled, {.warn_above = 20}).compile(1.0);  // ahead of time
  set_log_sink({});
  std::string warning =
      "jit: the traced program has 21 operations, more than the limit of 20, and XLA will take "
      "long to compile it (<here>). A C++ loop is traced once per pass: use scan or fori_loop, "
      "which are traced once";
  EXPECT_EQ(lines, std::vector<std::string>(2, warning));
}

}  // namespace
}  // namespace sturnus
