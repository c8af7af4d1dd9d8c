#include <sturnus/functional/emitter.h>
#include <sturnus/functional/small_loops.h>
#include <sturnus/runtime/host_callback.h>

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstdio>

namespace sturnus::internal {
namespace {

std::string_view mlir_element(DType dtype) {
  static constexpr std::array<std::string_view, dtype_count> names = {
      "i1",   "i8",  "i16",  "i32", "i64", "ui8",          "ui16",        "ui32",
      "ui64", "f16", "bf16", "f32", "f64", "complex<f32>", "complex<f64>"};
  return names[static_cast<std::size_t>(dtype)];
}

std::string joined(const std::vector<std::string>& parts) {
  std::string text;
  for (const std::string& part : parts) text += (text.empty() ? "" : ", ") + part;
  return text;
}

std::string hexadecimal(std::uint64_t bits, int digits) {
  char text[24];
  std::snprintf(text, sizeof(text), "0x%0*llX", digits, static_cast<unsigned long long>(bits));
  return text;
}

}  // namespace

std::string mlir_type(const ArrayType& type) {
  std::string text = "tensor<";
  for (std::int64_t extent : type.shape) text += std::to_string(extent) + "x";
  return text.append(mlir_element(type.dtype)) + ">";
}

std::string mlir_types(const ArrayTypes& types) {
  std::string text;
  for (const ArrayType& type : types) text += (text.empty() ? "" : ", ") + mlir_type(type);
  return "(" + text + ")";
}

std::string shortest_text(double value, DType dtype) {
  char text[40];
  auto written = [&text](auto... what) {
    return std::string(text, std::to_chars(text, text + sizeof(text), what...).ptr);
  };
  if (dtype == DType::f32 || dtype == DType::c64) return written(static_cast<float>(value));
  if (dtype != DType::f16 && dtype != DType::bf16) return written(value);
  std::string some;
  for (int digits = 1; digits <= 5; digits++) {  // which tell all halves apart
    some = written(value, std::chars_format::general, digits);
    double read = value;
    std::from_chars(some.data(), some.data() + some.size(), read);
    if (Number(read).as(dtype).real == value) break;
  }
  return some;
}

std::string mlir_number(const Number& number, DType dtype) {
  double value = number.real;
  if (is_complex(dtype)) {
    DType part = dtype == DType::c64 ? DType::f32 : DType::f64;
    return "(" + mlir_number(value, part) + ", " + mlir_number(number.imaginary, part) + ")";
  }
  if (dtype == DType::boolean) return value != 0 ? "true" : "false";
  if (is_integer(dtype)) {
    if (number.kind == Number::Kind::integer) return number.str();
    char text[32];
    std::snprintf(text, sizeof(text), "%.0f", value);
    return text;
  }
  if (!std::isfinite(value) || (dtype != DType::f64 && !std::isfinite(static_cast<float>(value)))) {
    float single = static_cast<float>(value);
    switch (dtype) {
      case DType::f16:
        return hexadecimal(f16(single).bits, 4);
      case DType::bf16:
        return hexadecimal(bf16(single).bits, 4);
      case DType::f32:
        return hexadecimal(std::bit_cast<std::uint32_t>(single), 8);
      default:
        return hexadecimal(std::bit_cast<std::uint64_t>(value), 16);
    }
  }
  // With a point in every locale.
  char text[40];
  bool wide = dtype == DType::f64;
  double shown = wide ? value : static_cast<double>(static_cast<float>(value));
  auto end =
      std::to_chars(text, text + sizeof(text), shown, std::chars_format::scientific, wide ? 17 : 9)
          .ptr;
  return {text, end};
}

std::string mlir_integers(std::string_view name, const std::vector<std::int64_t>& values) {
  std::string text = std::string(name) + " = array<i64";
  for (std::size_t i = 0; i < values.size(); i++) {
    text += (i == 0 ? ": " : ", ") + std::to_string(values[i]);
  }
  return text + ">";
}

std::string mlir_integer(std::string_view name, std::int64_t value) {
  return std::string(name) + " = " + std::to_string(value) + " : i64";
}

std::string mlir_string(std::string_view name, std::string_view text) {
  std::string result = std::string(name) + " = \"";
  for (char c : text) {
    auto byte = static_cast<unsigned char>(c);
    if (byte >= 32 && byte < 127 && c != '"' && c != '\\') {
      result += c;
    } else {
      result += '\\' + hexadecimal(byte, 2).substr(2);
    }
  }
  return result + "\"";
}

std::string Emitter::name_of(const Array& array) const {
  auto found = names_.find(array.node().get());
  if (found == names_.end()) throw Error("Emitter: a value is used before it is printed");
  return found->second[static_cast<std::size_t>(array.output())];
}

std::vector<std::string> Emitter::names_of(const Arrays& arrays) const {
  std::vector<std::string> names;
  for (const Array& array : arrays) names.push_back(name_of(array));
  return names;
}

void Emitter::line(const Node& node, std::string_view hlo, std::string_view attributes) {
  line(node, hlo, names_of(node.inputs), types_of(node.inputs), "", attributes);
}

namespace {

// Row-major, whatever else XLA would choose.
std::string layouts(const ArrayTypes& types) {
  std::vector<std::string> each;
  for (const ArrayType& type : types) {
    std::vector<std::string> minor_to_major;
    for (std::size_t axis = type.shape.size(); axis-- > 0;) {
      minor_to_major.push_back(std::to_string(axis));
    }
    std::string axes = minor_to_major.empty() ? "" : "[" + joined(minor_to_major) + "]";
    each.push_back("dense<" + axes + "> : tensor<" + std::to_string(type.shape.size()) + "xindex>");
  }
  return "[" + joined(each) + "]";
}

std::string host_call_attributes(std::string_view callback, std::string_view parameter,
                                 const ArrayTypes& arguments, const ArrayTypes& results,
                                 bool side_effect) {
  constexpr int typed_interface = 4;
  return mlir_string("call_target_name", host_callback_target) +
         ", api_version = " + std::to_string(typed_interface) +
         " : i32, has_side_effect = " + (side_effect ? "true" : "false") + ", backend_config = {" +
         mlir_string("callback", callback) + ", " + mlir_string("parameter", parameter) +
         "}, operand_layouts = " + layouts(arguments) + ", result_layouts = " + layouts(results);
}

}  // namespace

bool Emitter::calls_host() const { return on_host_ && !SmallLoops::on(); }

void Emitter::host_call(std::string_view callback, std::string_view parameter,
                        const Arrays& arguments) {
  ArrayTypes types = types_of(arguments);
  content_.add("custom_call", {});
  text_ += "  \"stablehlo.custom_call\"(" + joined(names_of(arguments)) + ") {" +
           host_call_attributes(callback, parameter, types, {}, true) + "} : " + mlir_types(types) +
           " -> ()\n";
}

void Emitter::host_call(const Node& node, std::string_view callback, std::string_view parameter) {
  host_call(node, callback, parameter, names_of(node.inputs), types_of(node.inputs));
}

void Emitter::host_call(const Node& node, std::string_view callback, std::string_view parameter,
                        const std::vector<std::string>& operands, const ArrayTypes& operand_types) {
  line(node, "custom_call", operands, operand_types, "",
       host_call_attributes(callback, parameter, operand_types, node.types, false));
}

void Emitter::line(const Node& node, std::string_view hlo, const std::vector<std::string>& operands,
                   const ArrayTypes& operand_types, std::string_view regions,
                   std::string_view attributes) {
  content_.add(hlo, node.types);
  std::string name = fresh();
  std::vector<std::string>& results = names_[&node];
  std::size_t count = node.types.size();
  for (std::size_t i = 0; i < count; i++) {
    results.push_back(count == 1 ? name : name + "#" + std::to_string(i));
  }
  text_ += "  " + name;
  if (count != 1) text_ += ":" + std::to_string(count);
  text_ += " = \"stablehlo.";
  text_.append(hlo) += "\"(" + joined(operands) + ")";
  if (!regions.empty()) text_.append(" (").append(regions).append(")");
  if (!attributes.empty()) text_.append(" {").append(attributes).append("}");
  text_ += " : " + mlir_types(operand_types) + " -> ";
  text_ += (count == 1 ? mlir_type(node.types[0]) : mlir_types(node.types)) + "\n";
}

std::string Emitter::constant(std::string_view value, const ArrayType& type) {
  std::string name = fresh();
  std::string type_text = mlir_type(type);
  text_ += "  " + name + " = \"stablehlo.constant\"() {value = dense<";
  text_.append(value) += "> : " + type_text + "} : () -> " + type_text + "\n";
  return name;
}

void Emitter::literal(const Node& node, std::string_view bytes) {
  const ArrayType& type = node.types[0];
  // Bits of booleans are packed in such text; bytes are not.
  bool boolean = type.dtype == DType::boolean;
  ArrayType stored = {boolean ? DType::u8 : type.dtype, type.shape};
  std::string text = "\"0x";
  for (char byte : bytes) {
    static constexpr std::string_view digits = "0123456789ABCDEF";
    text += digits[static_cast<unsigned char>(byte) >> 4];
    text += digits[static_cast<unsigned char>(byte) & 15];
  }
  std::string name = type.size() == 0 ? constant("", stored) : constant(text + "\"", stored);
  if (boolean) {
    line(node, "convert", {name}, {stored}, "", "");
  } else {
    names_[&node] = {name};
  }
}

void Emitter::Content::add(std::string_view hlo, const ArrayTypes& results) {
  static constexpr std::array<std::string_view, 11> not_by_element = {
      "all_gather", "all_reduce",    "cholesky", "convolution", "custom_call",     "dot_general",
      "fft",        "reduce_window", "scatter",  "sort",        "triangular_solve"};
  by_element &=
      std::find(not_by_element.begin(), not_by_element.end(), hlo) == not_by_element.end();
  lines++;
  if (hlo == "dynamic_update_slice") return;  // in place
  for (const ArrayType& type : results) largest = std::max(largest, type.size());
}

void Emitter::Content::add(const Content& inner) {
  by_element &= inner.by_element;
  lines += inner.lines;
  largest = std::max(largest, inner.largest);
}

bool Emitter::Content::is_small() const { return by_element && lines <= 4000 && largest <= 4096; }

std::vector<std::string> Emitter::print_while(const Arrays& start, const Arrays& parameters,
                                              const Array& go_on, const Arrays& next) {
  Content outer = std::exchange(content_, {});
  open_loops_++;
  std::string regions = region(parameters, {go_on}) + ", " + region(parameters, next);
  open_loops_--;
  Content inner = std::exchange(content_, outer);
  content_.add(inner);

  std::string name = fresh(), types = mlir_types(types_of(start));
  std::size_t count = start.size();
  std::vector<std::string> results;
  for (std::size_t i = 0; i < count; i++) {
    results.push_back(count == 1 ? name : name + "#" + std::to_string(i));
  }
  auto print = [&](std::string& text, const std::string& op, const std::string& operands,
                   const std::string& rest) {
    text += "  " + name + (count == 1 ? "" : ":" + std::to_string(count)) + " = \"" + op + "\"(" +
            operands + ") " + rest + " : " + types + " -> " + types + "\n";
  };
  bool apart = on_host_ && SmallLoops::on() && open_loops_ == 0 && inner.is_small();
  if (!apart) {
    print(text_, "stablehlo.while", joined(names_of(start)), "(" + regions + ")");
    return results;
  }
  // A call with these attributes is one function of machine code, loops and all.
  std::string function = "@loop" + std::to_string(functions_.size()), head;
  std::vector<std::string> arguments;
  for (const Array& value : start) {
    arguments.push_back(fresh());
    head += (head.empty() ? "" : ", ") + arguments.back() + ": " + mlir_type(value.type());
  }
  std::string text = "func.func private " + function + "(" + head + ") -> " + types + " {\n";
  print(text, "stablehlo.while", joined(arguments), "(" + regions + ")");
  functions_.push_back(text + "  \"func.return\"(" + joined(results) + ") : " + types +
                       " -> ()\n}\n");
  print(
      text_, "func.call", joined(names_of(start)),
      "{callee = " + function +
          ", mhlo.frontend_attributes = {inlineable = \"false\", xla_cpu_small_call = \"true\"}}");
  return results;
}

void Emitter::loop(const Node& node, const Arrays& parameters, const Array& go_on,
                   const Arrays& next) {
  names_[&node] = print_while(node.inputs, parameters, go_on, next);
  names_[&node].resize(node.types.size());
}

Arrays Emitter::loop(const Arrays& start, const std::function<Array(const Arrays&)>& condition,
                     const std::function<Arrays(const Arrays&)>& step) {
  expanded_.insert(expanded_.end(), start.begin(), start.end());
  body(start);
  Arrays carried = placeholders(types_of(start), "loop");
  auto names = print_while(start, carried, condition(carried), step(carried));
  for (std::size_t i = 0; i < names.size(); i++) bind_parameter(carried[i], names[i]);
  expanded_.insert(expanded_.end(), carried.begin(), carried.end());
  return carried;
}

void Emitter::expand(const Node& node, const Arrays& replacement) {
  expanded_.insert(expanded_.end(), replacement.begin(), replacement.end());
  body(replacement);
  names_[&node] = names_of(replacement);
}

void Emitter::pass_through(const Node& node) { names_[&node] = names_of(node.inputs); }

void Emitter::bind_parameter(const Array& parameter, std::string name) {
  auto& names = names_[parameter.node().get()];
  names.resize(parameter.node()->types.size());
  names[static_cast<std::size_t>(parameter.output())] = std::move(name);
}

void Emitter::join_loops(const std::vector<const Node*>& nodes) {
  std::vector<const Node*> loops;
  for (const Node* node : nodes) {
    if (node->op->is_loop() && names_.count(node) == 0) loops.push_back(node);
  }
  // Joined loops are printed where the first of them would be. All loops that they depend on must
  // stand before it, so that none of them waits for another.
  auto needs_only_before = [&loops](std::size_t place, const Node* loop) {
    for (const Node* node : reachable(loop->inputs)) {
      auto after = loops.begin() + static_cast<std::ptrdiff_t>(place);
      if (std::find(after, loops.end(), node) != loops.end()) return false;
    }
    return true;
  };
  for (std::size_t i = 0; i < loops.size(); i++) {
    for (std::size_t k = 0; k < loops.size(); k++) {
      const Node *part = loops[i], *whole = loops[k];
      if (i == k || joined_loops_.count(part) > 0 || joined_loops_.count(whole) > 0) continue;
      Arrays both = part->op->run_within(part->inputs, *whole->op, whole->inputs);
      std::size_t place = std::min(i, k);
      if (both.empty() || !needs_only_before(place, part) || !needs_only_before(place, whole)) {
        continue;
      }
      auto middle = both.begin() + static_cast<std::ptrdiff_t>(part->types.size());
      const Node* joint = both[0].node().get();  // may be one of the two
      if (part != joint) joined_loops_[part] = {both.begin(), middle};
      if (whole != joint) joined_loops_[whole] = {middle, both.end()};
      for (const Node* loop : {part, whole}) expanded_.push_back({loop->shared_from_this(), 0});
    }
  }
}

void Emitter::body(const Arrays& outputs) {
  std::vector<const Node*> nodes = reachable(outputs);
  join_loops(nodes);
  for (const Node* node : nodes) {
    if (names_.count(node) > 0) continue;
    if (auto joined_loop = joined_loops_.find(node); joined_loop != joined_loops_.end()) {
      expand(*node, joined_loop->second);
    } else {
      node->op->lower(*this, *node);
    }
  }
}

std::string Emitter::returning(const Arrays& outputs) {
  std::string before = std::exchange(text_, {});
  body(outputs);
  std::string inside = std::exchange(text_, std::move(before));
  return inside + "  \"stablehlo.return\"(" + joined(names_of(outputs)) +
         ") : " + mlir_types(types_of(outputs)) + " -> ()\n";
}

std::string Emitter::region(const Arrays& parameters, const Arrays& outputs) {
  Names outer = std::exchange(names_, {});
  std::string head;
  for (const Array& parameter : parameters) {
    std::string name = fresh();
    head += (head.empty() ? "" : ", ") + name + ": " + mlir_type(parameter.type());
    bind_parameter(parameter, name);
  }
  std::string inside = returning(outputs);
  names_ = std::move(outer);
  return "{\n^bb0(" + head + "):\n" + inside + "}";
}

std::string Emitter::open_region(const Arrays& outputs) {
  Names outer = names_;
  std::string inside = returning(outputs);
  names_ = std::move(outer);
  return "{\n" + inside + "}";
}

std::string Emitter::binary_region(std::string_view hlo, DType dtype) {
  std::string a = fresh(), b = fresh(), c = fresh();
  std::string type = mlir_type({dtype, {}});
  return "{\n^bb0(" + a + ": " + type + ", " + b + ": " + type + "):\n  " + c + " = \"stablehlo." +
         std::string(hlo) + "\"(" + a + ", " + b + ") : (" + type + ", " + type + ") -> " + type +
         "\n  \"stablehlo.return\"(" + c + ") : (" + type + ") -> ()\n}";
}

std::string Emitter::module(std::string_view name, const Arrays& parameters, const Arrays& outputs,
                            const Mask& donors, std::string_view platform, bool on_host) {
  Trace trace;  // lowering rules build graphs too
  Emitter emitter;
  emitter.platform_ = platform;
  emitter.on_host_ = on_host;
  std::string head;
  for (std::size_t i = 0; i < parameters.size(); i++) {
    std::string parameter = emitter.fresh();
    head += (i == 0 ? "" : ", ") + parameter + ": " + mlir_type(parameters[i].type());
    if (i < donors.size() && donors[i]) head += " {jax.buffer_donor = true}";
    emitter.bind_parameter(parameters[i], parameter);
  }
  emitter.body(outputs);
  std::string types = mlir_types(types_of(outputs)), functions;
  for (const std::string& function : emitter.functions_) functions += function;
  return "module @" + std::string(name) + " {\nfunc.func public @main(" + head + ") -> " + types +
         " {\n" + emitter.text_ + "  \"func.return\"(" + joined(emitter.names_of(outputs)) +
         ") : " + types + " -> ()\n}\n" + functions + "}\n";
}

}  // namespace sturnus::internal
