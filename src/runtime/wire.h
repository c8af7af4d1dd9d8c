// Protobuf's wire format: enough to write XLA's compile options and to read its programs.
//
//   std::string options = WireWriter().message(3, WireWriter().varint(4, 1).varint(5, 1)).str();
//   for (const WireField& field : WireReader(options)) {
//     switch (field.number) { case 3: for (const WireField& inner : WireReader(field)) ... }
//   }
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sturnus::internal {

enum class WireType : std::uint8_t { varint = 0, fixed64 = 1, bytes = 2, fixed32 = 5 };

/// Writes fields one after another; every call appends one field, also when it is the default
/// value.
class WireWriter {
 public:
  /// int32, int64, bool and enum fields.
  WireWriter& varint(std::uint32_t number, std::int64_t value);
  /// string and bytes fields.
  WireWriter& bytes(std::uint32_t number, std::string_view value);
  WireWriter& message(std::uint32_t number, const WireWriter& value);
  /// double fields.
  WireWriter& real(std::uint32_t number, double value);
  /// repeated int64 fields.
  WireWriter& packed(std::uint32_t number, std::span<const std::int64_t> values);

  const std::string& str() const { return bytes_; }

 private:
  void tag(std::uint32_t number, WireType type);
  void raw_varint(std::uint64_t value);

  std::string bytes_;
};

/// One field as it stands in a message. A field of another type than expected reads as 0 and empty.
struct WireField {
  std::uint32_t number = 0;
  WireType type = WireType::varint;
  std::int64_t value = 0;       // a varint as int64, or the bits of a fixed32 or fixed64
  std::string_view bytes = {};  // a string, a message or packed numbers, seen in place
  std::size_t offset = 0;       // of `bytes` in the outermost message

  /// The numbers of a repeated int64 field, packed or single. Throws Error when they are malformed.
  std::vector<std::int64_t> integers() const;
};

/// The fields of a message, in order. Iterating throws Error with the offset of malformed bytes,
/// and never reads beyond them. Messages are entered by the caller, so none can be nested too deep
/// for it.
class WireReader {
 public:
  explicit WireReader(std::string_view message) : message_(message) {}
  explicit WireReader(const WireField& message) : message_(message.bytes), start_(message.offset) {}

  class Iterator {
   public:
    const WireField& operator*() const { return field_; }
    Iterator& operator++();
    bool operator==(std::default_sentinel_t) const { return at_end_; }

   private:
    friend class WireReader;
    Iterator(std::string_view message, std::size_t start) : rest_(message), offset_(start) {
      ++*this;
    }

    std::string_view rest_;
    std::size_t offset_;  // of `rest_` in the outermost message
    WireField field_;
    bool at_end_ = false;
  };

  Iterator begin() const { return {message_, start_}; }
  std::default_sentinel_t end() const { return {}; }

 private:
  std::string_view message_;
  std::size_t start_ = 0;
};

}  // namespace sturnus::internal
