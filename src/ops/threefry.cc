#include "src/ops/threefry.h"

#include <sturnus/ops/arithmetic.h>
#include <sturnus/runtime/host_random.h>

#include <algorithm>
#include <array>
#include <vector>

#include "src/ops/elementwise.h"
#include "src/ops/structural.h"

namespace sturnus::internal {
namespace {

Array rotated(const Array& x, int bits) {
  Array left = shift_left(x, bits);
  Array right = shift_right(x, 32 - bits);
  return left | right;
}

// Inputs: the two words of the key, the two words of the counter.
struct Threefry {
  static constexpr std::string_view name = "threefry";
  ArrayTypes infer(const Arrays& x) const {
    ArrayType type = common_type(name, x);
    if (type.dtype != DType::u32) {
      throw DtypeError(message("threefry", "words are " + type.str() + ", but must be u32",
                               "Make keys with key(seed)"));
    }
    return {type, type};
  }
  Arrays jvp(const Arrays&, const Arrays&, const Arrays&) const { return Arrays(2); }
  Arrays batch(const Arrays& x, const Mask& mapped, std::int64_t n) const {
    Arrays wide;
    for (std::size_t i = 0; i < x.size(); i++) wide.push_back(with_mapped_axis(x[i], mapped[i], n));
    return make_all(*this, wide);
  }
  void lower(Emitter& emitter, const Node& node) const {
    // Many are better fused with what is made of them.
    constexpr std::int64_t few = 65536;
    if (emitter.calls_host() && node.types[0].size() <= few) return call_host(emitter, node);
    static constexpr std::array<int, 8> rotations = {13, 15, 26, 6, 17, 29, 16, 24};
    const Arrays& x = node.inputs;
    Array both = x[0] ^ x[1];
    std::array<Array, 3> keys = {x[0], x[1], both ^ 0x1BD11BDA};
    Array a = x[2] + keys[0];
    Array b = x[3] + keys[1];
    for (std::size_t round = 0; round < 20; round++) {
      a = a + b;
      b = a ^ rotated(b, rotations[round % 8]);
      if (round % 4 != 3) continue;
      std::size_t i = round / 4 + 1;
      a = a + keys[i % 3];
      b = b + (keys[(i + 1) % 3] + static_cast<int>(i));
    }
    emitter.expand(node, {a, b});
  }

  // Words that are repeated are given to the host once.
  static void call_host(Emitter& emitter, const Node& node) {
    std::vector<std::string> operands;
    ArrayTypes types;
    std::vector<std::int64_t> repeats;
    for (const Array& x : node.inputs) {
      auto* spread = as<Broadcast>(x);
      Array from = spread != nullptr ? x.node()->inputs[0] : x;
      std::int64_t outside = x.rank() - from.rank();
      bool first = spread != nullptr && spread->axes == iota_axes(from.rank());
      bool last = spread != nullptr && spread->axes == iota_axes(from.rank(), outside);
      if (auto number = splat(x)) {
        types.push_back({x.dtype(), {}});
        operands.push_back(emitter.constant(mlir_number(*number, x.dtype()), types.back()));
        repeats.push_back(x.size());
        continue;
      }
      if (!first && !last) from = x;
      operands.push_back(emitter.name_of(from));
      types.push_back(from.type());
      repeats.push_back(first ? x.size() / std::max<std::int64_t>(from.size(), 1) : 1);
    }
    emitter.host_call(node, host_threefry_name, host_threefry_parameter(repeats), operands, types);
  }
};

}  // namespace

Words threefry(const Words& key, const Words& counter) {
  Arrays bits = make_all(Threefry{}, {key.first, key.second, counter.first, counter.second});
  return {bits[0], bits[1]};
}

}  // namespace sturnus::internal
