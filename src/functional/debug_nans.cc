#include <sturnus/functional/debug_nans.h>
#include <sturnus/functional/evaluate.h>
#include <sturnus/functional/print.h>

#include <cmath>
#include <memory>
#include <optional>
#include <utility>

namespace sturnus {
namespace {

constexpr int off = -1;
thread_local int mode = off;

}  // namespace

DebugNans::DebugNans(NonFinite what) : outer_(std::exchange(mode, static_cast<int>(what))) {}
DebugNans::~DebugNans() { mode = outer_; }
bool DebugNans::on() { return mode != off; }

namespace internal {
namespace {

// Nothing is checked while the culprit is looked for.
class Pause {
 public:
  Pause() : outer_(std::exchange(mode, off)) {}
  ~Pause() { mode = outer_; }
  Pause(const Pause&) = delete;
  bool finds_infinity() const { return outer_ == static_cast<int>(DebugNans::NonFinite::infinity); }

 private:
  int outer_;
};

struct Finding {
  std::int64_t position;  // in row-major order
  std::string value;
};

template <class T>
bool is_bad(const T& value, bool infinity) {
  if constexpr (requires { value.imag(); }) {
    return is_bad(value.real(), infinity) || is_bad(value.imag(), infinity);
  } else {
    auto number = static_cast<double>(static_cast<float>(value));
    if constexpr (std::is_same_v<T, double>) number = value;
    return std::isnan(number) || (infinity && std::isinf(number));
  }
}

// The first bad element.
std::optional<Finding> find_bad(const Array& array, bool infinity) {
  if (!is_floating(array.dtype()) && !is_complex(array.dtype())) return std::nullopt;
  return visit_dtype(array.dtype(), [&](auto zero) -> std::optional<Finding> {
    using T = decltype(zero);
    if constexpr (std::is_integral_v<T>) {
      return std::nullopt;
    } else {
      auto values = array.to_vector<T>();
      for (std::size_t i = 0; i < values.size(); i++) {
        if (!is_bad(values[i], infinity)) continue;
        return Finding{static_cast<std::int64_t>(i), print_element(array.dtype(), &values[i])};
      }
      return std::nullopt;
    }
  });
}

// " at [1,2]" for an element of an array that has several.
std::string index_text(const Shape& shape, std::int64_t position) {
  if (shape.empty()) return {};
  std::string text;
  for (auto extent = shape.rbegin(); extent != shape.rend(); ++extent) {
    text = std::to_string(position % *extent) + (text.empty() ? "" : ",") + text;
    position /= *extent;
  }
  return " at [" + text + "]";
}

std::string line_text(const Where& where) {
  std::string line = where.str();
  return line.empty() ? line : " (" + line + ")";
}

// "argument 1 .w" for the path "<1>.w".
std::string argument_name(const std::string& path) {
  std::size_t end = path.find('>');
  std::string rest = path.substr(end + 1);
  return "argument " + path.substr(1, end - 1) + (rest.empty() ? "" : " " + rest);
}

// A graph that is computed for the same leaves again and again.
class Runner {
 public:
  Arrays operator()(const Arrays& outputs, const Arrays& leaves, const Arrays& values) {
    for (const auto& [known, compiled] : programs_) {
      if (same(known, outputs)) return run(compiled, values);
    }
    programs_.emplace_back(outputs, compile_graph("debug_nans", leaves, outputs, {}, device_));
    return run(programs_.back().second, values);
  }
  explicit Runner(Device device) : device_(std::move(device)) {}
  const Device& device() const { return device_; }

 private:
  static bool same(const Arrays& a, const Arrays& b) {
    if (a.size() != b.size()) return false;
    for (std::size_t i = 0; i < a.size(); i++) {
      if (!a[i].same(b[i])) return false;
    }
    return true;
  }
  static Arrays run(const Compiled& compiled, const Arrays& values) {
    std::vector<const Buffer*> arguments;
    for (const Array& value : values) arguments.push_back(&value.buffer());
    return internal::run(compiled, std::move(arguments));
  }

  Device device_;
  std::vector<std::pair<Arrays, Compiled>> programs_;
};

class Search {
 public:
  Search(bool infinity, Device device) : infinity_(infinity), device_(std::move(device)) {}

  // Throws an Error that names the culprit, if there is one. `places` says where the graph stands.
  void look_into(const Arrays& outputs, const Arrays& leaves, const Arrays& values,
                 const std::string& places) const;
  bool any_bad(const Arrays& arrays) const {
    for (const Array& array : arrays) {
      if (find_bad(array, infinity_)) return true;
    }
    return false;
  }

 private:
  [[noreturn]] void blame(const Node& node, const Image& concrete, const std::string& places) const;
  void look_inside(const Node& node, const Arrays& inputs, const std::string& places) const;

