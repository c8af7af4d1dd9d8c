// A kernel density that knows how the members' values hang together.
#pragma once

#include <sturnus/functional/array.h>

namespace sturnus {

/// log sum_j exp(-|z_i - a z_j|^2 / 2 h^2) / det(h L) for each member i of [n, d], where
/// z = L^-1 (x - mean), L L^T is the members' covariance, h the rule of Silverman for d dimensions,
/// and a = sqrt(1 - h^2) moves the kernels towards the mean. Without that the density would be
/// wider than the members are, and repel too little; with it its covariance is theirs, whatever h
/// (M. West, 1993), so that for a Gaussian target members come to rest with its covariance.
///
/// The derivative is that by x_i with all else fixed. Members with values that are not finite, or
/// far from all others (8 median deviations from the median of those that are finite), neither
/// repel nor are repelled, and get the density at the mean, however many they are; one that is left
/// alone is not repelled. `others` are where the x_j are, if not at `members`.
///
/// Takes memory for an array of [d, n, n], unlike the other densities, which come in blocks: it is
/// made for the few numbers that say all of a solution, which few members fill, and these need no
/// blocks. For thousands of members take another density.
///
/// Throws ShapeError unless there are at least d + 2 members.
Array log_correlated_density(const Array& members, const Array& others = {});

}  // namespace sturnus
