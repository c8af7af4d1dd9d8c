// Who is charged when a graph is rewritten.
#pragma once

#include <sturnus/functional/graph.h>

namespace sturnus::internal {

/// While one lives, operations are charged to the line that made the original node, if that is
/// known: inside a loop's body to lines of the body, also while the loop itself is being rewritten.
class Recharge {
 public:
  explicit Recharge(Where where);
  ~Recharge();
  Recharge(const Recharge&) = delete;

 private:
  bool outer_blamed_;
  Where outer_;
  std::string_view outer_function_;
};

}  // namespace sturnus::internal
