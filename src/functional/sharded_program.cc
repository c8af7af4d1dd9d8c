#include <sturnus/functional/emitter.h>
#include <sturnus/functional/platform_options.h>
#include <sturnus/functional/sharded_program.h>
#include <sturnus/runtime/error.h>

#include <utility>

namespace sturnus {
namespace {

using internal::ArrayTypes;
using internal::Mask;

ArrayType part_of(ArrayType type, std::size_t devices) {
  type.shape[0] /= static_cast<std::int64_t>(devices);
  return type;
}

void require_parts(const char* what, const ArrayTypes& types, const Mask& cut,
                   std::size_t devices) {
  if (devices == 0) throw Error("ShardedProgram: there is no device. Give at least one");
  if (cut.size() != types.size()) {
    throw Error("ShardedProgram: " + std::to_string(types.size()) + " " + what + "s, but " +
                std::to_string(cut.size()) + " are said to be cut or not");
  }
  for (std::size_t i = 0; i < types.size(); i++) {
    const Shape& shape = types[i].shape;
    if (!cut[i] || (!shape.empty() && shape[0] % static_cast<std::int64_t>(devices) == 0)) continue;
    throw Error("ShardedProgram: " + std::string(what) + " " + std::to_string(i) + ", " +
                types[i].str() + ", cannot be cut into " + std::to_string(devices) +
                " equal parts. Choose a first axis that is a multiple of the number of devices");
  }
}

std::string sharding(const ArrayType& type, bool cut) {
  std::string axes;
  for (std::size_t i = 0; i < type.shape.size(); i++) {
    axes += i > 0 ? ", {}" : cut ? "{\"devices\"}" : "{}";
  }
  return " {sdy.sharding = #sdy.sharding<@mesh, [" + axes + "]>}";
}

std::string joined(const std::vector<std::string>& parts) {
  std::string result;
  for (const std::string& part : parts) result += (result.empty() ? "" : ", ") + part;
  return result;
}

}  // namespace

// The program becomes a function, and a new main, which says where everything is, calls it.
std::string ShardedProgram::stablehlo(const Lowered& lowered, std::size_t devices, const Cut& cut,
                                      std::string_view platform) {
  ArrayTypes argument_types = lowered.argument_types(), result_types = lowered.result_types();
  require_parts("argument", argument_types, cut.arguments, devices);
  require_parts("result", result_types, cut.results, devices);
  std::vector<std::string> parameters, arguments, taken, results, returned, given;
  for (std::size_t i = 0; i < argument_types.size(); i++) {
    arguments.push_back("%a" + std::to_string(i));
    taken.push_back(internal::mlir_type(argument_types[i]));
    parameters.push_back(arguments[i] + ": " + taken[i] +
                         sharding(argument_types[i], cut.arguments[i]));
  }
  for (std::size_t i = 0; i < result_types.size(); i++) {
    returned.push_back("%r#" + std::to_string(i));
    given.push_back(internal::mlir_type(result_types[i]));
    results.push_back(given[i] + sharding(result_types[i], cut.results[i]));
  }

  std::string text = lowered.stablehlo(platform);
  const std::string main = "func.func public @main(";
  std::string mesh = "sdy.mesh @mesh = <[\"devices\"=" + std::to_string(devices) + "]>\n";
  text.replace(text.find(main), main.size(), mesh + "func.func private @on_all(");
  text.erase(text.rfind('}'));  // the module's
  return text + main + joined(parameters) + ") -> (" + joined(results) +
         ") {\n  %r:" + std::to_string(given.size()) + " = func.call @on_all(" + joined(arguments) +
         ") : (" + joined(taken) + ") -> (" + joined(given) + ")\n  func.return " +
         joined(returned) + " : " + joined(given) + "\n}\n}\n";
}

namespace {

LoadedExecutable compile(const Lowered& lowered, const std::vector<Device>& devices,
                         const Cut& cut) {
  if (devices.empty()) throw Error("ShardedProgram: there is no device. Give at least one");
  Client client = devices[0].owner();
  CompileOptions options = internal::platform_options(client);
  options.partitions = static_cast<int>(devices.size());
  options.spmd = options.shardy = true;
  options.device_assignment.resize(1);
  for (const Device& device : devices) options.device_assignment[0].push_back(device.id());
  return client.compile(
      ShardedProgram::stablehlo(lowered, devices.size(), cut, client.platform_name()), options);
}

}  // namespace

ShardedProgram::ShardedProgram(const Lowered& lowered, std::vector<Device> devices, const Cut& cut)
    : devices_(std::move(devices)),
      cut_(cut),
      result_types_(lowered.result_types()),
      executable_(compile(lowered, devices_, cut)) {}

Arrays ShardedProgram::run(const Arrays& arguments) const {
  std::size_t count = devices_.size();
  std::vector<std::vector<Buffer>> parts(count);
  for (std::size_t i = 0; i < arguments.size(); i++) {
    const ArrayType& type = arguments[i].type();
    bool cut = i < cut_.arguments.size() && cut_.arguments[i];
    ArrayType own = cut ? part_of(type, count) : type;
    std::string values(type.bytes(), '\0');
    arguments[i].buffer().to_host(values.data(), values.size());
    for (std::size_t d = 0; d < count; d++) {
      const char* first = values.data() + (cut ? d * own.bytes() : 0);
      parts[d].push_back(Buffer::from_host(devices_[d], own, first));
    }
  }
  std::vector<std::vector<const Buffer*>> lists(count);
  for (std::size_t d = 0; d < count; d++) {
    for (const Buffer& part : parts[d]) lists[d].push_back(&part);
  }
  Launch launch = executable_.launch(lists);
  Arrays results;
  for (std::size_t i = 0; i < result_types_.size(); i++) {
    if (!cut_.results[i]) {
      results.push_back(from_buffer(std::move(launch.results[0][i])));
      continue;
    }
    std::string values(result_types_[i].bytes(), '\0');
    std::size_t own = values.size() / count;
    for (std::size_t d = 0; d < count; d++) {
      launch.results[d][i].to_host(values.data() + d * own, own);
    }
    results.push_back(from_buffer(Buffer::from_host(devices_[0], result_types_[i], values.data())));
  }
  return results;
}

}  // namespace sturnus
