#include <sturnus/functional/tree_def.h>

#include <bit>
#include <charconv>
#include <optional>
#include <ostream>
#include <utility>

namespace sturnus {
namespace {

std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + '"';
}

std::string counted(std::size_t count, const std::string& one, const std::string& many) {
  return std::to_string(count) + " " + (count == 1 ? one : many);
}

/// " (pinn.cc:41)", or nothing when the line is not known.
std::string in_parentheses(std::string_view line) {
  return line.empty() ? "" : " (" + std::string(line) + ")";
}

/// A path as the subject of a sentence.
std::string subject(const std::string& path) { return path.empty() ? "the tree" : path; }

/// One node of a structure: its schema and what the schema leaves open.
struct Node {
  const TreeSchema* schema;
  std::uint64_t open = 0;               // a static number's bits; a length; presence
  std::vector<std::string_view> texts;  // a static string, or a map's keys

  std::size_t part_count() const {
    switch (schema->kind) {
      case TreeKind::array:
        return schema->length;
      case TreeKind::vector:
      case TreeKind::optional:
      case TreeKind::map:
        return open;
      default:
        return schema->parts.size();
    }
  }

  const TreeSchema& part(std::size_t i) const {
    bool own_type = schema->kind == TreeKind::record || schema->kind == TreeKind::tuple;
    return *schema->parts[own_type ? i : 0];
  }

  /// What part i adds to a path.
  std::string step(std::size_t i) const {
    switch (schema->kind) {
      case TreeKind::record:
        return "." + (schema->names.empty() ? std::to_string(i) : std::string(schema->names[i]));
      case TreeKind::tuple:
        return "<" + std::to_string(i) + ">";
      case TreeKind::map:
        return "[" + quoted(texts[i]) + "]";
      case TreeKind::optional:
        return "";
      default:
        return "[" + std::to_string(i) + "]";
    }
  }

  /// The value of a static part.
  std::string value() const {
    switch (schema->kind) {
      case TreeKind::boolean:
        return open ? "true" : "false";
      case TreeKind::integer:
        return std::to_string(static_cast<std::int64_t>(open));
      case TreeKind::natural:
        return std::to_string(open);
      case TreeKind::real: {
        char digits[32];
        auto end = std::to_chars(digits, std::end(digits), std::bit_cast<double>(open)).ptr;
        return {digits, end};
      }
      default:
        return quoted(texts[0]);
    }
  }
};

/// Reads nodes in preorder.
class Reader {
 public:
  Reader(std::span<const std::uint64_t> open, std::string_view text) : open_(open), text_(text) {}

  Node next(const TreeSchema& schema) {
    Node node{&schema, 0, {}};
    switch (schema.kind) {
      case TreeKind::leaf:
      case TreeKind::record:
      case TreeKind::tuple:
      case TreeKind::array:
        break;
      case TreeKind::text:
        node.texts = {next_text()};
        break;
      case TreeKind::map:
        node.open = next_open();
        for (std::size_t i = 0; i < node.open; ++i) node.texts.push_back(next_text());
        break;
      default:
        node.open = next_open();
    }
    return node;
  }

 private:
  std::uint64_t next_open() {
    std::uint64_t first = open_.front();
    open_ = open_.subspan(1);
    return first;
  }
  std::string_view next_text() {
    std::string_view first = text_.substr(0, next_open());
    text_.remove_prefix(first.size());
    return first;
  }

