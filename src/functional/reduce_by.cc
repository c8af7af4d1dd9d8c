#include <sturnus/functional/evaluate.h>
#include <sturnus/functional/reduce_by.h>
#include <sturnus/functional/transform.h>

#include "src/ops/associative.h"
#include "src/ops/promotion.h"
#include "src/ops/structural.h"

namespace sturnus {
namespace internal {
namespace {

// `combine`, traced once on scalars, for whole arrays.
class OnArrays {
 public:
  OnArrays(std::string_view function, const std::function<Array(Array, Array)>& combine,
           DType dtype) {
    ArrayType scalar{dtype, {}};
    roots_ = placeholders({scalar, scalar}, function);
    result_ = combine(roots_[0], roots_[1]);
    if (result_.type() != scalar) {
      throw ShapeError(
          message(function, "combine returns " + result_.type().str() + " for two " + scalar.str(),
                  "Make it return " + scalar.str()));
    }
  }

  Arrays operator()(const Arrays& a, const Arrays& b) const {
    std::int64_t n = a[0].size();
    Array left = reshape_to(a[0], {n}), right = reshape_to(b[0], {n});
    Mask mapped;
    Array result = spread({result_}, roots_, {left, right}, n, mapped)[0];
    result = with_mapped_axis(result, mapped[0], n);
    return {reshape_to(result, a[0].shape())};
  }

 private:
  Arrays roots_;
  Array result_;
};

}  // namespace
}  // namespace internal

using internal::Axes;
using internal::Blame;

Array reduce(Operand operand, Operand init, const std::function<Array(Array, Array)>& combine,
             Over over) {
  Blame blame(operand.where);
  Array x = internal::to_array(operand);
  Array start = internal::converted(internal::to_array("reduce", init, x.dtype()), x.dtype());
  if (start.rank() != 0) {
    throw ShapeError(internal::message("reduce",
                                       "init is " + start.type().str() + ", but must be a scalar",
                                       "Give one value; combine acts on elements"));
  }
  Axes axes = over.axes ? internal::checked_axes("reduce", x.type(), *over.axes)
                        : internal::iota_axes(x.rank());
  return internal::as_one_program([&] {
    internal::OnArrays on_arrays("reduce", combine, x.dtype());
    Axes left = internal::complement(x.rank(), axes), order = left;
    order.insert(order.end(), axes.begin(), axes.end());
    Shape rest = internal::picked(x.shape(), left), flat = rest, kept = x.shape();
    for (std::int64_t axis : axes) kept[static_cast<std::size_t>(axis)] = 1;
    flat.push_back(internal::product(internal::picked(x.shape(), axes)));
    Array first = internal::broadcast(start, rest, {});
    Array result = first;
    if (flat.back() > 0) {
      Array rows = internal::reshape_to(internal::permute(x, order), flat);
      Array last =
          internal::tree_reduce({rows}, static_cast<std::int64_t>(rest.size()), on_arrays)[0];
      result = on_arrays({first}, {internal::reshape_to(last, rest)})[0];
    }
    return over.keep ? internal::reshape_to(result, kept) : result;
  });
}

}  // namespace sturnus
