// What the fake plugin is made of: its settings, handles, events, memory and types.
#pragma once

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <iterator>
#include <map>
#include <memory>
#include <mutex>
#include <numeric>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "pjrt_c_api.h"

namespace fake {

using Dims = std::vector<int64_t>;

// --------------------------------------- The part to play ----------------------------------------

struct Failure {
  PJRT_Error_Code code;
  std::string message;
};
using Status = std::optional<Failure>;

[[noreturn]] inline void invalid(const std::string& message) {
  throw Failure{PJRT_Error_Code_INVALID_ARGUMENT, message};
}

[[noreturn]] inline void die(const std::string& message) {
  std::fprintf(stderr, "fake plugin: %s\n", message.c_str());
  std::abort();
}

inline std::string setting(const char* name, const char* otherwise = "") {
  const char* value = std::getenv((std::string("STURNUS_FAKE_") + name).c_str());
  return value ? value : otherwise;
}

inline long number(const char* name, long otherwise = 0) {
  const std::string value = setting(name);
  return value.empty() ? otherwise : std::stol(value);
}

inline std::vector<std::string> split(const std::string& text, char separator, size_t most = -1) {
  std::vector<std::string> parts;
  size_t begin = 0, end;
  while (parts.size() + 1 < most && (end = text.find(separator, begin)) != std::string::npos) {
    parts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  parts.push_back(text.substr(begin));
  return parts;
}

inline bool lists(const char* variable, const std::string& name) {
  const auto names = split(setting(variable), ',');
  return std::count(names.begin(), names.end(), name) > 0;
}

// Never destroyed, as in real plugins: the caller's own statics may hold handles to the very end.
struct Journal {
  std::mutex mutex;
  std::map<std::string, long> calls;
  std::map<std::string, std::string> last;
};
inline Journal& journal() {
  static auto& journal = *new Journal;
  return journal;
}

inline long count_calls(const std::string& name, long more = 0) {
  std::scoped_lock lock(journal().mutex);
  return journal().calls[name] += more;
}

inline void note(const char* what, std::string value) {
  std::scoped_lock lock(journal().mutex);
  journal().last[what] = std::move(value);
}

// The failure that `variable`, "NAME[@n][:code[:message]],...", has for the present call.
inline Status injected(const char* variable, const std::string& call) {
  for (const std::string& entry : split(setting(variable), ',')) {
    const auto parts = split(entry, ':', 3);
    const auto target = split(parts[0], '@');
    if (target[0] != call) continue;
    if (target.size() > 1 && std::stol(target[1]) != count_calls(call)) continue;
    return Failure{static_cast<PJRT_Error_Code>(parts.size() > 1 ? std::stoi(parts[1]) : 13),
                   parts.size() > 2 ? parts[2] : "injected failure of " + call};
  }
  return {};
}

// Refuses a struct that is too small, in the words of XLA's plugins of API 0.81 and 0.116.
inline void check_size(const std::string& name, const std::string& suffix, size_t expected,
                       size_t actual) {
  const bool all_grew = setting("STRICT_SIZE") == "1" && !suffix.empty();
  if (all_grew || lists("STRICT_SIZE", name)) expected += 16;
  if (actual >= expected) return;
  invalid("Unexpected " + name + suffix + " size: expected " + std::to_string(expected) + ", got " +
          std::to_string(actual) +
          ". The plugin is likely built with a later version than the framework. This plugin is "
          "built with PJRT API version " +
          setting("MAJOR", "0") + "." + setting("MINOR", "81") + ".");
}

// ------------------------------------- Events and memory -----------------------------------------

class Signal {
 public:
  using Callback = std::function<void(const Status&)>;

  void set(Status status = {}) {
    std::vector<Callback> callbacks;
    {
      std::scoped_lock lock(mutex_);
      status_ = std::move(status);
      ready_ = true;
      callbacks.swap(callbacks_);
    }
    changed_.notify_all();
    for (auto& callback : callbacks) callback(status_);
  }
  bool ready() {
    std::scoped_lock lock(mutex_);
    return ready_;
  }
  const Status& wait() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return ready_; });
    return status_;
  }
  void on_ready(Callback callback) {
    {
      std::scoped_lock lock(mutex_);
      if (!ready_) return callbacks_.push_back(std::move(callback));
    }
    callback(status_);
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool ready_ = false;
  Status status_;
  std::vector<Callback> callbacks_;
};
using SignalPtr = std::shared_ptr<Signal>;

inline SignalPtr already(Status status = {}) {
  auto signal = std::make_shared<Signal>();
  signal->set(std::move(status));
  return signal;
}

// Device memory: its own, or borrowed until `release` tells the lender.
struct Storage {
  explicit Storage(size_t bytes) : owned(bytes), data(owned.data()) {}
  Storage(std::byte* data, bool writable, std::function<void()> release)
      : data(data), writable(writable), release(std::move(release)) {}
  ~Storage() {
    if (release) release();
  }