  std::span<const std::uint64_t> open_;
  std::string_view text_;
};

void print(const TreeSchema& schema, Reader& reader, std::string& out) {
  const Node node = reader.next(schema);
  const auto parts = [&](std::string_view open, std::string_view close, auto label) {
    out += open;
    for (std::size_t i = 0; i < node.part_count(); ++i) {
      if (i > 0) out += ", ";
      out += label(i);
      print(node.part(i), reader, out);
    }
    out += close;
  };
  const auto no_label = [](std::size_t) { return ""; };
  switch (schema.kind) {
    case TreeKind::leaf:
      out += '*';
      break;
    case TreeKind::record:
      parts("{", "}", [&](std::size_t i) {
        return schema.names.empty() ? "" : std::string(schema.names[i]) + ": ";
      });
      break;
    case TreeKind::map:
      parts("{", "}", [&](std::size_t i) { return quoted(node.texts[i]) + ": "; });
      break;
    case TreeKind::tuple:
      parts("(", ")", no_label);
      break;
    case TreeKind::array:
    case TreeKind::vector:
      parts("[", "]", no_label);
      break;
    case TreeKind::optional:
      node.open ? parts("", "", no_label) : void(out += "none");
      break;
    default:
      out += node.value();
  }
}

void collect_paths(const TreeSchema& schema, Reader& reader, const std::string& path,
                   std::vector<std::string>& out) {
  const Node node = reader.next(schema);
  if (schema.kind == TreeKind::leaf) out.push_back(path);
  for (std::size_t i = 0; i < node.part_count(); ++i) {
    collect_paths(node.part(i), reader, path + node.step(i), out);
  }
}

/// What a node says about itself, for "<path> <this> in one tree and <this> in the other".
std::string own_words(const Node& node) {
  switch (node.schema->kind) {
    case TreeKind::vector:
      return "has " + counted(node.open, "element", "elements");
    case TreeKind::optional:
      return node.open ? "is present" : "is absent";
    case TreeKind::map: {
      std::string keys;
      for (std::string_view key : node.texts) keys += (keys.empty() ? " " : ", ") + quoted(key);
      return "has " +
             (node.open == 0 ? "no keys" : (node.open == 1 ? "the key" : "the keys") + keys);
    }
    default:
      return "is " + node.value();
  }
}

struct Difference {
  std::string path;
  Node a, b;
};

std::optional<Difference> find_difference(const TreeSchema& schema, Reader& a, Reader& b,
                                          const std::string& path) {
  Node in_a = a.next(schema);
  Node in_b = b.next(schema);
  if (in_a.open != in_b.open || in_a.texts != in_b.texts) return Difference{path, in_a, in_b};
  for (std::size_t i = 0; i < in_a.part_count(); ++i) {
    if (auto found = find_difference(in_a.part(i), a, b, path + in_a.step(i))) return found;
  }
  return std::nullopt;
}

}  // namespace

TreeDef::TreeDef(const TreeSchema& schema, std::vector<std::uint64_t> open, std::string text,
                 std::size_t leaf_count)
    : schema_(&schema), open_(std::move(open)), text_(std::move(text)), leaf_count_(leaf_count) {}

std::vector<std::string> TreeDef::leaf_paths() const {
  std::vector<std::string> paths;
  paths.reserve(leaf_count_);
  Reader reader(open_, text_);
  collect_paths(*schema_, reader, "", paths);
  return paths;
}

std::string TreeDef::str() const {
  std::string out;
  Reader reader(open_, text_);
  print(*schema_, reader, out);
  return out;
}

std::size_t TreeDef::hash() const {
  // Multiplication spreads a word upwards, the shift brings it down again.
  std::uint64_t hash = std::hash<const void*>()(schema_) ^ std::hash<std::string>()(text_);
  for (std::uint64_t word : open_) {
    hash = (hash ^ word) * 0x9e3779b97f4a7c15u;
    hash ^= hash >> 32;
  }
  return hash;
}

std::ostream& operator<<(std::ostream& out, const TreeDef& def) { return out << def.str(); }

std::string first_difference(std::string_view a_name, const TreeDef& a, std::string_view b_name,
                             const TreeDef& b) {
  const auto sentence = [&](const std::string& path, const std::string& in_a,
                            const std::string& in_b) {
    return subject(path) + " " + in_a + " in " + std::string(a_name) + " and " + in_b + " in " +
           std::string(b_name);
  };
  if (a.schema_ != b.schema_) {
    return sentence("", "is a " + std::string(a.type()), "a " + std::string(b.type()));
  }
  Reader in_a(a.open_, a.text_);
  Reader in_b(b.open_, b.text_);
  auto found = find_difference(*a.schema_, in_a, in_b, "");
  return found ? sentence(found->path, own_words(found->a), own_words(found->b)) : "";
}

void require_same_structure(std::string_view function, std::string_view a_name, const TreeDef& a,
                            std::string_view b_name, const TreeDef& b, std::string_view line) {
  if (a == b) return;
  throw TreeError(std::string(function) + ": " + first_difference(a_name, a, b_name, b) +
                  in_parentheses(line) + ". Give both the same structure");
}

void require_leaf_count(std::string_view function, const TreeDef& def, std::size_t given,
                        std::string_view line) {
  if (given == def.leaf_count()) return;
  std::string message = std::string(function) + ": " + std::string(def.type()) + " has " +
                        counted(def.leaf_count(), "leaf", "leaves") +
                        ", given: " + std::to_string(given);
  if (given < def.leaf_count())
    message += "; the first without one is " + subject(def.leaf_paths()[given]);
  throw TreeError(message + in_parentheses(line) +
                  ". Give as many leaves as tree_leaves of such a tree returns");
}

void throw_no_value(std::string_view function, std::string_view leaf, std::string_view line) {
  throw TreeError(std::string(function) + ": " + std::string(leaf) +
                  " is Array(), which has no type and no value" + in_parentheses(line) +
                  ". Assign it one, or let it be a std::optional<Array>");
}

}  // namespace sturnus
