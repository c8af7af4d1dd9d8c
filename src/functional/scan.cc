// The op `scan` and its rules; the longest, the transposition, is in scan_transpose.cc.
#include "src/functional/scan.h"

#include <sturnus/ops/arithmetic.h>
#include <sturnus/ops/creation.h>

#include <algorithm>
#include <limits>
#include <optional>

#include "src/ops/promotion.h"
#include "src/ops/structural.h"

namespace sturnus::internal {

namespace {

ArrayTypes slice_types(const Arrays& xs) {
  ArrayTypes types = types_of(xs);
  for (ArrayType& type : types) type.shape.erase(type.shape.begin());
  return types;
}

}  // namespace

ScanResult make_scan(const std::function<Arrays(const Arrays& carry, const Arrays& x)>& f,
                     const Arrays& start, const Arrays& xs, std::int64_t length, bool reverse,
                     std::string_view name, const std::vector<std::string>& paths, Where where) {
  Arrays carry = placeholders(types_of(start), name, where);
  Arrays slices = placeholders(slice_types(xs), name, where);
  Arrays outputs = f(carry, slices);
  Blame blame(where);
  check_carry(name, types_of(start), types_of(part(outputs, 0, start.size())), paths);
  if (length == 0) {
    Arrays none;
    for (std::size_t i = start.size(); i < outputs.size(); i++) {
      none.push_back(zeros_of({outputs[i].dtype(), prepended(0, outputs[i].shape())}));
    }
    return {start, none};
  }
  // What is always equal is carried, read and stacked once: derivatives of derivatives have many
  // such values.
  Closed traced = close(outputs, joined(carry, slices));
  Distinct same_xs(xs);
  auto step = [&](const Arrays& values) {
    return traced.body(joined(joined(values, same_xs.alike(slices)), traced.captured));
  };
  std::size_t carried = start.size();
  Distinct same_carry =
      distinct_carry(start, [&](const Arrays& values) { return part(step(values), 0, carried); });
  outputs = step(same_carry.alike(carry));
  Arrays ys = part(outputs, carried, outputs.size() - carried);
  Distinct same_ys(ys);
  outputs = joined(same_carry.once(outputs), same_ys.once(ys));
  carry = same_carry.once(carry);
  slices = same_xs.once(slices);
  Closed closed = close(outputs, joined(carry, slices));
  // The body's parameters in the order of the op's inputs: captured, carried, xs.
  Body body;
  std::size_t own = carry.size() + slices.size();
  body.parameters.assign(closed.body.parameters.begin() + static_cast<std::ptrdiff_t>(own),
                         closed.body.parameters.end());
  body.parameters.insert(body.parameters.end(), closed.body.parameters.begin(),
                         closed.body.parameters.begin() + static_cast<std::ptrdiff_t>(own));
  Arrays leaves = body.leaves();
  std::size_t captured = closed.captured.size();
  body.outputs = closed.body(joined(part(leaves, captured, own), part(leaves, 0, captured)));
  Arrays results =
      make_all(Scan{std::move(body), static_cast<std::int64_t>(captured),
                    static_cast<std::int64_t>(carry.size()), length, reverse},
               joined(joined(closed.captured, same_carry.once(start)), same_xs.once(xs)));
  return {same_carry.spread(part(results, 0, carry.size())),
          same_ys.spread(part(results, carry.size(), results.size() - carry.size()))};
}

Arrays Scan::jvp(const Arrays& x, const Arrays&, const Arrays& dx) const {
  Mask x_moves = present(xs(dx));
  ArrayTypes carry_types = types_of(carry(x));
  auto forward = [&](const Arrays& values, const Arrays& slices, const Arrays& tangents,
                     const Arrays& slice_tangents) {
    return push_forward(body.outputs, body.leaves(), joined(joined(captures(x), values), slices),
                        joined(joined(captures(dx), tangents), slice_tangents));
  };
  auto moved = [&](const Mask& mask) {
    Arrays values = placeholders(carry_types, "jvp"),
           slices = placeholders(slice_types(xs(x)), "jvp");
    Arrays tangents = scattered(chosen(placeholders(carry_types, "jvp"), mask), mask);
    Arrays slice_tangents =
        scattered(chosen(placeholders(slice_types(xs(x)), "jvp"), x_moves), x_moves);
    return present(forward(values, slices, tangents, slice_tangents).tangents);
  };
  Mask moving = fixed_point(present(carry(dx)), [&](const Mask& mask) {
    Mask result = moved(mask);
    result.resize(count());
    return result;
  });
  Mask outputs_move = moved(moving);
  Mask y_moves(outputs_move.begin() + static_cast<std::ptrdiff_t>(carried), outputs_move.end());

  Arrays tangents = chosen(or_zeros(carry(dx), carry_types), moving);
  Arrays x_tangents = chosen(xs(dx), x_moves);
  ScanResult result = make_scan(
      [&](const Arrays& all, const Arrays& slices) {
        Arrays values = part(all, 0, count());
        Arrays directions = scattered(part(all, count(), tangents.size()), moving);
        Arrays own = part(slices, 0, xs(x).size());
        Arrays own_tangents = scattered(part(slices, own.size(), x_tangents.size()), x_moves);
        Duals duals = forward(values, own, directions, own_tangents);
        Arrays dense = or_zeros(duals.tangents, types_of(duals.values));
        Arrays next =
            joined(part(duals.values, 0, count()), chosen(part(dense, 0, count()), moving));
        return joined(next, chosen(part(dense, count(), dense.size() - count()), y_moves));
      },
      joined(carry(x), tangents), joined(xs(x), x_tangents), length, reverse);
  Arrays carry_tangents = scattered(part(result.carry, count(), tangents.size()), moving);
  Arrays y_tangents = scattered(result.stacked, y_moves);
  return joined(carry_tangents, y_tangents);
}

Arrays Scan::batch(const Arrays& x, const Mask& mapped, std::int64_t n) const {
  // Slices of mapped xs: the mapped axis 0 stands before the scanned axis; swap them.
  auto scanned_first = [](const Array& a) {
    Axes order = iota_axes(a.rank());
    std::swap(order[0], order[1]);
    return permute(a, order);
  };
  std::size_t before = static_cast<std::size_t>(captured) + count();
  Arrays xs_first = xs(x);
  Mask xs_mask(mapped.begin() + static_cast<std::ptrdiff_t>(before), mapped.end());
  for (std::size_t i = 0; i < xs_first.size(); i++) {
    if (xs_mask[i]) xs_first[i] = scanned_first(xs_first[i]);
  }
  ArrayTypes one(body.parameters.begin() + static_cast<std::ptrdiff_t>(captured),
                 body.parameters.begin() + static_cast<std::ptrdiff_t>(before));
  auto masks = [&](const Mask& carry) {
    Mask all(mapped.begin(), mapped.begin() + static_cast<std::ptrdiff_t>(captured));
    all.insert(all.end(), carry.begin(), carry.end());
    all.insert(all.end(), xs_mask.begin(), xs_mask.end());
    return all;
  };
  Mask mask = fixed_point(carry_mask(mapped), [&](const Mask& trial) {
    Arrays values = placeholders(mapped_types(one, trial, n), "vmap");
    Arrays slices = placeholders(slice_types(xs_first), "vmap");
    Mask after;
    spread_call(body, joined(joined(captures(x), values), slices), masks(trial), n, after);
    after.resize(count());
    return after;
  });
  Arrays start = all_mapped(carry(x), carry_mask(mapped), mask, n);
  ScanResult result = make_scan(
      [&](const Arrays& values, const Arrays& slices) {
        Mask after;
        Arrays outputs =
            spread_call(body, joined(joined(captures(x), values), slices), masks(mask), n, after);
        Mask wanted = mask;
        wanted.resize(outputs.size(), true);
        return all_mapped(outputs, after, wanted, n);
      },
      start, xs_first, length, reverse);
  Arrays outputs = all_mapped(result.carry, mask, Mask(count(), true), n);
  for (const Array& y : result.stacked) outputs.push_back(scanned_first(y));
  return outputs;
}

std::vector<Series> Scan::jet(const std::vector<Series>& x) const {
  std::size_t before = static_cast<std::size_t>(captured) + count();
  auto middle = x.begin() + static_cast<std::ptrdiff_t>(captured);
  auto last = x.begin() + static_cast<std::ptrdiff_t>(before);
  std::vector<Series> fixed(x.begin(), middle), start(middle, last), along(last, x.end());
  std::size_t order = x[0].size() - 1;
  Mask along_moves = moving(along);
  Arrays flat_along = packed(along, along_moves);
  auto step = [&](const Arrays& flat, const Mask& moves, const Arrays& slices) {
    std::vector<Series> series = fixed;
    for (Series& c : unpacked(flat, moves, order)) series.push_back(std::move(c));
    for (Series& c : unpacked(slices, along_moves, order)) series.push_back(std::move(c));
    return push_series(body.outputs, body.leaves(), series, order);
  };
  auto split = [&](const std::vector<Series>& outputs) {
    auto end = outputs.begin() + static_cast<std::ptrdiff_t>(carried);
    return std::pair(std::vector<Series>(outputs.begin(), end),
                     std::vector<Series>(end, outputs.end()));
  };
  auto trial = [&](const Mask& mask) {
    Arrays flat = placeholders(types_of(packed(start, mask)), "jet");
    Arrays slices = placeholders(slice_types(flat_along), "jet");
    return split(step(flat, mask, slices));
  };
  Mask moves =
      fixed_point(moving(start), [&](const Mask& mask) { return moving(trial(mask).first); });
  Mask y_moves = moving(trial(moves).second);
  ScanResult result = make_scan(
      [&](const Arrays& flat, const Arrays& slices) {
        auto [next, ys] = split(step(flat, moves, slices));
        return joined(packed(next, moves), packed(ys, y_moves));
      },
      packed(start, moves), flat_along, length, reverse);
  std::vector<Series> outputs = unpacked(result.carry, moves, order);
  for (Series& c : unpacked(result.stacked, y_moves, order)) outputs.push_back(std::move(c));
  return outputs;
}

// `other` carries all that this one carries, from the same start by the same step; what this one
// stacks besides is added to it.
Arrays Scan::run_within(const Arrays& x, const Scan& other, const Arrays& other_x) const {
  if (length != other.length || reverse != other.reverse) return {};
  std::vector<std::size_t> place = places(carry(x), other.carry(other_x));
  if (place.empty() && carried > 0) return {};
  Arrays all_xs = other.xs(other_x);
  std::vector<std::size_t> x_place;
  for (const Array& array : xs(x)) {
    auto found = std::find_if(all_xs.begin(), all_xs.end(),
                              [&](const Array& known) { return known.same(array); });
    x_place.push_back(static_cast<std::size_t>(found - all_xs.begin()));
    if (found == all_xs.end()) all_xs.push_back(array);
  }
  bool fits = true;
  auto step = [&](const Arrays& values, const Arrays& slices) {
    Arrays other_slices = part(slices, 0, other.xs(other_x).size());
    Arrays outputs = other.body(joined(joined(other.captures(other_x), values), other_slices));
    Arrays own_values, own_slices;
    for (std::size_t i : place) own_values.push_back(values[i]);
    for (std::size_t i : x_place) own_slices.push_back(slices[i]);
    Arrays own = body(joined(joined(captures(x), own_values), own_slices));
    for (std::size_t i = 0; i < count(); i++) fits = fits && own[i].same(outputs[place[i]]);
    return joined(outputs, part(own, count(), own.size() - count()));
  };
  Arrays start = other.carry(other_x);
  step(placeholders(types_of(start), "scan"), placeholders(slice_types(all_xs), "scan"));
  if (!fits) return {};
  ScanResult all = make_scan(step, start, all_xs, length, reverse);
  Arrays own;
  for (std::size_t i : place) own.push_back(all.carry[i]);
  std::size_t stacked = other.body.outputs.size() - other.count();
  own = joined(own, part(all.stacked, stacked, all.stacked.size() - stacked));
  return joined(own, joined(all.carry, part(all.stacked, 0, stacked)));
}

void Scan::replay(const Arrays& x, const RunGraph& run) const {
  Arrays values = carry(x);
  for (std::int64_t step = 0; step < length; step++) {
    std::int64_t i = reverse ? length - 1 - step : step;
    Arrays slices;
    for (const Array& all : xs(x)) slices.push_back(row_at(all, Array(i)));
    Arrays outputs = run(body.outputs, body.leaves(), joined(joined(captures(x), values), slices),
                         "iteration " + std::to_string(i) + " of scan");
    values = part(outputs, 0, count());
  }
}

// As a while loop over a counter, with slices read from the xs and written into the ys.
void Scan::lower(Emitter& emitter, const Node& node) const {
  const Arrays& x = node.inputs;
  ArrayType counter{DType::i32, {}};
  Arrays start = {zeros_of(counter)};
  start = joined(start, carry(x));
  for (std::size_t i = count(); i < node.types.size(); i++)
    start.push_back(zeros_of(node.types[i]));
  Array last = full(static_cast<double>(length - 1), counter);
  Array end = full(static_cast<double>(length), counter);
  Arrays results = make_while(
      [&](const Arrays& all) { return Arrays{all[0] < end}; },
      [&](const Arrays& all) {
        Array i = reverse ? last - all[0] : all[0];
        Arrays slices;
        for (const Array& value : xs(x)) {
          // Numbers in their order need not be stored: they are the counter.
          bool counts = value.node()->op->name() == "iota" && value.rank() == 1;
          slices.push_back(counts ? convert(i, value.dtype()) : row_at(value, i));
        }
        Arrays outputs = body(joined(joined(captures(x), part(all, 1, count())), slices));
        Arrays next = {all[0] + 1};
        next = joined(next, part(outputs, 0, count()));
        for (std::size_t k = count(); k < outputs.size(); k++) {
          const Array& ys = all[k + 1];
          Arrays at(ys.shape().size(), zeros_of(counter));
          at[0] = i;
          Shape slice = prepended(1, outputs[k].shape());
          next.push_back(update_at(ys, reshape_to(outputs[k], slice), at));
        }
        return next;
      },
      start);
  results.erase(results.begin());
  emitter.expand(node, results);
}

ScanResult scan(std::string_view name, const FlatFunction& body, const Arrays& start,
                const Arrays& xs, std::int64_t length, bool reverse,
                const std::vector<std::string>& paths, Where where) {
  ScanResult result;
  {
    Trace trace;
    result = make_scan(
        [&](const Arrays& carry, const Arrays& slices) { return body(joined(carry, slices)); },
        start, xs, length, reverse, name, paths, where);
  }
  Arrays all = settle(joined(result.carry, result.stacked));
  return {part(all, 0, start.size()), part(all, start.size(), all.size() - start.size())};
}

std::int64_t common_length(std::string_view function, const Arrays& xs, Where where) {
  Blame blame(where);
  std::optional<std::int64_t> length;
  for (const Array& x : xs) {
    std::int64_t extent = x.rank() == 0 ? -1 : x.shape()[0];
    if (extent < 0 || (length && *length != extent)) {
      throw ShapeError(message(function,
                               x.type().str() + " cannot be taken apart along axis 0" +
                                   (length ? " in " + std::to_string(*length) + " steps" : ""),
                               "Give all xs the same extent there"));
    }
    length = extent;
  }
  if (!length) {
    throw ShapeError(message(function, "xs has no arrays",
                             function == "scan"
                                 ? "Use fori_loop, or scan with none for xs and a length"
                                 : "Give a tree with at least one"));
  }
  return *length;
}

void check_length(std::string_view function, std::int64_t length, Where where) {
  if (length >= 0) return;
  Blame blame(where);
  throw Error(message(function, "the length is " + std::to_string(length),
                      "Give the number of steps, 0 or more"));
}

Array counting(std::int64_t lower, std::int64_t upper, Where where) {
  Blame blame(where);
  constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
  std::int64_t count = 0;
  if (upper > lower && (__builtin_sub_overflow(upper, lower, &count) || count > most)) {
    throw Error(message("fori_loop",
                        "there are more than " + std::to_string(most) + " steps from " +
                            std::to_string(lower) + " to " + std::to_string(upper),
                        "Put one loop inside of another"));
  }
  DType dtype = lower < -most || upper > most ? DType::i64 : DType::i32;
  Trace trace;  // else as many numbers would be stored
  return arange(count, dtype);
}
Array counted(const Array& step, std::int64_t lower) {
  return lower == 0 ? step : step + Array(lower, step.dtype());
}
std::pair<Array, Array> loop_bounds(const Array& lower, const Array& upper, Where where) {
  Blame blame(where);
  for (const Array& bound : {lower, upper}) {
    if (is_integer(bound.dtype()) && bound.rank() == 0) continue;
    throw DtypeError(message("fori_loop",
                             "a bound is " + bound.type().str() + ", but must be an integer scalar",
                             "Convert it, or use vmap for several loops"));
  }
  DType dtype = promoted(lower.dtype(), upper.dtype());
  return {converted(lower, dtype), converted(upper, dtype)};
}
Array is_below(const Array& i, const Array& end) { return i < end; }
Array next_index(const Array& i) { return i + 1; }

}  // namespace sturnus::internal
