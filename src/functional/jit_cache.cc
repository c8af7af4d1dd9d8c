#include <sturnus/functional/jit_cache.h>

#include <algorithm>

namespace sturnus::internal {

Arrays JitEntry::run(const Arrays& leaves) const {
  std::vector<const Buffer*> arguments;
  arguments.reserve(leaves.size() + compiled.captured.size());
  for (const Array& leaf : leaves) arguments.push_back(&leaf.buffer());
  for (const auto& buffer : compiled.captured) arguments.push_back(buffer.get());
  RunOptions options;
  options.donate = donate;
  Arrays results;
  for (Buffer& buffer : compiled.executable.run(arguments, options)) {
    results.push_back(from_buffer(std::move(buffer)));
  }
  return results;
}

std::shared_ptr<const JitEntry> JitCache::find(const TreeDef& structure,
                                               const Arrays& leaves) const {
  auto fits = [&](const JitEntry& entry) {
    return entry.types.size() == leaves.size() && entry.structure == structure &&
           std::equal(leaves.begin(), leaves.end(), entry.types.begin(),
                      [](const Array& leaf, const ArrayType& type) { return leaf.type() == type; });
  };
  std::lock_guard lock(mutex_);
  for (const auto& entry : entries_) {
    if (fits(*entry)) return entry;
  }
  return nullptr;
}

std::shared_ptr<const JitEntry> JitCache::add(
    const TreeDef& structure, const Arrays& leaves, const Mask& donors, const FlatFunction& f,
    const std::function<std::shared_ptr<const void>()>& like) {
  ArrayTypes types = types_of(leaves);
  Arrays parameters, outputs;
  {
    Trace trace;
    parameters = placeholders(types, "jit");
    outputs = f(parameters);
  }
  Device device = leaves.empty() ? default_device() : leaves[0].device();
  std::vector<int> donate;
  for (std::size_t i = 0; i < donors.size(); i++) {
    if (donors[i]) donate.push_back(static_cast<int>(i));
  }
  Compiled compiled = compile_graph("jit", parameters, outputs, donors, device);
  auto entry = std::make_shared<const JitEntry>(
      JitEntry{structure, std::move(types), std::move(compiled), std::move(donate), like()});
  std::lock_guard lock(mutex_);
  entries_.insert(entries_.begin(), entry);
  return entry;
}

Mask donor_leaves(const std::vector<int>& donate, const std::vector<std::size_t>& counts) {
  Mask mask;
  for (std::size_t i = 0; i < counts.size(); i++) {
    bool given = std::find(donate.begin(), donate.end(), static_cast<int>(i)) != donate.end();
    mask.resize(mask.size() + counts[i], given);
  }
  return mask;
}

}  // namespace sturnus::internal
