// Checkpointing: reverse mode computes a function again instead of keeping what it needs.
#include <sturnus/functional/checkpoint.h>
#include <sturnus/functional/op.h>

#include "src/functional/body.h"
#include "src/functional/lists.h"
#include "src/ops/structural.h"

namespace sturnus::internal {
namespace {

// Kept values, then cotangents, for a second pass: behind the barrier the values are new ones, so
// that nothing of the first pass is kept for it; with the cotangents in it, it cannot start early.
Arrays late(const Arrays& kept, const Arrays& cotangents) {
  return barrier(joined(kept, cotangents));
}

struct Checkpoint {
  static constexpr std::string_view name = "checkpoint";
  Body body;
  ArrayTypes infer(const Arrays&) const { return types_of(body.outputs); }
  Arrays jvp(const Arrays& x, const Arrays& y, const Arrays& dx) const;
  // In a tangent stands one that a rule of custom_jvp called.
  Arrays transpose(const Arrays& ct, const Arrays& x, const Mask& linear) const {
    Mask fixed = linear, given = present(ct);
    fixed.flip();
    Arrays kept = chosen(x, fixed), behind = late(kept, chosen(ct, given));
    return pull_back_body(body, scattered(part(behind, 0, kept.size()), fixed), linear,
                          scattered(part(behind, kept.size(), behind.size() - kept.size()), given));
  }
  Arrays batch(const Arrays& x, const Mask& mapped, std::int64_t n) const {
    Closed wide = spread_body(body, x, mapped, n);
    return make_all(Checkpoint{wide.body}, joined(x, wide.captured));
  }
  std::vector<Series> jet(const std::vector<Series>& x) const {
    return push_series(body.outputs, body.leaves(), x, x[0].size() - 1);
  }
  void replay(const Arrays& x, const RunGraph& run) const {
    run(body.outputs, body.leaves(), x, "checkpoint");
  }
  void lower(Emitter& emitter, const Node& node) const { emitter.expand(node, body(node.inputs)); }
};

// The derivative of `body` at x along dx. Inputs: x, then tangents of those that `moves` marks.
struct CheckpointTangent {
  static constexpr std::string_view name = "checkpoint_tangent";
  Body body;
  Mask moves, out;  // which inputs have a tangent, and which outputs get one

  Arrays values(const Arrays& x) const { return part(x, 0, moves.size()); }
  Arrays tangents(const Arrays& x) const {
    return scattered(part(x, moves.size(), x.size() - moves.size()), moves);
  }
  Arrays forward(const Arrays& x) const {
    Arrays all = push_forward(body.outputs, body.leaves(), values(x), tangents(x)).tangents;
    return chosen(or_zeros(all, types_of(body.outputs)), out);
  }
  ArrayTypes infer(const Arrays&) const { return types_of(chosen(body.outputs, out)); }
  Arrays jvp(const Arrays& x, const Arrays&, const Arrays& dx) const {
    Arrays roots = placeholders(types_of(x), "jvp");
    return push_forward(forward(roots), roots, x, dx).tangents;
  }
  Arrays transpose(const Arrays& ct, const Arrays& x, const Mask&) const {
    Arrays kept = values(x);
    Mask given = present(ct);
    Arrays behind = late(kept, chosen(ct, given));
    Arrays again = part(behind, 0, kept.size());
    Arrays cts = part(behind, kept.size(), behind.size() - kept.size());
    Arrays directions =
        placeholders(types_of(part(x, moves.size(), x.size() - moves.size())), "grad");
    Arrays outputs = forward(joined(again, directions));
    return joined(Arrays(moves.size()), pull_back(chosen(outputs, given), cts, directions));
  }
  Arrays batch(const Arrays& x, const Mask& mapped, std::int64_t n) const {
    // A value needs the extra axis where its tangent has it.
    Arrays v = values(x), t = tangents(x);
    Mask value_mask(mapped.begin(), mapped.begin() + static_cast<std::ptrdiff_t>(moves.size()));
    Mask wanted = value_mask;
    std::size_t next = moves.size();
    for (std::size_t i = 0; i < moves.size(); i++) {
      if (moves[i]) wanted[i] = wanted[i] || mapped[next++];
    }
    next = moves.size();
    for (std::size_t i = 0; i < moves.size(); i++) {
      if (moves[i] && wanted[i]) t[i] = with_mapped_axis(t[i], mapped[next], n);
      next += moves[i] ? 1 : 0;
    }
    v = all_mapped(v, value_mask, wanted, n);
    Closed wide = spread_body(body, v, wanted, n);
    Mask wide_moves = moves;
    wide_moves.resize(moves.size() + wide.captured.size());
    return make_all(CheckpointTangent{wide.body, wide_moves, out},
                    joined(joined(v, wide.captured), chosen(t, moves)));
  }
  void replay(const Arrays& x, const RunGraph& run) const {
    Arrays outputs = traced([&] { return forward(x); });
    run(outputs, {}, {}, "checkpoint's derivative");
  }
  void lower(Emitter& emitter, const Node& node) const {
    emitter.expand(node, forward(node.inputs));
  }
};

Arrays Checkpoint::jvp(const Arrays& x, const Arrays&, const Arrays& dx) const {
  Mask out = present(push_forward(body.outputs, body.leaves(), x, dx).tangents);
  Mask moves = present(dx);
  if (!any(out)) return {};
  Arrays results = make_all(CheckpointTangent{body, moves, out}, joined(x, chosen(dx, moves)));
  return scattered(results, out);
}

}  // namespace

Arrays checkpoint(const FlatFunction& f, const Arrays& x, Where where) {
  Arrays results;
  {
    Trace trace;
    Arrays roots = placeholders(types_of(x), "checkpoint", where);
    Closed closed = close(f(roots), roots);
    results = make_all(Checkpoint{closed.body}, joined(x, closed.captured));
  }
  return settle(std::move(results));
}

}  // namespace sturnus::internal
