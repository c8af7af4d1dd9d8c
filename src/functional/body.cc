#include "src/functional/body.h"

#include <unordered_set>

#include "src/ops/structural.h"

namespace sturnus::internal {

Arrays Body::leaves() const {
  Arrays result;
  for (std::size_t i = 0; i < parameters.size(); i++) {
    result.push_back(parameter(static_cast<int>(i), parameters[i]));
  }
  return result;
}

Arrays Body::operator()(const Arrays& arguments) const {
  return substitute(outputs, leaves(), arguments);
}

std::size_t Body::hash() const {
  std::size_t hash = parameters.size();
  for (const Array& output : outputs) {
    hash = hash_mix(hash, output.node()->id);
    hash = hash_mix(hash, static_cast<std::size_t>(output.output()));
  }
  return hash;
}

bool Body::operator==(const Body& other) const {
  return parameters == other.parameters && outputs.size() == other.outputs.size() &&
         std::equal(outputs.begin(), outputs.end(), other.outputs.begin(),
                    [](const Array& a, const Array& b) { return a.same(b); });
}

std::string Body::str() const {
  return "{" + std::to_string(reachable(outputs).size()) + " nodes}";
}

Closed close(const Arrays& outputs, const Arrays& roots) {
  std::unordered_set<const Node*> inside;
  for (const Array& root : roots) inside.insert(root.node().get());
  std::vector<const Node*> nodes = dependents(outputs, roots);
  inside.insert(nodes.begin(), nodes.end());

  Arrays captured;
  std::unordered_set<const Node*> seen;
  // What does not change inside is computed once, outside; but repeating elements is left inside,
  // so that the loop does not carry large copies of small things.
  std::vector<Array> waiting(outputs.rbegin(), outputs.rend());
  for (auto it = nodes.rbegin(); it != nodes.rend(); ++it) {
    waiting.insert(waiting.end(), (*it)->inputs.begin(), (*it)->inputs.end());
  }
  Image seen_values;
  while (!waiting.empty()) {
    Array value = waiting.back();
    waiting.pop_back();
    const Node* node = value.node().get();
    if (inside.count(node) > 0 || seen_values.has(value)) continue;
    seen_values.set(value, value);
    bool is_number = splat(value).has_value();
    bool repeats = as<Broadcast>(value) != nullptr || as<Reshape>(value) != nullptr;
    if (is_number) continue;
    if (repeats) {
      waiting.push_back(node->inputs[0]);
    } else {
      captured.push_back(value);
    }
  }
  Arrays from = roots;
  from.insert(from.end(), captured.begin(), captured.end());
  Closed closed;
  closed.body.parameters = types_of(from);
  closed.body.outputs = substitute(outputs, from, closed.body.leaves());
  closed.captured = std::move(captured);
  return closed;
}

}  // namespace sturnus::internal
