#include "src/runtime/wire.h"

#include <sturnus/runtime/error.h>

#include <bit>

namespace sturnus::internal {
namespace {

[[noreturn]] void malformed(const char* what, std::size_t offset) {
  throw Error("WireReader: " + std::string(what) + " at byte " + std::to_string(offset) +
              ". The protobuf message is cut off or damaged.");
}

// Takes bytes from the front of a view and counts them.
struct Cursor {
  std::string_view& rest;
  std::size_t& offset;

  std::string_view take(std::uint64_t count) {
    if (count > rest.size()) malformed("a field that ends beyond its message", offset);
    auto taken = rest.substr(0, count);
    rest.remove_prefix(taken.size());
    offset += taken.size();
    return taken;
  }

  std::uint64_t varint() {
    std::uint64_t value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      auto byte = static_cast<std::uint8_t>(take(1).front());
      if (shift == 63 && byte > 1) break;
      value |= std::uint64_t{byte & 0x7fu} << shift;
      if (byte < 0x80) return value;
    }
    malformed("a number of more than 64 bits", offset);
  }

  std::uint64_t little_endian(std::size_t size) {
    std::uint64_t value = 0;
    int shift = 0;
    for (char byte : take(size)) {
      value |= std::uint64_t{static_cast<std::uint8_t>(byte)} << shift;
      shift += 8;
    }
    return value;
  }
};

}  // namespace

void WireWriter::raw_varint(std::uint64_t value) {
  for (; value >= 0x80; value >>= 7) bytes_ += static_cast<char>(value | 0x80);
  bytes_ += static_cast<char>(value);
}

void WireWriter::tag(std::uint32_t number, WireType type) {
  raw_varint(std::uint64_t{number} << 3 | static_cast<std::uint64_t>(type));
}

WireWriter& WireWriter::varint(std::uint32_t number, std::int64_t value) {
  tag(number, WireType::varint);
  raw_varint(static_cast<std::uint64_t>(value));
  return *this;
}

WireWriter& WireWriter::bytes(std::uint32_t number, std::string_view value) {
  tag(number, WireType::bytes);
  raw_varint(value.size());
  bytes_ += value;
  return *this;
}

WireWriter& WireWriter::message(std::uint32_t number, const WireWriter& value) {
  return bytes(number, value.bytes_);
}

WireWriter& WireWriter::real(std::uint32_t number, double value) {
  tag(number, WireType::fixed64);
  auto bits = std::bit_cast<std::uint64_t>(value);
  for (int shift = 0; shift < 64; shift += 8) bytes_ += static_cast<char>(bits >> shift);
  return *this;
}

WireWriter& WireWriter::packed(std::uint32_t number, std::span<const std::int64_t> values) {
  WireWriter numbers;
  for (std::int64_t value : values) numbers.raw_varint(static_cast<std::uint64_t>(value));
  return message(number, numbers);
}

std::vector<std::int64_t> WireField::integers() const {
  if (type != WireType::bytes) return {value};
  std::vector<std::int64_t> values;
  auto rest = bytes;
  auto position = offset;
  for (Cursor cursor{rest, position}; !rest.empty();) {
    values.push_back(static_cast<std::int64_t>(cursor.varint()));
  }
  return values;
}

WireReader::Iterator& WireReader::Iterator::operator++() {
  at_end_ = rest_.empty();
  if (at_end_) return *this;
  Cursor cursor{rest_, offset_};
  const std::size_t start = offset_;
  const std::uint64_t tag = cursor.varint();
  // Field numbers have 29 bits, and 0 is none.
  if (tag < 8 || tag >> 32 != 0) malformed("an impossible field number", start);
  field_ = {.number = static_cast<std::uint32_t>(tag >> 3), .type = static_cast<WireType>(tag & 7)};
  switch (field_.type) {
    case WireType::varint:
      field_.value = static_cast<std::int64_t>(cursor.varint());
      break;
    case WireType::fixed64:
      field_.value = static_cast<std::int64_t>(cursor.little_endian(8));
      break;
    case WireType::fixed32:
      field_.value = static_cast<std::int64_t>(cursor.little_endian(4));
      break;
    case WireType::bytes: {
      const std::uint64_t size = cursor.varint();
      field_.offset = offset_;
      field_.bytes = cursor.take(size);
      break;
    }
    default:
      malformed("an unknown wire type", start);
  }
  return *this;
}

}  // namespace sturnus::internal
