// New arrays.
#pragma once

#include <sturnus/functional/array.h>

namespace sturnus {

/// One value everywhere.
Array full(const Shape& shape, double value, DType dtype = DType::f32);
Array zeros(const Shape& shape, DType dtype = DType::f32);
Array ones(const Shape& shape, DType dtype = DType::f32);
/// The type of another array, with one value everywhere.
Array full_like(Operand x, double value);
Array zeros_like(Operand x);
Array ones_like(Operand x);
/// r[..., i, ...] = i along `axis`. StableHLO: iota.
Array iota(const Shape& shape, int axis, DType dtype = DType::i32);
/// 0, 1, ..., count - 1.
Array arange(std::int64_t count, DType dtype = DType::i32);
/// `count` numbers from `first` to `last`, both included: first + i (last - first) / (count - 1).
Array linspace(Operand first, Operand last, std::int64_t count);
/// Ones where row = column, zeros elsewhere.
Array eye(std::int64_t rows, DType dtype = DType::f32);

}  // namespace sturnus
