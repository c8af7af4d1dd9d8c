// The rows of ops that are loops or large programs, apart so that both halves run side by side.
#include "tests/ops/op_table_laws.h"

namespace sturnus::testing {

const std::vector<Row>& rows() {
  static const std::vector<Row> all = iterative_rows();
  return all;
}

}  // namespace sturnus::testing
