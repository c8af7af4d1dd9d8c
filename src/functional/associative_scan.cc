// Running combinations of an associative function in log2(length) steps.
#include <sturnus/functional/loops.h>
#include <sturnus/ops/shape.h>

#include "src/functional/lists.h"
#include "src/ops/structural.h"

namespace sturnus::internal {
namespace {

// x[start], x[start + step], ... of every array, along axis 0.
Arrays every(const Arrays& xs, std::int64_t start, std::int64_t stop, std::int64_t step) {
  Arrays result;
  for (const Array& x : xs) {
    Shape first(x.shape().size(), 0), last = x.shape(), steps(x.shape().size(), 1);
    first[0] = start;
    last[0] = stop;
    steps[0] = step;
    result.push_back(slice(x, first, last, steps));
  }
  return result;
}

// a[0], b[0], a[1], b[1], ... where a is as long as b or one longer.
Array interleaved(const Array& a, const Array& b) {
  std::int64_t n = a.shape()[0], m = b.shape()[0];
  Array head = a;
  if (n > m) head = every({a}, 0, m, 1)[0];
  Array pairs = stack({head, b}, 1);
  Shape shape = a.shape();
  shape[0] = 2 * m;
  Array mixed = reshape_to(pairs, shape);
  if (n == m) return mixed;
  return concatenate({mixed, every({a}, m, n, 1)[0]}, 0);
}

// Pairs are combined, the pairs' running combinations are those at odd places, and one more step
// gives those at even places.
Arrays running(const FlatFunction& combine, const Arrays& xs) {
  std::int64_t n = xs[0].shape()[0];
  if (n < 2) return xs;
  Arrays evens = every(xs, 0, n - 1, 2), odds = every(xs, 1, n, 2);
  Arrays at_odds = running(combine, combine(joined(evens, odds)));
  Arrays later_evens = every(xs, 2, n, 2);
  std::int64_t count = n > 2 ? later_evens[0].shape()[0] : 0;
  Arrays at_evens = every(xs, 0, 1, 1);
  if (count > 0) {
    Arrays rest = combine(joined(every(at_odds, 0, count, 1), later_evens));
    for (std::size_t i = 0; i < rest.size(); i++) {
      at_evens[i] = concatenate({at_evens[i], rest[i]}, 0);
    }
  }
  Arrays result;
  for (std::size_t i = 0; i < xs.size(); i++)
    result.push_back(interleaved(at_evens[i], at_odds[i]));
  return result;
}

}  // namespace

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
    results = turned(running(combine, turned(xs)));
  }
  return settle(std::move(results));
}

}  // namespace sturnus::internal
