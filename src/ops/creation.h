// New arrays.
#pragma once

#include <sturnus/functional/array.h>

namespace sturnus {

/// One value everywhere. Throws DtypeError when the type cannot hold it. All functions of a shape
/// or a count throw ShapeError when it is negative, or makes 2^59 elements or more.
Array full(const Shape& shape, Number value, DType dtype = DType::f32, Where where = Where::here());
Array zeros(const Shape& shape, DType dtype = DType::f32, Where where = Where::here());
Array ones(const Shape& shape, DType dtype = DType::f32, Where where = Where::here());
/// The type of another array, with one value everywhere.
Array full_like(Operand x, Number value);
Array zeros_like(Operand x);
Array ones_like(Operand x);
/// r[..., i, ...] = i along `axis`. StableHLO: iota. Throws ShapeError when there is no such axis,
/// DtypeError for bool.
Array iota(const Shape& shape, int axis, DType dtype = DType::i32, Where where = Where::here());
/// 0, 1, ..., count - 1.
Array arange(std::int64_t count, DType dtype = DType::i32, Where where = Where::here());
/// start, start + step, ... below stop (above it for a negative step). Throws Error when step is 0.
Array arange(double start, double stop, double step = 1, DType dtype = DType::f32,
             Where where = Where::here());
/// `count` numbers from `first` to `last`, both included: first + i (last - first) / (count - 1).
/// Of arrays, which are broadcast together, the result has i as a new axis 0.
Array linspace(Operand first, Operand last, std::int64_t count);
/// `count` numbers from base^first to base^last, their logarithms evenly spaced.
Array logspace(Operand first, Operand last, std::int64_t count, double base = 10);
/// Ones where column = row + offset, zeros elsewhere. Throws ShapeError for a negative extent.
Array eye(std::int64_t rows, DType dtype = DType::f32, Where where = Where::here());
Array eye(std::int64_t rows, std::int64_t columns, int offset = 0, DType dtype = DType::f32,
          Where where = Where::here());

}  // namespace sturnus
