// The programs of a jitted function. Details of jit.h.
#pragma once

#include <sturnus/functional/evaluate.h>
#include <sturnus/functional/transform.h>
#include <sturnus/functional/tree_def.h>

#include <functional>
#include <memory>
#include <mutex>
#include <vector>

namespace sturnus::internal {

struct JitEntry {
  TreeDef structure;
  ArrayTypes types;
  Compiled compiled;
  std::vector<int> donate;
  std::shared_ptr<const void> like;  // a result whose leaves are replaced

  Arrays run(const Arrays& leaves) const;
};

/// Safe to use from several threads.
class JitCache {
 public:
  std::shared_ptr<const JitEntry> find(const TreeDef& structure, const Arrays& leaves) const;
  /// Traces and compiles f. `like` gives the result of f after it was called.
  std::shared_ptr<const JitEntry> add(const TreeDef& structure, const Arrays& leaves,
                                      const Mask& donors, const FlatFunction& f,
                                      const std::function<std::shared_ptr<const void>()>& like);

 private:
  mutable std::mutex mutex_;
  std::vector<std::shared_ptr<const JitEntry>> entries_;  // few, the last used first
};

/// Which leaves belong to the arguments `donate`, when argument i has counts[i] leaves.
Mask donor_leaves(const std::vector<int>& donate, const std::vector<std::size_t>& counts);

}  // namespace sturnus::internal
