// The transforms on flat lists of arrays: each calls a function on placeholders and rewrites the
// graph that comes out. The typed forms in grad.h, vmap.h and jit.h flatten trees and call these.
#pragma once

#include <sturnus/functional/graph.h>

#include <functional>
#include <optional>
#include <string_view>

namespace sturnus::internal {

using FlatFunction = std::function<Arrays(const Arrays&)>;

/// Values and tangents of `outputs`; a null tangent is zero.
struct Duals {
  Arrays values, tangents;
};

/// The graph `outputs` of `roots`, at `values`, in the direction `tangents`.
Duals push_forward(const Arrays& outputs, const Arrays& roots, const Arrays& values,
                   const Arrays& tangents);
/// The linear graph `outputs` of `roots`, backwards: cotangents of the roots from those of the
/// outputs.
Arrays pull_back(const Arrays& outputs, const Arrays& cotangents, const Arrays& roots);
/// The graph `outputs` of `roots` with an extra axis 0 of extent n on every value that depends on
/// them. `mapped_out` says which outputs do.
Arrays spread(const Arrays& outputs, const Arrays& roots, const Arrays& values, std::int64_t n,
              Mask& mapped_out);

/// f and its directional derivative: results, then tangents.
Duals jvp(const FlatFunction& f, const Arrays& x, const Arrays& tangents);

struct ValueAndGrad {
  Arrays outputs;  // of f: the value, then whatever else it returned
  Arrays gradient;
};
/// The first result of f, which must be a real scalar, and its gradient. `name` is for messages.
ValueAndGrad value_and_grad(const FlatFunction& f, const Arrays& x, std::string_view name);

inline constexpr std::int64_t unmapped = INT64_MIN;
/// f for each index along the axes `in_axes` of x; `unmapped` passes x whole. The results have the
/// new axis at `out_axes`.
Arrays vmap(const FlatFunction& f, const Arrays& x, const std::vector<std::int64_t>& in_axes,
            const std::function<std::int64_t(std::size_t)>& out_axis);

/// Throws ShapeError when in_axes has not one entry per argument.
void check_argument_count(std::string_view transform, std::size_t axes, std::size_t arguments);

/// At the top level the values of `results`, inside a trace the results themselves.
Arrays settle(Arrays results);

}  // namespace sturnus::internal
