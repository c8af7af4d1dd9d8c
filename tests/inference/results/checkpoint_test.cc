#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sturnus/inference/results/checkpoint.h>

#include <limits>
#include <string>

#include "tests/inference/host.h"

namespace sturnus {
namespace {

using testing::HasSubstr;

struct Kept {
  Array weights, count;
  std::vector<Array> more;
};

Kept something() {
  double inf = std::numeric_limits<double>::infinity();
  return {device_array({1, -2.5, inf, 4, 5, 6}, {2, 3}),
          Array(7),
          {array(std::vector<bool>{true, false}), array(std::vector<float>{}, {0, 2}),
           Array(0.1, DType::bf16)}};
}

TEST(Checkpoint, GivesArraysBackToTheBit) {
  Kept kept = something();
  std::string bytes = arrays_to_bytes(tree_leaves(kept));
  Kept found = tree_from_bytes(kept, bytes);
  Arrays before = tree_leaves(kept), after = tree_leaves(found);
  ASSERT_EQ(before.size(), after.size());
  for (std::size_t i = 0; i < before.size(); i++) {
    EXPECT_EQ(after[i].type(), before[i].type());
    EXPECT_EQ(bytes_of(after[i]), bytes_of(before[i]));
  }
  EXPECT_TRUE(arrays_from_bytes(arrays_to_bytes({})).empty());
}

TEST(Checkpoint, NoticesEveryCutAndEveryChangedByte) {
  std::string whole = arrays_to_bytes(tree_leaves(something()));
  for (std::size_t size = 0; size < whole.size(); size++) {
    EXPECT_THROW(arrays_from_bytes(whole.substr(0, size)), Error) << size;
  }
  for (std::size_t i = 0; i < whole.size(); i++) {
    std::string changed = whole;
    changed[i] = static_cast<char>(changed[i] ^ 4);
    EXPECT_THROW(arrays_from_bytes(changed), Error) << i;
  }
  EXPECT_THROW(arrays_from_bytes(whole + "x"), Error);
  EXPECT_THAT(error_of([] { arrays_from_bytes("PK\x03\x04 something else"); }),
              HasSubstr("the bytes are not arrays that Sturnus wrote"));
}

TEST(Checkpoint, NamesTheFirstArrayOfAnotherType) {
  Kept kept = something();
  std::string bytes = arrays_to_bytes(tree_leaves(kept));
  Kept other = kept;
  other.weights = device_array({1, 2}, {1, 2});
  EXPECT_THAT(error_of([&] { tree_from_bytes(other, bytes); }),
              HasSubstr("tree_from_bytes: .weights was kept as f64[2,3], but is f64[1,2] here. It "
                        "belongs to other settings"));
  other.more.pop_back();
  EXPECT_THAT(error_of([&] { tree_from_bytes(other, bytes); }),
              HasSubstr("5 arrays were kept, but 4 are needed"));
}

}  // namespace
}  // namespace sturnus
