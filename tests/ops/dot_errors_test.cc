// Bad input of products.
#include <sturnus/ops/dot.h>
#include <sturnus/ops/einsum.h>

#include "tests/functional/misuse.h"
#include "tests/ops/error_messages.h"

namespace sturnus {
namespace {

TEST(Errors, Products) {
  expect_answers({
      {"matmul", [] { matmul(x23(), x23()); }, shape_error,
       "matmul: f32[2,3] has 3 columns, f32[2,3] has 2 rows (<here>). Make these equal, for "
       "instance with transpose"},
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
      {"dot_general, an axis twice",
       [] {
         dot_general(x23(), x23(), {.left_sum = {0, 0}, .right_sum = {0, 0}});
       },
       shape_error, "dot_general: axis 0 of f32[2,3] is named twice (<here>). Name each axis once"},
      {"dot_general, an axis of both kinds",
       [] {
         dot_general(x23(), x23(),
                     {.left_batch = {0}, .right_batch = {0}, .left_sum = {0}, .right_sum = {1}});
       },
       shape_error, "dot_general: axis 0 of f32[2,3] is named twice (<here>). Name each axis once"},
      {"tensordot", [] { tensordot(x3(), x23(), 2); }, shape_error,
       "tensordot: 2 axes of f32[3] and f32[2,3] (<here>). Sum over no more axes than both have"},
      {"einsum, extents", [] { einsum("ij,jk->ik", x23(), x23()); }, shape_error,
       "einsum: label 'j' of \"ij,jk->ik\" is 3 in f32[2,3] and 2 in f32[2,3] (<here>). Give axes "
       "of different extents different labels"},
      {"einsum, axes", [] { einsum("i->i", x23()); }, shape_error,
       "einsum: \"i\" of \"i->i\" does not fit the axes of f32[2,3] (<here>). Give each axis a "
       "label, or write \"...\" for the others"},
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
      {"dot_general", [] { dot_general(x3(), x3(), {.left_sum = {1}, .right_sum = {0}}); },
       shape_error, no_axis("dot_general", "1", "f32[3]")},
  });
}

}  // namespace
}  // namespace sturnus
