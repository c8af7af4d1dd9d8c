// Functions compiled as one program.
#pragma once

#include <sturnus/functional/flat.h>
#include <sturnus/functional/program.h>

#include <memory>
#include <mutex>
#include <optional>
#include <vector>

namespace sturnus {

struct JitOptions {
  /// Arguments whose memory the program may reuse for its results; they are gone after the call.
  std::vector<int> donate = {};
  /// Where the program runs; arguments that are elsewhere are copied there. Default: where the
  /// first array of the arguments is.
  std::optional<Device> device = {};
  /// Traced programs with more operations than this are warned of in the log: XLA takes minutes for
  /// them, and a C++ loop that was traced pass by pass is the usual cause.
  std::size_t warn_above = internal::huge_program;
};

namespace internal {

/// The programs of a jitted function, by structure and types of its arguments.
class JitCache {
 public:
  struct Entry {
    TreeDef structure;
    ArrayTypes types;
    Compiled compiled;
    std::vector<int> donate;
    std::shared_ptr<const void> like;  // a result whose leaves are filled in
    Device device;
    std::shared_ptr<const TracedGraph> graph;  // only when traced under DebugNans
    const char* taker;                         // of donated arguments, for messages
    Where where;                               // the line that made the jitted function

    Arrays run(const TreeScan& arguments) const;
  };

  JitCache(JitOptions options, Where where);
  const JitOptions& options() const { return options_; }
  /// The line that made the jitted function.
  Where where() const { return where_; }

  std::shared_ptr<const Entry> find(const TreeSchema& schema, const TreeScan& scan) const;
  /// Traces and compiles f. `like` gives the result of f after it was called.
  std::shared_ptr<const Entry> add(const TreeSchema& schema, const TreeScan& scan,
                                   const Mask& donors, const FlatFunction& f,
                                   const std::function<std::shared_ptr<const void>()>& like);
  /// Traces f on arguments like `x`.
  Lowered lower(const FlatFunction& f, const Arrays& x, const Mask& donors,
                std::vector<std::string> names) const;

 private:
  JitOptions options_;
  Where where_;
  const char* taker_ = nullptr;
  mutable std::mutex mutex_;
  std::vector<std::shared_ptr<const Entry>> entries_;  // few, the last made first
};

/// Which leaves belong to the arguments `donate`, when argument i has counts[i] leaves.
/// Throws Error when there is no such argument.
Mask donor_leaves(const std::vector<int>& donate, const std::vector<std::size_t>& counts,
                  Where where);

/// Throws ShapeError unless the program in the file `path` takes and gives what `wanted` does.
void check_loaded(const Lowered& wanted, const Program& program, const std::string& path,
                  Where where);

/// Throws unless `given`, with the leaves `x`, are arguments like those that a program was
/// `compiled` for, whose leaves have the types `types`.
void check_call(const Caller& compiled, const ArrayTypes& types, const Caller& given,
                const Arrays& x);
}  // namespace internal

template <class Result, class Arguments>
class Compiled;

/// A compiled function with the types of the one it was made of, for arguments of one structure:
/// numbers and strings in it are those that it was compiled for.
template <class Result, class... Args>
class Compiled<Result, std::tuple<Args...>> {
 public:
  /// A program whose arguments have these trees, and whose result is a tree like `like`.
  Compiled(Program program, internal::Caller arguments, Result like)
      : program_(std::move(program)), arguments_(std::move(arguments)), like_(std::move(like)) {}

  /// The result. Throws TreeError when the arguments have another structure, ShapeError when their
  /// arrays have other types than those that it was compiled for.
  Result operator()(const Args&... args, Where where = Where::here()) const {
    Arrays leaves;
    (for_each_leaf(args, [&leaves](const Array& leaf) { leaves.push_back(leaf); }), ...);
    internal::check_call(arguments_, program_.argument_types(),
                         internal::caller("jit", where, std::tie(args...)), leaves);
    internal::Blame blame(where, "jit");
    return internal::with_leaves(like_, program_.run(leaves));
  }
  const Program& program() const { return program_; }

