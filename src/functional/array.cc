#include <sturnus/functional/array.h>
#include <sturnus/functional/doubles.h>
#include <sturnus/functional/emitter.h>
#include <sturnus/functional/graph.h>
#include <sturnus/functional/print.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <mutex>
#include <optional>
#include <ostream>
#include <sstream>

namespace sturnus {

// ------------------------------------------------------------------------------------- scalars

namespace {

// The number as an element of type T, which it fits.
template <class T>
T as_element(const Number& number) {
  if constexpr (std::is_same_v<T, bool>) {
    return number.real != 0 || number.imaginary != 0;
  } else if constexpr (std::is_integral_v<T>) {
    return number.kind == Number::Kind::real ? static_cast<T>(number.real)
                                             : static_cast<T>(number.integer);
  } else if constexpr (requires(T value) { value.imag(); }) {
    using Part = typename T::value_type;
    return {static_cast<Part>(number.real), static_cast<Part>(number.imaginary)};
  } else if constexpr (std::is_arithmetic_v<T>) {
    return static_cast<T>(number.real);
  } else {
    return T(static_cast<float>(number.as(dtype_of<T>).real));  // else it would be rounded twice
  }
}

// Numbers as elements; throws DtypeError when the type cannot hold one.
template <class Numbers>
Array array_of(const Numbers& numbers, Shape shape, DType dtype, Where where) {
  internal::Blame blame(where);
  return visit_dtype(dtype, [&](auto zero) {
    using T = decltype(zero);
    auto elements = std::make_unique<T[]>(numbers.size());
    std::transform(numbers.begin(), numbers.end(), elements.get(), [&](const Number& number) {
      internal::check_number("array", number, dtype);
      return as_element<T>(number);
    });
    return array(std::span<const T>(elements.get(), numbers.size()), std::move(shape), where);
  });
}

// The line, unless it is one of our headers', which make arrays of the user's numbers: a loop of
// its start.
Where of_user(Where where) {
  bool own = std::string_view(where.file).find("/sturnus/functional/") != std::string_view::npos;
  return own ? Where{} : where;
}

}  // namespace

Array::Array(bool value) : Array(value, DType::boolean) {}
Array::Array(Number value, DType dtype, Where where) {
  if (!value.fits(dtype)) {
    internal::Blame blame(of_user(where));
    internal::check_number("Array", value, dtype);
  }
  if (internal::Trace::open()) {
    *this = internal::full(value, {dtype, {}});
    return;
  }
  *this = visit_dtype(dtype, [&](auto zero) {
    return from_buffer(Buffer::scalar(default_device(), as_element<decltype(zero)>(value)));
  });
}

Array Array::scalar(const Number& number, Where where) {
  switch (number.kind) {
    case Number::Kind::boolean:
      return {number, DType::boolean};
    case Number::Kind::integer:
      break;
    case Number::Kind::real:
      return {number, DType::f32};
    case Number::Kind::complex:
      return {number, DType::c64};
  }
  if (!number.fits(DType::i32)) {
    internal::Blame blame(of_user(where));
    std::string wide(name_of(number.fits(DType::i64) ? DType::i64 : DType::u64));
    throw DtypeError(internal::message(
        "Array", "the integer " + number.str() + " does not fit into i32, the default",
        "Write Array(value, DType::" + wide + ")"));
  }
  return {number, DType::i32};
}

// -------------------------------------------------------------------------------------- arrays

Array::Array(std::shared_ptr<const internal::Node> node, int output)
    : node_(std::move(node)), output_(output) {}

const ArrayType& Array::type() const {
  if (node_ == nullptr) {
    throw Error(
        internal::message("Array", "Array() has no type and no value", "Assign it a value first"));
  }
  return node_->types[static_cast<std::size_t>(output_)];
}

bool Array::concrete() const { return internal::constant_value(*this) != nullptr; }

const Buffer& Array::value_for(std::string_view function, Where where) const {
  auto value = internal::constant_value(*this);
  if (value != nullptr) return *value;  // kept alive by the node
  internal::Blame blame(where);
  std::string made = node_ == nullptr ? "" : node_->where.str();
  std::string self = "this " + type().str() + (made.empty() ? "" : ", made at " + made + ",");
  if (internal::Trace::open()) {
    throw TraceError(internal::message(
        function, self + " belongs to a function that is being traced, and has no value yet",
        "Use where, cond or while_loop for decisions, and debug_print to look at it"));
  }
  throw TraceError(internal::message(
      function,
      self + " has a type but no value: it was made while a function was traced, or by "
             "abstract_array or eval_shape",
      "Return what a traced function computes instead of storing it outside"));
}

const Buffer& Array::value_for(std::string_view function, Where where, DType dtype,
                               std::int64_t count) const {
  const Buffer& value = value_for(function, where);
  internal::check_fill(function, type(), dtype, static_cast<std::size_t>(count),
                       internal::in_parentheses(where));
  return value;
}

Array Array::to(const Device& device, Where where) const {
  const Buffer& value = value_for("to", where);
  return value.device() == device ? *this : from_buffer(value.copy_to(device));
}

const Array& Array::await(Where where) const {
  value_for("await", where).await();
  return *this;
}

void internal::throw_ragged(std::size_t axis, std::int64_t first, std::int64_t other, Where where) {
  Blame blame(where);
  throw ShapeError(message("array",
                           "the lists along axis " + std::to_string(axis) + " have " +
                               std::to_string(first) + " and " + std::to_string(other) +
                               " elements",
                           "Give every row the same number of elements"));
}

Array from_buffer(Buffer buffer) {
  return internal::constant(std::make_shared<const Buffer>(std::move(buffer)));
}

namespace {

[[noreturn]] void throw_uneven(std::size_t axis, std::int64_t extent, Where where) {
  internal::Blame blame(where);
  throw ShapeError(internal::message(
      "array",
      "along axis " + std::to_string(axis) + " a number stands beside a list of " +
          std::to_string(extent) + (extent == 1 ? " element" : " elements"),
      "Put all numbers into equally many braces"));
}

// Appends the numbers below `list`, and checks that they fill `shape` from `axis` on; a shape that
// is not known yet is taken from the first list of its depth.
void collect(const NestedNumbers& list, std::size_t axis, Shape& shape, std::vector<Number>& values,
             Where where) {
  auto extent = static_cast<std::int64_t>(list.parts.size());
  if (list.is_list && axis == shape.size() && values.empty()) shape.push_back(extent);
  bool known = axis < shape.size();
  if (list.is_list != known) throw_uneven(axis - 1, known ? shape[axis] : extent, where);
  if (known && shape[axis] != extent) internal::throw_ragged(axis, shape[axis], extent, where);
  if (!list.is_list) values.push_back(list.value);
  for (const NestedNumbers& part : list.parts) collect(part, axis + 1, shape, values, where);
}

}  // namespace

Array array(std::initializer_list<NestedNumbers> numbers, DType dtype, Where where) {
  Shape shape;
  std::vector<Number> values;
  collect(NestedNumbers(numbers), 0, shape, values, where);
  return array_of(values, shape, dtype, where);
}

Array array(const std::vector<double>& values, Shape shape, DType dtype, Where where) {
  return array_of(values, std::move(shape), dtype, where);
}

std::vector<double> to_doubles(const Array& x, Where where) {
  return visit_dtype(x.dtype(), [&](auto zero) -> std::vector<double> {
    using T = decltype(zero);
    if constexpr (requires { zero.imag(); }) {
      internal::Blame blame(where);
      throw DtypeError(internal::message("to_doubles", "the array is " + x.type().str(),
                                         "Take its real or its imaginary part"));
    } else {
      std::vector<double> result;
      for (T element : x.to_vector<T>(where)) {
        if constexpr (std::is_arithmetic_v<T>) {
          result.push_back(static_cast<double>(element));
        } else {
          result.push_back(static_cast<float>(element));
        }
      }
      return result;
    }
  });
}

// -------------------------------------------------------------------------------------- devices

namespace {

struct DefaultDevice {
  std::mutex mutex;
  std::optional<Device> device;
};

DefaultDevice& chosen() {
  static auto& instance = *new DefaultDevice;
  return instance;
}

}  // namespace

Device default_device() {
  std::lock_guard lock(chosen().mutex);
  if (!chosen().device) {
    const char* platform = std::getenv("STURNUS_PLATFORM");
    chosen().device = Client::create(platform == nullptr ? "cpu" : platform).device();
  }
  return *chosen().device;
}

void set_default_device(const Device& device) {
  std::lock_guard lock(chosen().mutex);
  chosen().device = device;
}

// ------------------------------------------------------------------------------------- printing

namespace {

using Notation = std::chars_format;

// Whether fixed notation would be long, by NumPy's bounds, in the precision of the type.
template <class T>
bool needs_exponent(T value) {
  T size = std::abs(value);
  return std::isfinite(value) && size > 0 && (size < static_cast<T>(1e-4) || size >= 1e8);
}

// As text from to_chars stands for it, whatever the locale.
double value_of(const std::string& text) {
  double value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

// The shortest decimal that reads back as the same number, for f64 to eight digits.
template <class T>
std::string real_text(T value, Notation notation) {
  if (std::isnan(static_cast<float>(value))) return "nan";  // its sign means nothing
  char text[40];
  std::string some;
  if constexpr (std::is_same_v<T, double>) {
    some = {text, std::to_chars(text, text + sizeof(text), value, Notation::general, 8).ptr};
  } else {
    some = internal::shortest_text(static_cast<float>(value), dtype_of<T>);
  }
  double shortened = value_of(some);
  return {text, std::to_chars(text, text + sizeof(text), shortened, notation).ptr};
}

template <class T>
std::string value_text(const T& value, Notation notation) {
  if constexpr (std::is_same_v<T, bool>) {
    return value ? "true" : "false";
  } else if constexpr (requires { value.imag(); }) {
    return real_text(value.real(), notation) + (std::signbit(value.imag()) ? "-" : "+") +
           real_text(std::abs(value.imag()), notation) + "i";
  } else if constexpr (std::is_integral_v<T>) {
    return std::to_string(value);
  } else {
    return real_text(value, notation);
  }
}

template <class T>
bool needs_exponent_in(const T& value) {
  if constexpr (requires { value.imag(); }) {
    return needs_exponent(value.real()) || needs_exponent(value.imag());
  } else if constexpr (std::is_floating_point_v<T>) {
    return needs_exponent(value);
  } else if constexpr (std::is_arithmetic_v<T>) {
    return false;
  } else {
    return needs_exponent(static_cast<float>(value));
  }
}

std::string element_text(DType dtype, const void* element, Notation notation) {
  return visit_dtype(dtype, [&](auto zero) {
    return value_text(*static_cast<const decltype(zero)*>(element), notation);
  });
}

// The notation of an element by itself.
Notation notation_of(DType dtype, const void* element) {
  bool exponent = visit_dtype(dtype, [element](auto zero) {
    return needs_exponent_in(*static_cast<const decltype(zero)*>(element));
  });
  return exponent ? Notation::scientific : Notation::fixed;
}

}  // namespace

std::string internal::print_element(DType dtype, const void* element) {
  return element_text(dtype, element, notation_of(dtype, element));
}

namespace {

constexpr std::size_t line_width = 75;

// Rows of elements in brackets, the long middle of an axis left out, blank lines between blocks and
// long rows in several lines, as NumPy has them.
std::string rows_text(const std::function<std::string(std::size_t)>& element, const ArrayType& type,
                      std::size_t axis, std::size_t begin) {
  const Shape& shape = type.shape;
  if (axis == shape.size()) return element(begin);
  auto extent = static_cast<std::size_t>(shape[axis]);
  std::size_t stride = 1;
  for (std::size_t i = axis + 1; i < shape.size(); i++)
    stride *= static_cast<std::size_t>(shape[i]);
  std::size_t inner = shape.size() - axis - 1;
  std::string line_break(std::max<std::size_t>(inner, 1), '\n');
  line_break += std::string(axis + 1, ' ');
  bool shorten = type.size() > 1000 && extent > 6;
  std::string text = "[";
  std::size_t column = axis;
  for (std::size_t i = 0; i < extent; i++) {
    bool omitted = shorten && i == 3;
    if (omitted) i = extent - 4;
    std::string part = omitted ? "..." : rows_text(element, type, axis + 1, begin + i * stride);
    // A space before it, and all brackets that may close behind it.
    bool fits = inner == 0 && column + 1 + part.size() + shape.size() <= line_width;
    if (i > 0) text += fits ? " " : line_break;
    column = (fits ? column : axis) + 1 + part.size();
    text += part;
  }
  return text + "]";
}

}  // namespace

std::string internal::print_elements(const ArrayType& type, const void* elements) {
  if (type.size() == 0) return "[]";
  auto address = [&](std::size_t i) {
    return static_cast<const char*>(elements) + i * size_of(type.dtype);
  };
  std::vector<std::size_t> shown;
  auto note = [&](std::size_t i) {
    shown.push_back(i);
    return std::string();
  };
  rows_text(note, type, 0, 0);
  bool exponents = std::any_of(shown.begin(), shown.end(), [&](std::size_t i) {
    return notation_of(type.dtype, address(i)) == Notation::scientific;
  });
  Notation notation = exponents ? Notation::scientific : Notation::fixed;
  std::size_t width = 0;
  auto text = [&](std::size_t i) { return element_text(type.dtype, address(i), notation); };
  for (std::size_t i : shown) width = std::max(width, text(i).size());
  auto aligned = [&](std::size_t i) {
    std::string element = text(i);
    return element.insert(0, width - element.size(), ' ');
  };
  return rows_text(aligned, type, 0, 0);
}

std::ostream& operator<<(std::ostream& out, const Array& array) {
  if (array.empty()) return out << "Array()";
  if (!array.concrete()) return out << "Array(" << array.type().str() << ", traced)";
  std::size_t bytes = array.type().bytes();
  auto elements = std::make_unique<std::byte[]>(bytes);
  array.buffer().to_host(elements.get(), bytes);
  return out << internal::print_elements(array.type(), elements.get());
}

std::string to_string(const Array& array) {
  std::ostringstream out;
  out << array;
  return out.str();
}

}  // namespace sturnus
