#include <sturnus/ops/arithmetic.h>

#include <algorithm>
#include <unordered_set>

#include "src/functional/scan.h"
#include "src/ops/structural.h"

namespace sturnus::internal {

// Splits the body into what does not depend on the linear inputs, which one scan computes and
// stacks where needed, and the linear rest, which a second scan runs backwards.
Arrays Scan::transpose(const Arrays& ct, const Arrays& x, const Mask& linear) const {
  std::size_t before = static_cast<std::size_t>(captured) + count();
  Arrays parameters = body.leaves();
  auto is_linear = [&](const Mask& carry) {
    Mask all = linear;
    std::copy(carry.begin(), carry.end(), all.begin() + static_cast<std::ptrdiff_t>(captured));
    return all;
  };
  Mask linear_carry = fixed_point(carry_mask(linear), [&](const Mask& trial) {
    Arrays roots = chosen(parameters, is_linear(trial));
    std::unordered_set<const Node*> nodes;
    for (const Node* node : dependents(body.outputs, roots)) nodes.insert(node);
    for (const Array& root : roots) nodes.insert(root.node().get());
    Mask after;
    for (std::size_t i = 0; i < count(); i++) {
      after.push_back(nodes.count(body.outputs[i].node().get()) > 0);
    }
    return after;
  });
  Mask mask = is_linear(linear_carry);
  Mask fixed(mask.size());
  for (std::size_t i = 0; i < mask.size(); i++) fixed[i] = !mask[i];
  Mask fixed_carry = carry_mask(fixed);

  // The values between the two parts: made by fixed inputs, used by linear nodes.
  Arrays roots = chosen(parameters, mask);
  std::vector<const Node*> linear_nodes = dependents(body.outputs, roots);
  std::unordered_set<const Node*> inside(linear_nodes.begin(), linear_nodes.end());
  for (const Array& root : roots) inside.insert(root.node().get());
  Arrays used;
  Image known;
  for (const Node* node : linear_nodes) {
    for (const Array& input : node->inputs) {
      if (inside.count(input.node().get()) > 0 || known.has(input)) continue;
      known.set(input, input);
      used.push_back(input);
    }
  }
  // Of these, only what changes from step to step is stacked; the rest follows from the captures.
  Arrays fixed_leaves = chosen(parameters, fixed);
  Arrays changing_roots = chosen(parameters, [&] {
    Mask changing = fixed;
    std::fill(changing.begin(), changing.begin() + static_cast<std::ptrdiff_t>(captured), false);
    return changing;
  }());
  std::unordered_set<const Node*> changing;
  for (const Node* node : dependents(used, changing_roots)) changing.insert(node);
  for (const Array& root : changing_roots) changing.insert(root.node().get());
  Arrays between, constant_between;
  for (const Array& value : used) {
    (changing.count(value.node().get()) > 0 ? between : constant_between).push_back(value);
  }
  Arrays constants = substitute(constant_between, captures(parameters), captures(x));
  Arrays fixed_xs = xs(scattered(chosen(x, fixed), fixed));
  Mask has_x = present(fixed_xs);
  // First part: forwards, stacking `between`.
  ScanResult first = make_scan(
      [&](const Arrays& carry, const Arrays& slices) {
        Arrays arguments(mask.size());
        Arrays own_captures = captures(x);
        Arrays own_carry = scattered(carry, fixed_carry), own_slices = scattered(slices, has_x);
        for (std::size_t i = 0; i < mask.size(); i++) {
          if (i < own_captures.size()) {
            arguments[i] = own_captures[i];
          } else if (i < before) {
            arguments[i] = own_carry[i - own_captures.size()];
          } else {
            arguments[i] = own_slices[i - before];
          }
        }
        Arrays wanted = joined(chosen(part(body.outputs, 0, count()), fixed_carry), between);
        return substitute(wanted, fixed_leaves, chosen(arguments, fixed));
      },
      chosen(carry(x), fixed_carry), chosen(fixed_xs, has_x), length, reverse);

  // Second part: backwards, carrying cotangents of the linear carry and sums for linear captures.
  Mask linear_captures(mask.begin(), mask.begin() + static_cast<std::ptrdiff_t>(captured));
  Mask linear_xs(mask.begin() + static_cast<std::ptrdiff_t>(before), mask.end());
  Arrays carry_ct = chosen(or_zeros(part(ct, 0, count()), types_of(carry(x))), linear_carry);
  Arrays y_ct;
  Mask y_linear;
  for (std::size_t i = count(); i < body.outputs.size(); i++) {
    bool depends = inside.count(body.outputs[i].node().get()) > 0 && !ct[i].empty();
    y_linear.push_back(depends);
    if (depends) y_ct.push_back(ct[i]);
  }
  Arrays sums;
  for (const Array& value : chosen(captures(x), linear_captures))
    sums.push_back(zeros_of(value.type()));
  std::size_t carries = carry_ct.size();
  ScanResult second = make_scan(
      [&](const Arrays& all, const Arrays& slices) {
        Arrays own_between = part(slices, 0, between.size());
        Arrays own_y = part(slices, between.size(), y_ct.size());
        Arrays directions = placeholders(types_of(roots), "scan");
        Arrays outputs = chosen(part(body.outputs, 0, count()), linear_carry);
        Arrays ys = chosen(part(body.outputs, count(), body.outputs.size() - count()), y_linear);
        outputs = substitute(joined(outputs, ys), joined(joined(between, constant_between), roots),
                             joined(joined(own_between, constants), directions));
        Arrays back = pull_back(outputs, joined(part(all, 0, carries), own_y), directions);
        back = or_zeros(back, types_of(directions));
        // `directions` come in the order captured, carried, xs.
        Arrays next = part(back, sums.size(), carries);
        for (std::size_t i = 0; i < sums.size(); i++) next.push_back(all[carries + i] + back[i]);
        std::size_t used = sums.size() + carries;
        return joined(next, part(back, used, back.size() - used));
      },
      joined(carry_ct, sums), joined(first.stacked, y_ct), length, !reverse);

  Arrays result = scattered(part(second.carry, carries, sums.size()), linear_captures);
  result = joined(result, scattered(part(second.carry, 0, carries), linear_carry));
  return joined(result, scattered(second.stacked, linear_xs));
}

}  // namespace sturnus::internal
