// Elements by their rank on the CPU. A program of XLA's would call a kernel or more for every bit
// of the answer; programs compiled for the CPU call these functions instead.
#pragma once

#include <sturnus/runtime/host_callback.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace sturnus::internal {

/// The names under which every process has them among its host callbacks.
inline constexpr std::string_view host_order_name = "order_statistic";
inline constexpr std::string_view host_pair_order_name = "pair_order_statistic";
inline constexpr std::string_view host_pair_median_name = "pair_median";

/// Elements of given ranks along the last axis, f32 or f64. The parameter lists the ranks, or else
/// a second argument, i32, has one for each row.
std::string host_order_parameter(const std::vector<std::int64_t>& ranks);
void host_order_callback(const HostCall& call);

/// The distance of a given rank among all pairs of elements along the last axis, f32 or f64. The
/// second argument, i32, has the rank for each row.
void host_pair_order_callback(const HostCall& call);

/// The lower median of the distances of all pairs of finite elements, or 0 where there is none; and
/// i32, how many elements are finite. Of f32 or f64 along the last axis, or along the first one:
/// the parameter says how many elements there are, and how far apart they are.
std::string host_pair_median_parameter(std::int64_t length, std::int64_t stride);
void host_pair_median_callback(const HostCall& call);

}  // namespace sturnus::internal
