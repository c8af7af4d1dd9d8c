// Functions compiled as one program.
#pragma once

#include <sturnus/functional/flat.h>
#include <sturnus/functional/jit_cache.h>

#include <memory>
#include <optional>
#include <typeindex>
#include <vector>

namespace sturnus {

struct JitOptions {
  /// Arguments whose memory the program may reuse for its results; they are gone after the call.
  std::vector<int> donate = {};
};

/// A function that traces f once per structure and types of its arguments, and then runs the
/// compiled program. Static parts of the arguments (numbers, strings in structs) belong to the
/// structure.
template <class F>
class Jitted {
 public:
  Jitted(F f, JitOptions options) : f_(std::move(f)), options_(std::move(options)) {}

  template <class... Args>
  auto operator()(const Args&... args) const {
    auto arguments = internal::to_arguments(args...);
    using Result = std::decay_t<decltype(std::apply(f_, arguments))>;
    if (internal::Trace::open()) return Result(std::apply(f_, arguments));

    Arrays leaves = internal::leaves_of(arguments);
    TreeDef structure = tree_structure(arguments);
    std::shared_ptr<const internal::JitEntry> entry = cache_->find(structure, leaves);
    if (entry == nullptr) {
      std::optional<Result> like;
      internal::FlatFunction flat = [&](const Arrays& traced) {
        like = std::apply(f_, internal::with_leaves(arguments, traced));
        return internal::leaves_of(*like);
      };
      internal::Mask donors = internal::donor_leaves(options_.donate, leaf_counts(arguments));
      entry = cache_->add(structure, leaves, donors, flat, [&like] {
        return std::static_pointer_cast<const void>(std::make_shared<const Result>(*like));
      });
    }
    Arrays results = entry->run(leaves);
    return internal::with_leaves(*static_cast<const Result*>(entry->like.get()), results);
  }

 private:
  template <class Arguments>
  static std::vector<std::size_t> leaf_counts(const Arguments& arguments) {
    return std::apply(
        [](const auto&... tree) {
          return std::vector<std::size_t>{internal::leaves_of(tree).size()...};
        },
        arguments);
  }

  F f_;
  JitOptions options_;
  std::shared_ptr<internal::JitCache> cache_ = std::make_shared<internal::JitCache>();
};

/// f as one compiled program.
template <class F>
Jitted<F> jit(F f, JitOptions options = {}) {
  return Jitted<F>(std::move(f), std::move(options));
}

}  // namespace sturnus
