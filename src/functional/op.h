// How a plain struct becomes an op.
//
// An op is an aggregate whose fields are its parameters and whose members are its rules:
//
//   struct Sin {
//     static constexpr std::string_view name = "sin", hlo = "sine";
//     using Family = Elementwise;
//     Array jvp(const Arrays& x, const Array& y, const Arrays& dx) const {
//       return dx[0] * cos(x[0]);
//     }
//   };
//   Array sin(Operand x) { return make(Sin{}, x); }
//
// Rules that the struct does not have come from its family; what neither has is an error that names
// the op and the rule. Names, equality and hash of the parameters come from the fields. Nothing is
// registered, and nothing else lists the ops.
#pragma once

#include <sturnus/functional/emitter.h>
#include <sturnus/functional/graph.h>

#include <bit>
#include <boost/pfr.hpp>
#include <concepts>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace sturnus::internal {

// ------------------------------------------------------------------------- parameters of an op

inline std::size_t hash_mix(std::size_t seed, std::size_t value) {
  return (seed ^ value) * 0x9e3779b97f4a7c15 + (seed >> 29);
}
template <class T>
std::size_t hash_field(const T& field) {
  if constexpr (std::is_enum_v<T> || std::is_integral_v<T>) {
    return static_cast<std::size_t>(field);
  } else if constexpr (std::is_floating_point_v<T>) {
    return std::bit_cast<std::uint64_t>(static_cast<double>(field));
  } else if constexpr (std::is_same_v<T, std::string>) {
    return std::hash<std::string>()(field);
  } else if constexpr (std::is_same_v<T, ArrayType>) {
    return hash_mix(hash_field(field.shape), hash_field(field.dtype));
  } else if constexpr (requires { field.hash(); }) {
    return field.hash();
  } else if constexpr (requires { field.get(); }) {
    return std::hash<const void*>()(field.get());
  } else {
    std::size_t hash = field.size();
    for (const auto& element : field) hash = hash_mix(hash, hash_field(element));
    return hash;
  }
}

// Reals are the same parameter when their bits are: 0 and -0 differ, a NaN equals itself.
template <class T>
bool same_field(const T& a, const T& b) {
  if constexpr (std::is_floating_point_v<T>) {
    return hash_field(a) == hash_field(b);
  } else {
    return a == b;
  }
}

template <class T>
std::string print_field(const T& field) {
  if constexpr (std::is_same_v<T, bool>) {
    return field ? "true" : "false";
  } else if constexpr (std::is_same_v<T, DType>) {
    return std::string(name_of(field));
  } else if constexpr (std::is_enum_v<T>) {
    return std::to_string(static_cast<int>(field));
  } else if constexpr (std::is_floating_point_v<T>) {
    return shortest_text(field);
  } else if constexpr (std::is_integral_v<T>) {
    return std::to_string(field);
  } else if constexpr (std::is_same_v<T, std::string>) {
    return field;
  } else if constexpr (requires { field.str(); }) {
    return field.str();
  } else if constexpr (requires { field.get(); }) {
    return "*";
  } else {
    std::string text = "[";
    for (const auto& element : field) text += (text.size() > 1 ? "," : "") + print_field(element);
    return text + "]";
  }
}

/// The operations of a parameter that is a graph, or a list of graphs.
template <class T>
std::size_t graph_size(const T& field) {
  std::size_t size = 0;
  if constexpr (requires { field.graph_size(); }) {
    size = field.graph_size();
  } else if constexpr (requires { field[0].graph_size(); }) {
    for (const auto& graph : field) size += graph.graph_size();
  }
  return size;
}

// ------------------------------------------------------------------------------------- the rules

/// An op without a family: all rules are its own.
struct NoFamily {};

template <class P>
struct FamilyOf {
  using type = NoFamily;
};
template <class P>
requires requires { typename P::Family; }
struct FamilyOf<P> {
  using type = typename P::Family;
};

/// An op that is compiled into the program, and the rules it has.
struct OpFacts {
  std::string_view name;
  bool jvp, transpose, batch;
};
/// All ops, by name. Complete without a list: an op that can be made is in it.
std::vector<OpFacts> known_ops();
int add_known_op(const OpFacts& facts);

