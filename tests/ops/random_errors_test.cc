// Bad input of random numbers.
#include <sturnus/ops/distributions.h>
#include <sturnus/ops/random.h>
#include <sturnus/ops/rejection.h>
#include <sturnus/ops/sobol.h>

#include "tests/functional/misuse.h"
#include "tests/ops/error_messages.h"

namespace sturnus {
namespace {

TEST(Errors, Random) {
  expect_answers({
      {"sobol", [] { sobol(4, 300); }, shape_error,
       "sobol: points 0 to 4 in 300 dimensions (<here>). There are 2^32 points in up to 256 "
       "dimensions"},
      {"sobol, count", [] { sobol(-4, 2); }, shape_error, negative("sobol", "[-4,2]")},
      {"permutation", [] { permutation(key(1), x3(), 1); }, shape_error,
       no_axis("permutation", "1", "f32[3]")},
      {"key_at", [] { key_at(split(key(1), 2), 2); }, shape_error,
       "key_at: there is no key 2 in u32[2,2] (<here>). Keys in a stack u32[n,2] count from 0 to n "
       "- 1"},
      {"normal, shape", [] { normal(key(1), {-2}); }, shape_error, negative("normal", "[-2]")},
      {"uniform, shape", [] { uniform(key(1), {-2}); }, shape_error, negative("uniform", "[-2]")},
      {"uniform, limits", [] { uniform(key(1), {2}, x3(), 4.0); }, shape_error,
       "uniform: f32[3] does not fit into f32[2] (<here>). Its extents must be equal or 1, counted "
       "from the last axis"},
      {"uniform, type", [] { uniform(key(1), {2}, 0, 1, DType::i32); }, dtype_error,
       "uniform: numbers of type i32 are not floating point (<here>). Ask for f32 or f64"},
      {"normal, type", [] { normal(key(1), {2}, DType::i32); }, dtype_error,
       "normal: numbers of type i32 are not floating point (<here>). Ask for f32 or f64"},
      {"laplace, type", [] { laplace(key(1), {2}, DType::c64); }, dtype_error,
       "laplace: numbers of type c64 are not floating point (<here>). Ask for f32 or f64"},
      {"bits, type", [] { bits(key(1), {2}, DType::i32); }, dtype_error,
       "bits: i32 is not an unsigned integer (<here>). Ask for u8, u16, u32 or u64"},
      {"randint, type", [] { randint(key(1), {2}, 0, 5, DType::f32); }, dtype_error,
       "randint: numbers of type f32 are not integers (<here>). Ask for i32 or another integer "
       "type, or use uniform"},
      {"randint, low", [] { randint(key(1), {2}, whole3(), 5); }, shape_error,
       "randint: i32[3] does not fit into i32[2] (<here>). Its extents must be equal or 1, counted "
       "from the last axis"},
      {"randint, high", [] { randint(key(1), {}, 0, whole3()); }, shape_error,
       "randint: i32[3] does not fit into i32[] (<here>). Its extents must be equal or 1, counted "
       "from the last axis"},
      {"a stack of keys", [] { normal(split(key(1), 4)); }, shape_error,
       "normal: the key is u32[4,2], but must be u32[2] (<here>). Make one with key(seed), and use "
       "vmap for a stack of keys"},
      {"an array as key", [] { normal(Key{x3()}); }, shape_error,
       "normal: the key is f32[3], but must be u32[2] (<here>). Make one with key(seed), and use "
       "vmap for a stack of keys"},
      {"split, a stack of keys", [] { split(split(key(1), 4), 2); }, shape_error,
       "split: the key is u32[4,2], but must be u32[2] (<here>). Make one with key(seed), and use "
       "vmap for a stack of keys"},
      {"split, count", [] { split(key(1), -1); }, shape_error, negative("split", "[-1]")},
      {"fold_in", [] { fold_in(key(1), x3()); }, dtype_error,
       "fold_in: the data is f32[3], but must be an integer scalar (<here>). Give one integer, "
       "such as the number of an iteration"},
      {"truncated_normal", [] { truncated_normal(key(1), 2, 1); }, error,
       "truncated_normal: low is 2, high is 1 (<here>). Make low smaller than high"},
      {"bernoulli, probability", [] { bernoulli(key(1), 1.5); }, error,
       "bernoulli: the probability is 1.5 (<here>). Give a number from 0 to 1"},
      {"bernoulli, shape", [] { bernoulli(key(1), x3(), Shape{2}); }, shape_error,
       "bernoulli: f32[3] does not fit into f32[2] (<here>). Its extents must be equal or 1, "
       "counted from the last axis"},
      {"categorical", [] { categorical(key(1), 1.0); }, shape_error,
       "categorical: logits are f32[] (<here>). Give one logit for each index, along the last "
       "axis"},
      {"categorical of nothing", [] { categorical(key(1), nothing()); }, shape_error,
       "categorical: logits are f32[0] (<here>). Give one logit for each index, along the last "
       "axis"},
      {"dirichlet", [] { dirichlet(key(1), 1.0); }, shape_error,
       "dirichlet: the parameter is f32[] (<here>). Give one number for each part, along the last "
       "axis"},
      {"multivariate_normal", [] { multivariate_normal(key(1), x3(), eye(2)); }, shape_error,
       "multivariate_normal: the mean f32[3] does not fit the covariance f32[2,2] (<here>). Give "
       "as many entries as the covariance has rows"},
      {"multivariate_normal, types",
       [] { multivariate_normal(key(1), whole3(), eye(2, DType::f64)); }, shape_error,
       "multivariate_normal: the mean i32[3] does not fit the covariance f64[2,2] (<here>). Give "
       "as many entries as the covariance has rows"},
      {"multivariate_normal, complex", [] { multivariate_normal(key(1), z3(), eye(3)); },
       dtype_error, not_real("multivariate_normal")},
      {"choice, too many", [] { choice(key(1), 3, {4}, {.replace = false}); }, shape_error,
       "choice: i32[4] without repetition from 3 (<here>). Ask for no more than there are, or set "
       ".replace"},
      {"choice, weights", [] { choice(key(1), 3, {4}, {.weights = zeros({2})}); }, shape_error,
       "choice: weights are f32[2], there are 3 things to choose from (<here>). Give one weight "
       "for each"},
      {"choice from nothing", [] { choice(key(1), 0, {4}); }, shape_error,
       "choice: i32[4] from 0 things (<here>). Give some to choose from"},
      {"permutation, count", [] { permutation(key(1), -1); }, shape_error,
       negative("permutation", "[-1]")},
  });
}

}  // namespace
}  // namespace sturnus
