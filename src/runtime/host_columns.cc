#include <sturnus/runtime/host_columns.h>

#include <cstring>

#include "src/runtime/number_list.h"

namespace sturnus::internal {

std::string host_columns_parameter(std::int64_t first) { return numbers_text({first}); }

void host_columns_callback(const HostCall& call) {
  const HostArray &matrix = call.arguments[0], &columns = call.results[0];
  auto element = static_cast<std::int64_t>(size_of(matrix.type.dtype));
  std::int64_t rows = columns.type.shape[0], taken = columns.type.shape[1] * element;
  std::int64_t step = matrix.type.shape[1] * element;
  auto* from = static_cast<const char*>(matrix.data) + numbers_of(call.parameter)[0] * element;
  auto* to = static_cast<char*>(columns.data);
  for (std::int64_t row = 0; row < rows; row++, from += step, to += taken) {
    std::memcpy(to, from, static_cast<std::size_t>(taken));
  }
}

}  // namespace sturnus::internal
