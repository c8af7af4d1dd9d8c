#include <sturnus/functional/ravel.h>
#include <sturnus/ops/shape.h>

#include "src/ops/promotion.h"
#include "src/ops/structural.h"

namespace sturnus::internal {

Array ravel_leaves(const Arrays& leaves) {
  if (leaves.empty()) return zeros_of({DType::f32, {0}});
  DType dtype = leaves[0].dtype();
  for (const Array& leaf : leaves) dtype = promoted(dtype, leaf.dtype());
  Array vector;
  {
    Trace trace;
    Arrays parts;
    for (const Array& leaf : leaves) {
      parts.push_back(reshape_to(converted(leaf, dtype), {leaf.size()}));
    }
    vector = concatenate(parts, 0);
  }
  return settle({vector})[0];
}

Arrays unravel_leaves(const Array& vector, const ArrayTypes& types, Where where) {
  Blame blame(where);
  std::int64_t total = 0;
  for (const ArrayType& type : types) total += type.size();
  if (vector.shape() != Shape{total}) {
    throw ShapeError(message("ravel",
                             "the tree is made of " + std::to_string(total) +
                                 " elements, the vector is " + vector.type().str(),
                             "Give a vector like the one that ravel gave"));
  }
  Arrays leaves;
  {
    Trace trace;
    std::int64_t next = 0;
    for (const ArrayType& type : types) {
      Array part = slice(vector, {next}, {next + type.size()});
      next += type.size();
      leaves.push_back(converted(reshape_to(part, type.shape), type.dtype));
    }
  }
  return settle(std::move(leaves));
}

}  // namespace sturnus::internal
