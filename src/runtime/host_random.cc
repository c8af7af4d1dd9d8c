#include <sturnus/runtime/host_random.h>
#include <sturnus/runtime/random_kernels.h>

#include "src/runtime/threads.h"

namespace sturnus::internal {

void host_threefry_callback(const HostCall& call) {
  auto argument = [&](std::size_t i) { return call.arguments[i].elements<std::uint32_t>().data(); };
  auto result = [&](std::size_t i) { return call.results[i].elements<std::uint32_t>().data(); };
  constexpr std::int64_t worth_a_thread = 4096;
  in_parallel(call.threads, call.results[0].type.size(), worth_a_thread,
              [&](std::int64_t first, std::int64_t last) {
                threefry_here(last - first, argument(0) + first, argument(1) + first,
                              argument(2) + first, argument(3) + first, result(0) + first,
                              result(1) + first);
              });
}

}  // namespace sturnus::internal
