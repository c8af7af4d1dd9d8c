// Tables of misuses, each with the exception and the message that answer it.
#pragma once

#include <gtest/gtest.h>
#include <sturnus/functional/graph.h>
#include <sturnus/functional/tree.h>
#include <sturnus/ops/creation.h>

#include <functional>
#include <regex>
#include <string>
#include <typeindex>
#include <vector>

namespace sturnus {

struct Row {
  std::string name;
  std::function<void()> misuse;
  std::type_index type;
  std::string message;  // with <here> for the line of the row
};

struct Answer {
  std::type_index type = typeid(void);
  std::string message = "nothing was thrown";
};

inline std::string without_lines(const std::string& message) {
  static const std::regex line("([a-z_]*errors_test\\.cc|misused_trees\\.h):[0-9]+");
  return std::regex_replace(message, line, "<here>");
}

inline Answer answer_to(const std::function<void()>& misuse) {
  try {
    misuse();
  } catch (const std::exception& error) {
    return {typeid(error), without_lines(error.what())};
  }
  return {};
}

inline void expect_answers(const std::vector<Row>& rows) {
  for (const Row& row : rows) {
    Answer answer = answer_to(row.misuse);
    EXPECT_EQ(answer.message, row.message) << row.name;
    EXPECT_TRUE(answer.type == row.type)
        << row.name << ": " << answer.type.name() << " instead of " << row.type.name();
  }
}

inline const std::type_index error = typeid(Error), shape_error = typeid(ShapeError),
                             dtype_error = typeid(DtypeError), tree_error = typeid(TreeError),
                             trace_error = typeid(TraceError);

inline Array x3() { return zeros({3}); }
inline Array x23() { return zeros({2, 3}); }
inline Array whole3() { return zeros({3}, DType::i32); }
inline Array z3() { return zeros({3}, DType::c64); }
inline Array same(Array x) { return x; }

inline std::string no_axis(const std::string& function, const std::string& axis,
                           const std::string& type) {
  bool one = type.find(',') == type.npos;
  return function + ": axis " + axis + " of " + type + ", which has " +
         (one ? "1 axis (<here>). Name one from -1 to 0"
              : "2 axes (<here>). Name one from -2 to 1");
}

}  // namespace sturnus
