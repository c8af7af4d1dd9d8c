#include <sturnus/ops/arithmetic.h>
#include <sturnus/ops/convolution.h>
#include <sturnus/ops/pool.h>

#include "tests/ops/op_table.h"

namespace sturnus::testing {

std::vector<Row> convolution_rows() {
  return {
      {"convolution",
       [](const Arrays& x) { return convolution(x[0], x[1]); },
       {{2, 3, 6}, {4, 3, 3}}},
      {"convolution with everything",
       [](const Arrays& x) {
         return convolution(x[0], x[1],
                            {.strides = {2, 1},
                             .padding = {{2, 1}, {-1, 3}},
                             .x_dilation = {2, 1},
                             .kernel_dilation = {1, 2},
                             .groups = 2});
       },
       {{2, 4, 4, 5}, {6, 2, 3, 2}}},
      {"convolution without space",
       [](const Arrays& x) { return convolution(x[0], x[1]); },
       {{2, 3}, {4, 3}}},
      {"max_pool",
       [](const Arrays& x) {
         return square(max_pool(x[0], {2, 3}, {.strides = {1, 2}, .padding = {{1, 0}, {1, 1}}}));
       },
       {{1, 1, 3, 4}}},
      {"avg_pool",
       [](const Arrays& x) {
         return square(avg_pool(x[0], {2}, {.strides = {1}, .padding = {{1, 0}}}));
       },
       {{2, 2, 5}}},
      {"convolve", [](const Arrays& x) { return convolve(x[0], x[1]); }, {{3}, {5}}},
  };
}

}  // namespace sturnus::testing
