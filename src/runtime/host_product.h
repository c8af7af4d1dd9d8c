// Products of many small matrices on the CPU.
//
// XLA's CPU compiler is slow at the batched products of small networks, and spends much of its
// compile time on them. Programs compiled for the CPU call this function instead: what a training
// gains is measured in benchmarks/training_benchmark.cc, the products alone in
// product_benchmark.cc.
#pragma once

#include <sturnus/runtime/host_callback.h>
#include <sturnus/runtime/product_kernels.h>

#include <string>
#include <string_view>

namespace sturnus::internal {

/// The name under which every process has it among its host callbacks.
inline constexpr std::string_view host_product_name = "product";

/// result[b, m, n] = sum over k of left[b, m, k] right[b, k, n], by as many threads as are worth
/// it.
template <class Real>
void host_product(const Threads* threads, ProductLayout layout, const ProductExtents& extents,
                  const Real* left, const Real* right, Real* result);

/// What the host callback is to do: matrices of each operand begin at its element `first`.
struct HostProduct {
  ProductLayout layout;
  ProductExtents extents;
  std::int64_t left_first = 0, right_first = 0;
};

/// The parameter of the host callback, and the callback: two operands and one result of f32 or f64.
std::string host_product_parameter(const HostProduct& product);
void host_product_callback(const HostCall& call);

}  // namespace sturnus::internal
