#include <sturnus/functional/debug.h>
#include <sturnus/functional/emitter.h>
#include <sturnus/functional/op.h>
#include <sturnus/functional/print.h>
#include <sturnus/functional/program.h>
#include <sturnus/runtime/checksum.h>
#include <sturnus/runtime/files.h>
#include <sturnus/runtime/hlo_program.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <sstream>

namespace sturnus {

Array abstract_array(DType dtype, Shape shape) {
  for (std::int64_t extent : shape) {
    if (extent >= 0) continue;
    throw ShapeError(internal::message(
        "abstract_array", "the shape " + internal::print_field(shape) + " has a negative extent",
        "Give extents of 0 or more"));
  }
  return internal::placeholder({dtype, std::move(shape)}, "abstract_array");
}

Lowered::Lowered(std::string name, Arrays parameters, Arrays outputs, internal::Mask donors,
                 std::vector<std::string> parameter_names)
    : name_(std::move(name)),
      parameters_(std::move(parameters)),
      outputs_(std::move(outputs)),
      donors_(std::move(donors)),
      parameter_names_(std::move(parameter_names)) {}

std::string Lowered::graph() const {
  return internal::print_graph(parameters_, parameter_names_, outputs_);
}

std::string Lowered::stablehlo(std::string_view platform) const {
  constexpr std::string_view known[] = {"cpu", "cuda", "rocm", "tpu"};
  if (std::find(std::begin(known), std::end(known), platform) == std::end(known)) {
    throw Error("Lowered::stablehlo: there is no platform \"" + std::string(platform) +
                "\". Name one of cpu, cuda, rocm, tpu");
  }
  return internal::Emitter::module(name_, parameters_, outputs_, donors_, platform);
}

std::size_t Lowered::size() const { return internal::size_of_graph(outputs_); }

Program Lowered::compile(std::optional<Device> device) const {
  Program program(internal::compile_graph(name_, parameters_, outputs_, donors_,
                                          device ? *device : default_device()));
  program.name_ = name_;
  program.stablehlo_ = stablehlo();
  program.argument_types_ = argument_types();
  program.result_types_ = result_types();
  for (std::size_t i = 0; i < donors_.size(); i++) {
    if (donors_[i]) program.donate_.push_back(static_cast<int>(i));
  }
  program.graph_ = std::make_shared<const internal::TracedGraph>(
      internal::TracedGraph{parameters_, outputs_, parameter_names_});
  return program;
}

Arrays Program::run(const Arrays& arguments, Where where) const {
  internal::Blame blame(where, "Program::run");
  if (arguments.size() != argument_types_.size()) {
    throw ShapeError(internal::message(
        "Program::run",
        "the number of arguments is " + std::to_string(arguments.size()) +
            ", the program was compiled for " + std::to_string(argument_types_.size()),
        "Give one array for each of argument_types()"));
  }
  std::vector<const Buffer*> list;
  for (std::size_t i = 0; i < arguments.size(); i++) {
    if (arguments[i].type() != argument_types_[i]) {
      throw ShapeError(
          internal::message("Program::run",
                            "argument " + std::to_string(i) + " is " + arguments[i].type().str() +
                                ", the program was compiled for " + argument_types_[i].str(),
                            "Give it that type, or compile the function for this one"));
    }
    list.push_back(&arguments[i].buffer(where));
  }
  std::vector<Buffer> copies = internal::bring_to(device_, list);
  return internal::run_checked(compiled_, std::move(list), donate_, graph_.get(),
                               "a compiled program");
}

std::string Program::optimized() const {
  OptimizedProgram program = executable().optimized_program();
  return to_string(parse_hlo(program.bytes, program.format));
}

std::string Program::cost() const { return to_string(executable().report()); }

// ------------------------------------------------------------------------------------------ files
//
// A first line that names the format, one with the checksum of all that follows, and then lines
// "key size", each followed by so many bytes and a line break. Machine code that is damaged would
// end the process, rather than be refused, so nothing is used before the checksum is right.

namespace {

constexpr std::string_view first_line = "sturnus program 2\n";

void write(std::ostream& out, std::string_view key, std::string_view bytes) {
  out << key << ' ' << bytes.size() << '\n' << bytes << '\n';
}

// A file that cannot be used as it is.
[[noreturn]] void refuse(const std::string& path, const std::string& fault) {
  throw Error(internal::message("Program::load", path + fault, "Save the program again"));
}

std::string read(std::istream& in, std::string_view key, const std::string& path) {
  std::string found;
  std::size_t size = 0;
  in >> found >> size;
  in.get();
  bool fits = in && found == key && size < std::size_t{1} << 40;
  std::string bytes;
  if (fits) {
    bytes.resize(size);
    in.read(bytes.data(), static_cast<std::streamsize>(size));
    fits = in.get() == '\n';
  }
  if (!fits) refuse(path, " is damaged at \"" + std::string(key) + "\"");
  return bytes;
}

std::string identity(const Device& device) {
  Client client = device.owner();
  return client.platform_name() + " " + client.platform_version();
}

}  // namespace

void Program::save(const std::string& path, Where where) const {
  std::ostringstream out(std::ios::binary);
  write(out, "name", name_);
  write(out, "stablehlo", stablehlo_);
  std::string donors;
  for (int index : donate_) donors += std::to_string(index) + " ";
  write(out, "donate", donors);
  // Machine code knows captured arrays as arguments, so it can be used again only without them.
  bool self_contained = compiled_.captured.empty();
  write(out, "made_for", self_contained ? identity(executable().devices()[0]) : "");
  std::string code;
  if (self_contained) {
    try {
      code = executable().serialize();
    } catch (const Error&) {  // a plugin that cannot: the program is compiled when it is loaded
    }
  }
  write(out, "code", code);
  std::string content = out.str();
  content.insert(0, std::string(first_line) + std::to_string(checksum(content)) + "\n");
  try {
    write_file(path, content);
  } catch (const Error& error) {
    internal::Blame blame(where);
    throw Error(
        internal::message("Program::save", error.what(), "Name a file that can be written"));
  }
}

Program Program::load(const std::string& path, std::optional<Device> device, Where where) {
  internal::Blame blame(where);
  std::ifstream from(path, std::ios::binary);
  from.peek();  // a folder can be opened, but not read
  if (!from.is_open() || from.bad()) {
    std::string cause = std::strerror(errno);
    throw Error(internal::message("Program::load", "cannot read " + path + ": " + cause,
                                  "Name a file that Program::save wrote"));
  }
  std::string line, sum;
  std::getline(from, line);
  if (line + "\n" != first_line) refuse(path, " is not a program that this version saved");
  std::getline(from, sum);
  std::string content{std::istreambuf_iterator<char>(from), {}};
  if (sum != std::to_string(checksum(content))) {
    refuse(path, " is damaged: its checksum is " + std::to_string(checksum(content)) +
                     ", it names " + sum);
  }
  std::istringstream file(std::move(content));
  std::string name = read(file, "name", path);
  std::string stablehlo = read(file, "stablehlo", path);
  std::string donors = read(file, "donate", path);
  std::string made_for = read(file, "made_for", path);
  std::string code = read(file, "code", path);
  Device on = device ? *device : default_device();
  if (made_for != identity(on)) code.clear();
  if (stablehlo.find("debug_print") != stablehlo.npos) internal::add_printer();
  Program program(internal::load_compiled(stablehlo, code, on));
  program.name_ = std::move(name);
  program.stablehlo_ = std::move(stablehlo);
  std::istringstream indices(donors);
  for (int index = 0; indices >> index;) program.donate_.push_back(index);
  auto known = [&path](const std::vector<std::optional<ArrayType>>& types) {
    internal::ArrayTypes result;
    for (const auto& type : types) {
      if (!type) refuse(path, " has types that Sturnus does not know");
      result.push_back(*type);
    }
    return result;
  };
  program.argument_types_ = known(program.executable().parameter_types());
  program.result_types_ = known(program.executable().result_types());
  return program;
}

}  // namespace sturnus
