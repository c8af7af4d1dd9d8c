#include <sturnus/functional/control_flow.h>
#include <sturnus/functional/doubles.h>
#include <sturnus/inference/ensembles/kernel_density.h>
#include <sturnus/ops/arithmetic.h>
#include <sturnus/ops/creation.h>
#include <sturnus/ops/index.h>
#include <sturnus/ops/pair_order.h>
#include <sturnus/ops/rearrange.h>
#include <sturnus/ops/reduce.h>
#include <sturnus/ops/shape.h>
#include <sturnus/ops/transcendental.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

namespace sturnus {
namespace {

// Kernel values that one block may hold.
constexpr std::int64_t block_budget = 1 << 20;

// Members whose values are not finite are put where nobody feels them.
constexpr double far_away = 1e15;
Array far_if_not_finite(const Array& x) { return where(is_finite(x), x, far_away); }

// The standard deviation of the finite values of each row, and how many these are.
std::pair<Array, Array> finite_stddev(const Array& x) {
  Array fine = is_finite(x);
  Array count = maximum(sum(convert(fine, x.dtype()), Over({1}, true)), 1.0);
  Array mean = sum(where(fine, x, 0.0), Over({1}, true)) / count;
  return {sqrt(sum(square(where(fine, x - mean, 0.0)) / count, 1)), squeeze(count, {1})};
}

Array bandwidth_of_rows(const Array& x, Bandwidth bandwidth, std::int64_t dimensions) {
  auto d = static_cast<double>(dimensions);
  auto median = [&](double scale) {
    auto [distance, count] = pair_median(x);
    Array n = convert(maximum(count, 2), x.dtype());
    return scale * (distance + 1e-7) / sqrt(log(n));
  };
  auto sd = [&](double scale) {
    auto [deviation, count] = finite_stddev(x);
    return (deviation + 1e-7) * pow(scale / maximum(count, 2.0), 1 / (d + 4));
  };
  switch (bandwidth) {
    case Bandwidth::median:
      return median(1);
    case Bandwidth::scaled_median:
      return median(std::sqrt(d));
    case Bandwidth::silverman:
      return sd(4 / (d + 2));
    case Bandwidth::scott:
      return sd(1);
  }
  throw Error("kernel_bandwidth: no such rule");
}

// How arrays of members and dimensions lie in memory: the longer of both goes last, where the
// hardware likes it, and members that come first already need no transposition.
struct Layout {
  int member;  // the axis of members, 0 or 1
  int dimension() const { return 1 - member; }
  /// The axis of dimensions behind or before the two of pairs.
  int dimension_of_pairs() const { return member == 0 ? 2 : 0; }
  /// [dimensions, members] in this order.
  Array of(const Array& x) const { return member == 1 ? x : transpose(x); }
  std::vector<Array> at(const Array& first) const {
    return member == 1 ? std::vector{Array(0), first} : std::vector{first, Array(0)};
  }
  Shape shape(std::int64_t dimensions, std::int64_t members) const {
    return member == 1 ? Shape{dimensions, members} : Shape{members, dimensions};
  }
};

// Sums over j of the kernels k_ij and of k_ij (x_j - x_i), both over exp(peak).
struct Sums {
  Array peak, kernel, pull;
};

// Values that a kernel of its own is given for: all dimensions together, or each.
enum class Span { joint, each };

// Adds the members `others`, whose first is number `first`, to the sums. Members that are repelled
// come after the others: sums over the others then run along whole rows.
Sums with_block(const Sums& sums, Span span, Layout layout, const Array& x, const Array& others,
                const Array& h, const Array& first, bool leave_one_out) {
  int other = layout.member, d = layout.dimension_of_pairs();
  Array gap = expand_dims(others, other + 1) - expand_dims(x, other);
  Array exponent = -0.5 * square(gap * expand_dims(1.0 / h, other));
  if (span == Span::joint) exponent = sum(exponent, Over({d}, true));
  Sums next = sums;
  Array scale = full({}, 1, x.dtype());
  if (leave_one_out) {
    auto members = [&](const Array& all) {
      return arange(all.shape()[static_cast<std::size_t>(layout.member)]);
    };
    Array j = expand_dims(members(others), 1) + first;
    Array i = expand_dims(members(x), 0);
    exponent = where(expand_dims(i == j, d), -1e30, exponent);
    next.peak = maximum(sums.peak, max(exponent, other));
    scale = exp(sums.peak - next.peak);
    exponent = exponent - expand_dims(next.peak, other);
  }
  // Otherwise a member's own kernel is 1, so that the sum is never near 0.
  Array kernel = exp(exponent);
  next.kernel = sums.kernel * scale + sum(kernel, other);
  next.pull = sums.pull * scale + sum(kernel * gap, other);
  return next;
}

Sums kernel_sums(Span span, Layout layout, const Array& x, const Array& others, const Array& h,
                 const KernelDensity& density) {
  auto extent = [&](int axis) { return x.shape()[static_cast<std::size_t>(axis)]; };
  std::int64_t d = extent(layout.dimension()), n = extent(layout.member);
  Shape of_kernel = layout.shape(span == Span::joint ? 1 : d, n);
  Sums none = {full(of_kernel, density.leave_one_out ? -1e29 : 0, x.dtype()),
               zeros(of_kernel, x.dtype()), zeros(x.shape(), x.dtype())};
  std::int64_t block =
      density.block > 0 ? density.block : std::max<std::int64_t>(1, block_budget / (n * d));
  if (block >= n) {
    return with_block(none, span, layout, x, others, h, Array(0), density.leave_one_out);
  }

  // A last block that is not full is filled with members that lie too far away to be felt.
  std::int64_t blocks = (n + block - 1) / block;
  Array filled = pad(others, far_away, {0, 0}, layout.shape(0, blocks * block - n));
  auto step = [&](const Sums& sums, const Array& b) {
    Array first = b * static_cast<int>(block);
    Array part = dynamic_slice(filled, layout.at(first), layout.shape(d, block));
    return std::pair(with_block(sums, span, layout, x, part, h, first, density.leave_one_out),
                     std::tuple<>());
  };
  return scan(step, none, arange(blocks)).first;
}

// The members as columns: [dimensions, members].
Array columns(const char* function, const Array& members) {
  if (members.rank() != 2 || members.shape()[0] < 2 || members.shape()[1] < 1) {
    throw ShapeError(std::string(function) + ": members are " + members.type().str() +
                     ". Give [members, dimensions] with at least 2 members and 1 dimension");
  }
  return transpose(members);
}

// Value and gradient are computed apart, from the sums; x - stop_gradient(x) brings both together.
Array log_density(const char* function, Span span, const Array& members,
                  const KernelDensity& density, const Array& kernels) {
  Array rows = columns(function, members);
  Array centres = stop_gradient(kernels.empty() ? rows : columns(function, kernels));
  std::int64_t dimensions = rows.shape()[0];
  Layout layout = {dimensions < rows.shape()[1] ? 1 : 0};
  Array bandwidth =
      bandwidth_of_rows(centres, density.bandwidth, span == Span::joint ? dimensions : 1);
  Array x = layout.of(rows), fixed = stop_gradient(x), h = expand_dims(bandwidth, layout.member);
  Sums sums = kernel_sums(span, layout, far_if_not_finite(fixed),
                          far_if_not_finite(layout.of(centres)), h, density);
  Array height = span == Span::each ? sums.kernel / h : sums.kernel;
  Array value = log(height) + sums.peak;
  Array slope = sums.pull / (sums.kernel * square(h));
  if (density.leave_one_out) {
    // Where all others are lost there is nobody to see.
    Array seen = sums.kernel > 0.0;
    value = where(seen, value, 0.0);
    slope = where(seen, slope, 0.0);
  }
  Array change = slope * (x - fixed);
  if (span == Span::each) return sum(value + change, layout.dimension());
  return sum(value, layout.dimension()) + sum(change, layout.dimension());
}

}  // namespace

Array median_distance(const Array& members) {
  return pair_median(columns("median_distance", members)).distance;
}

Array kernel_bandwidth(const Array& members, Bandwidth bandwidth, std::int64_t dimensions) {
  return bandwidth_of_rows(columns("kernel_bandwidth", stop_gradient(members)), bandwidth,
                           dimensions);
}

Array log_joint_density(const Array& members, const KernelDensity& density, const Array& others) {
  return log_density("log_joint_density", Span::joint, members, density, others);
}

Array log_factorized_density(const Array& members, const KernelDensity& density,
                             const Array& others) {
  return log_density("log_factorized_density", Span::each, members, density, others);
}

}  // namespace sturnus
