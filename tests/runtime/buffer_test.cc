#include <gtest/gtest.h>
#include <sturnus/runtime/buffer.h>
#include <sturnus/runtime/error.h>

#include <atomic>
#include <chrono>
#include <cstring>
#include <functional>
#include <memory>
#include <numeric>
#include <optional>
#include <random>
#include <thread>

#include "tests/runtime/cpu.h"

namespace sturnus {
namespace {

const std::vector<Shape> shapes = {{},        {1},       {7},          {64}, {2, 3}, {3, 2},
                                   {2, 3, 4}, {5, 1, 3}, {1, 2, 1, 3}, {0},  {0, 3}, {3, 0, 2}};

using Bytes = std::vector<std::uint8_t>;

// Any bytes are an element of any dtype, except that a bool is 0 or 1.
Bytes some_bytes(DType dtype, std::size_t count) {
  static std::mt19937 random(1);
  Bytes bytes(count);
  for (auto& byte : bytes)
    byte = static_cast<std::uint8_t>(random() % (dtype == DType::boolean ? 2 : 256));
  return bytes;
}

Bytes contents(const Buffer& buffer) {
  Bytes bytes(buffer.type().bytes());
  buffer.to_host(bytes.data(), bytes.size());
  return bytes;
}

template <class Action>
void for_every_type(Action action) {
  for (int i = 0; i < dtype_count; i++) {
    for (const Shape& shape : shapes) {
      ArrayType type{static_cast<DType>(i), shape};
      SCOPED_TRACE(type.str());
      action(type, some_bytes(type.dtype, type.bytes()));
    }
  }
}

// ------------------------------------------------------------------------------- to and from host

TEST(Buffer, KeepsItsContentsOnEveryDevice) {
  std::vector<Device> devices = cpu().addressable_devices();
  std::size_t turn = 0;
  for_every_type([&](const ArrayType& type, const Bytes& bytes) {
    const Device& device = devices[turn++ % devices.size()];
    Buffer buffer = Buffer::from_host(device, type, bytes.data());
    EXPECT_EQ(buffer.type(), type);
    EXPECT_EQ(buffer.device(), device);
    EXPECT_EQ(contents(buffer), bytes);
    EXPECT_GE(buffer.device_bytes(), bytes.size());
    EXPECT_FALSE(buffer.released());
  });
}

TEST(Buffer, CopiesWhatItIsGiven) {
  for_every_type([](const ArrayType& type, Bytes bytes) {
    Bytes given = bytes;
    Buffer buffer = Buffer::from_host(cpu().device(), type, given.data());
    for (auto& byte : given) byte ^= 1;
    EXPECT_EQ(contents(buffer), bytes);
  });
}

TEST(Buffer, KeepsItsContentsWhenSentAndFetchedAsynchronously) {
  for_every_type([](const ArrayType& type, const Bytes& bytes) {
    auto [buffer, sent] = Buffer::from_host_async(cpu().device(), type, bytes.data());
    Bytes back(bytes.size());
    Event fetched = buffer.to_host_async(back.data(), back.size());
    fetched.await();
    sent.await();
    EXPECT_TRUE(sent.ready() && fetched.ready());
    EXPECT_EQ(back, bytes);
  });
}

template <class T>
class TypedBuffer : public testing::Test {};
using ElementTypes = testing::Types<bool, std::int8_t, std::int16_t, std::int32_t, std::int64_t,
                                    std::uint8_t, std::uint16_t, std::uint32_t, std::uint64_t, f16,
                                    bf16, float, double, std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(TypedBuffer, ElementTypes);

TYPED_TEST(TypedBuffer, ReadsAsTheTypeThatWasWritten) {
  TypeParam values[] = {TypeParam(0), TypeParam(1), TypeParam(1),
                        TypeParam(0), TypeParam(1), TypeParam(1)};
  auto buffer = Buffer::from_host<TypeParam>(cpu().device(), values, {3, 2});
  EXPECT_EQ(buffer.type(), (ArrayType{dtype_of<TypeParam>, {3, 2}}));
  HostVector<TypeParam> expected(std::begin(values), std::end(values));
  EXPECT_EQ(buffer.template to_vector<TypeParam>(), expected);
  EXPECT_EQ(buffer.template to_vector_async<TypeParam>().get(), expected);
  HostView view = buffer.host_view();
  EXPECT_TRUE(std::equal(std::begin(values), std::end(values), view.as<TypeParam>().begin(),
                         view.as<TypeParam>().end()));
}

TYPED_TEST(TypedBuffer, OfOneElementIsAnItem) {
  Buffer scalar = Buffer::scalar(cpu().device(), TypeParam(1));
  EXPECT_EQ(scalar.type(), (ArrayType{dtype_of<TypeParam>, {}}));
  EXPECT_EQ(scalar.template item<TypeParam>(), TypeParam(1));
  TypeParam one[] = {TypeParam(1)};
  auto nested = Buffer::from_host<TypeParam>(cpu().device(), one, {1, 1});
  EXPECT_EQ(nested.template item<TypeParam>(), TypeParam(1));
}

// ---------------------------------------------------------------------------------------- strides

// How an array of `shape` lies in a block of memory.
struct Layout {
  const char* name;
  std::size_t elements;  // of the block
  Shape shape;
  std::vector<std::int64_t> strides;  // in elements
  std::int64_t start = 0;
};

const Layout layouts[] = {
    {"row-major", 24, {2, 3, 4}, {12, 4, 1}},
    {"column-major", 24, {2, 3, 4}, {1, 2, 6}},
    {"permuted", 24, {2, 3, 4}, {4, 8, 1}},
    {"every other column", 24, {4, 3}, {6, 2}},
    {"a block within rows", 24, {2, 2}, {6, 1}, 7},
    {"backwards", 5, {5}, {-1}, 4},
    {"rows backwards", 12, {3, 4}, {-4, 1}, 8},
    {"columns backwards", 12, {3, 4}, {4, -1}, 3},
    {"all backwards, every other", 24, {2, 3, 2}, {-12, -4, -2}, 22},
    {"one element for all", 1, {3, 2}, {0, 0}},
    {"one row for all", 4, {3, 4}, {0, 1}},
    {"nothing", 6, {0, 3}, {3, 1}},
    {"one", 6, {1, 1}, {100, -100}, 3},
};

TEST(Buffer, TakesItsElementsByStrides) {
  for (const Layout& layout : layouts) {
    for (int i = 0; i < dtype_count; i++) {
      ArrayType type{static_cast<DType>(i), layout.shape};
      SCOPED_TRACE(std::string(layout.name) + " " + type.str());
      auto width = static_cast<std::int64_t>(size_of(type.dtype));
      Bytes block = some_bytes(type.dtype, layout.elements * size_of(type.dtype));

      // The plain loop: count the index up in row-major order, and pick each element.
      Bytes expected;
      Shape index(layout.shape.size(), 0);
      for (std::int64_t n = 0; n < type.size(); n++) {
        std::int64_t at =
            std::inner_product(index.begin(), index.end(), layout.strides.begin(), layout.start);
        expected.insert(expected.end(), block.begin() + at * width,
                        block.begin() + (at + 1) * width);
        for (std::size_t axis = index.size(); axis-- > 0;) {
          if (++index[axis] < layout.shape[axis]) break;
          index[axis] = 0;
        }
      }

      std::vector<std::int64_t> byte_strides;
      for (std::int64_t stride : layout.strides) byte_strides.push_back(stride * width);
      Buffer buffer = Buffer::from_host(cpu().device(), type, block.data() + layout.start * width,
                                        byte_strides);
      EXPECT_EQ(contents(buffer), expected);
      HostView view = buffer.host_view();  // dense on the device too
      EXPECT_TRUE(expected.empty() ||
                  std::memcmp(view.data(), expected.data(), expected.size()) == 0);
    }
  }
}

// ---------------------------------------------------------------------------------------- aliases

// Counts how often memory is said to be free again, which may be by a thread of the plugin.
class Releases {
 public:
  std::function<void()> counter() {
    return [count = count_] { ++*count; };
  }
  int now() const { return *count_; }
  /// The count once it is not 0, or after a while.
  int soon() const {
    auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (now() == 0 && std::chrono::steady_clock::now() < end) std::this_thread::yield();
    return now();
  }