 private:
  Program program_;
  internal::Caller arguments_;
  Result like_;
};

/// A function that traces f once per structure and types of its arguments, and then runs the
/// compiled program. Static parts of the arguments (numbers, strings in structs) belong to the
/// structure, and so do the arguments number `Static...`, which f gets as they are.
/// Safe to call from several threads.
template <class F, std::size_t... Static>
class Jitted {
 public:
  Jitted(F f, JitOptions options, Where where)
      : f_(std::move(f)), cache_(std::make_shared<internal::JitCache>(std::move(options), where)) {}

  template <class... Args>
  auto operator()(const Args&... args) const {
    using Arguments = ArgumentsOf<std::index_sequence_for<Args...>, Args...>;
    using Result = typename internal::Flat<F, Arguments>::Result;
    if (internal::Trace::open()) return Result(std::apply(f_, Arguments(args...)));

    // References for what is a tree already, new arrays for numbers.
    auto held = hold<Arguments>(std::index_sequence_for<Args...>(), args...);
    internal::TreeScan scan;
    std::apply([&scan](const auto&... tree) { (internal::walk(tree, scan), ...); }, held);
    const TreeSchema& schema = internal::schema_of<Arguments>();
    auto entry = cache_->find(schema, scan);
    if (entry == nullptr) entry = compile_entry(schema, scan, Arguments(args...));
    return internal::with_leaves(*static_cast<const Result*>(entry->like.get()), entry->run(scan));
  }

  /// The traced program for arguments of these types; values are not needed, see abstract_array.
  template <class... Args>
  Lowered lower(const Args&... args) const {
    using Arguments = ArgumentsOf<std::index_sequence_for<Args...>, Args...>;
    Arguments arguments(args...);
    internal::Flat flat(f_, arguments, internal::caller("lower", cache_->where(), arguments));
    return lowered(flat, arguments);
  }

  /// The compiled program for arguments of these types, ready to call, to look at and to save.
  /// Throws Error as Lowered::compile does.
  template <class... Args>
  auto compile(const Args&... args) const {
    using Arguments = ArgumentsOf<std::index_sequence_for<Args...>, Args...>;
    Arguments arguments(args...);
    internal::Flat flat(f_, arguments, internal::caller("jit", cache_->where(), arguments));
    Program program = lowered(flat, arguments).compile(cache_->options().device);
    return Compiled<typename internal::Flat<F, Arguments>::Result, Arguments>(
        std::move(program), flat.caller(), flat.like());
  }

  /// The program that compile gave for arguments of these types and that Program::save put into a
  /// file. f is traced once more for its types, but not compiled. Throws as Program::load does, and
  /// ShapeError when the program in the file takes or gives arrays of other types.
  template <class... Args>
  auto load(const std::string& path, const Args&... args) const {
    using Arguments = ArgumentsOf<std::index_sequence_for<Args...>, Args...>;
    Arguments arguments(args...);
    internal::Flat flat(f_, arguments, internal::caller("jit", cache_->where(), arguments));
    Lowered wanted = lowered(flat, arguments);
    Program program = Program::load(path, cache_->options().device, cache_->where());
    internal::check_loaded(wanted, program, path, cache_->where());
    return Compiled<typename internal::Flat<F, Arguments>::Result, Arguments>(
        std::move(program), flat.caller(), flat.like());
  }

 private:
  template <std::size_t I>
  static constexpr bool is_static = ((I == Static) || ...);
  template <std::size_t I, class Arg>
  using ArgumentAt =
      std::conditional_t<is_static<I>, internal::Stored<Arg>, internal::Argument<Arg>>;

  template <class Indices, class... Args>
  struct ArgumentTypes;
  template <std::size_t... I, class... Args>
  struct ArgumentTypes<std::index_sequence<I...>, Args...> {
    static_assert(((Static < sizeof...(Args)) && ...),
                  "jit<i>: there is no argument i: the function is called with fewer, numbered "
                  "from 0");
    using type = std::tuple<ArgumentAt<I, Args>...>;
  };
  template <class Indices, class... Args>
  using ArgumentsOf = typename ArgumentTypes<Indices, Args...>::type;

