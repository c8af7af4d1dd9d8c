// Flags that many arrays are chosen by.
#pragma once

#include <sturnus/functional/array.h>

namespace sturnus::internal {

/// The elements of a vector of flags, at most 31, of which XLA computes each once. What is cheap it
/// repeats in every kernel that needs it, and a decision of a sampler is needed by all parts of its
/// state; a sum, here of 2^i for each flag i that is true, it never repeats.
Arrays decided(const Array& flags);

}  // namespace sturnus::internal
