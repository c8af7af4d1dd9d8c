#include <sturnus/functional/graph.h>
#include <sturnus/inference/models/model.h>
#include <sturnus/ops/arithmetic.h>
#include <sturnus/ops/reduce.h>
#include <sturnus/runtime/error.h>

namespace sturnus::internal {
namespace {

std::int64_t size_of(const Shape& shape) { return ArrayType{DType::f64, shape}.size(); }

/// Whether `path` is the leaf's own path or that of something that the leaf is in.
bool leads_to(const std::string& path, const std::string& leaf) {
  if (leaf.compare(0, path.size(), path) != 0) return false;
  return leaf.size() == path.size() || leaf[path.size()] == '.' || leaf[path.size()] == '[';
}

std::string joined(const std::vector<std::string>& words) {
  std::string all;
  for (const std::string& word : words) all += (all.empty() ? "" : ", ") + word;
  return all;
}

/// "[1,2]" for element 5 of a 2 x 3 matrix.
std::string subscript(std::int64_t element, const Shape& shape) {
  std::string text;
  for (std::size_t axis = shape.size(); axis-- > 0;) {
    text = std::to_string(element % shape[axis]) + (text.empty() ? "" : ",") + text;
    element /= shape[axis];
  }
  return text.empty() ? "" : "[" + text + "]";
}

/// A leaf's path, or what else to call it.
std::string named(const std::string& path) { return path.empty() ? "the parameter" : path; }

/// Throws Error unless the free numbers of the leaf `x` are finite, or nobody knows yet.
void require_inside(const Array& free, const Array& x, const std::string& path,
                    const Bijection& bijection) {
  if (Trace::open() || !free.concrete() || all(is_finite(free)).item<bool>()) return;
  throw Error("Model::unconstrain: " + named(path) + " is " + to_string(x) +
              ", which the bijection " + bijection.name + " cannot give" +
              (bijection.range.empty() ? "" : ". Give it values that are " + bijection.range));
}

void append_names(std::vector<std::string>& names, const std::string& path, const Shape& shape) {
  std::string name = path.substr(path.starts_with('.') ? 1 : 0);
  for (std::int64_t i = 0; i < size_of(shape); i++) names.push_back(name + subscript(i, shape));
}

}  // namespace

FreeLayout::FreeLayout(const Arrays& like, const std::vector<std::string>& paths,
                       const Bijections& bijections) {
  for (std::size_t i = 0; i < like.size(); i++) {
    if (like[i].empty()) throw_no_value("Model", named(paths[i]), "");
    leaves_.push_back({paths[i], like[i].shape(), like[i].shape(), Bijection::identity(), ""});
  }
  for (const auto& [path, bijection] : bijections) {
    bool found = false;
    for (Leaf& leaf : leaves_) {
      if (!leads_to(path, leaf.path)) continue;
      found = true;
      if (!leaf.constrained_by.empty()) {
        throw TreeError("Model: the bijections " + leaf.bijection.name + " of " +
                        leaf.constrained_by + " and " + bijection.name + " of " + path +
                        " are both for " + leaf.path + ". Give it one");
      }
      leaf.constrained_by = path;
      leaf.bijection = bijection;
      leaf.free_shape = bijection.free_shape(leaf.shape);
    }
    if (!found) {
      throw TreeError("Model: the bijection " + bijection.name + " is for " + path +
                      ", but the parameters are " + joined(paths) + ". Give one of their paths");
    }
  }
}

std::int64_t FreeLayout::size() const {
  std::int64_t total = 0;
  for (const Leaf& leaf : leaves_) total += size_of(leaf.free_shape);
  return total;
}

std::vector<std::string> FreeLayout::names() const {
  std::vector<std::string> names;
  for (const Leaf& leaf : leaves_) append_names(names, leaf.path, leaf.shape);
  return names;
}

std::vector<std::string> FreeLayout::free_names() const {
  std::vector<std::string> names;
  for (const Leaf& leaf : leaves_) append_names(names, leaf.path, leaf.free_shape);
  return names;
}

Arrays FreeLayout::parts(const Array& free) const {
  ArrayTypes types;
  for (const Leaf& leaf : leaves_) types.push_back({free.dtype(), leaf.free_shape});
  return unravel_leaves(free, types, {});
}

Arrays FreeLayout::constrained(const Array& free, const char* function) const {
  ArrayType expected = {free.dtype(), {size()}};
  if (free.shape() != expected.shape) {
    throw ShapeError("Model::" + std::string(function) + ": the free numbers are " +
                     free.type().str() + ", but the model has " + std::to_string(size()) +
                     ". Give " + expected.str());
  }
  Arrays result = parts(free);
  for (std::size_t i = 0; i < leaves_.size(); i++) {
    result[i] = leaves_[i].bijection.forward(result[i]);
  }
  return result;
}

Array FreeLayout::free(const Arrays& constrained) const {
  if (constrained.size() != leaves_.size()) {
    throw TreeError("Model::unconstrain: the parameters are " + std::to_string(constrained.size()) +
                    " arrays, but were " + std::to_string(leaves_.size()) +
                    " when the model was made. Give as many elements of each list");
  }
  Arrays result;
  for (std::size_t i = 0; i < leaves_.size(); i++) {
    const Leaf& leaf = leaves_[i];
    if (constrained[i].empty()) throw_no_value("Model::unconstrain", named(leaf.path), "");
    if (constrained[i].shape() != leaf.shape) {
      throw ShapeError("Model::unconstrain: " + leaf.path + " is " + constrained[i].type().str() +
                       ", but was " + ArrayType{constrained[i].dtype(), leaf.shape}.str() +
                       " when the model was made. Give it that shape");
    }
    result.push_back(leaf.bijection.inverse(constrained[i]));
    require_inside(result.back(), constrained[i], leaf.path, leaf.bijection);
  }
  return ravel_leaves(result);
}

Array FreeLayout::log_det(const Array& free) const {
  Arrays y = parts(free);
  Array total(0.0, free.dtype());
  for (std::size_t i = 0; i < leaves_.size(); i++) {
    total = total + leaves_[i].bijection.log_det(y[i]);
  }
  return total;
}

Array require_scalar(const Array& log_density) {
  if (log_density.rank() == 0) return log_density;
  throw ShapeError("Model: the log density is " + log_density.type().str() +
                   ", but must be a scalar. Sum it");
}

}  // namespace sturnus::internal
