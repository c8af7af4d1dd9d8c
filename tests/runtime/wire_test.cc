#include "src/runtime/wire.h"

#include <gtest/gtest.h>
#include <sturnus/runtime/error.h>

#include <bit>
#include <limits>
#include <random>

namespace sturnus::internal {
namespace {

std::string from_hex(std::string_view hex) {
  std::string bytes;
  for (std::size_t i = 0; i < hex.size(); i += 2) {
    bytes += static_cast<char>(std::stoi(std::string(hex.substr(i, 2)), nullptr, 16));
  }
  return bytes;
}

std::vector<WireField> read_all(std::string_view bytes) {
  std::vector<WireField> fields;
  for (const WireField& field : WireReader(bytes)) fields.push_back(field);
  return fields;
}

std::string error_of(std::string_view bytes) {
  try {
    read_all(bytes);
    return "no error";
  } catch (const Error& error) {
    return error.what();
  }
}

// The first four are worked examples of protobuf's own documentation of its encoding.
TEST(WireWriter, WritesWhatProtobufDoes) {
  EXPECT_EQ(WireWriter().varint(1, 150).str(), from_hex("089601"));
  EXPECT_EQ(WireWriter().bytes(2, "testing").str(), from_hex("120774657374696e67"));
  EXPECT_EQ(WireWriter().message(3, WireWriter().varint(1, 150)).str(), from_hex("1a03089601"));
  EXPECT_EQ(WireWriter().packed(6, std::vector<std::int64_t>{3, 270, 86942}).str(),
            from_hex("3206038e029ea705"));
  EXPECT_EQ(WireWriter().varint(1, -2).str(), from_hex("08feffffffffffffffff01"));
  EXPECT_EQ(WireWriter().real(4, 1.0).str(), from_hex("21000000000000f03f"));
  EXPECT_EQ(WireWriter().varint(19, true).str(), from_hex("980101"));
  EXPECT_EQ(WireWriter().packed(1, {}).str(), from_hex("0a00"));
  EXPECT_EQ(WireWriter().message(3, WireWriter().varint(4, 1).varint(5, 1)).str(),
            from_hex("1a0420012801"));
}

TEST(WireReader, ReadsBackEveryVarint) {
  std::vector<std::int64_t> values = {0, -1};
  for (int bit = 0; bit < 63; bit++) {
    for (int nudge : {-1, 0, 1}) values.push_back((std::int64_t{1} << bit) + nudge);
    values.push_back(-(std::int64_t{1} << bit));
  }
  values.push_back(std::numeric_limits<std::int64_t>::max());
  values.push_back(std::numeric_limits<std::int64_t>::min());
  for (std::uint32_t number : {1u, 15u, 16u, 2047u, 2048u, (1u << 29) - 1}) {
    WireWriter writer;
    for (std::int64_t value : values) writer.varint(number, value);
    auto fields = read_all(writer.packed(number, values).str());
    ASSERT_EQ(fields.size(), values.size() + 1);
    for (std::size_t i = 0; i < values.size(); i++) {
      EXPECT_EQ(fields[i].number, number);
      EXPECT_EQ(fields[i].type, WireType::varint);
      EXPECT_EQ(fields[i].value, values[i]);
      EXPECT_EQ(fields[i].integers(), std::vector{values[i]});
    }
    EXPECT_EQ(fields.back().number, number);
    EXPECT_EQ(fields.back().integers(), values);
  }
}

TEST(WireReader, ReadsFixedWidthFields) {
  auto fields = read_all(WireWriter().real(1, -0.1).str() + from_hex("15efcdab89"));
  ASSERT_EQ(fields.size(), 2u);
  EXPECT_EQ(fields[0].type, WireType::fixed64);
  EXPECT_EQ(std::bit_cast<double>(fields[0].value), -0.1);
  EXPECT_EQ(fields[1].type, WireType::fixed32);
  EXPECT_EQ(fields[1].number, 2u);
  EXPECT_EQ(fields[1].value, 0x89abcdef);
}

TEST(WireReader, EntersMessages) {
  auto inner = WireWriter().varint(7, 1).bytes(8, "x");
  std::string bytes = WireWriter().bytes(1, "skipped").message(2, inner).bytes(3, "").str();
  std::vector<std::uint32_t> numbers;
  for (const WireField& field : WireReader(bytes)) {
    numbers.push_back(field.number);
    if (field.number != 2) continue;
    for (const WireField& part : WireReader(field)) {
      numbers.push_back(part.number);
      EXPECT_EQ(bytes.substr(part.offset, part.bytes.size()), part.bytes);
    }
  }
  EXPECT_EQ(numbers, (std::vector<std::uint32_t>{1, 2, 7, 8, 3}));
}

TEST(WireReader, HasNoFieldsInAnEmptyMessage) { EXPECT_TRUE(read_all("").empty()); }

TEST(WireReader, ReadsAFieldOfAnotherTypeAsEmpty) {
  auto number = read_all(WireWriter().varint(1, 5).str()).front();
  EXPECT_TRUE(number.bytes.empty());
  auto text = read_all(WireWriter().bytes(1, "five").str()).front();
  EXPECT_EQ(text.value, 0);
}

TEST(WireReader, SaysWhereBytesAreMalformed) {
  const struct {
    const char* hex;
    const char* message;
  } cases[] = {
      {"08", "ends beyond its message at byte 1"},
      {"0880", "ends beyond its message at byte 2"},
      {"0801120774", "ends beyond its message at byte 4"},
      {"12ffffffffffffffffff01", "ends beyond its message at byte 11"},
      {"0900000000000000", "ends beyond its message at byte 1"},
      {"0d000000", "ends beyond its message at byte 1"},
      {"08ffffffffffffffffff02", "more than 64 bits at byte 11"},
      {"08ffffffffffffffffffff01", "more than 64 bits at byte 11"},
      {"0000", "impossible field number at byte 0"},
      {"0801"
       "8080808010",
       "impossible field number at byte 2"},
      {"0b", "unknown wire type at byte 0"},  // groups are not used by XLA
      {"0c", "unknown wire type at byte 0"},
      {"0f", "unknown wire type at byte 0"},
  };
  for (const auto& [hex, message] : cases) {
    EXPECT_NE(error_of(from_hex(hex)).find(message), std::string::npos)
        << hex << ": " << error_of(from_hex(hex));
  }
}

TEST(WireReader, CountsOffsetsFromTheOutermostMessage) {
  const std::string bytes = WireWriter().bytes(1, "12345").bytes(2, from_hex("0880")).str();
  const WireField damaged = read_all(bytes).back();
  const auto expect_error_at_11 = [](auto&& read) {
    try {
      read();
      ADD_FAILURE() << "no error";
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find("at byte 11"), std::string::npos) << error.what();
    }
  };
  expect_error_at_11([&] { damaged.integers(); });
  expect_error_at_11([&] { WireReader(damaged).begin(); });
}

TEST(WireReader, ReadsOrRefusesAnyBytes) {
  std::mt19937 random(1);
  std::size_t read = 0, refused = 0;
  for (int round = 0; round < 5000; round++) {
    std::string bytes(random() % 24, '\0');
    for (char& byte : bytes) byte = static_cast<char>(random());
    // A copy on the heap without slack, so that AddressSanitizer sees any byte too far.
    std::vector<char> exact(bytes.begin(), bytes.end());
    try {
      for (const WireField& field : WireReader(std::string_view(exact.data(), exact.size()))) {
        field.integers();
      }
      read++;
    } catch (const Error&) {
      refused++;
    }
  }
  EXPECT_GT(read, 100u);
  EXPECT_GT(refused, 100u);
}

}  // namespace
}  // namespace sturnus::internal
