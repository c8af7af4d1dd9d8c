// Running combinations of trees, by combining halves.
#include <sturnus/functional/loops.h>
#include <sturnus/ops/shape.h>

#include "src/functional/lists.h"
#include "src/ops/associative.h"

namespace sturnus::internal {

Arrays associative_scan(const FlatFunction& combine, const Arrays& xs, bool reverse) {
  common_length("associative_scan", xs);
  Arrays results;
  {
    Trace trace;
    auto turned = [reverse](Arrays arrays) {
      for (Array& array : arrays) {
        if (reverse) array = flip(array, {0});
      }
      return arrays;
    };
    Combine pairs = [&](const Arrays& a, const Arrays& b) { return combine(joined(a, b)); };
    results = turned(prefix_scan(turned(xs), 0, pairs));
  }
  return settle(std::move(results));
}

}  // namespace sturnus::internal
