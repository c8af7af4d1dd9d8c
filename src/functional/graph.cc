#include <sturnus/functional/evaluate.h>
#include <sturnus/functional/graph.h>
#include <sturnus/functional/op.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <unordered_set>

#include "src/functional/recharge.h"

namespace sturnus {

std::string Where::str() const {
  std::string_view name = file;
  if (line == 0 || name.find("/include/c++/") != name.npos) return {};
  if (std::size_t slash = name.rfind('/'); slash != name.npos) name.remove_prefix(slash + 1);
  return std::string(name) + ":" + std::to_string(line);
}

namespace internal {
namespace {

std::size_t hash_of(const Op& op, const Arrays& inputs) {
  std::size_t hash = op.hash();
  for (const Array& input : inputs) {
    hash = hash_mix(hash, input.node()->id);
    hash = hash_mix(hash, static_cast<std::size_t>(input.output()));
  }
  return hash;
}

bool is_application(const Node& node, const Op& op, const Arrays& inputs) {
  return node.inputs.size() == inputs.size() &&
         std::equal(inputs.begin(), inputs.end(), node.inputs.begin(),
                    [](const Array& a, const Array& b) { return a.same(b); }) &&
         node.op->equals(op);
}

// The nodes that live, by hash. A node takes itself out when it dies, so the table keeps nothing
// alive.
class LiveNodes {
 public:
  static LiveNodes& instance() {
    static auto& table = *new LiveNodes;  // outlives arrays in static variables
    return table;
  }

  std::uint64_t next_id() const { return next_id_; }

  /// A leaf that no other can be equal to.
  std::shared_ptr<const Node> unlisted(std::unique_ptr<const Op> op, ArrayType type) {
    auto node = std::make_shared<Node>();
    node->id = next_id_++;
    node->op = std::move(op);
    node->types.push_back(std::move(type));
    return node;
  }

  std::shared_ptr<const Node> find_or_add(std::unique_ptr<const Op> op, const Arrays& inputs,
                                          Where where) {
    std::size_t hash = hash_of(*op, inputs);
    std::vector<std::shared_ptr<const Node>> released_after_unlock;
    {
      std::lock_guard lock(mutex_);
      if (auto node = find(hash, *op, inputs, released_after_unlock)) return node;
    }
    // Outside the lock: infer may throw, and may itself make nodes.
    ArrayTypes types = op->infer(inputs);
    auto* made = new Node;
    std::shared_ptr<const Node> node(made, &LiveNodes::forget);
    made->op = std::move(op);
    made->inputs = inputs;
    made->types = std::move(types);
    made->where = where;
    made->hash = hash;
    made->id = next_id_++;
    std::lock_guard lock(mutex_);
    // Another thread may have made it meanwhile; equal nodes must stay one.
    auto same = find(hash, *made->op, inputs, released_after_unlock);
    if (same != nullptr) return same;
    nodes_.emplace(hash, Entry{made, node});
    return node;
  }

 private:
  struct Entry {
    const Node* address;
    std::weak_ptr<const Node> node;
  };

  // Needs the lock. Nodes that only were looked at go into `released_after_unlock`: the last to let
  // go of a node takes it out of the table, for which it needs the lock itself.
  std::shared_ptr<const Node> find(
      std::size_t hash, const Op& op, const Arrays& inputs,
      std::vector<std::shared_ptr<const Node>>& released_after_unlock) {
    auto [begin, end] = nodes_.equal_range(hash);
    for (auto it = begin; it != end; ++it) {
      std::shared_ptr<const Node> node = it->second.node.lock();
      if (node == nullptr) continue;
      if (is_application(*node, op, inputs)) return node;
      released_after_unlock.push_back(std::move(node));
    }
    return nullptr;
  }

  // Deletes a node, and then, one after another rather than one inside another, the nodes that only
  // it kept alive: a long chain must not use up the stack.
  static void forget(const Node* node) {
    // The list of the outermost call. It is not thread_local itself: at exit it would be gone
    // before the nodes that static variables hold.
    static thread_local std::vector<const Node*>* waiting = nullptr;
    if (waiting != nullptr) {
      waiting->push_back(node);
      return;
    }
    std::vector<const Node*> list = {node};
    waiting = &list;
    while (!list.empty()) {
      const Node* next = list.back();
      list.pop_back();
      instance().erase(*next);
      delete next;
    }
    waiting = nullptr;
  }

  void erase(const Node& node) {
    std::lock_guard lock(mutex_);
    auto [begin, end] = nodes_.equal_range(node.hash);
    for (auto it = begin; it != end; ++it) {
      if (it->second.address != &node) continue;
      nodes_.erase(it);
      return;
    }
  }

