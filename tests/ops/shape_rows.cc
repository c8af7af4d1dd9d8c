// Rows of rearrangements and of einsum.
#include <sturnus/ops/arithmetic.h>
#include <sturnus/ops/einsum.h>
#include <sturnus/ops/rearrange.h>

#include "tests/ops/op_table.h"

namespace sturnus::testing {

std::vector<Row> shape_rows() {
  return {
      {"split, roll, hstack",
       [](const Arrays& x) {
         Arrays parts = split(x[0], 2, 1);
         return square(hstack({roll(parts[1], -1, 1), parts[0]}));
       },
       {{2, 6}}},
      {"tile, repeat, vstack",
       [](const Arrays& x) {
         Array above = tile(x[0], {2, 1, 1}), below = repeat(x[0], 2, 1);
         return square(vstack({ravel(above), ravel(below)}));
       },
       {{2, 3}}},
      {"diagonal, diag, trace",
       [](const Arrays& x) { return diag(diagonal(x[0], 1), -1) * trace(x[0]); },
       {{3, 4}}},
      {"tril, triu, moveaxis",
       [](const Arrays& x) { return square(moveaxis(tril(x[0]) + 2.0 * triu(x[0], 1), 0, 2)); },
       {{2, 3, 3}}},
      {"einsum",
       [](const Arrays& x) { return einsum("bij,...jk->b...ik", x[0], x[1]); },
       {{2, 2, 3}, {3, 2}}},
      {"einsum with a diagonal",
       [](const Arrays& x) { return einsum("iij,j", x[0], x[1]); },
       {{2, 2, 3}, {3}}},
  };
}

}  // namespace sturnus::testing
