// Sums on the CPU. XLA's CPU compiler makes up to three kernels of a sum of more than 32 terms, and
// compiles each of them for longer than most sums take; programs compiled for the CPU call this
// function instead.
#pragma once

#include <sturnus/runtime/host_callback.h>

#include <cstdint>
#include <string>
#include <string_view>

namespace sturnus::internal {

/// The name under which every process has it among its host callbacks.
inline constexpr std::string_view host_sum_name = "sum";

struct SumExtents {
  std::int64_t outer, terms, inner;
};

/// result[o, i] = sum over t of x[o, t, i], by as many threads as are worth it; their number does
/// not change the result. Many terms are added up by parts, which keeps the rounding small.
template <class Real>
void host_sum(const Threads* threads, const SumExtents& extents, const Real* x, Real* result);

/// The parameter of the host callback, and the callback: one operand and one result of f32 or f64.
std::string host_sum_parameter(const SumExtents& extents);
void host_sum_callback(const HostCall& call);

}  // namespace sturnus::internal
