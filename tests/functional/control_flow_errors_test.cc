// Bad input of loops and branches.
#include "tests/functional/misused_trees.h"

namespace sturnus {
namespace {

TEST(Errors, ControlFlow) {
  expect_answers({
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

      {"fori_loop, too many steps",
       [] {
         fori_loop(
             0, 5000000000, [](Array, Array x) { return x; }, x3());
       },
       error,
       "fori_loop: there are more than 2147483647 steps from 0 to 5000000000 (<here>). Put one "
       "loop "
       "inside of another"},
  });
}

}  // namespace
}  // namespace sturnus
