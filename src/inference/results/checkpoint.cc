#include <sturnus/inference/results/checkpoint.h>
#include <sturnus/runtime/checksum.h>
#include <sturnus/runtime/error.h>

#include <cstdint>
#include <cstring>

namespace sturnus {
namespace {

constexpr std::string_view magic = "sturnus arrays 1\n";

void put(std::string& bytes, std::int64_t number) {
  bytes.append(reinterpret_cast<const char*>(&number), sizeof(number));
}

// Takes bytes from the front.
class Reader {
 public:
  explicit Reader(std::string_view bytes) : rest_(bytes) {}
  std::string_view take(std::size_t count) {
    if (rest_.size() < count) throw Error("arrays_from_bytes: the bytes end too early");
    std::string_view result = rest_.substr(0, count);
    rest_.remove_prefix(count);
    return result;
  }
  std::int64_t number() {
    std::int64_t result = 0;
    std::memcpy(&result, take(sizeof(result)).data(), sizeof(result));
    return result;
  }
  std::string_view rest() const { return rest_; }

 private:
  std::string_view rest_;
};

}  // namespace

std::string arrays_to_bytes(const Arrays& arrays) {
  std::string body;
  put(body, static_cast<std::int64_t>(arrays.size()));
  for (const Array& a : arrays) {
    put(body, static_cast<std::int64_t>(a.dtype()));
    put(body, a.rank());
    for (std::int64_t extent : a.shape()) put(body, extent);
    std::string values(a.type().bytes(), '\0');
    a.buffer().to_host(values.data(), values.size());
    body += values;
  }
  std::string bytes(magic);
  put(bytes, static_cast<std::int64_t>(checksum(body)));
  return bytes + body;
}

Arrays arrays_from_bytes(std::string_view bytes) {
  if (bytes.substr(0, magic.size()) != magic) {
    throw Error("arrays_from_bytes: the bytes are not arrays that Sturnus wrote");
  }
  Reader reader(bytes.substr(magic.size()));
  auto expected = static_cast<std::uint64_t>(reader.number());
  if (checksum(reader.rest()) != expected) {
    throw Error("arrays_from_bytes: the bytes are truncated or damaged");
  }
  Arrays arrays(static_cast<std::size_t>(reader.number()));
  for (Array& a : arrays) {
    ArrayType type;
    type.dtype = static_cast<DType>(reader.number());
    type.shape.resize(static_cast<std::size_t>(reader.number()));
    for (std::int64_t& extent : type.shape) extent = reader.number();
    std::string_view values = reader.take(type.bytes());
    a = from_buffer(Buffer::from_host(default_device(), type, values.data()));
  }
  return arrays;
}

namespace internal {

void require_types(const Arrays& expected, const Arrays& found,
                   const std::vector<std::string>& paths) {
  if (expected.size() != found.size()) {
    throw Error("tree_from_bytes: " + std::to_string(found.size()) + " arrays were kept, but " +
                std::to_string(expected.size()) + " are needed. They belong to other settings");
  }
  for (std::size_t i = 0; i < found.size(); i++) {
    if (found[i].type() == expected[i].type()) continue;
    throw Error("tree_from_bytes: " + paths[i] + " was kept as " + found[i].type().str() +
                ", but is " + expected[i].type().str() + " here. It belongs to other settings");
  }
}

}  // namespace internal
}  // namespace sturnus
