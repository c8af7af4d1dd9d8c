#include "src/ops/elementwise.h"

namespace sturnus::internal {

ArrayType common_type(std::string_view op, const Arrays& x) {
  for (const Array& other : x) {
    if (other.type() == x[0].type()) continue;
    std::string both = x[0].type().str() + " and " + other.type().str();
    if (other.dtype() != x[0].dtype()) {
      throw DtypeError(message(op, "operands are " + both, "Convert one of them"));
    }
    throw ShapeError(message(op, "operands are " + both, "Broadcast one of them"));
  }
  return x[0].type();
}

namespace {

Array sink_broadcast(const Arrays& x, const std::function<Array(const Arrays&)>& again) {
  const Broadcast* outer = nullptr;
  const Array* inner = nullptr;
  for (const Array& y : x) {
    if (auto* found = as<Broadcast>(y)) {
      outer = found;
      inner = &y.node()->inputs[0];
    }
  }
  if (outer == nullptr) return {};
  Arrays small;
  for (const Array& y : x) {
    if (auto value = splat(y)) {
      small.push_back(full(*value, {y.dtype(), inner->shape()}));
      continue;
    }
    auto* same = as<Broadcast>(y);
    if (same == nullptr || same->axes != outer->axes ||
        y.node()->inputs[0].shape() != inner->shape()) {
      return {};
    }
    small.push_back(y.node()->inputs[0]);
  }
  return broadcast(again(small), outer->shape, outer->axes);
}

Array sink_permutation(const Arrays& x, const std::function<Array(const Arrays&)>& again) {
  const Permute* outer = nullptr;
  for (const Array& y : x) {
    if (auto* found = as<Permute>(y)) outer = found;
  }
  if (outer == nullptr) return {};
  Arrays unmoved;
  for (const Array& y : x) {
    auto* same = as<Permute>(y);
    if (same != nullptr && same->permutation == outer->permutation) {
      unmoved.push_back(y.node()->inputs[0]);
    } else if (splat(y) || as<Broadcast>(y) != nullptr) {
      unmoved.push_back(permute(y, inverse(outer->permutation)));
    } else {
      return {};
    }
  }
  return permute(again(unmoved), outer->permutation);
}

}  // namespace

Array sink_movement(const Arrays& x, const std::function<Array(const Arrays&)>& again) {
  if (Array moved = sink_broadcast(x, again); !moved.empty()) return moved;
  return sink_permutation(x, again);
}

Array stepwise(const char* hlo, const Operand& x) {
  Blame blame(x.where);
  return make(Stepwise{hlo}, {to_array(x)});
}

Array Convert::simplify(const Arrays& x) const {
  if (x[0].dtype() == dtype) return x[0];
  auto value = splat(x[0]);
  bool exact = value && is_inexact(dtype) && !is_complex(x[0].dtype());
  return exact ? full(*value, infer(x)) : Array();
}

Array Convert::jvp(const Arrays& x, const Array&, const Arrays& dx) const {
  bool smooth = is_inexact(dtype) && is_inexact(x[0].dtype());
  return smooth ? converted(dx[0], dtype) : Array();
}

Array Convert::transpose(const Array& ct, const Arrays& x, const Mask&) const {
  return converted(ct, x[0].dtype());
}

namespace {

struct Select {
  static constexpr std::string_view name = "select", hlo = "select";
  using Family = Elementwise;
  ArrayType infer(const Arrays& x) const {
    if (x[0].type() != ArrayType{DType::boolean, x[1].shape()}) {
      throw ShapeError(
          message("select",
                  "the condition is " + x[0].type().str() + ", the values are " + x[1].type().str(),
                  "Give a bool condition of the values' shape"));
    }
    return common_type(name, {x[1], x[2]});
  }
  Array simplify(const Arrays& x) const {
    if (x[1].same(x[2])) return x[1];
    if (auto known = splat(x[0])) return *known != 0 ? x[1] : x[2];
    return {};
  }
  Array jvp(const Arrays& x, const Array& y, const Arrays& dx) const {
    Array zero = zeros_of(y.type());
    return select(x[0], dx[1].empty() ? zero : dx[1], dx[2].empty() ? zero : dx[2]);
  }
  Arrays transpose(const Array& ct, const Arrays& x, const Mask& linear) const {
    Array zero = zeros_of(ct.type());
    Arrays result(3);
    if (linear[1]) result[1] = select(x[0], ct, zero);
    if (linear[2]) result[2] = select(x[0], zero, ct);
    return result;
  }
};

}  // namespace

Array select(const Array& condition, const Array& a, const Array& b) {
  return make(Select{}, {condition, a, b});
}

}  // namespace sturnus::internal
