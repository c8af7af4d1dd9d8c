#include <sturnus/functional/graph.h>
#include <sturnus/inference/models/bijections.h>
#include <sturnus/ops/activation.h>
#include <sturnus/ops/arithmetic.h>
#include <sturnus/ops/creation.h>
#include <sturnus/ops/cumulative.h>
#include <sturnus/ops/reduce.h>
#include <sturnus/ops/shape.h>
#include <sturnus/ops/subscript.h>
#include <sturnus/ops/transcendental.h>

#include <cmath>
#include <iomanip>
#include <limits>
#include <sstream>

namespace sturnus {
namespace {

/// A number without zeros behind it.
std::string shortest(double number) {
  std::ostringstream text;
  text << std::setprecision(std::numeric_limits<double>::digits10) << number;
  return text.str();
}

Shape same_shape(const Shape& shape) { return shape; }

Array but_last(const Array& x) { return x(ellipsis, Slice{0, -1}); }
Array but_first(const Array& x) { return x(ellipsis, Slice{1}); }
Array first(const Array& x) { return x(ellipsis, Slice{0, 1}); }

void require_axis(const std::string& name, const Shape& shape) {
  if (!shape.empty() && shape.back() > 0) return;
  throw ShapeError("Bijection::" + name + ": a parameter of " +
                   std::to_string(shape.empty() ? 0 : shape.size()) +
                   " axes, the last of which has no elements. Give it a last axis of at least 1");
}

// What is broken off and what is left of the stick, as logarithms, of K - 1 free numbers.
struct Stick {
  explicit Stick(const Array& y) {
    // The piece that y = 0 breaks off is as large as all that follow: 1 / (K - k).
    std::int64_t breaks = y.shape().back();
    Array later = log(convert(breaks - arange(breaks), y.dtype()));
    Array t = y - later;
    broken = log_sigmoid(t);
    left = log_sigmoid(-t);
    rest = cumsum(left, -1);
    before = rest - left;
  }
  Array broken, left;  // log z_k, log(1 - z_k)
  Array rest, before;  // log of the stick after and before each break
};

}  // namespace

Bijection Bijection::identity() {
  auto same = [](const Array& x) { return x; };
  return {"identity", same,    same, [](const Array& y) { return Array(0.0, y.dtype()); },
          same_shape, "finite"};
}

Bijection Bijection::positive() {
  return {"positive",
          [](const Array& y) { return exp(y); },
          [](const Array& x) { return log(x); },
          [](const Array& y) { return sum(y); },
          same_shape,
          "above 0"};
}

Bijection Bijection::interval(double low, double high) {
  if (!(low < high && std::isfinite(low) && std::isfinite(high))) {
    throw Error("Bijection::interval: from " + std::to_string(low) + " to " + std::to_string(high) +
                ". Give two finite numbers, the first below the second");
  }
  double width = high - low;
  return {"interval", [=](const Array& y) { return low + width * sigmoid(y); },
          [=](const Array& x) { return log((x - low) / (high - x)); },
          // log(sigmoid(y) sigmoid(-y)), written so that its derivative has the sigmoid of x.
          [=](const Array& y) { return sum(std::log(width) + y - 2.0 * softplus(y)); }, same_shape,
          "above " + shortest(low) + " and below " + shortest(high)};
}

Bijection Bijection::ordered() {
  return {"ordered",
          [](const Array& y) {
            return cumsum(concatenate({first(y), exp(but_first(y))}, -1), -1);
          },
          [](const Array& x) {
            return concatenate({first(x), log(but_first(x) - but_last(x))}, -1);
          },
          [](const Array& y) { return sum(but_first(y)); },
          [](const Shape& shape) {
            require_axis("ordered", shape);
            return shape;
          },
          "increasing along the last axis"};
}

Bijection Bijection::simplex() {
  auto forward = [](const Array& y) {
    Shape one = y.shape();
    one.back() = 1;
    if (y.shape().back() == 0) return ones(one, y.dtype());
    Stick stick(y);
    return exp(concatenate({stick.broken + stick.before, stick.rest(ellipsis, Slice{-1})}, -1));
  };
  auto inverse = [](const Array& x) {
    std::int64_t breaks = x.shape().back() - 1;
    if (breaks == 0) return but_last(x);
    Array later = log(convert(breaks - arange(breaks), x.dtype()));
    Array behind = but_first(cumsum(x, -1, true));
    return log(but_last(x)) - log(behind) + later;
  };
  auto log_det = [](const Array& y) {
    if (y.size() == 0) return Array(0.0, y.dtype());
    Stick stick(y);
    return sum(stick.broken + stick.left + stick.before);
  };
  return {"simplex",
          forward,
          inverse,
          log_det,
          [](const Shape& shape) {
            require_axis("simplex", shape);
            Shape free = shape;
            free.back() -= 1;
            return free;
          },
          "above 0, with sum 1 along the last axis"};
}

}  // namespace sturnus
