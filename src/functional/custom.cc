// Functions whose derivatives the user writes.
#include <sturnus/functional/custom.h>
#include <sturnus/functional/op.h>

#include <algorithm>

#include "src/functional/body.h"
#include "src/functional/lists.h"
#include "src/functional/recharge.h"
#include "src/functional/reverse_only.h"
#include "src/ops/structural.h"

namespace sturnus::internal {
namespace {

void check_captures(std::string_view function, const Arrays& tangents) {
  if (!any(present(tangents))) return;
  throw Error(message(function,
                      "the function uses a value from outside by which is being differentiated",
                      "Pass it as an argument, so that the rule sees it"));
}

// Inputs: arguments, then what the function captures, then what the rule captures.
struct CustomJvp {
  static constexpr std::string_view name = "custom_jvp";
  Body function;  // of the arguments and its captures
  Body rule;      // of arguments, tangents and its captures: values, then tangents
  std::int64_t arguments;

  std::size_t count() const { return static_cast<std::size_t>(arguments); }
  Arrays own(const Arrays& x) const { return part(x, 0, function.parameters.size()); }
  Arrays of_rule(const Arrays& x) const {
    std::size_t before = function.parameters.size();
    return part(x, before, x.size() - before);
  }
  ArrayTypes infer(const Arrays&) const { return types_of(function.outputs); }
  Arrays jvp(const Arrays& x, const Arrays& y, const Arrays& dx) const {
    check_captures(name, part(dx, count(), dx.size() - count()));
    Arrays values = part(x, 0, count());
    Arrays tangents = or_zeros(part(dx, 0, count()), types_of(values));
    Arrays both = rule(joined(joined(values, tangents), of_rule(x)));
    return part(both, y.size(), y.size());
  }
  // In a tangent stands one that the rule of another called, for which it is linear.
  Arrays transpose(const Arrays& ct, const Arrays& x, const Mask& linear) const {
    Mask own_linear(linear.begin(),
                    linear.begin() + static_cast<std::ptrdiff_t>(function.parameters.size()));
    Arrays back = pull_back_body(function, own(x), own_linear, ct);
    back.resize(x.size());  // the value does not depend on what the rule captures
    return back;
  }
  Arrays batch(const Arrays& x, const Mask& mapped, std::int64_t n) const {
    std::size_t before = function.parameters.size();
    Mask own_mask(mapped.begin(), mapped.begin() + static_cast<std::ptrdiff_t>(before));
    Mask mask(mapped.begin(), mapped.begin() + static_cast<std::ptrdiff_t>(arguments));
    Mask rule_mask = joined(mask, mask);
    rule_mask.insert(rule_mask.end(), mapped.begin() + static_cast<std::ptrdiff_t>(before),
                     mapped.end());
    Arrays values = part(x, 0, count());
    Closed wide = spread_body(function, own(x), own_mask, n);
    Closed wide_rule = spread_body(rule, joined(joined(values, values), of_rule(x)), rule_mask, n);
    Arrays inputs = joined(own(x), wide.captured);
    inputs = joined(joined(inputs, of_rule(x)), wide_rule.captured);
    return make_all(CustomJvp{wide.body, wide_rule.body, arguments}, inputs);
  }
  void replay(const Arrays& x, const RunGraph& run) const {
    run(function.outputs, function.leaves(), own(x), "custom_jvp");
  }
  void lower(Emitter& emitter, const Node& node) const {
    emitter.expand(node, function(own(node.inputs)));
  }
};

// `body` of (residuals, cotangents, captures) as one of (residuals, captures, cotangents).
Body residuals_first(const Body& body, std::size_t residuals, std::size_t cotangents) {
  std::size_t captured = body.parameters.size() - residuals - cotangents;
  Body result;
  result.parameters = body.parameters;
  std::rotate(result.parameters.begin() + static_cast<std::ptrdiff_t>(residuals),
              result.parameters.begin() + static_cast<std::ptrdiff_t>(residuals + cotangents),
              result.parameters.end());
  Arrays leaves = result.leaves();
  Arrays cts = part(leaves, residuals + captured, cotangents);
  result.outputs =
      body(joined(joined(part(leaves, 0, residuals), cts), part(leaves, residuals, captured)));
  return result;
}

// The linear map whose transpose is `backward`. Inputs: residuals, tangents of the arguments.
struct CustomTangent {
  static constexpr std::string_view name = "custom_vjp_tangent";
  Body backward;  // of residuals and cotangents of the results: cotangents of the arguments
  std::int64_t residuals;

