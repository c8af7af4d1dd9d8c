#include <sturnus/runtime/random_kernels.h>

#include <bit>

namespace sturnus::internal {

void threefry_here(std::int64_t count, const std::uint32_t* k0, const std::uint32_t* k1,
                   const std::uint32_t* c0, const std::uint32_t* c1, std::uint32_t* first,
                   std::uint32_t* second) {
  static constexpr int rotations[8] = {13, 15, 26, 6, 17, 29, 16, 24};
  for (std::int64_t i = 0; i < count; i++) {
    const std::uint32_t keys[3] = {k0[i], k1[i], k0[i] ^ k1[i] ^ 0x1BD11BDA};
    std::uint32_t a = c0[i] + keys[0], b = c1[i] + keys[1];
#pragma GCC unroll 20
    for (std::uint32_t round = 0; round < 20; round++) {
      a += b;
      b = a ^ std::rotl(b, rotations[round % 8]);
      if (round % 4 != 3) continue;
      std::uint32_t turn = round / 4 + 1;
      a += keys[turn % 3];
      b += keys[(turn + 1) % 3] + turn;
    }
    first[i] = a;
    second[i] = b;
  }
}

}  // namespace sturnus::internal
