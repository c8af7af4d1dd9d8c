// What every traced program is compiled with.
#pragma once

#include <sturnus/runtime/client.h>
#include <sturnus/runtime/compile_options.h>

namespace sturnus::internal {

/// The flags that suit a client's platform. Those that XLA_FLAGS names are left to it.
CompileOptions platform_options(const Client& client);

}  // namespace sturnus::internal