  std::size_t count() const { return static_cast<std::size_t>(residuals); }
  ArrayTypes infer(const Arrays&) const {
    return {backward.parameters.begin() + static_cast<std::ptrdiff_t>(residuals),
            backward.parameters.end()};
  }
  Arrays pulled_back(const Arrays& x, const Arrays& ct) const {
    return backward(joined(part(x, 0, count()), ct));
  }
  // Forward mode: the transpose of the transpose.
  Arrays forward(const Arrays& x) const {
    Arrays ct = placeholders(infer({}), "custom_vjp");
    Arrays tangents = part(x, count(), x.size() - count());
    Arrays image;
    try {
      image = pull_back(pulled_back(x, ct), tangents, ct);
    } catch (const Error&) {
      refuse_forward();  // an operation that has no transpose, or a product of cotangents
    }
    return or_zeros(image, types_of(ct));
  }
  [[noreturn]] static void refuse_forward() {
    throw Error(message("custom_vjp",
                        "the backward pass is not linear in the cotangent, so forward mode (jvp, "
                        "jacfwd, jet) has no meaning for it",
                        "Use reverse mode (grad, vjp, jacrev), or write a custom_jvp"));
  }
  Arrays jvp(const Arrays& x, const Arrays&, const Arrays& dx) const {
    Arrays roots = placeholders(types_of(x), "jvp");
    return push_forward(forward(roots), roots, x, dx).tangents;
  }
  Arrays transpose(const Arrays& ct, const Arrays& x, const Mask&) const {
    return joined(Arrays(count()), pulled_back(x, or_zeros(ct, infer({}))));
  }
  Arrays batch(const Arrays& x, const Mask& mapped, std::int64_t n) const {
    Arrays wide = all_mapped(x, mapped, Mask(x.size(), true), n);
    ArrayTypes ct_types = infer({});
    Arrays cts = placeholders(mapped_types(ct_types, Mask(ct_types.size(), true), n), "vmap");
    Arrays arguments = joined(part(wide, 0, count()), cts);
    Closed closed = spread_body(backward, arguments, Mask(arguments.size(), true), n);
    // What the wide body captures counts as residuals.
    Arrays kept = joined(part(wide, 0, count()), closed.captured);
    Body body = residuals_first(closed.body, count(), cts.size());
    return make_all(CustomTangent{body, static_cast<std::int64_t>(kept.size())},
                    joined(kept, part(wide, count(), wide.size() - count())));
  }
  void replay(const Arrays& x, const RunGraph& run) const {
    Arrays outputs = traced([&] { return forward(x); });
    run(outputs, {}, {}, "the derivative of custom_vjp");
  }
  void lower(Emitter& emitter, const Node& node) const {
    Recharge recharge(node.where);
    emitter.expand(node, forward(node.inputs));
  }
};

// Inputs: arguments, then captures of the function, of the forward and of the backward pass.
struct CustomVjp {
  static constexpr std::string_view name = "custom_vjp";
  Body function;
  Body forward;   // of the arguments and its captures: results, then residuals
  Body backward;  // of residuals, cotangents and its captures
  std::int64_t arguments;

  std::size_t count() const { return static_cast<std::size_t>(arguments); }
  std::size_t function_captures() const { return function.parameters.size() - count(); }
  std::size_t forward_captures() const { return forward.parameters.size() - count(); }
  std::size_t residuals() const { return forward.outputs.size() - function.outputs.size(); }

