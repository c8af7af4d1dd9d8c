// What every traced program is compiled with.
#pragma once

#include <sturnus/runtime/client.h>
#include <sturnus/runtime/compile_options.h>

namespace sturnus::internal {

inline CompileOptions platform_options(const Client& client) {
  CompileOptions options;
  // Else the larger of 1 and NaN is 1.
  if (client.platform_name() == "cpu") options.xla_flags["xla_cpu_enable_fast_min_max"] = false;
  return options;
}

}  // namespace sturnus::internal
