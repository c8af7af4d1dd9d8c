// The transforms on flat lists of arrays: each calls a function on placeholders and rewrites the
// graph that comes out. The typed forms in grad.h, vmap.h and jit.h flatten trees and call these.
#pragma once

#include <sturnus/functional/graph.h>
#include <sturnus/functional/tree_def.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sturnus::internal {

using FlatFunction = std::function<Arrays(const Arrays&)>;

/// Who transforms, for messages: the transform's name, the line that asks for it, and the trees of
/// the arguments that are transformed, by their numbers.
struct Caller {
  std::string_view name;
  Where where;
  std::vector<std::pair<std::size_t, TreeDef>> arguments = {};

  /// "argument 1 .net[0].w" for leaf `i` of all arguments.
  std::string leaf_name(std::size_t i) const;
};

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

/// The same for values `x` of which `mapped` marks those with the extra axis, given to f as one
/// problem's.
Arrays spread_call(const FlatFunction& f, const Arrays& x, const Mask& mapped, std::int64_t n,
                   Mask& mapped_out);
/// The graph `outputs` of `roots` along curves: series of the outputs from those of the roots, all
/// with coefficients 0 to `order`.
std::vector<Series> push_series(const Arrays& outputs, const Arrays& roots,
                                const std::vector<Series>& series, std::size_t order);

// In what follows `aux` holds what f computes beside its results: values of its graph, which f puts
// there when it is called, and which come back as their values at x. They are not differentiated.

/// f and its directional derivative: results, then tangents.
Duals jvp(const FlatFunction& f, const Arrays& x, const Arrays& tangents, Arrays& aux,
          const Caller& caller);

/// f along the curve with the derivatives `derivatives`[k - 1] of order k = 1, 2, ... at x: f's
/// results, and their derivatives along the curve of the same orders.
Arrays jet(const FlatFunction& f, const Arrays& x, const std::vector<Arrays>& derivatives,
           std::vector<Arrays>& result_derivatives, Arrays& aux, const Caller& caller);

/// Derivatives of order 1 to `order` of t = x: 1, 0, 0, ... Throws ShapeError unless x is a real
/// scalar, Error when the order is negative.
Arrays straight_line(const Array& x, int order, Where where);

struct ValueAndGrad {
  Arrays outputs;  // of f: the value, then whatever else it returned
  Arrays gradient;
};
/// The first result of f, which must be a real scalar, and its gradient.
ValueAndGrad value_and_grad(const FlatFunction& f, const Arrays& x, const Caller& caller);

/// The derivative of a function at a point, as a linear map of tangents, and its transpose. What
/// does not depend on the tangents is computed once, when the map is made.
class LinearMap {
 public:
  LinearMap(const FlatFunction& f, const Arrays& x, Arrays& aux, const Caller& caller);
  /// The values of f at x.
  const Arrays& outputs() const { return outputs_; }
  /// The paths name the tangents and cotangents in messages, the line is the one that gives them.
  Arrays forward(const Arrays& tangents, const std::vector<std::string>& paths = {},
                 Where where = {}) const;
  Arrays backward(const Arrays& cotangents, const std::vector<std::string>& paths = {},
                  Where where = {}) const;

 private:
  struct Parts;
  std::string name_;
  Arrays outputs_;
  ArrayTypes types_;  // of x
  std::shared_ptr<const Parts> parts_;
};

/// The derivative of output i of f by x[j] at [i][j], with the axes of the output before those of
/// x[j]; one column, or one row, of it at a time.
std::vector<Arrays> forward_jacobian(const FlatFunction& f, const Arrays& x, Arrays& aux,
                                     const Caller& caller);
std::vector<Arrays> reverse_jacobian(const FlatFunction& f, const Arrays& x, Arrays& aux,
                                     const Caller& caller);
/// The second derivative of output i by each element of x[j] at [i][j], shaped like a Jacobian.
std::vector<Arrays> hessian_diagonal(const FlatFunction& f, const Arrays& x, Arrays& aux,
                                     const Caller& caller);
/// The sum of the second derivatives of each output by all elements of x.
Arrays laplacian(const FlatFunction& f, const Arrays& x, Arrays& aux, const Caller& caller);
/// Throws DtypeError unless all arguments are floating point or complex.
void check_differentiable(const Arrays& x, const Caller& caller);
/// Throws DtypeError when an argument has arrays, and none of them is floating point or complex.
void check_some_differentiable(const Arrays& x, const Caller& caller);

inline constexpr std::int64_t unmapped = INT64_MIN;
/// f for each index along the axes `in_axes` of x; `unmapped` passes x whole. `out_axes` is asked,
/// after f was called, where the new axis stands in each of the results. Inside f the axis goes by
/// `axis_name`, if that is not empty. Where no x is mapped, `axis_size` says how many there are.
Arrays vmap(const FlatFunction& f, const Arrays& x, const std::vector<std::int64_t>& in_axes,
            const std::function<std::vector<std::int64_t>()>& out_axes,
            const std::string& axis_name, std::optional<std::int64_t> axis_size,
            const Caller& caller);
/// `x` with axis `from` moved to position `to`.
Array move_axis(const Array& x, std::int64_t from, std::int64_t to);

/// At the top level the values of `results`, inside a trace the results themselves.
Arrays settle(Arrays results);

}  // namespace sturnus::internal
