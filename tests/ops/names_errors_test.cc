// Messages name the function that was called, not one that it is made of.
#include <sturnus/functional/grad.h>
#include <sturnus/functional/jit.h>
#include <sturnus/functional/vmap.h>
#include <sturnus/ops/activation.h>
#include <sturnus/ops/arithmetic.h>
#include <sturnus/ops/complex.h>
#include <sturnus/ops/distributions.h>
#include <sturnus/ops/dot.h>
#include <sturnus/ops/index.h>
#include <sturnus/ops/linalg.h>
#include <sturnus/ops/order.h>
#include <sturnus/ops/pool.h>
#include <sturnus/ops/random.h>
#include <sturnus/ops/rearrange.h>
#include <sturnus/ops/reduce.h>
#include <sturnus/ops/shape.h>
#include <sturnus/ops/softmax.h>
#include <sturnus/ops/special.h>
#include <sturnus/ops/transcendental.h>
#include <sturnus/ops/triangular.h>

#include "tests/functional/misuse.h"

namespace sturnus {
namespace {

struct Call {
  std::string name;  // of the function
  std::function<void()> misuse;
};

TEST(Errors, NameTheFunctionThatWasCalled) {
  Array two = zeros({2}), matrix = x23(), ranks = zeros({1, 2}, DType::i32);
  for (const auto& [name, misuse] : std::vector<Call>{
           {"relu", [] { relu(z3()); }},
           {"leaky_relu", [] { leaky_relu(z3()); }},
           {"elu", [] { elu(z3()); }},
           {"gelu", [] { gelu(z3()); }},
           {"softplus", [] { softplus(z3()); }},
           {"log_sigmoid", [] { log_sigmoid(z3()); }},
           {"softmax", [] { softmax(z3()); }},
           {"log_softmax", [] { log_softmax(z3()); }},
           {"logsumexp", [] { logsumexp(z3()); }},
           {"erf", [] { erf(z3()); }},
           {"erfc", [] { erfc(z3()); }},
           {"erf_inv", [] { erf_inv(z3()); }},
           {"lgamma", [] { lgamma(z3()); }},
           {"digamma", [] { digamma(z3()); }},
           {"polygamma", [] { polygamma(2, z3()); }},
           {"max_pool",
            [] {
              max_pool(zeros({1, 1, 4}, DType::c64), {2});
            }},
           {"nan_to_num", [] { nan_to_num(z3()); }},
           {"clamp", [&] { clamp(0.0, x3(), two); }},
           {"clamp", [] { clamp(0.0, z3(), 1.0); }},
           {"mod", [] { mod(z3(), 2.0); }},
           {"floor_divide", [] { floor_divide(z3(), 2.0); }},
           {"linspace", [&] { linspace(x3(), two, 4); }},
           {"mean", [] { mean(x3(), 3); }},
           {"stddev", [] { stddev(x3(), 3); }},
           {"norm", [] { norm(x3(), 3); }},
           {"truncated_normal", [&] { truncated_normal(key(0), x3(), two); }},
           {"multivariate_normal", [&] { multivariate_normal(key(0), two, matrix); }},
           {"logdet", [&] { logdet(matrix); }},
           {"lstsq", [&] { lstsq(transpose(matrix), two); }},
           {"top_k", [] { top_k(z3(), 1); }},
           {"order_statistic", [] { order_statistic(z3(), 1); }},
           {"order_statistic", [] { order_statistic(z3(), Array(0)); }},
           {"sort_by_key", [&] { sort_by_key(x3(), {two}); }},
           {"split", [] { split(x3(), std::vector<std::int64_t>{9}); }},
           {"vstack", [] { vstack({}); }},
           {"vstack",
            [&] {
              vstack({two, x3()});
            }},
           {"hstack", [] { hstack({}); }},
           {"tensordot", [&] { tensordot(matrix, matrix, 1); }},
           {"categorical", [] { categorical(key(0), z3(), Shape{2}); }},
           {"dynamic_index", [] { dynamic_index(zeros({0}), 0); }},
           // In a program too.
           {"lgamma", [] { jit([](Array x) { return lgamma(x); })(z3()); }},
           {"relu", [] { grad([](Array x) { return sum(real(relu(x))); })(z3()); }},
       }) {
    std::string message = answer_to(misuse).message;
    EXPECT_EQ(message.substr(0, name.size() + 2), name + ": ") << message;
    EXPECT_NE(message.find("<here>"), message.npos) << message;
  }
}

// A name is that of the call that fails, not of one before it or around a function that is passed.
TEST(Errors, NamesEndWithTheirCalls) {
  relu(x3());
  answer_to([] { relu(z3()); });
  EXPECT_EQ(answer_to([] { maximum(z3(), 1.0); }).message.substr(0, 9), "maximum: ");
  auto inside = [] { vmap([](Array x) { return softmax(x) + zeros({2}); })(x23()); };
  EXPECT_EQ(answer_to(inside).message.substr(0, 5), "add: ");
}

}  // namespace
}  // namespace sturnus
