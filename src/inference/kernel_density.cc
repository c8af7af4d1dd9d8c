#include <sturnus/functional/control_flow.h>
#include <sturnus/inference/kernel_density.h>
#include <sturnus/ops/arithmetic.h>
#include <sturnus/ops/creation.h>
#include <sturnus/ops/index.h>
#include <sturnus/ops/order.h>
#include <sturnus/ops/rearrange.h>
#include <sturnus/ops/reduce.h>
#include <sturnus/ops/shape.h>
#include <sturnus/ops/take.h>
#include <sturnus/ops/transcendental.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

namespace sturnus {
namespace {

constexpr std::int64_t all_pairs_up_to = 200;
// Kernel values that one block may hold.
constexpr std::int64_t block_budget = 1 << 20;

std::int64_t pair_count(std::int64_t n) { return n * (n - 1) / 2; }

Array median_of_pairs(const Array& members) {
  std::int64_t n = members.shape()[0];
  std::vector<int> first, second;
  for (int i = 0; i < n; i++) {
    for (int j = i + 1; j < n; j++) {
      first.push_back(i);
      second.push_back(j);
    }
  }
  Array distance = abs(take(members, array(first), 0) - take(members, array(second), 0));
  return order_statistic(distance, (pair_count(n) - 1) / 2, 0);
}

// The answer's bits are found from the highest to the lowest. How many pairs are nearer than a
// candidate is counted on sorted members, where those near to i are neighbours: by bisection.
Array median_by_counting(const Array& members) {
  std::int64_t n = members.shape()[0];
  std::int64_t rank = (pair_count(n) - 1) / 2;
  Array sorted = sort(members, 0);
  Array own = broadcast_to(expand_dims(arange(n), 1), members.shape());
  int halvings = 1;
  while ((std::int64_t{1} << halvings) <= n) halvings++;

  // Exclusive end of the j with x_j - x_i < distance, for each i.
  auto near_end = [&](const Array& distance) {
    Array end = own;
    for (int k = halvings - 1; k >= 0; k--) {
      Array trial = end + static_cast<int>(std::int64_t{1} << k);
      Array there = take_along_axis(sorted, minimum(trial, n) - 1, 0);
      end = where((trial <= n) & (there - sorted < distance), trial, end);
    }
    return end;
  };
  auto body = [&](const Array& i, const Array& found) {
    Array candidate = found | shift_left(full_like(found, 1), 30 - i);
    Array near = maximum(near_end(bitcast(candidate, DType::f32)) - own - 1, 0);
    // Counts of pairs exceed 2^24, where f32 stops being exact; i32 holds them up to 65,000
    // members.
    return where(sum(near, 0) <= static_cast<int>(rank), candidate, found);
  };
  Array none_yet = zeros({members.shape()[1]}, DType::i32);
  return bitcast(fori_loop(0, 31, body, none_yet), DType::f32);
}

// Values of members that are not finite lie far away from all.
Array far_if_not_finite(const Array& members) { return where(is_finite(members), members, 1e15); }

// Sums over j of the kernels k_ij and of k_ij (x_j - x_i), both over exp(peak).
struct Sums {
  Array peak, kernel, pull;
};

// Values that a kernel of its own is given for: all dimensions together, or each.
enum class Span { joint, each };

// Adds the members `others`, whose first is number `first`, to the sums.
Sums with_block(const Sums& sums, Span span, const Array& x, const Array& others, const Array& h,
                const Array& first, bool leave_one_out) {
  Array gap = expand_dims(others, 0) - expand_dims(x, 1);  // [n, block, d]
  Array exponent = -0.5 * square(gap / h);
  if (span == Span::joint) exponent = sum(exponent, Over({2}, true));
  Sums next = sums;
  Array scale = full({}, 1);
  if (leave_one_out) {
    Array i = expand_dims(arange(x.shape()[0]), 1);
    Array j = expand_dims(arange(others.shape()[0]), 0) + first;
    exponent = where(expand_dims(i == j, 2), -1e30, exponent);
    next.peak = maximum(sums.peak, max(exponent, 1));
    scale = exp(sums.peak - next.peak);
    exponent = exponent - expand_dims(next.peak, 1);
  }
  // Otherwise a member's own kernel is 1, so that the sum is never near 0.
  Array kernel = exp(exponent);
  next.kernel = sums.kernel * scale + sum(kernel, 1);
  next.pull = sums.pull * scale + sum(kernel * gap, 1);
  return next;
}

Sums kernel_sums(Span span, const Array& x, const Array& h, const KernelDensity& density) {
  std::int64_t n = x.shape()[0], d = x.shape()[1];
  Shape of_kernel = {n, span == Span::joint ? 1 : d};
  Sums none = {density.leave_one_out ? full(of_kernel, -1e29) : zeros(of_kernel), zeros(of_kernel),
               zeros({n, d})};
  std::int64_t block =
      density.block > 0 ? density.block : std::max<std::int64_t>(1, block_budget / (n * d));
  if (block >= n) return with_block(none, span, x, x, h, Array(0), density.leave_one_out);

  // A last block that is not full is filled with members that lie too far away to be felt.
  std::int64_t blocks = (n + block - 1) / block;
  Array filled = pad(x, 1e15, {0, 0}, {blocks * block - n, 0});
  auto step = [&](const Sums& sums, const std::pair<Array, Array>& part) {
    return std::pair(with_block(sums, span, x, part.first, h, part.second, density.leave_one_out),
                     std::tuple<>());
  };
  auto parts =
      std::pair(reshape(filled, {blocks, block, d}), arange(blocks) * static_cast<int>(block));
  return scan(step, none, parts).first;
}

// `value` with the derivative `gradient` by `x`, row by row.
Array with_gradient(const Array& value, const Array& gradient, const Array& x) {
  return value + sum(gradient * (x - stop_gradient(x)), 1);
}

Array log_density(Span span, const Array& members, const KernelDensity& density) {
  Array x = far_if_not_finite(stop_gradient(members));
  std::int64_t spanned = span == Span::joint ? members.shape()[1] : 1;
  Array h = kernel_bandwidth(x, density.bandwidth, spanned);
  Sums sums = kernel_sums(span, x, h, density);
  Array value = log(sums.kernel) + sums.peak;
  if (span == Span::each) value = value - log(h);
  Array gradient = sums.pull / (sums.kernel * square(h));
  return with_gradient(sum(value, 1), gradient, members);
}

}  // namespace

Array median_distance(const Array& members) {
  return members.shape()[0] <= all_pairs_up_to ? median_of_pairs(members)
                                               : median_by_counting(members);
}

Array kernel_bandwidth(const Array& members, Bandwidth bandwidth, std::int64_t dimensions) {
  if (members.rank() != 2 || members.shape()[0] < 2) {
    throw ShapeError("kernel_bandwidth: members are " + members.type().str() +
                     ", but a density of members needs at least 2 of them, [members, dimensions]");
  }
  auto n = static_cast<double>(members.shape()[0]), d = static_cast<double>(dimensions);
  Array x = stop_gradient(members);
  switch (bandwidth) {
    case Bandwidth::median:
      return (median_distance(x) + 1e-7) / std::sqrt(std::log(n));
    case Bandwidth::scaled_median:
      return (median_distance(x) + 1e-7) * std::sqrt(d / std::log(n));
    case Bandwidth::silverman:
      return (stddev(x, 0) + 1e-7) * std::pow(4 / (d + 2) / n, 1 / (d + 4));
    case Bandwidth::scott:
      return (stddev(x, 0) + 1e-7) * std::pow(n, -1 / (d + 4));
  }
  throw Error("kernel_bandwidth: no such rule");
}

Array log_joint_density(const Array& members, const KernelDensity& density) {
  return log_density(Span::joint, members, density);
}

Array log_factorized_density(const Array& members, const KernelDensity& density) {
  return log_density(Span::each, members, density);
}

}  // namespace sturnus
