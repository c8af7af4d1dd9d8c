#include "src/app/table.h"

#include <gtest/gtest.h>

#include <sstream>

namespace sturnus::app {
namespace {

std::string printed(const Table& table) {
  std::ostringstream out;
  table.print(out);
  return out.str();
}

TEST(Table, AlignsItsColumns) {
  Table table({"NAME", "N", "TEXT"});
  EXPECT_EQ(printed(table), "NAME  N  TEXT\n");
  table.add({"a", "1000", "long text"});
  table.add({"longer", "", "b"});
  EXPECT_EQ(printed(table),
            "NAME    N     TEXT\n"
            "a       1000  long text\n"
            "longer        b\n");
}

TEST(Table, TakesRowsOfAnyLength) {
  Table table({"A", "B"});
  table.add({"short"});
  table.add({});
  table.add({"1", "2", "3"});
  EXPECT_EQ(printed(table), "A      B\nshort\n\n1      2  3\n");
}

TEST(Table, PrintsBytesAsAPersonReadsThem) {
  const std::pair<double, const char*> rows[] = {
      {0, "0 B"},
      {1, "1 B"},
      {1023, "1023 B"},
      {1024, "1.0 KiB"},
      {1536, "1.5 KiB"},
      {1024.0 * 1024, "1.0 MiB"},
      {80 * 1024.0 * 1024 * 1024, "80.0 GiB"},
      {3.5 * 1024 * 1024 * 1024 * 1024, "3.5 TiB"},
      {5000 * 1024.0 * 1024 * 1024 * 1024, "5000.0 TiB"},
  };
  for (const auto& [bytes, text] : rows) EXPECT_EQ(bytes_text(bytes), text);
}

}  // namespace
}  // namespace sturnus::app