[[noreturn]] void throw_no_rule(std::string_view rule, std::string_view op);

/// Whatever a rule returned, as a list.
inline ArrayTypes to_list(ArrayType type) { return {std::move(type)}; }
inline ArrayTypes to_list(ArrayTypes types) { return types; }
inline Arrays to_list(Array array) { return {std::move(array)}; }
inline Arrays to_list(Arrays arrays) { return arrays; }

template <class P>
class OpOf final : public Op {
 public:
  using Family = typename FamilyOf<P>::type;
  explicit OpOf(P parameters) : p_(std::move(parameters)) { (void)known; }
  const P& get() const { return p_; }

  std::string_view name() const override {
    if constexpr (requires { p_.title(); }) {
      return p_.title();
    } else {
      return P::name;
    }
  }
  std::string_view kind() const override { return P::name; }
  std::string parameters() const override {
    std::string text;
    for_each_parameter(
        [&text](const auto& field) { text += (text.empty() ? "" : " ") + print_field(field); });
    return text;
  }
  std::size_t hash() const override {
    std::size_t hash = std::hash<std::string_view>()(P::name);
    for_each_parameter([&hash](const auto& field) { hash = hash_mix(hash, hash_field(field)); });
    return hash;
  }
  bool equals(const Op& other) const override {
    auto* same_kind = dynamic_cast<const OpOf*>(&other);
    if (same_kind == nullptr) return false;
    if constexpr (std::is_empty_v<P>) {
      return true;
    } else {
      return all_same(same_kind->p_, std::make_index_sequence<boost::pfr::tuple_size_v<P>>());
    }
  }

  ArrayTypes infer(const Arrays& x) const override {
    if constexpr (requires { p_.infer(x); }) {
      return to_list(p_.infer(x));
    } else {
      return to_list(Family::infer(p_, x));
    }
  }
  Array simplify(const Arrays& x) const override {
    if constexpr (requires { p_.simplify(x); }) {
      if (Array simpler = p_.simplify(x); !simpler.empty()) return simpler;
    }
    if constexpr (requires { Family::simplify(p_, x); }) return Family::simplify(p_, x);
    return {};
  }
  Arrays apply(const Arrays& x) const override { return emit(std::make_unique<OpOf>(p_), x); }
  Arrays jvp(const Arrays& x, const Arrays& y, const Arrays& dx) const override {
    if constexpr (requires { p_.jvp(x, y, dx); }) {
      return to_list(p_.jvp(x, y, dx));
    } else if constexpr (requires { p_.jvp(x, y[0], dx); }) {
      return to_list(p_.jvp(x, y[0], dx));
    } else if constexpr (requires { Family::jvp(p_, x, y, dx); }) {
      return to_list(Family::jvp(p_, x, y, dx));
    } else {
      throw_no_rule("jvp", name());
    }
  }
  bool is_stepwise() const override {
    if constexpr (requires { Family::stepwise; }) return Family::stepwise;
    return false;
  }
  Arrays transpose(const Arrays& ct, const Arrays& x, const Mask& linear) const override {
    if constexpr (requires { p_.transpose(ct, x, linear); }) {
      return to_list(p_.transpose(ct, x, linear));
    } else if constexpr (requires { p_.transpose(ct[0], x, linear); }) {
      return to_list(p_.transpose(ct[0], x, linear));
    } else if constexpr (requires { Family::transpose(p_, ct, x, linear); }) {
      return to_list(Family::transpose(p_, ct, x, linear));
    } else {
      throw_no_rule("transpose", name());
    }
  }
  Arrays batch(const Arrays& x, const Mask& mapped, std::int64_t n) const override {
    if constexpr (requires { p_.batch(x, mapped, n); }) {
      return to_list(p_.batch(x, mapped, n));
    } else if constexpr (requires { Family::batch(p_, x, mapped, n); }) {
      return to_list(Family::batch(p_, x, mapped, n));
    } else {
      throw_no_rule("batch", name());
    }
  }
  bool is_shared(const Mask& mapped) const override {
    if constexpr (requires { p_.is_shared(mapped); }) return p_.is_shared(mapped);
    return false;
  }
  bool has_jet() const override { return jets_result || jets_all; }
  Arrays jet(const std::vector<Series>& x, const std::vector<Series>& y,
             std::size_t k) const override {
    if constexpr (jets_result) {
      return {p_.jet(x, y[0], k)};
    } else if constexpr (jets_all) {
      Arrays result;
      for (Series& series : p_.jet(x)) result.push_back(std::move(series[k]));
      return result;
    } else {
      throw_no_rule("jet", name());
    }
  }
  bool is_loop() const override {
    return requires(const P& p, const Arrays& x) { p.run_within(x, p, x); };
  }
  Arrays run_within(const Arrays& x, const Op& other, const Arrays& other_x) const override {
    if constexpr (requires { p_.run_within(x, p_, x); }) {
      auto* same_kind = dynamic_cast<const OpOf*>(&other);
      if (same_kind != nullptr) return p_.run_within(x, same_kind->p_, other_x);
    }
    return {};
  }
  void replay(const Arrays& x, const RunGraph& run) const override {
    if constexpr (requires { p_.replay(x, run); }) p_.replay(x, run);
  }
  std::size_t inner_size() const override {
    std::size_t size = 0;
    for_each_parameter([&size](const auto& field) { size += graph_size(field); });
    return size;
  }
  void lower(Emitter& emitter, const Node& node) const override {
    if constexpr (requires { p_.lower(emitter, node); }) {
      p_.lower(emitter, node);
    } else if constexpr (requires { p_.attributes(); }) {
      emitter.line(node, P::hlo, p_.attributes());
    } else if constexpr (requires { P::hlo; }) {
      emitter.line(node, P::hlo, "");
    } else {
      throw_no_rule("lowering", name());
    }
  }

