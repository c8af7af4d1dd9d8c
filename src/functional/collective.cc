#include <sturnus/functional/collective.h>
#include <sturnus/functional/op.h>
#include <sturnus/ops/arithmetic.h>
#include <sturnus/ops/index.h>
#include <sturnus/ops/reduce.h>

#include "src/functional/reverse_only.h"
#include "src/ops/promotion.h"
#include "src/ops/structural.h"

namespace sturnus {
namespace internal {
namespace {

thread_local std::vector<const NamedAxis*> axes_around;

const NamedAxis& find_axis(std::string_view function, std::string_view name) {
  for (auto it = axes_around.rbegin(); it != axes_around.rend(); ++it) {
    if ((*it)->name() == name) return **it;
  }
  std::string known;
  for (const NamedAxis* axis : axes_around) known += (known.empty() ? "" : ", ") + axis->name();
  throw Error(message(function,
                      "no vmap around has an axis named \"" + std::string(name) +
                          "\"; named axes here: " + (known.empty() ? "none" : known),
                      "Give vmap .axis_name"));
}

// Ops on x and the axis's index. The index is an input so that the result depends on the axis even
// where x does not; the vmap to which the axis belongs is the one that maps the index, and all its
// calls share the result.

struct AxisGather {
  static constexpr std::string_view name = "all_gather";
  std::int64_t size;
  ArrayType infer(const Arrays& x) const { return {x[0].dtype(), prepended(size, x[0].shape())}; }
  Array jvp(const Arrays& x, const Array&, const Arrays& dx) const {
    return dx[0].empty() ? Array() : make(*this, {dx[0], x[1]});
  }
  Arrays transpose(const Array& ct, const Arrays& x, const Mask&) const;
  bool is_shared(const Mask& mapped) const { return mapped[1]; }
  Array batch(const Arrays& x, const Mask& mapped, std::int64_t n) const {
    Array all = with_mapped_axis(x[0], mapped[0], n);
    if (is_shared(mapped)) return all;
    Array gathered = make(*this, {all, x[1]});
    Axes order = iota_axes(gathered.rank());
    std::swap(order[0], order[1]);
    return permute(gathered, order);
  }
};

struct AxisSum {
  static constexpr std::string_view name = "psum";
  std::int64_t size;
  ArrayType infer(const Arrays& x) const { return x[0].type(); }
  Array jvp(const Arrays& x, const Array&, const Arrays& dx) const {
    return dx[0].empty() ? Array() : make(*this, {dx[0], x[1]});
  }
  // Each call's x is in every call's sum.
  Arrays transpose(const Array& ct, const Arrays& x, const Mask&) const {
    return {make(*this, {ct, x[1]}), {}};
  }
  bool is_shared(const Mask& mapped) const { return mapped[1]; }
  Array batch(const Arrays& x, const Mask& mapped, std::int64_t n) const {
    Array all = with_mapped_axis(x[0], mapped[0], n);
    return is_shared(mapped) ? sum_over(all, {0}) : make(*this, {all, x[1]});
  }
};

Arrays AxisGather::transpose(const Array& ct, const Arrays& x, const Mask&) const {
  return {dynamic_index(make(AxisSum{size}, {ct, x[1]}), x[1]), {}};
}

struct AxisExtreme {
  static constexpr std::string_view name = "axis_extreme";
  bool largest;
  std::int64_t size;
  std::string_view title() const { return largest ? "pmax" : "pmin"; }
  ArrayType infer(const Arrays& x) const { return x[0].type(); }
  // Shared equally by the calls that have the extreme value.
  Array jvp(const Arrays& x, const Array& y, const Arrays& dx) const {
    if (dx[0].empty()) return {};
    Array here = convert(x[0] == y, y.dtype());
    Array count = make(AxisSum{size}, {here, x[1]});
    return make(AxisSum{size}, {dx[0] * (here / count), x[1]});
  }
  bool is_shared(const Mask& mapped) const { return mapped[1]; }
  Array batch(const Arrays& x, const Mask& mapped, std::int64_t n) const {
    Array all = with_mapped_axis(x[0], mapped[0], n);
    if (!is_shared(mapped)) return make(*this, {all, x[1]});
    return largest ? max(all, 0) : min(all, 0);
  }
};

template <class P>
Array collective(P op, const Operand& x, const NamedAxis& axis) {
  ReverseOnly::note();
  return make(std::move(op), {to_array(x), axis.index()});
}

}  // namespace

NamedAxis::NamedAxis(std::string name, std::int64_t size)
    : name_(std::move(name)), size_(size), index_(placeholder({DType::i32, {}}, "vmap")) {
  axes_around.push_back(this);
}
NamedAxis::~NamedAxis() { axes_around.pop_back(); }

}  // namespace internal

using internal::Blame;
using internal::find_axis;

Array psum(Operand x, std::string_view axis_name) {
  Blame blame(x.where);
  const auto& axis = find_axis("psum", axis_name);
  Array y = internal::to_array(x);
  // As sum does.
  if (y.dtype() == DType::boolean) y = convert(y, DType::i32);
  return internal::collective(internal::AxisSum{axis.size()}, y, axis);
}
Array pmean(Operand x, std::string_view axis_name) {
  Blame blame(x.where);
  const auto& axis = find_axis("pmean", axis_name);
  Array total =
      internal::collective(internal::AxisSum{axis.size()}, internal::to_floating(x), axis);
  return total / static_cast<double>(axis.size());
}
Array pmax(Operand x, std::string_view axis_name) {
  Blame blame(x.where);
  const auto& axis = find_axis("pmax", axis_name);
  return internal::collective(internal::AxisExtreme{true, axis.size()}, x, axis);
}
Array pmin(Operand x, std::string_view axis_name) {
  Blame blame(x.where);
  const auto& axis = find_axis("pmin", axis_name);
  return internal::collective(internal::AxisExtreme{false, axis.size()}, x, axis);
}
Array all_gather(Operand x, std::string_view axis_name) {
  Blame blame(x.where);
  const auto& axis = find_axis("all_gather", axis_name);
  return internal::collective(internal::AxisGather{axis.size()}, x, axis);
}
Array axis_index(std::string_view axis_name, Where where) {
  Blame blame(where);
  return find_axis("axis_index", axis_name).index();
}
std::int64_t axis_size(std::string_view axis_name, Where where) {
  Blame blame(where);
  return find_axis("axis_size", axis_name).size();
}

}  // namespace sturnus
