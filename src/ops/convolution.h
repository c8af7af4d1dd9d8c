// Convolutions: sums over windows that slide over the spatial axes.
#pragma once

#include <sturnus/functional/array.h>

#include <utility>
#include <vector>

namespace sturnus {

/// One entry per spatial axis; an empty list is 1 (0 for the padding) everywhere.
struct ConvolutionOptions {
  /// By how much the window moves.
  std::vector<std::int64_t> strides = {};
  /// Zeros before and behind x; negative numbers cut off.
  std::vector<std::pair<std::int64_t, std::int64_t>> padding = {};
  /// The distance of neighbouring elements of x (others are 0), and of the kernel.
  std::vector<std::int64_t> x_dilation = {}, kernel_dilation = {};
  /// Features are split into so many groups that do not see each other.
  std::int64_t groups = 1;
};

/// y[b, o, p] = sum over i, s of x[b, i, p + s] kernel[o, i, s] for x[batch, features, space...]
/// and kernel[new features, features / groups, space...]. The kernel is not mirrored. StableHLO:
/// convolution. Throws ShapeError when shapes and options do not fit.
Array convolution(Operand x, Operand kernel, const ConvolutionOptions& options = {});

/// Padding with which the result has ceil(extent / stride) elements along each spatial axis.
std::vector<std::pair<std::int64_t, std::int64_t>> same_padding(
    const Shape& x, const Shape& kernel, const ConvolutionOptions& options = {});

/// Everything where the two overlap; as much as the longer has, around the middle; only where they
/// overlap completely.
enum class ConvolveMode { full, same, valid };
/// NumPy's convolve: y[k] = sum over j of a[j] v[k - j] for vectors. Throws ShapeError when one is
/// no vector, or empty.
Array convolve(Operand a, Operand v, ConvolveMode mode = ConvolveMode::full);

}  // namespace sturnus