  std::vector<std::byte> owned;
  std::byte* data;
  bool writable = true;
  std::function<void()> release;
  SignalPtr defined = std::make_shared<Signal>();
};
using StoragePtr = std::shared_ptr<Storage>;

// Works when `inputs` are defined and the delay has passed, then sets `signal`.
void defer(const char* call, SignalPtr signal, std::vector<StoragePtr> inputs, auto work) {
  auto finish = [=, status = injected("EVENT_FAIL", call)]() mutable {
    for (auto& input : inputs) {
      if (const Status& failed = input->defined->wait(); failed && !status) status = failed;
    }
    if (!status) work();
    inputs.clear();
    signal->set(status);
  };
  const std::chrono::milliseconds delay(number("EVENT_DELAY_MS"));
  if (delay.count() == 0) return finish();
  std::thread([delay, finish = std::move(finish)]() mutable {
    std::this_thread::sleep_for(delay);
    finish();
  }).detach();
}

// -------------------------------------- Types and layouts ----------------------------------------

struct Dtype {
  PJRT_Buffer_Type type;
  std::string_view mlir;
  size_t bytes;
  uint64_t hlo;  // xla.PrimitiveType
};

const Dtype& find_dtype(auto matches) {
  static constexpr Dtype kAll[] = {{PJRT_Buffer_Type_PRED, "i1", 1, 1},
                                   {PJRT_Buffer_Type_S8, "i8", 1, 2},
                                   {PJRT_Buffer_Type_S16, "i16", 2, 3},
                                   {PJRT_Buffer_Type_S32, "i32", 4, 4},
                                   {PJRT_Buffer_Type_S64, "i64", 8, 5},
                                   {PJRT_Buffer_Type_U8, "ui8", 1, 6},
                                   {PJRT_Buffer_Type_U16, "ui16", 2, 7},
                                   {PJRT_Buffer_Type_U32, "ui32", 4, 8},
                                   {PJRT_Buffer_Type_U64, "ui64", 8, 9},
                                   {PJRT_Buffer_Type_F16, "f16", 2, 10},
                                   {PJRT_Buffer_Type_F32, "f32", 4, 11},
                                   {PJRT_Buffer_Type_F64, "f64", 8, 12},
                                   {PJRT_Buffer_Type_BF16, "bf16", 2, 16},
                                   {PJRT_Buffer_Type_C64, "complex<f32>", 8, 15},
                                   {PJRT_Buffer_Type_C128, "complex<f64>", 16, 18}};
  const auto found = std::find_if(std::begin(kAll), std::end(kAll), matches);
  if (found == std::end(kAll)) invalid("unsupported element type");
  return *found;
}

struct Type {
  Type(const Dtype& element, Dims dims) : element(element), dims(std::move(dims)) {}
  Type(PJRT_Buffer_Type type, const int64_t* dims, size_t rank)
      : Type(find_dtype([=](const Dtype& d) { return d.type == type; }), Dims(dims, dims + rank)) {}

  size_t bytes() const {
    return std::accumulate(dims.begin(), dims.end(), element.bytes, std::multiplies<size_t>());
  }

  const Dtype& element;
  Dims dims;
};

// A layout is the axes from minor to major.
inline Dims layout_of(size_t rank, const PJRT_Buffer_MemoryLayout* asked, bool column_major) {
  Dims layout(rank);
  std::iota(layout.begin(), layout.end(), 0);
  if (!column_major) std::reverse(layout.begin(), layout.end());
  if (!asked) return layout;
  if (asked->type != PJRT_Buffer_MemoryLayout_Type_Tiled || asked->tiled.num_tiles > 0 ||
      asked->tiled.minor_to_major_size != rank) {
    invalid("unsupported memory layout");
  }
  return Dims(asked->tiled.minor_to_major, asked->tiled.minor_to_major + rank);
}

inline Dims strides_of(const Type& type, const Dims& layout) {
  Dims strides(layout.size());
  int64_t stride = type.element.bytes;
  for (int64_t axis : layout) {
    strides[axis] = stride;
    stride *= type.dims[axis];
  }
  return strides;
}

inline void copy_strided(const Type& type, const std::byte* from, const Dims& from_strides,
                         std::byte* to, const Dims& to_strides) {
  const size_t bytes = type.bytes();
  if (from_strides == to_strides) {
    std::copy_n(from, bytes, to);
    return;
  }
  Dims index(type.dims.size());
  const auto offset = [&](const Dims& strides) {
    return std::inner_product(index.begin(), index.end(), strides.begin(), int64_t{0});
  };
  for (size_t done = 0; done < bytes; done += type.element.bytes) {
    std::memcpy(to + offset(to_strides), from + offset(from_strides), type.element.bytes);
    for (size_t k = index.size(); k-- > 0 && ++index[k] == type.dims[k];) index[k] = 0;
  }
}

}  // namespace fake
