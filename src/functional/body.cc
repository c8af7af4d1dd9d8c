#include "src/functional/body.h"

#include <sturnus/functional/print.h>
#include <sturnus/functional/transform.h>

#include <unordered_set>

#include "src/functional/lists.h"
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

std::string Body::str() const { return print_graph(leaves(), {}, outputs); }

namespace {

// `nodes` are the nodes inside, inputs before users.
Closed close_around(const std::vector<const Node*>& nodes, const Arrays& outputs,
                    const Arrays& roots) {
  std::unordered_set<const Node*> inside(nodes.begin(), nodes.end());
  for (const Array& root : roots) inside.insert(root.node().get());

  Arrays captured;
  Arrays waiting(outputs.rbegin(), outputs.rend());
  for (auto it = nodes.rbegin(); it != nodes.rend(); ++it) {
    waiting.insert(waiting.end(), (*it)->inputs.begin(), (*it)->inputs.end());
  }
  Image seen;
  while (!waiting.empty()) {
    Array value = waiting.back();
    waiting.pop_back();
    const Node* node = value.node().get();
    if (inside.count(node) > 0 || seen.has(value)) continue;
    seen.set(value, value);
    if (splat(value)) continue;
    // Repeating elements is left inside, so that no large copies of small things are captured.
    bool repeats = as<Broadcast>(value) != nullptr || as<Reshape>(value) != nullptr;
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

}  // namespace

Closed close(const Arrays& outputs, const Arrays& roots) {
  return close_around(dependents(outputs, roots), outputs, roots);
}

Closed close_since(const Arrays& outputs, std::uint64_t since) {
  std::vector<const Node*> nodes;
  for (const Node* node : reachable(outputs)) {
    bool leaf = node->inputs.empty() && !splat(Array(node->shared_from_this(), 0));
    if (node->id >= since && !leaf) nodes.push_back(node);
  }
  return close_around(nodes, outputs, {});
}

Arrays pull_back_body(const Body& body, const Arrays& x, const Mask& linear, const Arrays& ct) {
  Arrays arguments = x, roots;
  for (std::size_t i = 0; i < x.size(); i++) {
    if (!linear[i]) continue;
    arguments[i] = placeholder(body.parameters[i], "grad");
    roots.push_back(arguments[i]);
  }
  Mask given = present(ct);
  return scattered(pull_back(chosen(body(arguments), given), chosen(ct, given), roots), linear);
}

Closed spread_body(const Body& body, const Arrays& x, const Mask& mapped, std::int64_t n) {
  Arrays roots = placeholders(types_of(x), "vmap");
  Mask out;
  Arrays outputs = spread_call(body, roots, mapped, n, out);
  outputs = all_mapped(outputs, out, Mask(outputs.size(), true), n);
  return close(outputs, roots);
}

}  // namespace sturnus::internal