  template <class Arguments, std::size_t... I, class... Args>
  static auto hold(std::index_sequence<I...>, const Args&... args) {
    return std::tuple<std::conditional_t<std::is_same_v<std::tuple_element_t<I, Arguments>, Args>,
                                         const Args&, std::tuple_element_t<I, Arguments>>...>(
        args...);
  }

  template <class Arguments>
  static std::vector<std::size_t> leaf_counts(const Arguments& arguments) {
    return std::apply(
        [](const auto&... tree) {
          return std::vector<std::size_t>{tree_structure(tree).leaf_count()...};
        },
        arguments);
  }

  template <class Arguments>
  auto compile_entry(const TreeSchema& schema, const internal::TreeScan& scan,
                     const Arguments& arguments) const {
    internal::Flat flat(f_, arguments, internal::caller("jit", cache_->where(), arguments));
    using Result = typename decltype(flat)::Result;
    flat.leaves();  // throws when one is Array()
    return cache_->add(schema, scan, donors_of(arguments), flat.function(), [&flat] {
      Result like = flat.like();
      for_each_leaf(like, [](Array& leaf) { leaf = Array(); });
      return std::static_pointer_cast<const void>(std::make_shared<const Result>(std::move(like)));
    });
  }
  template <class Flat, class Arguments>
  Lowered lowered(Flat& flat, const Arguments& arguments) const {
    return cache_->lower(flat.function(), flat.leaves(), donors_of(arguments),
                         tree_structure(arguments).leaf_paths());
  }
  template <class Arguments>
  internal::Mask donors_of(const Arguments& arguments) const {
    return internal::donor_leaves(cache_->options().donate, leaf_counts(arguments),
                                  cache_->where());
  }

  F f_;
  std::shared_ptr<internal::JitCache> cache_;
};

/// f as one compiled program; jit<1>(f) makes argument 1 static. What it gives throws Error when
/// `donate` names no argument, TreeError when an array of the arguments is Array().
template <std::size_t... Static, class F>
Jitted<F, Static...> jit(F f, JitOptions options = {}, Where where = Where::here()) {
  return Jitted<F, Static...>(std::move(f), std::move(options), where);
}

/// The traced program of f for arguments of these types. Throws TreeError when one is Array().
template <class F, class... Args>
Lowered lower(const F& f, const Args&... args) {
  return jit(f, {}, Where{}).lower(args...);
}
/// The same for one argument, with the line that asks in messages.
template <class F, class X>
Lowered lower(const F& f, const X& x, Where where = Where::here()) {
  return jit(f, {}, where).lower(x);
}

/// Frees the compiled programs that are kept for operations and transforms outside of jit; the last
/// 4096 are. What jitted functions and programs in use hold stays.
inline void clear_programs() { internal::clear_programs(); }

namespace internal {

template <class F, class... Args>
auto eval_shape_at(Where where, const F& f, const Args&... args) {
  auto arguments = to_arguments(args...);
  Flat flat(f, arguments, caller("eval_shape", where, arguments));
  Trace trace;
  Arrays leaves;
  for (const Array& leaf : flat.leaves()) {
    leaves.push_back(abstract_array(leaf.dtype(), leaf.shape()));
  }
  return flat.result(flat.function()(leaves));
}

}  // namespace internal

/// What f would return, without values: its arrays have only types. Nothing is compiled or run.
/// Throws TreeError when an argument is Array(), and what f throws.
template <class F, class... Args>
auto eval_shape(const F& f, const Args&... args) {
  return internal::eval_shape_at({}, f, args...);
}
/// The same for one argument, with the line that asks in messages.
template <class F, class X>
auto eval_shape(const F& f, const X& x, Where where = Where::here()) {
  return internal::eval_shape_at(where, f, x);
}

}  // namespace sturnus