 private:
  // Most ops have no parameters, and to look for them takes the compiler long.
  template <class Use>
  void for_each_parameter(const Use& use) const {
    if constexpr (!std::is_empty_v<P>) boost::pfr::for_each_field(p_, use);
  }
  template <std::size_t... I>
  bool all_same(const P& other, std::index_sequence<I...>) const {
    return (same_field(boost::pfr::get<I>(p_), boost::pfr::get<I>(other)) && ...);
  }

  // The rules in the form that `requires` asks for.
  static constexpr bool has_jvp = requires(const P& p, const Arrays& x) { p.jvp(x, x, x); }
  || requires(const P& p, const Arrays& x) { p.jvp(x, x[0], x); }
  || requires(const P& p, const Arrays& x) { Family::jvp(p, x, x, x); };
  static constexpr bool has_transpose = requires(const P& p, const Arrays& x, const Mask& m) {
    p.transpose(x, x, m);
  }
  || requires(const P& p, const Arrays& x, const Mask& m) { p.transpose(x[0], x, m); };
  static constexpr bool has_batch = requires(const P& p, const Arrays& x, const Mask& m) {
    p.batch(x, m, 0);
  }
  || requires(const P& p, const Arrays& x, const Mask& m) { Family::batch(p, x, m, 0); };
  // A coefficient of the only result, or whole series of all results.
  static constexpr bool jets_result =
      requires(const P& p, const std::vector<Series>& x, const Series& y) {
    p.jet(x, y, 1u);
  };
  static constexpr bool jets_all = requires(const P& p, const std::vector<Series>& x) { p.jet(x); };
  static inline const int known = add_known_op({P::name, has_jvp, has_transpose, has_batch});

  P p_;
};

/// Applies an op that has several results.
template <class P>
Arrays make_all(P op, const Arrays& inputs) {
  return emit(std::make_unique<OpOf<P>>(std::move(op)), inputs);
}

/// Applies an op that has one result.
template <class P>
Array make(P op, const Arrays& inputs) {
  return make_all(std::move(op), inputs)[0];
}

/// A node that is never computed at once: leaves.
Array graph_node(std::unique_ptr<const Op> op);
template <class P>
Array graph_node(P op) {
  return graph_node(std::unique_ptr<const Op>(std::make_unique<OpOf<P>>(std::move(op))));
}

/// The parameters of the op that made `array`, or null when it is another op.
template <class P>
const P* as(const Array& array) {
  if (array.empty()) return nullptr;
  auto* op = dynamic_cast<const OpOf<P>*>(array.node()->op.get());
  return op == nullptr ? nullptr : &op->get();
}

}  // namespace sturnus::internal
