#include <sturnus/runtime/buffer.h>
#include <sturnus/runtime/error.h>

#include <numeric>

#include "src/runtime/state.h"

namespace sturnus {

using internal::Api;

void internal::check_fill(std::string_view function, const ArrayType& type, DType dtype,
                          std::size_t count, const std::string& place) {
  if (type.dtype != dtype) {
    throw Error(std::string(function) + ": the array is " + type.str() +
                ", asked for elements of " + std::string(name_of(dtype)) + place + ". Ask for " +
                std::string(name_of(type.dtype)) + ", or convert on the device");
  }
  if (static_cast<std::size_t>(type.size()) != count) {
    throw Error(std::string(function) + ": " + type.str() + " has " + std::to_string(type.size()) +
                " elements, " + std::to_string(count) + " were given or asked for" + place +
                ". Make the numbers equal");
  }
}

// ------------------------------------------------------------------------------ life of a buffer

Buffer::Buffer(std::shared_ptr<const internal::ClientState> client, PJRT_Buffer* handle,
               std::shared_ptr<const ArrayType> type)
    : client_(std::move(client)), handle_(handle), type_(std::move(type)) {}

void Buffer::ask_type() {
  if (type_ != nullptr) return;
  auto self = [this](auto& args) { args.buffer = handle_; };
  auto element = client_->api().call<&PJRT_Api::PJRT_Buffer_ElementType>(self);
  auto extents = client_->api().call<&PJRT_Api::PJRT_Buffer_Dimensions>(self);
  type_ = std::make_shared<const ArrayType>(ArrayType{
      internal::from_pjrt(element.type), Shape(extents.dims, extents.dims + extents.num_dims)});
}

Buffer::Buffer(Buffer&& other) noexcept
    : client_(std::move(other.client_)),
      handle_(std::exchange(other.handle_, nullptr)),
      type_(std::move(other.type_)),
      taker_(other.taker_.load()) {}

Buffer& Buffer::operator=(Buffer&& other) noexcept {
  Buffer taken(std::move(other));  // and what was here goes with it
  std::swap(client_, taken.client_);
  std::swap(handle_, taken.handle_);
  std::swap(type_, taken.type_);
  taker_ = taken.taker_.exchange(taker_);
  return *this;
}

Buffer::~Buffer() {
  if (handle_ != nullptr) internal::BufferHandle(client_->api(), handle_);
}

const ArrayType& Buffer::type() const {
  if (handle_ == nullptr) {
    throw Error("Buffer: the buffer is empty, default-made or moved from. Fill it with from_host");
  }
  return *type_;
}

const Api& Buffer::api() const {
  type();
  return client_->api();
}

// -------------------------------------------------------------------------------- host to device

std::pair<Buffer, Event> Buffer::send(const Device& device, const ArrayType& type, const void* data,
                                      std::span<const std::int64_t> byte_strides, int semantics) {
  for (std::int64_t extent : type.shape) {
    if (extent < 0) throw Error("Buffer::from_host: " + type.str() + " has a negative extent");
  }
  if (!byte_strides.empty() && byte_strides.size() != type.shape.size()) {
    throw Error("Buffer::from_host: " + type.str() + " needs " + std::to_string(type.shape.size()) +
                " strides, " + std::to_string(byte_strides.size()) + " were given");
  }
  if (data == nullptr && type.size() > 0) {
    throw Error("Buffer::from_host: null data for " + type.str());
  }
  const auto& client = device.client();
  static constexpr char nothing = 0;  // plugins want an address even for no elements
  auto reply = client->api().call<&PJRT_Api::PJRT_Client_BufferFromHostBuffer>([&](auto& args) {
    args.client = client->handle.get();
    args.data = data == nullptr ? &nothing : data;
    args.type = internal::to_pjrt(type.dtype);
    args.dims = type.shape.data();
    args.num_dims = type.shape.size();
    args.byte_strides = byte_strides.empty() ? nullptr : byte_strides.data();
    args.num_byte_strides = byte_strides.size();
    args.host_buffer_semantics = static_cast<PJRT_HostBufferSemantics>(semantics);
    args.device = device.handle();
  });
  Event done = internal::make_event(client, client->api(), reply.done_with_host_buffer);
  return {Buffer(client, reply.buffer, std::make_shared<const ArrayType>(type)), std::move(done)};
}

Buffer Buffer::from_host(const Device& device, const ArrayType& type, const void* data,
                         std::span<const std::int64_t> byte_strides) {
  auto [buffer, done] =
      send(device, type, data, byte_strides, PJRT_HostBufferSemantics_kImmutableOnlyDuringCall);
  done.await();
  return std::move(buffer);
}

std::pair<Buffer, Event> Buffer::from_host_async(const Device& device, const ArrayType& type,
                                                 const void* data) {
  return send(device, type, data, {}, PJRT_HostBufferSemantics_kImmutableUntilTransferCompletes);
}

Buffer Buffer::alias_host(const Device& device, const ArrayType& type, const void* data,
                          std::function<void()> released) {
  auto [buffer, done] = send(device, type, data, {}, PJRT_HostBufferSemantics_kImmutableZeroCopy);
  done.on_ready([released = std::move(released)](std::exception_ptr) {
    if (released) released();
  });
  return std::move(buffer);
}

// -------------------------------------------------------------------------------- device to host

Event Buffer::ready_event() const {
  require_contents("Buffer::ready_event");
  auto reply =
      api().call<&PJRT_Api::PJRT_Buffer_ReadyEvent>([this](auto& args) { args.buffer = handle_; });
  return internal::make_event(client_, api(), reply.event);
}

Event Buffer::to_host_async(void* data, std::size_t bytes) const {
  if (bytes != type().bytes()) {
    throw Error("Buffer::to_host: " + type().str() + " is " + std::to_string(type().bytes()) +
                " bytes, the host memory is " + std::to_string(bytes));
  }
  if (bytes == 0) return ready_event();
  require_contents("Buffer::to_host");
  if (data == nullptr) throw Error("Buffer::to_host: null memory for " + type().str());
  // Without a layout the plugin gives the device's own.
  std::vector<std::int64_t> minor_to_major(type().shape.size());
  std::iota(minor_to_major.rbegin(), minor_to_major.rend(), 0);
  PJRT_Buffer_MemoryLayout row_major{};
  row_major.struct_size = PJRT_Buffer_MemoryLayout_STRUCT_SIZE;
  row_major.type = PJRT_Buffer_MemoryLayout_Type_Tiled;
  row_major.tiled.struct_size = PJRT_Buffer_MemoryLayout_Tiled_STRUCT_SIZE;
  row_major.tiled.minor_to_major = minor_to_major.data();
  row_major.tiled.minor_to_major_size = minor_to_major.size();
  auto reply = api().call<&PJRT_Api::PJRT_Buffer_ToHostBuffer>([&](auto& args) {
    args.src = handle_;
    args.host_layout = minor_to_major.size() > 1 ? &row_major : nullptr;
    args.dst = data;
    args.dst_size = bytes;
  });
  return internal::make_event(client_, api(), reply.event);
}

HostView Buffer::host_view() const {
  require_contents("Buffer::host_view");
  const Api& api = this->api();
  auto self = [this](auto& args) { args.buffer = handle_; };
  if (!api.call<&PJRT_Api::PJRT_Buffer_IsOnCpu>(self).is_on_cpu) {
    throw Error("Buffer::host_view: " + type().str() +
                " is not in host memory. Copy it with to_vector or to_host");
  }
  if (api.has<&PJRT_Api::PJRT_Buffer_GetMemoryLayout>()) {
    auto reply = api.call<&PJRT_Api::PJRT_Buffer_GetMemoryLayout>(self);
    const auto& tiled = reply.layout.tiled;
    if (reply.layout.type == PJRT_Buffer_MemoryLayout_Type_Tiled) {
      for (std::size_t i = 0; i < tiled.minor_to_major_size; i++) {
        auto rows_first = static_cast<std::int64_t>(tiled.minor_to_major_size - 1 - i);
        if (tiled.minor_to_major[i] != rows_first) {
          throw Error("Buffer::host_view: " + type().str() +
                      " is not in row-major order. Copy it with to_vector or to_host");
        }
      }
    }
  }
  await();
  api.call<&PJRT_Api::PJRT_Buffer_IncreaseExternalReferenceCount>(self);
  HostView view(*this);  // gives the reference back should the next call fail
  view.data_ = reinterpret_cast<const void*>(
      api.call<&PJRT_Api::PJRT_Buffer_UnsafePointer>(self).buffer_pointer);
  return view;
}

HostView::HostView(HostView&& other) noexcept
    : client_(std::move(other.client_)),
      buffer_(std::exchange(other.buffer_, nullptr)),
      type_(std::move(other.type_)),
      data_(other.data_) {}

HostView::~HostView() {
  if (buffer_ == nullptr) return;
  client_->api().call_quietly<&PJRT_Api::PJRT_Buffer_DecreaseExternalReferenceCount>(
      [this](auto& args) { args.buffer = buffer_; });
}

// ------------------------------------------------------------------------------------ the device

Device Buffer::device() const {
  auto reply =
      api().call<&PJRT_Api::PJRT_Buffer_Device>([this](auto& args) { args.buffer = handle_; });
  return Device(client_, reply.device);
}

Memory Buffer::memory() const {
  auto reply =
      api().call<&PJRT_Api::PJRT_Buffer_Memory>([this](auto& args) { args.buffer = handle_; });
  return Memory(client_, reply.memory);
}

std::size_t Buffer::device_bytes() const {
  return api()
      .call<&PJRT_Api::PJRT_Buffer_OnDeviceSizeInBytes>(
          [this](auto& args) { args.buffer = handle_; })
      .on_device_size_in_bytes;
}

void Buffer::check_destination(const internal::ClientState& client) const {
  require_contents("Buffer::copy_to");
  if (&client.api() == &api()) return;
  throw Error("Buffer::copy_to: " + type().str() +
              " and the destination belong to different plugins. Copy it through the host");
}

Buffer Buffer::copy_to(const Device& device) const {
  // CopyToDevice refuses the device that the buffer is on; its memory does not.
  if (device == this->device()) return copy_to(device.default_memory());
  check_destination(*device.client());
  auto reply = api().call<&PJRT_Api::PJRT_Buffer_CopyToDevice>([&](auto& args) {
    args.buffer = handle_;
    args.dst_device = device.handle();
  });
  return Buffer(device.client(), reply.dst_buffer, type_);
}

Buffer Buffer::copy_to(const Memory& memory) const {
  check_destination(*memory.client_);
  auto reply = api().call<&PJRT_Api::PJRT_Buffer_CopyToMemory>([&](auto& args) {
    args.buffer = handle_;
    args.dst_memory = memory.handle();
  });
  return Buffer(memory.client_, reply.dst_buffer, type_);
}

void Buffer::release() {
  api().call<&PJRT_Api::PJRT_Buffer_Delete>([this](auto& args) { args.buffer = handle_; });
}

bool Buffer::released() const {
  return api()
      .call<&PJRT_Api::PJRT_Buffer_IsDeleted>([this](auto& args) { args.buffer = handle_; })
      .is_deleted;
}

void Buffer::throw_released(const std::string& subject) const {
  const char* taker = taker_;
  std::string fate = taker == nullptr ? "released, or donated to an earlier run,"
                                      : "donated to " + std::string(taker) + ",";
  throw Error(subject + " was " + fate +
              " and has no contents. Use the result of that run instead, or do not donate it");
}

}  // namespace sturnus
