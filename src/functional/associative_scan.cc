// Running combinations of trees, by combining halves.
#include <sturnus/functional/loops.h>
#include <sturnus/ops/shape.h>

#include "src/functional/lists.h"
#include "src/ops/associative.h"

namespace sturnus::internal {

Arrays associative_scan(const FlatFunction& combine, const Arrays& xs, bool reverse,
                        const std::vector<std::string>& paths, Where where) {
  common_length("associative_scan", xs, where);
  Arrays results;
  {
    Trace trace;
    auto turned = [reverse](Arrays arrays) {
      for (Array& array : arrays) {
        if (reverse) array = flip(array, {0});
      }
      return arrays;
    };
    Combine pairs = [&](const Arrays& a, const Arrays& b) {
      Arrays combined = combine(joined(a, b));
      Blame blame(where);
      for (std::size_t i = 0; i < a.size(); i++) {
        if (combined[i].type() == a[i].type()) continue;
        throw ShapeError(message("associative_scan",
                                 "combine gives " + combined[i].type().str() + " of two " +
                                     a[i].type().str() +
                                     (paths[i].empty() ? "" : " at " + paths[i]),
                                 "Make it keep the type of each array"));
      }
      return combined;
    };
    results = turned(prefix_scan(turned(xs), 0, pairs));
  }
  return settle(std::move(results));
}

}  // namespace sturnus::internal