  std::mutex mutex_;
  std::unordered_multimap<std::size_t, Entry> nodes_;
  std::atomic<std::uint64_t> next_id_ = 1;
};

thread_local int open_traces = 0;
thread_local bool blamed = false;
thread_local Where blame;
thread_local std::string_view blamed_function;

}  // namespace

Trace::Trace() { open_traces++; }
Trace::~Trace() { open_traces--; }
bool Trace::open() { return open_traces > 0; }

Blame::Blame(Where where, std::string_view function)
    : outermost_(!blamed && where.line != 0), named_(blamed_function.empty() && !function.empty()) {
  if (named_) blamed_function = function;
  if (!outermost_) return;
  blamed = true;
  blame = where;
}
Blame::~Blame() {
  if (named_) blamed_function = {};
  if (outermost_) blamed = false;
}

std::string_view Blame::named(std::string_view function) {
  return blamed_function.empty() ? function : blamed_function;
}

Recharge::Recharge(Where where)
    : outer_blamed_(blamed), outer_(blame), outer_function_(blamed_function) {
  if (where.line == 0) return;
  blamed = true;
  blame = where;
  blamed_function = {};
}
Recharge::~Recharge() {
  blamed = outer_blamed_;
  blame = outer_;
  blamed_function = outer_function_;
}

Where Blame::current() { return blamed ? blame : Where{}; }

std::string where_text() { return in_parentheses(Blame::current()); }

std::string in_parentheses(Where where) {
  std::string line = where.str();
  return line.empty() ? line : " (" + line + ")";
}

std::string message(std::string_view function, const std::string& fault, std::string_view remedy) {
  return std::string(Blame::named(function)) + ": " + fault + where_text() + ". " +
         std::string(remedy);
}

namespace {

// Throws Error when the memory of an input was donated.
void check_present(const Node& node) {
  for (std::size_t i = 0; i < node.inputs.size(); i++) {
    auto buffer = constant_value(node.inputs[i]);
    if (buffer == nullptr || !buffer->released()) continue;
    buffer->throw_released(std::string(Blame::named(node.op->name())) + ": argument " +
                           std::to_string(i) + ", " + buffer->type().str() + where_text() + ",");
  }
}

}  // namespace

Arrays emit(std::unique_ptr<const Op> op, const Arrays& inputs) {
  for (const Array& input : inputs) {
    if (input.empty()) {
      throw Error(message(op->name(), "an argument is Array(), which has no value",
                          "Assign it a value first"));
    }
  }
  if (Array simpler = op->simplify(inputs); !simpler.empty()) return {simpler};
  auto node = LiveNodes::instance().find_or_add(std::move(op), inputs, Blame::current());
  Arrays results;
  for (std::size_t i = 0; i < node->types.size(); i++)
    results.push_back({node, static_cast<int>(i)});
  bool at_once = !Trace::open() && std::all_of(inputs.begin(), inputs.end(),
                                               [](const Array& x) { return x.concrete(); });
  if (!at_once) return results;
  check_present(*node);
  return evaluate(results);
}

std::uint64_t next_node_id() { return LiveNodes::instance().next_id(); }

Array graph_node(std::unique_ptr<const Op> op) {
  return {LiveNodes::instance().find_or_add(std::move(op), {}, Blame::current()), 0};
}

namespace {

std::vector<OpFacts>& ops() {
  static auto& all = *new std::vector<OpFacts>;
  return all;
}

}  // namespace

int add_known_op(const OpFacts& facts) {
  ops().push_back(facts);
  return static_cast<int>(ops().size());
}

std::vector<OpFacts> known_ops() {
  std::vector<OpFacts> all = ops();
  std::sort(all.begin(), all.end(),
            [](const OpFacts& a, const OpFacts& b) { return a.name < b.name; });
  return all;
}

void throw_no_rule(std::string_view rule, std::string_view op) {
  throw Error(message(op, "this operation has no " + std::string(rule) + " rule",
                      "Give the function one with custom_jvp or custom_vjp"));
}

ArrayTypes types_of(const Arrays& arrays) {
  ArrayTypes types;
  for (const Array& array : arrays) types.push_back(array.type());
  return types;
}

// ---------------------------------------------------------------------------------------- leaves

namespace {

struct Placeholder {
  static constexpr std::string_view name = "placeholder";
  std::int64_t serial;
  ArrayType type;
  std::string owner, line;
  ArrayType infer(const Arrays&) const { return type; }
  void lower(Emitter&, const Node&) const {
    throw TraceError(
        message(owner,
                "an array of type " + type.str() + " that stood for an argument of " +
                    (line.empty() ? "the traced function" : "the function traced at " + line) +
                    " is used after the function returned",
                "Return it from the function instead of storing it outside"));
  }
};

struct Parameter {
  static constexpr std::string_view name = "parameter";
  std::int64_t index;
  ArrayType type;
  ArrayType infer(const Arrays&) const { return type; }
};

struct Full {
  static constexpr std::string_view name = "full";
  Number value;
  ArrayType type;
  ArrayType infer(const Arrays&) const { return type; }
  void lower(Emitter& emitter, const Node& node) const {
    emitter.line(node, "constant",
                 "value = dense<" + mlir_number(value, type.dtype) + "> : " + mlir_type(type));
  }
};

struct Constant {
  static constexpr std::string_view name = "constant";
  std::shared_ptr<const Buffer> buffer;
  ArrayType infer(const Arrays&) const { return buffer->type(); }
  // Only in a program that is to be complete in itself; usually concrete arrays are arguments.
  void lower(Emitter& emitter, const Node& node) const {
    std::string bytes(buffer->type().bytes(), '\0');
    buffer->to_host(bytes.data(), bytes.size());
    emitter.literal(node, bytes);
  }
};

}  // namespace

Array placeholder(const ArrayType& type, std::string_view owner, Where where) {
  static std::atomic<std::int64_t> serial = 0;
  return graph_node(Placeholder{serial++, type, std::string(owner), where.str()});
}

Arrays placeholders(const ArrayTypes& types, std::string_view owner, Where where) {
  Arrays result;
  for (const ArrayType& type : types) result.push_back(placeholder(type, owner, where));
  return result;
}

Array parameter(int index, const ArrayType& type) { return graph_node(Parameter{index, type}); }

Array full(const Number& value, const ArrayType& type, std::string_view function) {
  check_number(function, value, type.dtype);
  return make(Full{value.as(type.dtype), type}, {});
}

std::optional<double> splat(const Array& array) {
  const Full* op = as<Full>(array);
  if (op == nullptr || op->value.kind != Number::Kind::real) return std::nullopt;
  return op->value.real;
}

Array constant(std::shared_ptr<const Buffer> buffer) {
  return {LiveNodes::instance().unlisted(std::make_unique<OpOf<Constant>>(Constant{buffer}),
                                         buffer->type()),
          0};
}

std::shared_ptr<const Buffer> constant_value(const Array& array) {
  const Constant* op = as<Constant>(array);
  return op == nullptr ? nullptr : op->buffer;
}

// ----------------------------------------------------------------------------------------- walks

namespace {

// Visits `outputs` and what they depend on, inputs first, entering only nodes that `enter` admits.
template <class Enter>
std::vector<const Node*> depth_first(const Arrays& outputs, Enter enter) {
  struct Frame {
    const Node* node;
    std::size_t next_input;
  };
  std::vector<const Node*> order;
  std::unordered_set<const Node*> seen;
  std::vector<Frame> stack;
  auto push = [&](const Array& array) {
    const Node* node = array.node().get();
    if (enter(*node) && seen.insert(node).second) stack.push_back({node, 0});
  };
  for (const Array& output : outputs) {
    push(output);
    while (!stack.empty()) {
      Frame& top = stack.back();
      if (top.next_input < top.node->inputs.size()) {
        push(top.node->inputs[top.next_input++]);
      } else {
        order.push_back(top.node);
        stack.pop_back();
      }
    }
  }
  return order;
}

}  // namespace

std::vector<const Node*> reachable(const Arrays& outputs) {
  return depth_first(outputs, [](const Node&) { return true; });
}

std::size_t size_of_graph(const Arrays& outputs) {
  std::size_t size = 0;
  for (const Node* node : reachable(outputs)) size += 1 + node->op->inner_size();
  return size;
}

std::vector<const Node*> dependents(const Arrays& outputs, const Arrays& roots) {
  if (roots.empty()) return {};
  std::unordered_set<const Node*> depends;
  std::uint64_t oldest = UINT64_MAX;
  for (const Array& root : roots) {
    depends.insert(root.node().get());
    oldest = std::min(oldest, root.node()->id);
  }
  // What is older than every root depends on none of them.
  auto candidates = depth_first(outputs, [oldest](const Node& node) { return node.id > oldest; });
  std::vector<const Node*> result;
  for (const Node* node : candidates) {
    if (depends.count(node) > 0) continue;
    for (const Array& input : node->inputs) {
      if (depends.count(input.node().get()) == 0) continue;
      depends.insert(node);
      result.push_back(node);
      break;
    }
  }
  return result;
}

void Image::set(const Node& from, const Arrays& to) {
  for (std::size_t i = 0; i < to.size(); i++) images_[{&from, static_cast<int>(i)}] = to[i];
}

Array Image::operator()(const Array& from) const {
  auto found = images_.find({from.node().get(), from.output()});
  return found == images_.end() ? from : found->second;
}

Arrays Image::operator()(const Arrays& from) const {
  Arrays result;
  for (const Array& array : from) result.push_back((*this)(array));
  return result;
}

Arrays substitute(const Arrays& outputs, const Arrays& from, const Arrays& to) {
  Trace trace;
  Image image;
  for (std::size_t i = 0; i < from.size(); i++) image.set(from[i], to[i]);
  for (const Node* node : dependents(outputs, from)) {
    Recharge recharge(node->where);
    image.set(*node, node->op->apply(image(node->inputs)));
  }
  return image(outputs);
}

}  // namespace internal
}  // namespace sturnus
