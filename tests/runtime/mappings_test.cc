#include <gtest/gtest.h>
#include <sturnus/runtime/mappings.h>
#include <sys/mman.h>
#include <unistd.h>

#include <fstream>

namespace sturnus::internal {
namespace {

TEST(Mappings, AreCounted) {
  std::ifstream granted("/proc/sys/vm/max_map_count");
  double most = 0;
  if (!(granted >> most)) GTEST_SKIP() << "the system does not tell";
  double before = used_mappings();
  EXPECT_GT(before, 0);
  // Every other page with other rights is a mapping of its own.
  const std::size_t pages = 1000, size = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  auto* memory = static_cast<char*>(
      mmap(nullptr, pages * size, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  ASSERT_NE(static_cast<void*>(memory), MAP_FAILED);
  for (std::size_t i = 0; i < pages; i += 2) mprotect(memory + i * size, size, PROT_NONE);
  EXPECT_NEAR((used_mappings() - before) * most, static_cast<double>(pages), 20);
  munmap(memory, pages * size);
}

}  // namespace
}  // namespace sturnus::internal
