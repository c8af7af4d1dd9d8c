#include <sturnus/runtime/mappings.h>

#include <algorithm>
#include <fstream>
#include <iterator>

namespace sturnus::internal {

double used_mappings() {
  std::ifstream granted("/proc/sys/vm/max_map_count"), maps("/proc/self/maps");
  double most = 0;
  if (!(granted >> most) || most <= 0) return 0;
  using Bytes = std::istreambuf_iterator<char>;
  return static_cast<double>(std::count(Bytes(maps), Bytes(), '\n')) / most;
}

}  // namespace sturnus::internal
