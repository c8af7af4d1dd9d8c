// Bad input of convolutions, pools and Fourier transforms.
#include <sturnus/ops/complex.h>
#include <sturnus/ops/convolution.h>
#include <sturnus/ops/fft.h>
#include <sturnus/ops/pool.h>

#include "tests/functional/misuse.h"
#include "tests/ops/error_messages.h"

namespace sturnus {
namespace {

TEST(Errors, Convolutions) {
  expect_answers({
      {"convolution, axes", [] { convolution(x3(), x3()); }, shape_error,
       "convolution: x is f32[3], the kernel f32[3], in 1 group (<here>). Give x batch and feature "
       "axes, the kernel both feature axes, then both the spatial axes"},
      {"convolution, features",
       [] {
         convolution(zeros({1, 4, 8}), zeros({2, 3, 3}));
       },
       shape_error,
       "convolution: x is f32[1,4,8], the kernel f32[2,3,3], in 1 group (<here>). Axis 1 of x must "
       "be groups times axis 1 of the kernel, and groups divide its axis 0"},
      {"convolution, options",
       [] {
         convolution(zeros({1, 4, 8}), zeros({2, 4, 3}), {.strides = {1, 1}});
       },
       shape_error,
       "convolution: an option has 2 entries, f32[1,4,8] has 1 spatial axes (<here>). Give one "
       "entry per spatial axis"},
      {"convolution, stride",
       [] {
         convolution(zeros({1, 4, 8}), zeros({2, 4, 3}), {.strides = {0}});
       },
       shape_error,
       "convolution: x is f32[1,4,8], the kernel f32[2,4,3], in 1 group (<here>). Give strides and "
       "dilations of 1 or more"},
      {"convolve", [] { convolve(x23(), x3()); }, shape_error,
       "convolve: operands are f32[2,3] and f32[3] (<here>). Give vectors with elements"},
      {"max_pool, window",
       [] {
         max_pool(zeros({1, 1, 4}), {5});
       },
       shape_error,
       "max_pool: axis 2 of f32[1,1,4] has no room for a window of 5 that moves by 5 (<here>). "
       "Give a window from 1 to the extent, and a stride of 1 or more"},
      {"avg_pool, axes", [] { avg_pool(x3(), {2}); }, shape_error,
       "avg_pool: a window of [2] for f32[3] (<here>). x needs a batch and a feature axis, the "
       "window and each option one entry for each other axis"},
      {"fft, axes", [] { fft(x3(), 2); }, shape_error,
       "fft: 2 axes of f32[3] (<here>). Transform the last 1, 2 or 3, and no more than there are"},
      {"irfft, length", [] { irfft(z3(), 1, 7); }, shape_error,
       "irfft: 7 entries from c64[3] (<here>). Give n / 2 + 1 entries for n"},
      {"irfft, negative length", [] { irfft(z3(), 1, -1); }, shape_error,
       "irfft: -1 entries from c64[3] (<here>). Give n / 2 + 1 entries for n"},
      {"rfft", [] { rfft(z3()); }, dtype_error, "rfft: c64[3] is not real (<here>). Use fft"},
      {"fft", [] { fft(nothing()); }, shape_error,
       "fft: f32[0] has no element along the transformed axes (<here>). Give it some, or treat the "
       "empty case apart"},
      {"convolve", [] { convolve(nothing(), x3()); }, shape_error,
       "convolve: operands are f32[0] and f32[3] (<here>). Give vectors with elements"},
  });
}

}  // namespace
}  // namespace sturnus
