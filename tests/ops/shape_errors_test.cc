// Bad input of functions that move elements.
#include <sturnus/ops/arithmetic.h>
#include <sturnus/ops/rearrange.h>
#include <sturnus/ops/shape.h>

#include "tests/functional/misuse.h"
#include "tests/ops/error_messages.h"

namespace sturnus {
namespace {

TEST(Errors, Movement) {
  expect_answers({
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
       "product of the extents must be 6; one of them may be -1, the rest"},
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
       "product of the extents must be 6; one of them may be -1, the rest"},
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
       "split instead"},
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
       "no more than there is, and put 0 or more between"},
      {"broadcast_to, negative", [] { broadcast_to(1.0, {-2}); }, shape_error,
       negative("broadcast_to", "[-2]")},
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
       "expand_dims: there is no position 2 for a new axis of f32[3] (<here>). Name one from -2 to "
       "1"},
      {"expand_dims, negative", [] { expand_dims(x23(), -4); }, shape_error,
       "expand_dims: there is no position -4 for a new axis of f32[2,3] (<here>). Name one from -3 "
       "to 2"},
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
      {"slice, outside", [] { slice(x3(), {1}, {4}); }, shape_error,
       "slice: 1 to 4 by 1 is not within axis 0 of f32[3] (<here>). Give 0 <= start <= stop <= "
       "extent and a step of 1 or more"},
      {"slice, step", [] { slice(x3(), {1}, {2}, {0}); }, shape_error,
       "slice: 1 to 2 by 0 is not within axis 0 of f32[3] (<here>). Give 0 <= start <= stop <= "
       "extent and a step of 1 or more"},
      {"slice, lists", [] { slice(x23(), {1}, {2}); }, shape_error,
       "slice: for f32[2,3] there are 1 starts, 1 stops and 2 steps (<here>). Give one of each per "
       "axis"},
  });
}

}  // namespace
}  // namespace sturnus
