// Element types and array types: what a buffer holds.
#pragma once

#include <bit>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace sturnus {

enum class DType : std::uint8_t {
  boolean,
  i8,
  i16,
  i32,
  i64,
  u8,
  u16,
  u32,
  u64,
  f16,
  bf16,
  f32,
  f64,
  c64,   // std::complex<float>
  c128,  // std::complex<double>
};
inline constexpr int dtype_count = 15;

/// Bytes of one element.
std::size_t size_of(DType dtype);
/// "bool", "i32", "f32", "c64", ...
std::string_view name_of(DType dtype);
bool is_floating(DType dtype);
bool is_integer(DType dtype);
bool is_complex(DType dtype);

/// IEEE half precision on the host: storage and conversion only, no arithmetic of its own.
struct f16 {
  std::uint16_t bits = 0;
  f16() = default;
  explicit f16(float value);
  explicit operator float() const;
  bool operator==(const f16&) const = default;
};

/// bfloat16 on the host: the upper half of a float, rounded to nearest even.
struct bf16 {
  std::uint16_t bits = 0;
  bf16() = default;
  explicit bf16(float value);
  explicit operator float() const { return std::bit_cast<float>(std::uint32_t{bits} << 16); }
  bool operator==(const bf16&) const = default;
};

namespace internal {
template <class T>
inline constexpr bool always_false = false;

template <class T>
consteval DType dtype_of() {
  if constexpr (std::is_same_v<T, bool>) {
    return DType::boolean;
  } else if constexpr (std::is_integral_v<T>) {
    // By width and sign, so that long and long long are both i64.
    constexpr auto first = std::is_signed_v<T> ? DType::i8 : DType::u8;
    return static_cast<DType>(static_cast<int>(first) + std::countr_zero(sizeof(T)));
  } else if constexpr (std::is_same_v<T, f16>) {
    return DType::f16;
  } else if constexpr (std::is_same_v<T, bf16>) {
    return DType::bf16;
  } else if constexpr (std::is_same_v<T, float>) {
    return DType::f32;
  } else if constexpr (std::is_same_v<T, double>) {
    return DType::f64;
  } else if constexpr (std::is_same_v<T, std::complex<float>>) {
    return DType::c64;
  } else if constexpr (std::is_same_v<T, std::complex<double>>) {
    return DType::c128;
  } else {
    static_assert(always_false<T>,
                  "an array element is bool, an integer of 8 to 64 bits, f16, bf16, float, double, "
                  "std::complex<float> or std::complex<double>");
  }
}
}  // namespace internal

/// Throws Error: a DType that is none of the enumerators.
[[noreturn]] void throw_unknown(DType dtype);

/// The DType of a C++ element type: dtype_of<float> is DType::f32.
template <class T>
inline constexpr DType dtype_of = internal::dtype_of<std::remove_cv_t<T>>();

/// f(T()) for the C++ element type T of `dtype`.
template <class F>
decltype(auto) visit_dtype(DType dtype, F&& f) {
  switch (dtype) {
    case DType::boolean:
      return f(bool());
    case DType::i8:
      return f(std::int8_t());
    case DType::i16:
      return f(std::int16_t());
    case DType::i32:
      return f(std::int32_t());
    case DType::i64:
      return f(std::int64_t());
    case DType::u8:
      return f(std::uint8_t());
    case DType::u16:
      return f(std::uint16_t());
    case DType::u32:
      return f(std::uint32_t());
    case DType::u64:
      return f(std::uint64_t());
    case DType::f16:
      return f(f16());
    case DType::bf16:
      return f(bf16());
    case DType::f32:
      return f(float());
    case DType::f64:
      return f(double());
    case DType::c64:
      return f(std::complex<float>());
    case DType::c128:
      return f(std::complex<double>());
  }
  throw_unknown(dtype);
}

using Shape = std::vector<std::int64_t>;

/// Dtype and shape; prints as "f32[3,4]".
struct ArrayType {
  DType dtype = DType::f32;
  Shape shape;

  /// Number of elements: the product of the shape, 1 for a scalar. Throws Error when it overflows.
  std::int64_t size() const;
  /// Bytes of the dense array. Throws Error when they overflow.
  std::size_t bytes() const;
  std::string str() const;
  bool operator==(const ArrayType&) const = default;
};

}  // namespace sturnus
