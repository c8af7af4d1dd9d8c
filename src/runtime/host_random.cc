#include <sturnus/runtime/host_random.h>
#include <sturnus/runtime/random_kernels.h>

#include "src/runtime/number_list.h"
#include "src/runtime/threads.h"

namespace sturnus::internal {

std::string host_threefry_parameter(const std::vector<std::int64_t>& repeats) {
  return numbers_text(repeats);
}

void host_threefry_callback(const HostCall& call) {
  std::vector<std::int64_t> repeats = numbers_of(call.parameter);
  std::int64_t count = call.results[0].type.size();
  std::vector<std::uint32_t> filled[4];
  const std::uint32_t* words[4];
  for (std::size_t k = 0; k < 4; k++) {
    auto given = call.arguments[k].elements<std::uint32_t>();
    words[k] = given.data();
    if (std::ssize(given) == count) continue;
    for (std::size_t i = 0; std::ssize(filled[k]) < count; i++) {
      filled[k].insert(filled[k].end(), static_cast<std::size_t>(repeats[k]),
                       given[i % given.size()]);
    }
    words[k] = filled[k].data();
  }
  auto result = [&](std::size_t i) { return call.results[i].elements<std::uint32_t>().data(); };
  constexpr std::int64_t worth_a_thread = 4096;
  in_parallel(call.threads, count, worth_a_thread, [&](std::int64_t first, std::int64_t last) {
    threefry_here(last - first, words[0] + first, words[1] + first, words[2] + first,
                  words[3] + first, result(0) + first, result(1) + first);
  });
}

}  // namespace sturnus::internal
