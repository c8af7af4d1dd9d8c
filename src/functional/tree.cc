#include <sturnus/functional/tree.h>

#include <utility>

namespace sturnus::internal {

void TreeScan::add(std::string_view string) {
  open.push_back(string.size());
  text += string;
}

TreeDef def_of(const TreeSchema& schema, TreeScan scan) {
  return {schema, std::move(scan.open), std::move(scan.text), scan.leaves.size()};
}

void require_one_structure(std::string_view function, const TreeSchema& schema,
                           std::span<const TreeScan> scans, std::string_view line) {
  const TreeScan& first = scans.front();
  for (std::size_t i = 1; i < scans.size(); ++i) {
    if (scans[i].open == first.open && scans[i].text == first.text) continue;
    require_same_structure(function, "tree 1", def_of(schema, first),
                           "tree " + std::to_string(i + 1), def_of(schema, scans[i]), line);
  }
}

}  // namespace sturnus::internal
