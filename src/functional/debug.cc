#include <sturnus/functional/debug.h>
#include <sturnus/functional/op.h>
#include <sturnus/functional/print.h>
#include <sturnus/runtime/host_callback.h>

#include <iostream>
#include <mutex>

#include "src/ops/promotion.h"
#include "src/ops/structural.h"

namespace sturnus {
namespace {

struct Sink {
  std::mutex mutex;
  DebugSink sink;
};

Sink& sink() {
  static auto& instance = *new Sink;
  return instance;
}

// "label: value (file:line)"; `line` has its brackets.
void print(std::string_view label, std::string_view line, const std::string& value) {
  bool rows = value.find('\n') != value.npos;
  std::string text(label);
  text.append(rows ? ":\n" : ": ").append(value).append(line);
  std::lock_guard lock(sink().mutex);
  if (sink().sink) {
    sink().sink(text);
  } else {
    std::cerr << text + "\n";
  }
}

}  // namespace

void set_debug_sink(DebugSink new_sink) {
  std::lock_guard lock(sink().mutex);
  sink().sink = std::move(new_sink);
}

namespace internal {
namespace {

// A tangent or cotangent that passes a debug_print unchanged. The printed value is an input, so
// that it is computed, and printed, also where only the derivative is needed.
struct DebugTangent {
  static constexpr std::string_view name = "debug_tangent";
  ArrayType infer(const Arrays& x) const { return x[1].type(); }
  Array jvp(const Arrays& x, const Array&, const Arrays& dx) const {
    return dx[1].empty() ? Array() : make(*this, {x[0], dx[1]});
  }
  Arrays transpose(const Array& ct, const Arrays& x, const Mask&) const {
    return {Array(), make(*this, {x[0], ct})};
  }
  Array batch(const Arrays& x, const Mask& mapped, std::int64_t n) const {
    return make(*this, {x[0], with_mapped_axis(x[1], mapped[1], n)});
  }
  void lower(Emitter& emitter, const Node& node) const { emitter.expand(node, {node.inputs[1]}); }
};

struct DebugPrint {
  static constexpr std::string_view name = "debug_print";
  std::string label, line;
  ArrayType infer(const Arrays& x) const { return x[0].type(); }
  Array jvp(const Arrays&, const Array& y, const Arrays& dx) const {
    return make(DebugTangent{}, {y, dx[0]});
  }
  Array transpose(const Array& ct, const Arrays&, const Mask&) const { return ct; }
  Array batch(const Arrays& x, const Mask&, std::int64_t) const { return make(*this, x); }
  void lower(Emitter& emitter, const Node& node) const {
    emitter.host_call(name, label + '\0' + line, node.inputs);
    emitter.pass_through(node);
  }
};

}  // namespace

void add_printer() {
  static const bool added = [] {
    add_host_callback(std::string(DebugPrint::name), [](const HostCall& call) {
      std::size_t end = call.parameter.find('\0');
      const HostArray& array = call.arguments[0];
      print(call.parameter.substr(0, end), call.parameter.substr(end + 1),
            print_elements(array.type, array.data));
    });
    return true;
  }();
  (void)added;
}

}  // namespace internal

Array debug_print(std::string_view label, Operand x) {
  using namespace internal;
  Blame blame(x.where);
  Array value = to_array(x);
  if (!Trace::open() && value.concrete()) {
    print(label, where_text(), to_string(value));
    return value;
  }
  add_printer();
  return make(DebugPrint{std::string(label), where_text()}, {value});
}

}  // namespace sturnus
