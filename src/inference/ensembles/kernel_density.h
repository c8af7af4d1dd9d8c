// Kernel densities of an ensemble's members among themselves: what keeps them apart.
#pragma once

#include <sturnus/functional/array.h>

#include <cstdint>

namespace sturnus {

/// How wide the kernels are, along each of d dimensions of n members. Every rule is detached: no
/// derivative goes through it. Members that are not finite do not count, neither in n; where fewer
/// than 2 are finite, n is 2 and medians are 0.
///   median         lower median of |x_i - x_j| + 1e-7, i < j, over sqrt(ln n): the published one
///   scaled_median  the same times sqrt(d): a kernel of all d dimensions together then sees
///                  neighbours, where otherwise it sees only itself
///   silverman      sd (4 / (d + 2) / n)^(1 / (d + 4)), with sd the standard deviation + 1e-7
///   scott          sd n^(-1 / (d + 4))
enum class Bandwidth { median, scaled_median, silverman, scott };

struct KernelDensity {
  Bandwidth bandwidth = Bandwidth::median;
  /// Each member is left out of the density that it sees, which is 1 and flat for one that alone is
  /// finite. Published: it is not.
  bool leave_one_out = false;
  /// Members taken at once; 0 chooses. Memory is members x dimensions x block.
  std::int64_t block = 0;
};

/// The bandwidth of each dimension of `members`, [n, d]: [d]. `dimensions` is how many a kernel
/// spans. This and what follows throws ShapeError when there is but one member.
Array kernel_bandwidth(const Array& members, Bandwidth bandwidth, std::int64_t dimensions);

/// The lower median of |x_i - x_j|, i < j, in every dimension of x[n, d]. Exact; up to 200 members
/// all pairs are looked at, for more only n log n of them.
Array median_distance(const Array& members);

/// log sum_j exp(-|x_i - x_j|^2 / 2) for each member i of [n, d], differences in units of the
/// bandwidth: one kernel for all dimensions. The derivative is that by x_i with the x_j fixed,
/// -sum_j w_ij (x_i - x_j) / h^2 with weights w_i that sum to 1, whatever mode asks for it.
/// Members with values that are not finite repel nobody.
/// `others` are where the x_j are, if not at `members`: the density stays while members move.
Array log_joint_density(const Array& members, const KernelDensity& density,
                        const Array& others = {});

/// The same for each dimension alone, log sum_j exp(-(x_i - x_j)^2 / 2 h^2) / h, summed over the
/// dimensions.
Array log_factorized_density(const Array& members, const KernelDensity& density,
                             const Array& others = {});

}  // namespace sturnus