  bool infinity_;
  Device device_;
};

void Search::look_into(const Arrays& outputs, const Arrays& leaves, const Arrays& values,
                       const std::string& places) const {
  Image concrete;
  for (std::size_t i = 0; i < leaves.size(); i++) concrete.set(leaves[i], values[i]);
  std::vector<const Node*> nodes;
  Arrays watched;
  for (const Node* node : reachable(outputs)) {
    Array first(node->shared_from_this(), 0);
    if (concrete.has(first) || first.concrete()) continue;
    nodes.push_back(node);
    for (std::size_t i = 0; i < node->types.size(); i++) {
      watched.emplace_back(node->shared_from_this(), static_cast<int>(i));
    }
  }
  Arrays all = Runner(device_)(watched, leaves, values);
  for (std::size_t i = 0; i < all.size(); i++) concrete.set(watched[i], all[i]);
  for (const Node* node : nodes) {
    if (node->inputs.empty()) continue;  // a number that the function has by itself
    Arrays results;
    for (std::size_t i = 0; i < node->types.size(); i++) {
      results.push_back(concrete(Array(node->shared_from_this(), static_cast<int>(i))));
    }
    if (!any_bad(results)) continue;
    Arrays inputs = concrete(node->inputs);
    if (any_bad(inputs)) continue;
    look_inside(*node, inputs, places);
    blame(*node, concrete, places);
  }
}

void Search::look_inside(const Node& node, const Arrays& inputs, const std::string& places) const {
  Runner runner(device_);
  node.op->replay(inputs, [&](const Arrays& outputs, const Arrays& leaves, const Arrays& values,
                              const std::string& place) {
    Arrays results = runner(outputs, leaves, values);
    if (any_bad(results)) {
      look_into(outputs, leaves, values, "; in " + place + line_text(node.where) + places);
    }
    return results;
  });
}

void Search::blame(const Node& node, const Image& concrete, const std::string& places) const {
  for (std::size_t i = 0; i < node.types.size(); i++) {
    const ArrayType& type = node.types[i];
    Array result = concrete(Array(node.shared_from_this(), static_cast<int>(i)));
    auto finding = find_bad(result, infinity_);
    if (!finding) continue;
    // What the op got there, where it works element by element.
    std::string from;
    for (const Array& input : node.inputs) {
      if (input.shape() != type.shape) {
        from.clear();
        break;
      }
      std::size_t bytes = input.type().bytes();
      auto elements = std::make_unique<std::byte[]>(bytes);
      concrete(input).buffer().to_host(elements.get(), bytes);
      auto offset = static_cast<std::size_t>(finding->position) * size_of(input.dtype());
      from += (from.empty() ? " of " : ", ") + print_element(input.dtype(), &elements[offset]);
    }
    throw Error("DebugNans: " + std::string(node.op->name()) + " gives " + finding->value + from +
                index_text(type.shape, finding->position) + " in " + type.str() +
                line_text(node.where) + places +
                ". Keep its inputs where it is defined, for instance with where or maximum, or "
                "look at them with debug_print");
  }
  throw Error("DebugNans: " + std::string(node.op->name()) + " is not finite" +
              line_text(node.where));
}

}  // namespace

void check_values(const TracedGraph* graph, const std::vector<const Buffer*>& arguments,
                  const Arrays& results) {
  if (Trace::open() || results.empty()) return;
  Pause pause;
  bool infinity = pause.finds_infinity();
  Search search(infinity, results[0].device());
  if (!search.any_bad(results)) return;
  Arrays values;
  for (std::size_t i = 0; i < arguments.size(); i++) {
    // Borrowed: the caller keeps the arguments while this runs.
    values.push_back(
        constant(std::shared_ptr<const Buffer>(std::shared_ptr<void>(), arguments[i])));
    if (auto finding = find_bad(values[i], infinity)) {
      const ArrayType& type = values[i].type();
      bool known = graph != nullptr && i < graph->paths.size();
      throw Error(
          "DebugNans: the function" + (graph == nullptr ? "" : line_text(graph->where)) +
          " is called with " + finding->value + index_text(type.shape, finding->position) + " of " +
          (known ? argument_name(graph->paths[i]) : "its array number " + std::to_string(i)) +
          ", " + type.str() + ". Look at what made that argument");
    }
  }
  if (graph != nullptr) search.look_into(graph->outputs, graph->parameters, values, "");
  for (std::size_t i = 0; i < results.size(); i++) {
    if (auto finding = find_bad(results[i], infinity)) {
      const ArrayType& type = results[i].type();
      throw Error("DebugNans: result " + std::to_string(i) + ", " + type.str() + ", is " +
                  finding->value + index_text(type.shape, finding->position) +
                  (graph == nullptr
                       ? ", and which operation made it is not known of a program from a file. Run "
                         "the function that it was made of"
                       : ", and no operation makes it of finite inputs: an array or number that "
                         "the function captured has it, or XLA's rewriting of the program. Look at "
                         "these"));
    }
  }
}

}  // namespace internal
}  // namespace sturnus
