#include <sturnus/ops/arithmetic.h>
#include <sturnus/ops/creation.h>
#include <sturnus/ops/gather.h>
#include <sturnus/ops/index.h>
#include <sturnus/ops/shape.h>
#include <sturnus/ops/subscript.h>
#include <sturnus/ops/take.h>

#include "tests/ops/op_table.h"

namespace sturnus::testing {
namespace {

// Positions that depend on x, so that vmap maps them too: 0, ..., extent with some outside.
Array positions(const Array& x, std::int64_t extent) {
  Array scaled = abs(x) * static_cast<double>(extent + 1) / 1.5;
  return convert(floor(stop_gradient(scaled)), DType::i32);
}

}  // namespace

std::vector<Row> gather_rows() {
  return {
      {"gather",
       [](const Arrays& x) {
         Array at = reshape(positions(x[1], 4), {2, 1});
         return square(gather(x[0], at, {.offset = {1, 2}, .start_map = {1}}, {3, 2}));
       },
       {{3, 5}, {2}},
       -1.5,
       1.5,
       {},
       /*order=*/2},
      {"take",
       [](const Arrays& x) { return square(take(x[0], positions(x[1], 4), 1)); },
       {{3, 4, 2}, {2, 3}}},
      {"take at constant positions",
       [](const Arrays& x) {
         return square(take(x[0], array<int>({2, 0, -1, 2, 7}), -1));
       },
       {{3, 4}}},
      {"take_along_axis",
       [](const Arrays& x) { return square(take_along_axis(x[0], positions(x[1], 4), 0)); },
       {{4, 3}, {2, 3}}},
      {"take_along_axis with broadcasting",
       [](const Arrays& x) { return square(take_along_axis(x[0], positions(x[1], 4), 1)); },
       {{3, 4, 1}, {1, 2, 2}}},
      {"scatter",
       [](const Arrays& x) {
         Array at = reshape(positions(x[2], 4), {2, 1});
         return square(
             scatter_add(x[0], at, x[1], {.offset = {1}, .collapsed = {0}, .start_map = {0}}));
       },
       {{4, 3}, {2, 3}, {2}}},
      {"set at repeated positions",
       [](const Arrays& x) { return square(x[0].at(positions(x[2], 3)).set(square(x[1]))); },
       {{3, 2}, {6, 2}, {6}}},
      {"add at repeated positions",
       [](const Arrays& x) { return square(x[0].at(Slice{}, positions(x[2], 3)).add(x[1])); },
       {{2, 3}, {2, 6}, {6}}},
      {"multiply at repeated positions",
       [](const Arrays& x) { return x[0].at(positions(x[2], 3)).multiply(x[1]); },
       {{3}, {5}, {5}}},
      {"max at repeated positions",
       [](const Arrays& x) { return square(x[0].at(positions(x[2], 3)).max(x[1])); },
       {{3}, {5}, {5}}},
      {"min at repeated positions",
       [](const Arrays& x) { return square(x[0].at(positions(x[2], 3)).min(x[1])); },
       {{3}, {5}, {5}}},
      {"set at one position",
       [](const Arrays& x) { return square(x[0].at(positions(x[2], 3)).set(x[1])); },
       {{3, 2}, {2}, {}}},
      {"multiply at one position",
       [](const Arrays& x) { return square(x[0].at(1, positions(x[2], 2)).multiply(x[1])); },
       {{3, 2}, {}, {}}},
      {"subscripts",
       [](const Arrays& x) {
         return square(x[0](new_axis, Slice{.step = -2}, positions(x[1], 4), ellipsis, 1));
       },
       {{3, 4, 2, 2}, {2}}},
      {"set by slices",
       [](const Arrays& x) {
         return square(x[0].at(Slice{.step = -2}, 1, Slice{1, -1}).set(x[1]));
       },
       {{4, 2, 4}, {2, 2}}},
      {"add to a part",
       [](const Arrays& x) { return square(x[0].at(-1).add(x[1])); },
       {{4, 3}, {3}}},
      {"dynamic_slice at mapped positions",
       [](const Arrays& x) {
         Array i = positions(x[1], 3);
         return square(dynamic_slice(x[0], {i, Array(1)}, {2, 2}));
       },
       {{4, 3}, {}}},
      {"dynamic_update_slice at mapped positions",
       [](const Arrays& x) {
         Array i = positions(x[2], 3);
         return square(dynamic_update_slice(x[0], x[1], {i, Array(1)}));
       },
       {{4, 3}, {2, 2}, {}}},
      {"one_hot",
       [](const Arrays& x) { return x[0] * one_hot(positions(x[0], 4), 1, x[0].dtype()); },
       {{3, 1}},
       -1.5,
       1.5,
       {},
       1},
  };
}

}  // namespace sturnus::testing
