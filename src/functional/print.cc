#include <sturnus/functional/emitter.h>
#include <sturnus/functional/print.h>

#include <algorithm>
#include <unordered_map>

namespace sturnus::internal {
namespace {

std::string indented(const std::string& text) {
  std::string result;
  for (char c : text) result += c == '\n' ? std::string("\n  ") : std::string(1, c);
  return result;
}

// "x0.w" for the path "<0>.w" in a tuple of arguments.
std::string parameter_name(const std::string& path, std::size_t index) {
  std::size_t end = path.find('>');
  if (path.empty() || path[0] != '<' || end == path.npos) return "x" + std::to_string(index) + path;
  return "x" + path.substr(1, end - 1) + path.substr(end + 1);
}

}  // namespace

std::string print_graph(const Arrays& parameters, const std::vector<std::string>& names,
                        const Arrays& outputs) {
  std::unordered_map<const Node*, std::string> known;
  std::string text = "(";
  for (std::size_t i = 0; i < parameters.size(); i++) {
    std::string name = parameter_name(i < names.size() ? names[i] : "", i);
    known[parameters[i].node().get()] = "%" + name;
    text += (i == 0 ? "%" : ", %") + name + ": " + parameters[i].type().str();
  }
  text += ") {\n";
  auto name_of = [&](const Array& value) {
    if (auto number = splat(value)) {
      std::string text = shortest_text(*number, value.dtype());
      return value.rank() == 0 ? text : text + ":" + value.type().str();
    }
    auto found = known.find(value.node().get());
    std::string name = found == known.end() ? "%?" : found->second;
    return value.node()->types.size() == 1 ? name : name + "." + std::to_string(value.output());
  };
  struct Line {
    std::string text, comment;
  };
  std::vector<Line> lines;
  int next = 0;
  for (const Node* node : reachable(outputs)) {
    Array first(node->shared_from_this(), 0);
    if (known.count(node) > 0 || splat(first)) continue;
    std::string name = "%" + std::to_string(next++);
    std::string line = name + " = " + std::string(node->op->name());
    if (auto value = constant_value(first)) {
      line += " (a concrete array)";
    } else if (std::string fields = node->op->parameters(); !fields.empty()) {
      line += "[" + indented(fields) + "]";
    }
    for (const Array& input : node->inputs) line += " " + name_of(input);
    line += " :";
    for (const ArrayType& type : node->types) line += " " + type.str();
    known[node] = name;
    lines.push_back({"  " + line, node->where.str()});
  }
  // Comments stand in one column, unless a line is much longer than most.
  std::size_t column = 0;
  for (const Line& line : lines)
    column = std::max(column, std::min<std::size_t>(line.text.size(), 64));
  for (const Line& line : lines) {
    text += line.text;
    if (!line.comment.empty()) {
      std::size_t last_line = line.text.rfind('\n');
      std::size_t width = line.text.size() - (last_line == std::string::npos ? 0 : last_line + 1);
      text += std::string(column > width ? column - width : 0, ' ') + "  # " + line.comment;
    }
    text += "\n";
  }
  text += "  return";
  for (const Array& output : outputs) text += " " + name_of(output);
  return text + "\n}";
}

}  // namespace sturnus::internal
