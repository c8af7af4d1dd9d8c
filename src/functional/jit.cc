#include <sturnus/functional/jit.h>

#include <algorithm>
#include <set>

#include "src/functional/lists.h"

namespace sturnus::internal {
namespace {

// "jit (pinn.cc:41)", kept for good: there are as many as lines that jit.
const char* lasting_name(Where where) {
  static std::mutex mutex;
  static auto& names = *new std::set<std::string>;
  std::lock_guard lock(mutex);
  return names.insert("jit" + in_parentheses(where)).first->c_str();
}

}  // namespace

JitCache::JitCache(JitOptions options, Where where) : options_(std::move(options)), where_(where) {
  if (!options_.donate.empty()) taker_ = lasting_name(where);
}

Arrays JitCache::Entry::run(const TreeScan& arguments) const {
  std::vector<const Buffer*> list;
  list.reserve(arguments.leaves.size() + compiled.captured.size());
  Blame blame(where, "jit");
  for (std::size_t i = 0; i < arguments.leaves.size(); i++) {
    list.push_back(&arguments.leaf<Array>(i).buffer(where));
  }
  std::vector<Buffer> copies = bring_to(device, list);
  return run_checked(compiled, std::move(list), donate, graph.get(), taker);
}

std::shared_ptr<const JitCache::Entry> JitCache::find(const TreeSchema& schema,
                                                      const TreeScan& scan) const {
  auto fits = [&](const Entry& entry) {
    if (DebugNans::on() && entry.graph == nullptr) return false;
    if (!entry.structure.fits(schema, scan.open, scan.text)) return false;
    for (std::size_t i = 0; i < scan.leaves.size(); i++) {
      const Array& leaf = scan.leaf<Array>(i);
      if (leaf.empty() || leaf.type() != entry.types[i]) return false;
    }
    return options_.device || scan.leaves.empty() ||
           scan.leaf<Array>(0).device(where_) == entry.device;
  };
  Blame blame(where_, "jit");
  std::lock_guard lock(mutex_);
  for (const auto& entry : entries_) {
    if (fits(*entry)) return entry;
  }
  return nullptr;
}

std::shared_ptr<const JitCache::Entry> JitCache::add(
    const TreeSchema& schema, const TreeScan& scan, const Mask& donors, const FlatFunction& f,
    const std::function<std::shared_ptr<const void>()>& like) {
  Device device = options_.device ? *options_.device : default_device();
  if (!options_.device && !scan.leaves.empty()) {
    Blame blame(where_, "jit");
    device = scan.leaf<Array>(0).device(where_);
  }
  ArrayTypes types;
  for (std::size_t i = 0; i < scan.leaves.size(); i++) types.push_back(scan.leaf<Array>(i).type());
  Arrays parameters, outputs;
  {
    Trace trace;
    parameters = placeholders(types, "jit", where_);
    outputs = f(parameters);
  }
  warn_if_huge("jit", outputs, options_.warn_above, where_);
  std::vector<int> donate;
  for (std::size_t i = 0; i < donors.size(); i++) {
    if (donors[i]) donate.push_back(static_cast<int>(i));
  }
  Compiled compiled = compile_graph("jit", parameters, outputs, donors, device);
  std::shared_ptr<const TracedGraph> graph;
  if (DebugNans::on()) {
    graph = std::make_shared<const TracedGraph>(
        TracedGraph{parameters, outputs, def_of(schema, scan).leaf_paths(), where_});
  }
  auto entry = std::make_shared<const Entry>(Entry{def_of(schema, scan), std::move(types),
                                                   std::move(compiled), std::move(donate), like(),
                                                   device, std::move(graph), taker_, where_});
  std::lock_guard lock(mutex_);
  entries_.insert(entries_.begin(), entry);
  return entry;
}

Lowered JitCache::lower(const FlatFunction& f, const Arrays& x, const Mask& donors,
                        std::vector<std::string> names) const {
  Trace trace;
  Arrays parameters = placeholders(types_of(x), "jit", where_);
  Arrays outputs = f(parameters);
  warn_if_huge("jit", outputs, options_.warn_above, where_);
  return {"jit", std::move(parameters), std::move(outputs), donors, std::move(names)};
}

Mask donor_leaves(const std::vector<int>& donate, const std::vector<std::size_t>& counts,
                  Where where) {
  for (int argument : donate) {
    if (argument >= 0 && static_cast<std::size_t>(argument) < counts.size()) continue;
    Blame blame(where);
    throw Error(message("jit",
                        "donate names argument " + std::to_string(argument) +
                            ", the number of arguments is " + std::to_string(counts.size()),
                        "Name one of these, counted from 0"));
  }
  Mask mask;
  for (std::size_t i = 0; i < counts.size(); i++) {
    bool given = std::find(donate.begin(), donate.end(), static_cast<int>(i)) != donate.end();
    mask.resize(mask.size() + counts[i], given);
  }
  return mask;
}

void check_loaded(const Lowered& wanted, const Program& program, const std::string& path,
                  Where where) {
  auto require = [&](const char* verb, const ArrayTypes& in_file, const ArrayTypes& traced) {
    if (in_file == traced) return;
    Blame blame(where);
    throw ShapeError(message("jit",
                             "the program in " + path + " " + verb + " " + types_text(in_file) +
                                 ", the function " + verb + " " + types_text(traced),
                             "Load it with the function and the types that it was made of"));
  };
  require("takes", program.argument_types(), wanted.argument_types());
  require("gives", program.result_types(), wanted.result_types());
}

void check_call(const Caller& compiled, const ArrayTypes& types, const Caller& given,
                const Arrays& x) {
  for (std::size_t i = 0; i < given.arguments.size(); i++) {
    std::string which = "argument " + std::to_string(i) + " ";
    require_same_structure(given.name, which + "as compiled", compiled.arguments[i].second,
                           which + "as called", given.arguments[i].second, given.where.str());
  }
  Blame blame(given.where);
  for (std::size_t i = 0; i < x.size(); i++) {
    if (x[i].empty()) throw_no_value(given.name, given.leaf_name(i), given.where.str());
    if (x[i].type() == types[i]) continue;
    throw ShapeError(message(given.name,
                             given.leaf_name(i) + " is " + x[i].type().str() +
                                 ", the program was compiled for " + types[i].str(),
                             "Give it that type, or call what jit gives, which compiles for every "
                             "type that comes"));
  }
}

}  // namespace sturnus::internal
