// The op `scan`, whose parameter is a graph. Its rules transform that.
#pragma once

#include <sturnus/functional/loops.h>
#include <sturnus/functional/op.h>

#include "src/functional/body.h"
#include "src/functional/lists.h"

namespace sturnus::internal {

/// Inputs: captured values, carried values, xs. The body's parameters are the same with one slice
/// of each x; its outputs are the carried values and one slice of each y.
struct Scan {
  static constexpr std::string_view name = "scan";
  Body body;
  std::int64_t captured, carried, length;
  bool reverse;

  ArrayTypes infer(const Arrays&) const {
    ArrayTypes types = types_of(body.outputs);
    for (std::size_t i = count(); i < types.size(); i++) {
      types[i].shape.insert(types[i].shape.begin(), length);
    }
    return types;
  }
  Arrays jvp(const Arrays& x, const Arrays& y, const Arrays& dx) const;
  Arrays transpose(const Arrays& ct, const Arrays& x, const Mask& linear) const;
  Arrays batch(const Arrays& x, const Mask& mapped, std::int64_t n) const;
  std::vector<Series> jet(const std::vector<Series>& x) const;
  Arrays run_within(const Arrays& x, const Scan& other, const Arrays& other_x) const;
  void replay(const Arrays& x, const RunGraph& run) const;
  void lower(Emitter& emitter, const Node& node) const;

  std::size_t count() const { return static_cast<std::size_t>(carried); }
  Arrays captures(const Arrays& all) const {
    return part(all, 0, static_cast<std::size_t>(captured));
  }
  Arrays carry(const Arrays& all) const {
    return part(all, static_cast<std::size_t>(captured), count());
  }
  Arrays xs(const Arrays& all) const {
    std::size_t before = static_cast<std::size_t>(captured) + count();
    return part(all, before, all.size() - before);
  }
  Mask carry_mask(const Mask& all) const {
    auto first = all.begin() + static_cast<std::ptrdiff_t>(captured);
    return {first, first + static_cast<std::ptrdiff_t>(carried)};
  }
};

}  // namespace sturnus::internal
