// Columns of a matrix on the CPU. Where the parameters of a network stand in one row, kernels that
// read them differ only in where they read, and XLA's CPU compiler compiles each of them; of
// kernels that are given what this function has taken out, it compiles equal ones once.
#pragma once

#include <sturnus/runtime/host_callback.h>

#include <cstdint>
#include <string>
#include <string_view>

namespace sturnus::internal {

/// The name under which every process has it among its host callbacks.
inline constexpr std::string_view host_columns_name = "columns";

/// The parameter of the host callback, and the callback: neighbouring columns, from `first` on, of
/// a matrix of any type; as many as the result has.
std::string host_columns_parameter(std::int64_t first);
void host_columns_callback(const HostCall& call);

}  // namespace sturnus::internal
