#include <sturnus/functional/emitter.h>
#include <sturnus/functional/evaluate.h>
#include <sturnus/functional/platform_options.h>
#include <sturnus/functional/small_loops.h>
#include <sturnus/runtime/host_callback.h>
#include <sturnus/runtime/log.h>
#include <sturnus/runtime/mappings.h>

#include <cstdlib>
#include <cstring>
#include <list>
#include <mutex>
#include <unordered_map>

namespace sturnus::internal {

CompileOptions platform_options(const Client& client) {
  CompileOptions options;
  if (client.platform_name() != "cpu") return options;
  const char* given = std::getenv("XLA_FLAGS");
  auto choose = [&](const std::string& flag, XlaFlag value) {
    if (given == nullptr || std::strstr(given, flag.c_str()) == nullptr) {
      options.xla_flags[flag] = value;
    }
  };
  // Else the larger of 1 and NaN is 1.
  choose("xla_cpu_enable_fast_min_max", false);
  // LLVM's third level takes a third longer than its second, for programs that are no faster. For
  // small ones the second takes a tenth longer than the first, for at most 7 % of speed.
  choose("xla_backend_optimization_level", std::int64_t{SmallLoops::on() ? 1 : 2});
  // They are compiled a little sooner by the older emitters too (NUTS on hare and lynx in 1.4 s
  // instead of 1.7), and run as fast.
  if (SmallLoops::on()) choose("xla_cpu_use_fusion_emitters", false);
  return options;
}

namespace {

constexpr std::size_t most_programs = 4096;
// Programs between two looks at how many mappings are left.
constexpr int programs_between_looks = 32;

// Programs by their text, device and options: the text is canonical, so equal graphs share a
// program whatever function made them.
class Programs {
 public:
  static Programs& instance() {
    static auto& programs = *new Programs;
    return programs;
  }

  LoadedExecutable get(const std::string& text, const Device& device) {
    std::string key = std::to_string(reinterpret_cast<std::uintptr_t>(device.handle())) +
                      (SmallLoops::on() ? "small" : "") + text;
    {
      std::lock_guard lock(mutex_);
      if (auto found = programs_.find(key); found != programs_.end()) {
        last_used_.splice(last_used_.begin(), last_used_, found->second.use);
        return found->second.program;
      }
    }
    make_room();
    if (text.find(host_callback_target) != text.npos) check_host_callbacks(device.owner());
    CompileOptions options = platform_options(device.owner());
    options.device_assignment = {{device.id()}};
    LoadedExecutable made = device.owner().compile(text, options);
    std::lock_guard lock(mutex_);
    auto [entry, is_new] = programs_.try_emplace(std::move(key), Entry{made, {}});
    if (!is_new) return entry->second.program;  // another thread was quicker
    last_used_.push_front(&entry->first);
    entry->second.use = last_used_.begin();
    while (programs_.size() > most_programs) forget_oldest();
    return made;
  }

  std::size_t count() {
    std::lock_guard lock(mutex_);
    return programs_.size();
  }

  void clear() {
    std::lock_guard lock(mutex_);
    while (!programs_.empty()) forget_oldest();
  }

 private:
  // A process that is granted no more mappings cannot compile.
  void make_room() {
    std::lock_guard lock(mutex_);
    if (++made_ % programs_between_looks != 0 || used_mappings() < 0.5) return;
    for (std::size_t keep = programs_.size() / 2; programs_.size() > keep;) forget_oldest();
    if (used_mappings() < 0.9) return;
    throw Error(message("compile",
                        "nine tenths of the memory mappings that the system grants "
                        "a process are taken by compiled programs that are held",
                        "Let go of jitted functions, or raise vm.max_map_count"));
  }

  struct Entry {
    LoadedExecutable program;
    std::list<const std::string*>::iterator use;
  };

  void forget_oldest() {
    const std::string* oldest = last_used_.back();
    last_used_.pop_back();
    programs_.erase(programs_.find(*oldest));
  }