 private:
  std::shared_ptr<std::atomic<int>> count_ = std::make_shared<std::atomic<int>>(0);
};

constexpr std::int64_t shared_count = 1000;

std::vector<float> counting() {
  std::vector<float> values(shared_count);
  std::iota(values.begin(), values.end(), 0.0f);
  return values;
}

// Numbers in memory that a buffer may share.
struct SharedMemory {
  alignas(64) float block[shared_count + 1];
  float* data;
  Releases releases;

  explicit SharedMemory(std::size_t misalignment = 0) : data(block + misalignment) {
    std::iota(data, data + shared_count, 0.0f);
  }
  Buffer alias() {
    return Buffer::alias_host(cpu().device(), {DType::f32, {shared_count}}, data,
                              releases.counter());
  }
};

TEST(Alias, UsesAlignedMemoryInPlaceUntilTheBufferGoes) {
  SharedMemory memory;
  {
    Buffer buffer = memory.alias();
    EXPECT_EQ(buffer.host_view().data(), memory.data);
    EXPECT_EQ(buffer.to_vector<float>(), counting());
    EXPECT_EQ(memory.releases.now(), 0);
  }
  EXPECT_EQ(memory.releases.soon(), 1);
}

TEST(Alias, CopiesMisalignedMemoryAndLetsItGo) {
  SharedMemory memory(/*misalignment=*/1);
  Buffer buffer = memory.alias();
  EXPECT_EQ(memory.releases.soon(), 1);
  EXPECT_NE(buffer.host_view().data(), memory.data);
  std::fill_n(memory.data, shared_count, -1.0f);
  EXPECT_EQ(buffer.to_vector<float>(), counting());
  buffer = Buffer();
  EXPECT_EQ(memory.releases.now(), 1);
}

TEST(Alias, IsReleasedOnceWhateverHappensToTheBuffer) {
  SharedMemory released, assigned, copied, moved;
  Buffer a = released.alias();
  a.release();
  EXPECT_EQ(released.releases.soon(), 1);
  a = assigned.alias();
  a = vector_of({1});
  EXPECT_EQ(assigned.releases.soon(), 1) << "assignment keeps what it replaces";
  a = copied.alias();
  Buffer copy = a.copy_to(cpu().device(1));
  a = Buffer();
  EXPECT_EQ(copy.to_vector<float>(), counting());
  EXPECT_EQ(copied.releases.soon(), 1);
  {
    Buffer b = moved.alias();
    Buffer c = std::move(b);
    EXPECT_EQ(moved.releases.now(), 0);
  }
  EXPECT_EQ(moved.releases.soon(), 1);
  EXPECT_EQ(released.releases.now() + assigned.releases.now() + copied.releases.now(), 3);
}

TEST(Alias, OfEveryTypeReadsAsItWasWritten) {
  for_every_type([](const ArrayType& type, const Bytes& bytes) {
    Releases releases;
    {
      Buffer buffer = Buffer::alias_host(cpu().device(), type, bytes.data(), releases.counter());
      EXPECT_EQ(contents(buffer), bytes);
      Buffer untold = Buffer::alias_host(cpu().device(), type, bytes.data(), nullptr);
      EXPECT_EQ(contents(untold), bytes);
    }
    EXPECT_EQ(releases.soon(), 1);
  });
}

TEST(Alias, StaysWhileAProgramReadsIt) {
  alignas(64) static float values[32 * 32];
  std::fill(std::begin(values), std::end(values), 0.01f);
  Releases releases;
  Buffer count = Buffer::scalar(cpu().device(), std::int64_t{20000});
  const LoadedExecutable& loop = compiled(programs::loop);
  std::vector<Buffer> result;
  {
    Buffer x =
        Buffer::alias_host(cpu().device(), {DType::f32, {32, 32}}, values, releases.counter());
    result = loop.run({&count, &x});
  }
  EXPECT_EQ(releases.now(), 0) << "the program is still reading";
  EXPECT_EQ(result[0].to_vector<float>(), slow_result().to_vector<float>());
  EXPECT_EQ(releases.soon(), 1);
}

// ------------------------------------------------------------------------------------------ views

TEST(HostView, ShowsTheContents) {
  for_every_type([](const ArrayType& type, const Bytes& bytes) {
    Buffer buffer = Buffer::from_host(cpu().device(), type, bytes.data());
    HostView first = buffer.host_view();
    HostView moved = std::move(first);
    HostView second = buffer.host_view();
    EXPECT_EQ(moved.type(), type);
    EXPECT_EQ(moved.data(), second.data());
    EXPECT_TRUE(bytes.empty() || std::memcmp(moved.data(), bytes.data(), bytes.size()) == 0);
  });
}

TEST(HostView, WaitsForTheContents) {
  Buffer result = slow_result();
  HostView view = result.host_view();
  auto seen = view.as<float>();
  EXPECT_EQ(std::vector<float>(seen.begin(), seen.end()), result.to_vector<float>());
}

TEST(HostView, KeepsReleasedMemory) {
  Buffer buffer = vector_of({1, 2, 3});
  HostView view = buffer.host_view();
  buffer.release();
  EXPECT_TRUE(buffer.released());
  EXPECT_EQ(view.as<float>()[2], 3);
}

// ----------------------------------------------------------------------------------------- copies

TEST(Copy, IsEqualAndIndependentOnEveryDeviceAndMemory) {
  for_every_type([](const ArrayType& type, const Bytes& bytes) {
    for (const Device& device : cpu().addressable_devices()) {
      Buffer original = Buffer::from_host(cpu().device(1), type, bytes.data());
      Buffer copy = original.copy_to(device);
      original.release();
      EXPECT_EQ(copy.device(), device);
      EXPECT_EQ(copy.memory().id(), device.default_memory().id());
      EXPECT_EQ(copy.type(), type);
      EXPECT_EQ(contents(copy), bytes);
    }
  });
  for (const Memory& memory : cpu().memories()) {
    SCOPED_TRACE(memory.str());
    Buffer original = vector_of({1, 2, 3});
    Buffer copy = original.copy_to(memory);
    original.release();
    EXPECT_EQ(copy.memory().id(), memory.id());
    EXPECT_EQ(copy.memory().kind(), memory.kind());
    EXPECT_EQ(copy.to_vector<float>(), (std::vector<float>{1, 2, 3}));
  }
}

TEST(Copy, ToAnotherClientBelongsToIt) {
  Buffer original = vector_of({1, 2, 3, 4});
  std::vector<Buffer> copies;
  {
    Client other = Client::create("cpu");
    copies.push_back(original.copy_to(other.device()));
    copies.push_back(original.copy_to(other.device().default_memory()));
    for (Buffer& copy : copies) {
      EXPECT_EQ(copy.device(), other.device());
      EXPECT_EQ(other.compile(programs::twice).run({&copy})[0].to_vector<float>(),
                (std::vector<float>{2, 4, 6, 8}));
    }
  }
  original.release();
  for (Buffer& copy : copies) {
    EXPECT_EQ(copy.to_vector<float>(), (std::vector<float>{1, 2, 3, 4}));
  }
}

TEST(Copy, OfAResultThatIsOnItsWay) {
  Buffer result = slow_result();
  Buffer copy = result.copy_to(cpu().device(2));
  EXPECT_EQ(copy.to_vector<float>(), result.to_vector<float>());
}

// ------------------------------------------------------------------------------------------- life

TEST(Buffer, IsEmptyWhenDefaultMadeOrMovedFrom) {
  constexpr const char* complaint =
      "Buffer: the buffer is empty, default-made or moved from. Fill it with from_host";
  Buffer made, from = vector_of({1}), assigned = vector_of({2});
  Buffer to = std::move(from);
  to = std::move(assigned);
  EXPECT_TRUE(to);
  EXPECT_EQ(to.item<float>(), 2);
  for (Buffer* buffer : {&made, &from, &assigned}) {
    EXPECT_FALSE(*buffer);
    float number = 0;
    EXPECT_EQ(error_of([&] { buffer->type(); }), complaint);
    EXPECT_EQ(error_of([&] { buffer->device(); }), complaint);
    EXPECT_EQ(error_of([&] { buffer->memory(); }), complaint);
    EXPECT_EQ(error_of([&] { buffer->device_bytes(); }), complaint);
    EXPECT_EQ(error_of([&] { buffer->await(); }), complaint);
    EXPECT_EQ(error_of([&] { buffer->to_host(&number, 4); }), complaint);
    EXPECT_EQ(error_of([&] { buffer->to_vector<float>(); }), complaint);
    EXPECT_EQ(error_of([&] { buffer->item<float>(); }), complaint);
    EXPECT_EQ(error_of([&] { buffer->host_view(); }), complaint);
    EXPECT_EQ(error_of([&] { buffer->copy_to(cpu().device()); }), complaint);
    EXPECT_EQ(error_of([&] { buffer->release(); }), complaint);
    EXPECT_EQ(error_of([&] { buffer->released(); }), complaint);
  }
}

TEST(Buffer, MovesOntoItself) {
  Buffer buffer = vector_of({5});
  Buffer& same = buffer;
  buffer = std::move(same);
  EXPECT_EQ(buffer.item<float>(), 5);
}

TEST(Buffer, HasNoContentsOnceReleased) {
  Buffer buffer = vector_of({1, 2, 3, 4});
  buffer.release();
  buffer.release();
  EXPECT_TRUE(buffer.released());
  EXPECT_EQ(buffer.type().str(), "f32[4]");
  EXPECT_EQ(buffer.device(), cpu().device());
  std::vector<float> room(4);
  auto refused = [](const std::string& function, const std::function<void()>& action) {
    EXPECT_EQ(error_of(action), "Buffer::" + function +
                                    ": f32[4] was released, or donated to an earlier run, and has "
                                    "no contents. Use the result of that run instead, or do not "
                                    "donate it");
  };
  refused("ready_event", [&] { buffer.await(); });
  refused("to_host", [&] { buffer.to_vector<float>(); });
  refused("to_host", [&] { buffer.to_host(room.data(), 16); });
  refused("host_view", [&] { buffer.host_view(); });
  refused("copy_to", [&] { buffer.copy_to(cpu().device()); });
  refused("copy_to", [&] { buffer.copy_to(cpu().device(1)); });
}

TEST(Buffer, KeepsItsClientAlive) {
  std::optional<Buffer> buffer;
  {
    Client client = Client::cpu(4);
    buffer = vector_of({1, 2}, client.device(3));
  }
  EXPECT_EQ(buffer->to_vector<float>(), (std::vector<float>{1, 2}));
  EXPECT_EQ(buffer->device().id(), 3);
}

// ----------------------------------------------------------------------------------------- misuse

TEST(Buffer, SaysWhatIsWrong) {
  Device device = cpu().device();
  const float six[6] = {};
  auto send = [&](Shape shape, std::vector<std::int64_t> strides = {}) {
    Buffer::from_host(device, {DType::f32, shape}, six, strides);
  };
  Buffer four = vector_of({1, 2, 3, 4});
  float room[4];

  EXPECT_EQ(error_of([&] { four.to_vector<double>(); }),
            "Buffer::to_vector: the array is f32[4], asked for elements of f64. Ask for f32, or "
            "convert on the device");
  EXPECT_EQ(error_of([&] { four.to_vector_async<std::int32_t>(); }),
            "Buffer::to_vector: the array is f32[4], asked for elements of i32. Ask for f32, or "
            "convert on the device");
  EXPECT_EQ(error_of([&] { four.item<bool>(); }),
            "Buffer::item: the array is f32[4], asked for elements of bool. Ask for f32, or "
            "convert on the device");
  EXPECT_EQ(error_of([&] { four.host_view().as<f16>(); }),
            "HostView::as: the array is f32[4], asked for elements of f16. Ask for f32, or "
            "convert on the device");
  EXPECT_EQ(
      error_of([&] { four.item<float>(); }),
      "Buffer::item: f32[4] has 4 elements, 1 were given or asked for. Make the numbers equal");
  EXPECT_EQ(error_of([&] {
              Buffer::from_host<float>(device, six, {2, 2});
            }),
            "Buffer::from_host: f32[2,2] has 4 elements, 6 were given or asked for. Make the "
            "numbers equal");
  EXPECT_EQ(
      error_of([&] { Buffer::from_host<float>(device, {}, {}); }),
      "Buffer::from_host: f32[] has 1 elements, 0 were given or asked for. Make the numbers equal");

  for (std::size_t bytes : {0, 15, 17}) {
    EXPECT_EQ(error_of([&] { four.to_host(room, bytes); }),
              "Buffer::to_host: f32[4] is 16 bytes, the host memory is " + std::to_string(bytes));
  }
  EXPECT_EQ(error_of([&] { four.to_host(nullptr, 16); }),
            "Buffer::to_host: null memory for f32[4]");

  EXPECT_EQ(error_of([&] {
              Buffer::from_host(device, {DType::u8, {3}}, nullptr);
            }),
            "Buffer::from_host: null data for u8[3]");
  EXPECT_EQ(error_of([&] {
              Buffer::from_host_async(device, {DType::u8, {3}}, nullptr);
            }),
            "Buffer::from_host: null data for u8[3]");
  EXPECT_EQ(error_of([&] {
              Buffer::alias_host(device, {DType::u8, {}}, nullptr, [] {});
            }),
            "Buffer::from_host: null data for u8[]");
  for (const Shape& shape : std::vector<Shape>{{-1}, {-2, -3}, {2, -3}}) {
    std::string text = ArrayType{DType::f32, shape}.str();
    EXPECT_EQ(error_of([&] { send(shape); }),
              "Buffer::from_host: " + text + " has a negative extent");
  }
  EXPECT_EQ(error_of([&] {
              send({2, 3}, {4});
            }),
            "Buffer::from_host: f32[2,3] needs 2 strides, 1 were given");
  EXPECT_EQ(error_of([&] {
              send({6}, {4, 4});
            }),
            "Buffer::from_host: f32[6] needs 1 strides, 2 were given");
}

TEST(Buffer, OfMoreElementsThanMemoryIsRefused) {
  constexpr std::int64_t huge = std::int64_t{1} << 40;
  float one = 1;
  EXPECT_THROW(Buffer::from_host(cpu().device(), {DType::f32, {huge, huge}}, &one), Error);
  EXPECT_THROW(Buffer::from_host<float>(cpu().device(), std::span(&one, 1), {huge, huge}), Error);
}

}  // namespace
}  // namespace sturnus
