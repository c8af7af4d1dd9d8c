// A joint density of named parameters as a density of one vector of real numbers.
//
//   struct Schools { Array mean, spread, offsets; };
//   Model model([&](const Schools& s) { ... return log_joint; },
//               Schools{0.0, 1.0, zeros({8})}, {{".spread", Bijection::positive()}});
//   Draws draws = sample(model, {.chains = 4});
#pragma once

#include <sturnus/functional/flat.h>
#include <sturnus/functional/ravel.h>
#include <sturnus/inference/chains/hamiltonian.h>
#include <sturnus/inference/models/bijections.h>

#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace sturnus {

/// What samplers see of a model: a density of vectors of free numbers.
struct Target {
  std::int64_t size = 0;  ///< Of the vectors.
  LogDensity log_density;
  /// All parameters in their own, constrained space as one vector, and their names: "theta[3]".
  std::function<Array(const Array& free)> parameters;
  std::vector<std::string> names;
  /// The names of the free numbers, after the parameters that they become.
  std::vector<std::string> free_names;
};

/// The bijections of parts of a struct by their paths: {{".spread", Bijection::positive()}}.
using Bijections = std::vector<std::pair<std::string, Bijection>>;

namespace internal {

/// The leaves of a struct of parameters in a vector of free numbers.
class FreeLayout {
 public:
  /// Throws TreeError when an array has no value, and when a path leads to no leaf, or two to the
  /// same.
  FreeLayout(const Arrays& like, const std::vector<std::string>& paths,
             const Bijections& bijections);

  std::int64_t size() const;
  std::vector<std::string> names() const;
  std::vector<std::string> free_names() const;
  /// Throw TreeError for another number of arrays, or one without a value, ShapeError when the
  /// vector, which `function` of the model was given, is not of the right size, or arrays not of
  /// the right shapes, Error where a value is outside of its bijection and known.
  Arrays constrained(const Array& free, const char* function) const;
  Array free(const Arrays& constrained) const;
  /// log |det J| of `constrained`.
  Array log_det(const Array& free) const;

 private:
  struct Leaf {
    std::string path;
    Shape shape, free_shape;
    Bijection bijection;
    std::string constrained_by;  // the path that the bijection was given for, if one was
  };
  Arrays parts(const Array& free) const;
  std::vector<Leaf> leaves_;
};

/// Throws ShapeError unless the log density is a scalar.
Array require_scalar(const Array& log_density);

}  // namespace internal

/// A log density of a struct of arrays, which are in their constrained space; `like` gives their
/// shapes, and `bijections` what constrains them. Those that are not named are real numbers.
/// The density of free numbers y is that of x(y) times |det dx/dy|.
template <class Parameters>
class Model : public Target {
 public:
  /// Throws TreeError when an array of `like` has no value, and when a path of `bijections` leads
  /// to no leaf, or two to the same, ShapeError when a bijection has no such shape.
  Model(std::type_identity_t<std::function<Array(const Parameters&)>> log_joint, Parameters like,
        const Bijections& bijections = {})
      : like_(std::move(like)),
        layout_(tree_leaves(like_), tree_structure(like_).leaf_paths(), bijections) {
    size = layout_.size();
    names = layout_.names();
    free_names = layout_.free_names();
    log_density = [joint = std::move(log_joint), layout = layout_, like = like_](const Array& y) {
      Parameters x = internal::with_leaves(like, layout.constrained(y, "log_density"));
      return internal::require_scalar(joint(x)) + layout.log_det(y);
    };
    parameters = [layout = layout_](const Array& y) {
      return internal::ravel_leaves(layout.constrained(y, "parameters"));
    };
  }

  /// The parameters at a vector of free numbers, and the vector of parameters. Throws Error where a
  /// parameter is outside of its bijection, unless it is traced.
  Parameters constrain(const Array& free) const {
    return internal::with_leaves(like_, layout_.constrained(free, "constrain"));
  }
  Array unconstrain(const Parameters& parameters) const {
    return layout_.free(tree_leaves(parameters));
  }

 private:
  Parameters like_;
  internal::FreeLayout layout_;
};

}  // namespace sturnus
