// Lists of arrays, and masks that mark some of their elements: what rules of loops are made of.
#pragma once

#include <sturnus/functional/graph.h>

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sturnus::internal {

/// all[begin], ..., all[begin + count - 1].
Arrays part(const Arrays& all, std::size_t begin, std::size_t count);
Arrays joined(Arrays a, const Arrays& b);
Mask joined(Mask a, const Mask& b);
/// Those of `all` that `mask` marks.
Arrays chosen(const Arrays& all, const Mask& mask);
/// The inverse: puts `some` back at the marked places, leaving the others empty.
Arrays scattered(const Arrays& some, const Mask& mask);
/// Marks the arrays that are not empty: those with a tangent that is not zero.
Mask present(const Arrays& arrays);
bool any(const Mask& mask);
/// For each of `some` a place in `all` where the same value stands, each place once; nothing when
/// one is not there.
std::vector<std::size_t> places(const Arrays& some, const Arrays& all);
/// Lists in which some places always hold equal values, each of which is needed only once.
class Distinct {
 public:
  /// Place i holds what the place `first[i]` does, which is the first of its kind.
  explicit Distinct(std::vector<std::size_t> first) : first_(std::move(first)) {}
  /// Places that hold the same value in `values`.
  explicit Distinct(const Arrays& values);

  std::size_t count() const;
  /// One of each kind.
  Arrays once(const Arrays& all) const;
  /// The inverse: the list of which `once` are the different ones.
  Arrays spread(const Arrays& once) const;
  /// `all` with the first of its kind in every place.
  Arrays alike(const Arrays& all) const { return spread(once(all)); }

 private:
  std::vector<std::size_t> first_;
};
/// Which carried values are always equal: they are so at the start, and `step` keeps them so.
Distinct distinct_carry(const Arrays& start, const std::function<Arrays(const Arrays&)>& step);
/// "(f32[3], i32[])".
std::string types_text(const ArrayTypes& types);
/// Empty tangents as zeros of the given types.
Arrays or_zeros(Arrays tangents, const ArrayTypes& types);
/// Values of which `mask` marks those with a mapped axis 0; those that `wanted` marks get one.
Arrays all_mapped(Arrays values, const Mask& mask, const Mask& wanted, std::int64_t n);
/// Types of mapped values, which `mask` marks, from those of one problem.
ArrayTypes mapped_types(ArrayTypes types, const Mask& mask, std::int64_t n);
/// Marks the series that move: that have more than their coefficient 0.
Mask moving(const std::vector<Series>& series);
/// The graph that f builds, also of concrete arrays.
Arrays traced(const std::function<Arrays()>& f);
/// Series as a flat list: coefficients 0 of all, then the others of those that `moves` marks.
Arrays packed(const std::vector<Series>& series, const Mask& moves);
std::vector<Series> unpacked(const Arrays& flat, const Mask& moves, std::size_t order);
/// The smallest mask above `mask` that `step` maps into itself: what is carried round a loop and
/// becomes marked in one iteration is marked from the start.
Mask fixed_point(Mask mask, const std::function<Mask(const Mask&)>& step);

}  // namespace sturnus::internal
