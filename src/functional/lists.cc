#include "src/functional/lists.h"

#include <algorithm>

#include "src/ops/structural.h"

namespace sturnus::internal {

Arrays part(const Arrays& all, std::size_t begin, std::size_t count) {
  auto first = all.begin() + static_cast<std::ptrdiff_t>(begin);
  return {first, first + static_cast<std::ptrdiff_t>(count)};
}

Arrays joined(Arrays a, const Arrays& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

Mask joined(Mask a, const Mask& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

Mask present(const Arrays& arrays) {
  Mask mask;
  for (const Array& array : arrays) mask.push_back(!array.empty());
  return mask;
}

bool any(const Mask& mask) { return std::find(mask.begin(), mask.end(), true) != mask.end(); }

std::vector<std::size_t> places(const Arrays& some, const Arrays& all) {
  std::vector<std::size_t> result;
  Mask taken(all.size());
  for (const Array& value : some) {
    std::size_t i = 0;
    while (i < all.size() && (taken[i] || !all[i].same(value))) i++;
    if (i == all.size()) return {};
    taken[i] = true;
    result.push_back(i);
  }
  return result;
}

namespace {

std::vector<std::size_t> first_places(const Arrays& values) {
  std::vector<std::size_t> first;
  for (std::size_t i = 0; i < values.size(); i++) {
    std::size_t k = 0;
    while (!values[k].same(values[i])) k++;
    first.push_back(k);
  }
  return first;
}

}  // namespace

Distinct::Distinct(const Arrays& values) : Distinct(first_places(values)) {}

std::size_t Distinct::count() const {
  std::size_t count = 0;
  for (std::size_t i = 0; i < first_.size(); i++) count += first_[i] == i ? 1 : 0;
  return count;
}

Arrays Distinct::once(const Arrays& all) const {
  Arrays result;
  for (std::size_t i = 0; i < first_.size(); i++) {
    if (first_[i] == i) result.push_back(all[i]);
  }
  return result;
}

Arrays Distinct::spread(const Arrays& once) const {
  Arrays result;
  std::size_t next = 0;
  for (std::size_t i = 0; i < first_.size(); i++) {
    result.push_back(first_[i] == i ? once[next++] : result[first_[i]]);
  }
  return result;
}

// All that start alike are taken for equal, until a step tells them apart.
Distinct distinct_carry(const Arrays& start, const std::function<Arrays(const Arrays&)>& step) {
  std::vector<std::size_t> first = first_places(start);
  Arrays roots = placeholders(types_of(start), "scan");
  while (Distinct(first).count() < first.size()) {
    Arrays next = step(Distinct(first).alike(roots));
    std::vector<std::size_t> finer;
    for (std::size_t i = 0; i < first.size(); i++) {
      std::size_t k = 0;
      while (first[k] != first[i] || !next[k].same(next[i])) k++;
      finer.push_back(k);
    }
    if (finer == first) break;
    first = std::move(finer);
  }
  return Distinct(std::move(first));
}

std::string types_text(const ArrayTypes& types) {
  std::string text;
  for (const ArrayType& type : types) text += (text.empty() ? "" : ", ") + type.str();
  return "(" + text + ")";
}

Arrays or_zeros(Arrays tangents, const ArrayTypes& types) {
  for (std::size_t i = 0; i < tangents.size(); i++) {
    if (tangents[i].empty()) tangents[i] = zeros_of(types[i]);
  }
  return tangents;
}

Arrays chosen(const Arrays& all, const Mask& mask) {
  Arrays result;
  for (std::size_t i = 0; i < all.size(); i++) {
    if (mask[i]) result.push_back(all[i]);
  }
  return result;
}

Arrays scattered(const Arrays& some, const Mask& mask) {
  Arrays result(mask.size());
  std::size_t next = 0;
  for (std::size_t i = 0; i < mask.size(); i++) {
    if (mask[i]) result[i] = some[next++];
  }
  return result;
}

Arrays all_mapped(Arrays values, const Mask& mask, const Mask& wanted, std::int64_t n) {
  for (std::size_t i = 0; i < wanted.size(); i++) {
    if (wanted[i]) values[i] = with_mapped_axis(values[i], mask[i], n);
  }
  return values;
}

ArrayTypes mapped_types(ArrayTypes types, const Mask& mask, std::int64_t n) {
  for (std::size_t i = 0; i < types.size(); i++) {
    if (mask[i]) types[i].shape.insert(types[i].shape.begin(), n);
  }
  return types;
}

Mask moving(const std::vector<Series>& series) {
  Mask result;
  for (const Series& c : series) {
    result.push_back(
        std::any_of(c.begin() + 1, c.end(), [](const Array& array) { return !array.empty(); }));
  }
  return result;
}

Arrays packed(const std::vector<Series>& series, const Mask& moves) {
  Arrays flat;
  for (const Series& c : series) flat.push_back(c[0]);
  for (std::size_t i = 0; i < series.size(); i++) {
    for (std::size_t k = 1; moves[i] && k < series[i].size(); k++) {
      const Array& coefficient = series[i][k];
      flat.push_back(coefficient.empty() ? zeros_of(series[i][0].type()) : coefficient);
    }
  }
  return flat;
}

std::vector<Series> unpacked(const Arrays& flat, const Mask& moves, std::size_t order) {
  std::vector<Series> series;
  std::size_t next = moves.size();
  for (std::size_t i = 0; i < moves.size(); i++) {
    Series c(order + 1);
    c[0] = flat[i];
    for (std::size_t k = 1; moves[i] && k <= order; k++) c[k] = flat[next++];
    series.push_back(std::move(c));
  }
  return series;
}

Mask fixed_point(Mask mask, const std::function<Mask(const Mask&)>& step) {
  for (;;) {
    Mask next = step(mask);
    bool grew = false;
    for (std::size_t i = 0; i < mask.size(); i++) {
      if (next[i] && !mask[i]) mask[i] = grew = true;
    }
    if (!grew) return mask;
  }
}

Arrays traced(const std::function<Arrays()>& f) {
  Trace trace;
  return f();
}

}  // namespace sturnus::internal
