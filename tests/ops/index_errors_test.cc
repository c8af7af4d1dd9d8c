// Bad input of parts of arrays.
#include <sturnus/ops/arithmetic.h>
#include <sturnus/ops/creation.h>
#include <sturnus/ops/gather.h>
#include <sturnus/ops/index.h>
#include <sturnus/ops/subscript.h>
#include <sturnus/ops/take.h>

#include "tests/functional/misuse.h"
#include "tests/ops/error_messages.h"

namespace sturnus {
namespace {

TEST(Errors, Positions) {
  expect_answers({
      {"one_hot", [] { one_hot(1, -2); }, shape_error, negative("one_hot", "[-2]")},
      {"take", [] { take(x3(), x3()); }, dtype_error,
       "take: the indices are f32[3], but must be integers (<here>). Choose with where when they "
       "are a mask"},
      {"take_along_axis", [] { take_along_axis(x3(), x3() > 0.0, 0); }, dtype_error,
       "take_along_axis: the indices are bool[3], but must be integers (<here>). Choose with where "
       "when they are a mask"},
      {"one_hot", [] { one_hot(x3(), 4); }, dtype_error,
       "one_hot: the indices are f32[3], but must be integers (<here>). Choose with where when "
       "they are a mask"},
      {"a mask as subscript", [] { x3()[x3() > 0.0]; }, dtype_error,
       "subscript: an array is bool[3], but must be of integers (<here>). Choose with where when "
       "it is a mask"},
      {"gather", [] { gather(x3(), zeros({1}), {.collapsed = {0}, .start_map = {0}}, {1}); },
       dtype_error, "gather: the indices are f32[1], but must be integers (<here>). Convert them"},
      {"dynamic_slice", [] { dynamic_slice(x3(), {Array(1.0)}, {1}); }, dtype_error,
       "dynamic_slice: an index is f32[], but must be an integer scalar (<here>). Convert it, or "
       "use take for several positions"},
      {"dynamic_index", [] { dynamic_index(x3(), 1.5); }, dtype_error,
       "dynamic_index: an index is f32[], but must be an integer scalar (<here>). Convert it, or "
       "use take for several positions"},
      {"take", [] { take(x3(), 0, 1); }, shape_error, no_axis("take", "1", "f32[3]")},
      {"take_along_axis", [] { take_along_axis(x3(), whole3(), 1); }, shape_error,
       no_axis("take_along_axis", "1", "f32[3]")},
      {"dynamic_index", [] { dynamic_index(x3(), 0, 1); }, shape_error,
       no_axis("dynamic_index", "1", "f32[3]")},
      {"x[5]", [] { x3()[5]; }, shape_error,
       "subscript: position 5 is outside of axis 0 of f32[3] (<here>). Give one from -3 to 2"},
      {"x[-4]", [] { x3()[-4]; }, shape_error,
       "subscript: position -4 is outside of axis 0 of f32[3] (<here>). Give one from -3 to 2"},
      {"x(0, 3)", [] { x23()(0, 3); }, shape_error,
       "subscript: position 3 is outside of axis 1 of f32[2,3] (<here>). Give one from -3 to 2"},
      {"at(5)", [] { (void)x3().at(5).set(1.0); }, shape_error,
       "subscript: position 5 is outside of axis 0 of f32[3] (<here>). Give one from -3 to 2"},
      {"at, values", [] { (void)x23().at(0).add(zeros({2})); }, shape_error,
       "subscript: f32[2] does not fit into f32[3] (<here>). Its extents must be equal or 1, "
       "counted from the last axis"},
      {"a position in nothing", [] { nothing()[0]; }, shape_error,
       "subscript: position 0 is outside of axis 0 of f32[0] (<here>). It has no elements"},
      {"positions in nothing", [] { nothing()[Array(0)]; }, shape_error,
       "subscript: a position within an empty axis of f32[0] (<here>). Give the axis elements "
       "first"},
      {"a step of 0",
       [] {
         x3()(Slice{0, 3, 0});
       },
       shape_error, "subscript: a step of 0 in a slice of f32[3] (<here>). Give a step that moves"},
      {"too many subscripts", [] { x3()(0, 0); }, shape_error,
       "subscript: 2 subscripts for the 1 axes of f32[3] (<here>). Give no more than one per axis"},
      {"two ellipses", [] { x23()(ellipsis, ellipsis); }, shape_error,
       "subscript: more than one ellipsis in a subscript of f32[2,3] (<here>). Write one"},
      {"arrays that do not fit", [] { x23()(whole3(), zeros({2}, DType::i32)); }, shape_error,
       mismatch("subscript", "i32[3] and i32[2]")},
      {"take from nothing", [] { take(nothing(), 0); }, shape_error,
       no_elements("take", "f32[0]", "[0]")},
      {"take_along_axis, axes", [] { take_along_axis(x23(), whole3(), 0); }, shape_error,
       "take_along_axis: the indices are i32[3], the array is f32[2,3] (<here>). Give them as many "
       "axes"},
      {"gather, coordinates",
       [] { gather(x3(), zeros({2}, DType::i32), {.collapsed = {0}, .start_map = {0}}, {1}); },
       shape_error,
       "gather: the indices are i32[2] for 1 indexed axes (<here>). Give their last axis one entry "
       "for each of these"},
      {"gather, sizes",
       [] { gather(x3(), zeros({1}, DType::i32), {.offset = {0}, .start_map = {0}}, {4}); },
       shape_error,
       "gather: f32[3] at i32[1], slices [4] (<here>). Make slices no larger than the array"},
      {"scatter_add, updates",
       [] { scatter_add(x3(), zeros({1}, DType::i32), x23(), {.offset = {0}, .start_map = {0}}); },
       shape_error,
       "scatter_add: the updates are f32[2,3] for f32[3] at i32[1] (<here>). Make them f32[2]"},
      {"dynamic_slice, sizes", [] { dynamic_slice(x3(), {Array(0)}, {4}); }, shape_error,
       "dynamic_slice: f32[4] is not a part of f32[3] (<here>). Give one size per axis, no larger "
       "than its extent"},
      {"dynamic_slice, too many sizes",
       [] {
         dynamic_slice(x3(), {Array(0)}, {1, 1});
       },
       shape_error,
       "dynamic_slice: f32[1,1] is not a part of f32[3] (<here>). Give one size per axis, no "
       "larger than its extent"},
      {"dynamic_slice, indices",
       [] {
         dynamic_slice(x23(), {Array(0)}, {1, 1});
       },
       shape_error,
       "dynamic_slice: f32[2,3] needs one index per axis, 1 were given (<here>). Give 2"},
      {"dynamic_update_slice", [] { dynamic_update_slice(x3(), zeros({4}), {Array(0)}); },
       shape_error,
       "dynamic_update_slice: f32[4] does not fit into f32[3] (<here>). Give a part with as many "
       "axes, none longer"},
  });
}

}  // namespace
}  // namespace sturnus
