#include <sturnus/functional/number.h>
#include <sturnus/functional/op.h>

#include <algorithm>
#include <bit>
#include <cmath>

namespace sturnus {
namespace {

bool is_signed(DType dtype) { return dtype <= DType::i64; }
int bits_of(DType dtype) { return static_cast<int>(8 * size_of(dtype)); }

std::uint64_t largest_of(DType dtype) {
  return UINT64_MAX >> (64 - bits_of(dtype) + (is_signed(dtype) ? 1 : 0));
}
std::int64_t smallest_of(DType dtype) {
  return is_signed(dtype) ? INT64_MIN >> (64 - bits_of(dtype)) : 0;
}

// The whole number of 64 bits that `number` is.
std::string digits(const Number& number) {
  return number.real < 0 ? std::to_string(static_cast<std::int64_t>(number.integer))
                         : std::to_string(number.integer);
}

// Whether a double is the number, which then says all of it.
bool is_double(const Number& number) {
  switch (number.kind) {
    case Number::Kind::complex:
      return std::bit_cast<std::uint64_t>(number.imaginary) == 0;
    case Number::Kind::integer:
      // 2^64 is the double next to the largest integers.
      return number.real < 0 ? static_cast<std::int64_t>(number.real) ==
                                   static_cast<std::int64_t>(number.integer)
                             : number.real < 0x1p64 &&
                                   static_cast<std::uint64_t>(number.real) == number.integer;
    default:
      return true;
  }
}

// The element of a floating type that is nearest to a real, the even one of two: its last digit
// stands for a power of 2. What is past the largest is infinite, as in a conversion.
double nearest(double real, DType dtype) {
  struct Format {
    int digits, smallest;  // binary digits, and the exponent of the smallest element
    double largest;
  };
  Format format;
  switch (dtype) {
    case DType::f16:
      format = {11, -24, 0x1.ffcp15};
      break;
    case DType::bf16:
      format = {8, -133, 0x1.fep127};
      break;
    case DType::f32:
    case DType::c64:
      format = {24, -149, 0x1.fffffep127};
      break;
    default:
      return real;
  }
  if (!std::isfinite(real) || real == 0) return real;
  double unit = std::ldexp(1.0, std::max(std::ilogb(real) + 1 - format.digits, format.smallest));
  double rounded = std::nearbyint(real / unit) * unit;
  return std::abs(rounded) <= format.largest ? rounded : std::copysign(HUGE_VAL, real);
}

}  // namespace

bool Number::fits(DType dtype) const {
  if (is_complex(dtype) || dtype == DType::boolean) return true;
  if (kind == Kind::complex) return false;
  if (!is_integer(dtype)) return true;
  if (kind == Kind::real) {
    double whole = std::trunc(real);
    double end = std::ldexp(1.0, bits_of(dtype) - (is_signed(dtype) ? 1 : 0));
    return whole >= (is_signed(dtype) ? -end : 0.0) && whole < end;
  }
  return real < 0 ? static_cast<std::int64_t>(integer) >= smallest_of(dtype)
                  : integer <= largest_of(dtype);
}

Number Number::as(DType dtype) const {
  if (dtype == DType::boolean) return real != 0 || imaginary != 0 ? 1.0 : 0.0;
  if (is_integer(dtype) && kind == Kind::real) return std::trunc(real) + 0.0;
  if (is_integer(dtype)) return is_double(*this) ? Number(real) : *this;
  Number rounded(std::complex<double>(nearest(real, dtype), nearest(imaginary, dtype)));
  return is_double(rounded) ? Number(rounded.real) : rounded;
}

std::string Number::str() const {
  switch (kind) {
    case Kind::boolean:
      return real != 0 ? "true" : "false";
    case Kind::integer:
      return digits(*this);
    case Kind::real:
      return internal::shortest_text(real);
    case Kind::complex:
      return internal::shortest_text(real) + (std::signbit(imaginary) ? "-" : "+") +
             internal::shortest_text(std::abs(imaginary)) + "i";
  }
  return {};
}

bool Number::operator==(const Number& other) const {
  return kind == other.kind && integer == other.integer && internal::same_field(real, other.real) &&
         internal::same_field(imaginary, other.imaginary);
}

std::size_t Number::hash() const {
  std::size_t parts =
      internal::hash_mix(internal::hash_field(real), internal::hash_field(imaginary));
  return internal::hash_mix(parts, internal::hash_field(integer));
}

void internal::check_number(std::string_view function, const Number& number, DType dtype) {
  if (number.fits(dtype)) return;
  std::string type(name_of(dtype)), wider = "c64";
  if (number.kind == Number::Kind::real) {
    wider = "f32";
  } else if (number.kind == Number::Kind::integer) {
    wider = number.fits(DType::i64) ? "i64" : "u64";
  }
  std::string range;
  if (is_integer(dtype)) {
    range = ", which holds " + std::to_string(smallest_of(dtype)) + " to " +
            std::to_string(largest_of(dtype));
  }
  throw DtypeError(message(function,
                           "the number " + number.str() + " does not fit into " + type + range,
                           "Use a type that holds it, such as " + wider));
}

}  // namespace sturnus
