#include <sturnus/inference/ensembles/correlated_density.h>
#include <sturnus/inference/ensembles/repulsion.h>
#include <sturnus/ops/arithmetic.h>
#include <sturnus/ops/rearrange.h>
#include <sturnus/ops/shape.h>
#include <sturnus/runtime/error.h>

namespace sturnus {

const std::vector<std::string>& published_variants() {
  static const std::vector<std::string> names = {"none",  "f",          "lambda",
                                                 "joint", "factorized", "full"};
  return names;
}

Repulsion published_repulsion(std::string_view variant) {
  const std::vector<Seen> both = {Seen::data_values, Seen::parameters};
  if (variant == "none") return {};
  if (variant == "f") return {.seen = {Seen::data_values}};
  if (variant == "lambda") return {.seen = {Seen::parameters}};
  if (variant == "joint") return {.seen = both, .factorization = Factorization::joint};
  if (variant == "factorized") return {.seen = both};
  if (variant == "full") return {.seen = both, .factorization = Factorization::full};
  std::string names;
  for (const std::string& name : published_variants()) names += ' ' + name;
  throw Error("repulsion: no variant \"" + std::string(variant) + "\". There are" + names);
}

Array log_density(const Repulsion& repulsion, const Arrays& seen, const Arrays& others) {
  auto all = [](const Arrays& parts) { return parts.empty() ? Array() : concatenate(parts, 1); };
  switch (repulsion.factorization) {
    case Factorization::joint:
      return log_joint_density(all(seen), repulsion.density, all(others));
    case Factorization::full:
      return log_factorized_density(all(seen), repulsion.density, all(others));
    case Factorization::correlated:
      return log_correlated_density(all(seen), all(others));
    case Factorization::blocks: {
      Array total;
      for (std::size_t i = 0; i < seen.size(); i++) {
        Array there = others.empty() ? Array() : others[i];
        Array term = log_joint_density(seen[i], repulsion.density, there);
        total = total.empty() ? term : total + term;
      }
      return total;
    }
  }
  throw Error("repulsion: no such factorization");
}

}  // namespace sturnus
