// Numbers of the host, which are doubles, as arrays of whatever element type, and back.
#pragma once

#include <sturnus/functional/array.h>

#include <vector>

namespace sturnus {

/// An array of the given element type on the default device, each number rounded to it. The numbers
/// fill `shape` in row-major order; throws Error when they do not.
Array array(const std::vector<double>& values, Shape shape, DType dtype,
            Where where = Where::here());

/// The elements in row-major order, whatever their type is. Throws DtypeError for complex ones,
/// TraceError for a traced array.
std::vector<double> to_doubles(const Array& x, Where where = Where::here());

}  // namespace sturnus