  std::mutex mutex_;
  int made_ = 0;
  std::unordered_map<std::string, Entry> programs_;
  std::list<const std::string*> last_used_;  // keys, the latest first
};

}  // namespace

void clear_programs() { Programs::instance().clear(); }
std::size_t kept_programs() { return Programs::instance().count(); }

void warn_if_huge(std::string_view function, const Arrays& outputs, std::size_t limit,
                  Where where) {
  std::size_t count = size_of_graph(outputs);
  if (count <= limit) return;
  Blame blame(where);
  log(LogLevel::warning,
      message(function,
              "the traced program has " + std::to_string(count) +
                  " operations, more than the limit of " + std::to_string(limit) +
                  ", and XLA will take long to compile it",
              "A C++ loop is traced once per pass: use scan or fori_loop, which are traced once"));
}

Compiled compile_graph(std::string_view name, const Arrays& parameters, const Arrays& outputs,
                       const Mask& donors, const Device& device) {
  std::vector<std::shared_ptr<const Buffer>> captured;
  Arrays inputs = parameters;
  for (const Node* node : reachable(outputs)) {
    Array leaf(node->shared_from_this(), 0);
    if (auto buffer = constant_value(leaf)) {
      if (buffer->released()) {
        buffer->throw_released(std::string(Blame::named(name)) + ": a captured array, " +
                               buffer->type().str() + where_text() + ",");
      }
      bool here = buffer->device() == device;
      captured.push_back(here ? buffer : std::make_shared<const Buffer>(buffer->copy_to(device)));
      inputs.push_back(leaf);
    }
  }
  std::string platform = device.owner().platform_name();
  bool on_host = platform == "cpu" && device.owner().plugin().no_host_callbacks().empty();
  std::string text = Emitter::module(name, inputs, outputs, donors, platform, on_host);
  return {Programs::instance().get(text, device), std::move(captured)};
}

Compiled load_compiled(const std::string& stablehlo, const std::string& code,
                       const Device& device) {
  if (!code.empty()) {
    try {
      return {device.owner().load(code), {}};
    } catch (const Error& error) {
      log(LogLevel::warning, std::string("Program::load: compiling again, since the plugin refuses "
                                         "the machine code: ") +
                                 error.what());
    }
  }
  return {Programs::instance().get(stablehlo, device), {}};
}

std::vector<Buffer> bring_to(const Device& device, std::vector<const Buffer*>& buffers) {
  std::vector<Buffer> copies;
  for (const Buffer*& buffer : buffers) {
    if (buffer->device() == device) continue;
    copies.reserve(buffers.size());  // so that what is in it stays in place
    copies.push_back(buffer->copy_to(device));
    buffer = &copies.back();
  }
  return copies;
}

Arrays run(const Compiled& compiled, std::vector<const Buffer*> arguments,
           const std::vector<int>& donate, const char* taker) {
  for (const auto& buffer : compiled.captured) arguments.push_back(buffer.get());
  RunOptions options;
  options.donate = donate;
  options.taker = taker;
  options.captured = compiled.captured.size();
  std::vector<Buffer> buffers = compiled.executable.run(arguments, options);
  Arrays results;
  results.reserve(buffers.size());
  for (Buffer& buffer : buffers) results.push_back(from_buffer(std::move(buffer)));
  return results;
}

Arrays run_checked(const Compiled& compiled, std::vector<const Buffer*> arguments,
                   const std::vector<int>& donate, const TracedGraph* graph, const char* taker) {
  if (!DebugNans::on()) return run(compiled, std::move(arguments), donate, taker);
  Arrays results = run(compiled, arguments);
  check_values(graph, arguments, results);
  return results;
}

namespace {

// Where the first concrete array is that `outputs` depend on.
Device device_of(const Arrays& outputs) {
  for (const Node* node : reachable(outputs)) {
    auto buffer = constant_value(Array(node->shared_from_this(), 0));
    if (buffer) return buffer->device();
  }
  return default_device();
}

}  // namespace

Arrays evaluate(const Arrays& outputs) {
  warn_if_huge("trace", outputs, huge_program, outputs[0].node()->where);
  TracedGraph graph{{}, outputs};
  return run_checked(compile_graph("main", {}, outputs, {}, device_of(outputs)), {}, {}, &graph);
}

}  // namespace sturnus::internal