  ArrayTypes infer(const Arrays&) const { return types_of(function.outputs); }
  Arrays values(const Arrays& x) const { return function(part(x, 0, function.parameters.size())); }
  Arrays run_forward(const Arrays& x) const {
    Arrays captured = part(x, count() + function_captures(), forward_captures());
    return forward(joined(part(x, 0, count()), captured));
  }
  Arrays backward_captures(const Arrays& x) const {
    std::size_t before = count() + function_captures() + forward_captures();
    return part(x, before, x.size() - before);
  }
  Arrays jvp(const Arrays& x, const Arrays& y, const Arrays& dx) const {
    check_captures("custom_vjp", part(dx, count(), dx.size() - count()));
    Arrays kept = part(run_forward(x), y.size(), residuals());
    Body body = residuals_first(backward, kept.size(), y.size());
    kept = joined(kept, backward_captures(x));
    Arrays tangents = or_zeros(part(dx, 0, count()), types_of(part(x, 0, count())));
    return make_all(CustomTangent{body, static_cast<std::int64_t>(kept.size())},
                    joined(kept, tangents));
  }
  Arrays batch(const Arrays& x, const Mask& mapped, std::int64_t n) const {
    // With all inputs mapped, each body is spread by itself.
    Arrays wide = all_mapped(x, mapped, Mask(x.size(), true), n);
    auto all = [](const Arrays& a) { return Mask(a.size(), true); };
    Arrays own = part(wide, 0, function.parameters.size());
    Arrays arguments_only = part(wide, 0, count());
    Arrays forward_in = joined(arguments_only, part(wide, own.size(), forward_captures()));
    Closed f = spread_body(function, own, all(own), n);
    Closed fwd = spread_body(forward, forward_in, all(forward_in), n);
    std::size_t results = function.outputs.size();
    ArrayTypes kept = types_of(part(fwd.body.outputs, results, residuals()));
    Arrays cts = placeholders(types_of(part(f.body.outputs, 0, results)), "vmap");
    Arrays backward_in = joined(joined(placeholders(kept, "vmap"), cts), backward_captures(wide));
    Closed bwd = spread_body(backward, backward_in, all(backward_in), n);
    Arrays inputs = joined(own, f.captured);
    inputs = joined(joined(inputs, part(wide, own.size(), forward_captures())), fwd.captured);
    inputs = joined(joined(inputs, backward_captures(wide)), bwd.captured);
    return make_all(CustomVjp{f.body, fwd.body, bwd.body, arguments}, inputs);
  }
  void replay(const Arrays& x, const RunGraph& run) const {
    run(function.outputs, function.leaves(), part(x, 0, function.parameters.size()), "custom_vjp");
  }
  void lower(Emitter& emitter, const Node& node) const {
    emitter.expand(node, values(node.inputs));
  }
};

void check_results(std::string_view function, const std::string& what, const ArrayTypes& got,
                   const ArrayTypes& wanted, Where where) {
  if (got == wanted) return;
  Blame blame(where);
  throw ShapeError(message(
      function, what + " gives " + types_text(got) + ", but must give " + types_text(wanted),
      "Make it return these types"));
}

// While one lives, this thread traces a function with its rules. A rule that calls the function it
// belongs to would be traced for ever.
class Tracing {
 public:
  Tracing(std::string_view function, Where where) {
    if (depth_ == most) {
      Blame blame(where);
      throw Error(message(function, "a rule calls the function that it belongs to, without end",
                          "Call the function that was wrapped, or wrap it once more with rules of "
                          "its own"));
    }
    depth_++;
  }
  ~Tracing() { depth_--; }
  Tracing(const Tracing&) = delete;

 private:
  static constexpr int most = 50;  // functions whose rules call others
  static inline thread_local int depth_ = 0;
};

}  // namespace

Arrays custom_jvp(const FlatFunction& f, const FlatFunction& rule, const Arrays& x, Where where) {
  Arrays results;
  {
    Tracing tracing("custom_jvp", where);
    Trace trace;
    Arrays roots = placeholders(types_of(x), "custom_jvp", where);
    Arrays directions = placeholders(types_of(x), "custom_jvp");
    Closed function = close(f(roots), roots);
    Arrays both = rule(joined(roots, directions));
    ArrayTypes types = types_of(function.body.outputs), twice = types;
    twice.insert(twice.end(), types.begin(), types.end());
    check_results("custom_jvp", "the rule, whose result is value and tangent,", types_of(both),
                  twice, where);
    Closed closed_rule = close(both, joined(roots, directions));
    Blame blame(where);
    results =
        make_all(CustomJvp{function.body, closed_rule.body, static_cast<std::int64_t>(x.size())},
                 joined(joined(x, function.captured), closed_rule.captured));
  }
  return settle(std::move(results));
}

Arrays custom_vjp(const FlatFunction& f, const FlatFunction& forward, const FlatFunction& backward,
                  const Arrays& x, Where where) {
  ReverseOnly::note();
  Arrays results;
  {
    Tracing tracing("custom_vjp", where);
    Trace trace;
    Arrays roots = placeholders(types_of(x), "custom_vjp", where);
    Closed function = close(f(roots), roots);
    ArrayTypes types = types_of(function.body.outputs);
    Arrays with_residuals = forward(roots);
    Arrays values = part(with_residuals, 0, std::min(types.size(), with_residuals.size()));
    check_results("custom_vjp", "the forward pass, beside residuals,", types_of(values), types,
                  where);
    std::size_t residuals = with_residuals.size() - types.size();
    Closed closed_forward = close(with_residuals, roots);
    Arrays kept =
        placeholders(types_of(part(with_residuals, types.size(), residuals)), "custom_vjp");
    Arrays cts = placeholders(types, "custom_vjp");
    Arrays back = backward(joined(kept, cts));
    check_results("custom_vjp", "the backward pass", types_of(back), types_of(x), where);
    Closed closed_backward = close(back, joined(kept, cts));
    Arrays inputs = joined(joined(x, function.captured), closed_forward.captured);
    Blame blame(where);
    results = make_all(CustomVjp{function.body, closed_forward.body, closed_backward.body,
                                 static_cast<std::int64_t>(x.size())},
                       joined(inputs, closed_backward.captured));
  }
  return settle(std::move(results));
}

}  // namespace sturnus::internal
