#include <gtest/gtest.h>
#include <sturnus/functional/op.h>

#include <set>

#include "tests/ops/op_table_laws.h"

namespace sturnus::testing {

const std::vector<Row>& rows() {
  static const std::vector<Row> all = direct_rows();
  return all;
}

namespace {

// An op that no row reaches is not tested: this fails for it.
TEST(OpTableItself, ReachesEveryOp) {
  std::set<std::string_view> reached;
  internal::Trace trace;
  std::vector<Row> all = direct_rows(), loops = iterative_rows();
  all.insert(all.end(), loops.begin(), loops.end());
  for (const Row& row : all) {
    Arrays x;
    for (const Shape& shape : row.shapes) {
      x.push_back(internal::placeholder({DType::f64, shape}, "test"));
    }
    Arrays result = {row.f(x)};
    for (const internal::Node* node : internal::reachable(result)) {
      reached.insert(node->op->kind());
    }
  }
  for (const internal::OpFacts& op : internal::known_ops()) {
    // Leaves, which have no rules to test; ops that only the rules of other ops make; collectives,
    // which are gone when the vmap of their axis is done. Rows of the functions reach them all.
    static const std::set<std::string_view> exempt = {"constant",           "parameter",
                                                      "checkpoint_tangent", "debug_tangent",
                                                      "custom_vjp_tangent", "optimization_barrier",
                                                      "axis_extreme",       "psum",
                                                      "all_gather"};
    EXPECT_TRUE(exempt.count(op.name) > 0 || reached.count(op.name) > 0)
        << op.name << " has no row in op_table.cc";
  }
}

}  // namespace
}  // namespace sturnus::testing
