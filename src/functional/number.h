// Numbers of C++ on their way into arrays.
#pragma once

#include <sturnus/runtime/dtype.h>

#include <complex>
#include <cstdint>
#include <string>
#include <type_traits>

namespace sturnus {

namespace internal {
template <class T>
concept RealNumber = std::is_arithmetic_v<T> ||(std::is_enum_v<T>&& std::is_convertible_v<T, int>);
}

/// A number of C++ as it is: integers of up to 64 bits exactly.
struct Number {
  enum class Kind { boolean, integer, real, complex };

  template <internal::RealNumber T>
  Number(T number) : real(static_cast<double>(number)) {
    if constexpr (!std::is_floating_point_v<T>) {
      kind = std::is_same_v<T, bool> ? Kind::boolean : Kind::integer;
      integer = static_cast<std::uint64_t>(number);
    }
  }
  template <class T>
  Number(std::complex<T> number)
      : kind(Kind::complex),
        real(static_cast<double>(number.real())),
        imaginary(static_cast<double>(number.imag())) {}

  Kind kind = Kind::real;
  double real;                // the nearest one; the real part
  double imaginary = 0;       // the imaginary part
  std::uint64_t integer = 0;  // a whole number modulo 2^64; its sign is that of `real`

  /// Whether an array's element can be the number, rounded: integer types end somewhere, and only
  /// complex types have imaginary parts.
  bool fits(DType dtype) const;
  /// As an element of a type that it fits, rounded to it, in the way `internal::full` keeps it:
  /// equal elements are equal numbers.
  Number as(DType dtype) const;
  /// "300", "2.5", "1+2i".
  std::string str() const;
  /// The bits of both are the same.
  bool operator==(const Number& other) const;
  std::size_t hash() const;
};

namespace internal {
/// Throws DtypeError, for a function and the line that is being charged, unless the number fits.
void check_number(std::string_view function, const Number& number, DType dtype);
}  // namespace internal

}  // namespace sturnus
