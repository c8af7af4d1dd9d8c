// Arrays in a device's memory.
#pragma once

#include <sturnus/runtime/client.h>
#include <sturnus/runtime/dtype.h>
#include <sturnus/runtime/event.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

struct PJRT_Buffer;

namespace sturnus {

class HostView;

/// std::vector<T>, and bytes of 0 and 1 for bool, since std::vector<bool> has no bool in memory.
template <class T>
using HostVector = std::vector<std::conditional_t<std::is_same_v<T, bool>, std::uint8_t, T>>;

/// An array on a device. Move-only; freed when it goes. Its contents may still be on their way:
/// every use waits for them, so results of a running program can be passed on at once.
class Buffer {
 public:
  Buffer() = default;
  Buffer(Buffer&&) noexcept;
  Buffer& operator=(Buffer&&) noexcept;
  ~Buffer();

  /// Copies host memory, dense in row-major order, or laid out by `byte_strides`; `data` is free
  /// again on return. Throws Error when sizes do not fit, RuntimeError when the device has no room.
  static Buffer from_host(const Device& device, const ArrayType& type, const void* data,
                          std::span<const std::int64_t> byte_strides = {});
  /// Copies `values`, which fill `shape` in row-major order.
  template <class T>
  static Buffer from_host(const Device& device, std::span<const T> values, Shape shape);
  template <class T>
  static Buffer scalar(const Device& device, T value);

  /// Like from_host, but returns at once: keep `data` unchanged until the event is ready.
  static std::pair<Buffer, Event> from_host_async(const Device& device, const ArrayType& type,
                                                  const void* data);
  /// Uses `data` in place where the plugin can (CPU, 64-byte aligned memory), else copies it. Keep
  /// it unchanged until `released` is called, which may be from a thread of the plugin.
  static Buffer alias_host(const Device& device, const ArrayType& type, const void* data,
                           std::function<void()> released);

  /// Throws Error for an empty buffer, one that was default-made or moved from, as do all below.
  const ArrayType& type() const;
  Device device() const;
  Memory memory() const;
  std::size_t device_bytes() const;
  explicit operator bool() const { return handle_ != nullptr; }

  /// Ready when the contents are there, or with the error of the program that should have made
  /// them.
  Event ready_event() const;
  void await() const { ready_event().await(); }

  /// Copies the contents to dense row-major host memory of type().bytes() bytes.
  void to_host(void* data, std::size_t bytes) const { to_host_async(data, bytes).await(); }
  Event to_host_async(void* data, std::size_t bytes) const;
  /// The contents in row-major order. Throws Error when T is not the buffer's element type.
  template <class T>
  HostVector<T> to_vector() const;
  template <class T>
  Future<HostVector<T>> to_vector_async() const;
  /// The only element. Throws Error when there is not exactly one, or T is not its type.
  template <class T>
  T item() const;
  /// The contents in place, without a copy. Throws Error when they are not in host memory in
  /// row-major order; on the CPU they always are.
  HostView host_view() const;

  /// Copies to a device or memory of the same plugin, also of another client.
  Buffer copy_to(const Device& device) const;
  Buffer copy_to(const Memory& memory) const;

  /// Frees the device's memory now; later uses throw.
  void release();
  /// Whether the memory was released, or donated to a program.
  bool released() const;
  /// Throws the Error for contents that are gone: "subject was released ...", with the one who took
  /// the memory.
  [[noreturn]] void throw_released(const std::string& subject) const;

  PJRT_Buffer* handle() const { return handle_; }

 private:
  friend class HostView;
  friend class LoadedExecutable;
  Buffer(std::shared_ptr<const internal::ClientState> client, PJRT_Buffer* handle,
         std::shared_ptr<const ArrayType> type);
  /// Learns the type from the plugin, where it was not known beforehand.
  void ask_type();
  static std::pair<Buffer, Event> send(const Device& device, const ArrayType& type,
                                       const void* data, std::span<const std::int64_t> byte_strides,
                                       int semantics);
  const internal::Api& api() const;
  void require_contents(std::string_view function) const {
    if (released()) throw_released(std::string(function) + ": " + type().str());
  }
  void check_destination(const internal::ClientState& client) const;
  std::shared_ptr<const internal::ClientState> client_;
  PJRT_Buffer* handle_ = nullptr;
  std::shared_ptr<const ArrayType> type_;
  mutable std::atomic<const char*> taker_ = nullptr;  // to whom it was donated, for messages
};

/// Read access to a buffer's memory on the host; the buffer stays in place while the view lives,
/// and must outlive it.
class HostView {
 public:
  HostView(HostView&& other) noexcept;
  HostView& operator=(HostView&&) = delete;
  ~HostView();

  const ArrayType& type() const { return *type_; }
  const void* data() const { return data_; }
  /// The elements in row-major order. Throws Error when T is not the element type.
  template <class T>
  std::span<const T> as() const;

 private:
  friend class Buffer;
  explicit HostView(const Buffer& buffer)
      : client_(buffer.client_), buffer_(buffer.handle_), type_(buffer.type_) {}
  std::shared_ptr<const internal::ClientState> client_;
  PJRT_Buffer* buffer_;
  std::shared_ptr<const ArrayType> type_;
  const void* data_ = nullptr;
};

namespace internal {
/// Throws Error unless `count` elements of `dtype` fill `type`; `place` is the line to name.
void check_fill(std::string_view function, const ArrayType& type, DType dtype, std::size_t count,
                const std::string& place = {});
}  // namespace internal

template <class T>
Buffer Buffer::from_host(const Device& device, std::span<const T> values, Shape shape) {
  ArrayType type{dtype_of<T>, std::move(shape)};
  internal::check_fill("Buffer::from_host", type, type.dtype, values.size());
  return from_host(device, type, values.data());
}

template <class T>
Buffer Buffer::scalar(const Device& device, T value) {
  return from_host(device, ArrayType{dtype_of<T>, {}}, &value);
}

template <class T>
Future<HostVector<T>> Buffer::to_vector_async() const {
  HostVector<T> values(static_cast<std::size_t>(type().size()));
  internal::check_fill("Buffer::to_vector", type(), dtype_of<T>, values.size());
  Event done = to_host_async(values.data(), type().bytes());
  return {std::move(values), std::move(done)};
}

template <class T>
HostVector<T> Buffer::to_vector() const {
  return to_vector_async<T>().get();
}

template <class T>
T Buffer::item() const {
  internal::check_fill("Buffer::item", type(), dtype_of<T>, 1);
  T value;
  to_host(&value, sizeof(T));
  return value;
}

template <class T>
std::span<const T> HostView::as() const {
  auto count = static_cast<std::size_t>(type().size());
  internal::check_fill("HostView::as", type(), dtype_of<T>, count);
  return {static_cast<const T*>(data_), count};
}

}  // namespace sturnus
