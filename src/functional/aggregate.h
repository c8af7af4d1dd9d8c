// What the language lets us find out about a plain struct: how many members, and their names.
//
// Members are counted by asking how many initializers the struct takes. Two things would make that
// number wrong and are told apart here: a base class (it takes the first initializer) and a C array
// (it takes one initializer per element).
#pragma once

#include <sturnus/functional/with_fields.h>

#include <array>
#include <cstddef>
#include <exception>
#include <memory>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

namespace sturnus::internal {

/// Converts to anything: stands for one initializer, and is never run.
struct Anything {
  std::size_t position;
  template <class T>
  operator T() const {
    std::terminate();
  }
};

/// Converts to nothing.
struct Stranger {};

/// Converts to base classes of Derived only.
template <class Derived>
struct AnyBaseOf {
  template <class T>
  requires(std::is_base_of_v<T, Derived> && !std::is_same_v<T, Derived>) operator T() const;
};

template <class T, std::size_t... before>
consteval bool takes_initializers(std::index_sequence<before...>) {
  return requires { T{Anything{before}...}; };
}

template <class T, std::size_t... before, std::size_t... after>
consteval bool takes_braces_between(std::index_sequence<before...>, std::index_sequence<after...>) {
  return requires { T{Anything{before}..., {}, Anything{after}...}; };
}

template <class T, class First, std::size_t... after>
consteval bool takes_first(std::index_sequence<after...>) {
  return requires { T{First{}, Anything{after}...}; };
}

/// The number of initializers T takes; more than max_fields if it is that many or cannot be known,
/// as with a member that is a reference.
template <class T, std::size_t n = 0>
consteval std::size_t count_initializers() {
  if constexpr (n > max_fields) {
    return n;
  } else if constexpr (takes_initializers<T>(std::make_index_sequence<n>()) &&
                       !takes_initializers<T>(std::make_index_sequence<n + 1>())) {
    return n;
  } else {
    return count_initializers<T, n + 1>();
  }
}

template <class T>
inline constexpr std::size_t field_count = count_initializers<T>();

/// A first member like std::any, which takes everything, is no base class.
template <class T>
consteval bool takes_base_class() {
  if constexpr (field_count<T> != 0) {
    constexpr std::make_index_sequence<field_count<T> - 1> others;
    return takes_first<T, AnyBaseOf<T>>(others) && !takes_first<T, Stranger>(others);
  }
  return false;
}

template <class T>
inline constexpr bool has_base_class = takes_base_class<T>();

template <class T, std::size_t i, std::size_t... after>
consteval bool takes_braces_at(std::index_sequence<after...>) {
  return (
      takes_braces_between<T>(std::make_index_sequence<i>(), std::make_index_sequence<after>()) ||
      ...);
}

/// Whether the member at initializer i swallows several: then {} for it leaves too many others,
/// unless {} is no initializer for it at all.
template <class T, std::size_t i>
consteval bool is_c_array() {
  constexpr std::size_t others = field_count<T> - i - 1;
  if constexpr (takes_braces_at<T, i>(std::index_sequence<others>())) {
    return false;
  } else {
    return takes_braces_at<T, i>(std::make_index_sequence<others>());
  }
}

template <class T, std::size_t... i>
consteval bool any_c_array(std::index_sequence<i...>) {
  return (is_c_array<T, i>() || ...);
}

template <class T>
inline constexpr bool has_c_array = any_c_array<T>(std::make_index_sequence<field_count<T>>());

/// An object of static storage that is never constructed: only the addresses of its members count.
template <class T>
union Unborn {
  char nothing;
  T object;
  constexpr Unborn() : nothing(0) {}
  constexpr ~Unborn() {}
};
#ifdef __clang__  // clang 14 does not take that union for a literal type
template <class T>
inline constinit const Unborn<T> unborn;
#else  // gcc would run the destructor of anything less at exit
template <class T>
inline constexpr Unborn<T> unborn;
#endif

template <class T>
struct Address {
  constexpr explicit Address(const T* address) : value(address) {}
  const T* value;
};

/// Compilers spell a member's address with its name, last: "... &unborn.object.omega} ...".
template <Address address>
consteval auto name_at() {
  constexpr auto in_identifier = [](char c) {
    return c == '_' || ('0' <= c && c <= '9') || ('a' <= c && c <= 'z') || ('A' <= c && c <= 'Z') ||
           static_cast<unsigned char>(c) >= 0x80;
  };
  std::string_view text = __PRETTY_FUNCTION__;
  text = text.substr(0, text.rfind('}'));
  while (!in_identifier(text.back())) text.remove_suffix(1);
  std::size_t begin = text.size();
  while (in_identifier(text[begin - 1])) --begin;
  return text.substr(begin);
}

template <class T>
inline constexpr auto field_addresses = with_fields<field_count<T>>(
    unborn<T>.object, [](auto&... field) { return std::tuple(Address{std::addressof(field)}...); });

template <class T, std::size_t... i>
consteval auto names_at(std::index_sequence<i...>) {
  return std::array<std::string_view, sizeof...(i)>{name_at<std::get<i>(field_addresses<T>)>()...};
}

/// The names of an aggregate's members.
template <class T>
inline constexpr auto field_names = names_at<T>(std::make_index_sequence<field_count<T>>());

/// The name of a type as the compiler spells it.
template <class T>
consteval auto type_name() {
  std::string_view text = __PRETTY_FUNCTION__;
  std::size_t begin = text.find("T = ") + 4;
  return text.substr(begin, text.rfind(']') - begin);
}

}  // namespace sturnus::internal
