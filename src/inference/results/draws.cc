#include <sturnus/inference/results/draws.h>
#include <sturnus/runtime/error.h>

#include <algorithm>
#include <functional>
#include <numeric>
#include <set>

namespace sturnus {
namespace {

std::size_t size_of(const std::vector<std::size_t>& shape) {
  return std::accumulate(shape.begin(), shape.end(), std::size_t{1}, std::multiplies<>());
}

bool files_can_hold(const std::string& name) {
  auto letter = [](char c) { return ('a' <= c && c <= 'z') || ('A' <= c && c <= 'Z'); };
  auto other = [](char c) { return ('0' <= c && c <= '9') || c == '_'; };
  return !name.empty() && letter(name[0]) && !name.ends_with("__") &&
         std::all_of(name.begin(), name.end(), [&](char c) { return letter(c) || other(c); });
}

void check_matrix(const char* function, const char* name, const Matrix& values,
                  const ChainDraws& draws) {
  if (values.values.empty()) return;
  if (values.rows != draws.chains || values.cols != draws.draws ||
      values.values.size() != values.rows * values.cols) {
    throw Error(std::string(function) + ": statistic " + name + " is " +
                std::to_string(values.rows) + " x " + std::to_string(values.cols) +
                ", the draws are " + std::to_string(draws.chains) + " chains x " +
                std::to_string(draws.draws) + ". Give one value per draw, or none.");
  }
}

/// All parameters of the draws `number(0)`, `number(1)`, ..., counted chain by chain.
template <class Number>
Matrix rows_at(const ChainDraws& draws, std::size_t count, const Number& number) {
  std::size_t available = draws.chains * draws.draws, width = 0, column = 0;
  for (const ParameterDraws& p : draws.parameters) width += p.values.size() / available;
  Matrix result(count, width);
  for (const ParameterDraws& p : draws.parameters) {
    std::size_t columns = p.values.size() / available;
    for (std::size_t i = 0; i < count; i++) {
      const double* from = &p.values[number(i) * columns];
      std::copy(from, from + columns, &result(i, column));
    }
    column += columns;
  }
  return result;
}

}  // namespace

std::vector<ParameterElement> elements(const ParameterDraws& parameter) {
  std::vector<ParameterElement> result(size_of(parameter.shape));
  std::vector<std::size_t> index(parameter.shape.size(), 0);
  for (ParameterElement& element : result) {
    element.index = index;
    for (std::size_t axis = 0; axis < index.size(); ++axis) {
      element.place = element.place * parameter.shape[axis] + index[axis];
    }
    for (std::size_t axis = 0; axis < index.size(); ++axis) {
      if (++index[axis] < parameter.shape[axis]) break;
      index[axis] = 0;
    }
  }
  return result;
}

std::string index_text(const ParameterElement& element, const char* separator) {
  std::string text;
  for (std::size_t index : element.index) {
    if (!text.empty()) text += separator;
    text += std::to_string(index + 1);
  }
  return text;
}

Matrix chains_of(const ChainDraws& draws, const ParameterDraws& parameter,
                 const ParameterElement& element) {
  Matrix result(draws.chains, draws.draws);
  std::size_t stride = size_of(parameter.shape);
  for (std::size_t i = 0; i < result.values.size(); ++i) {
    result.values[i] = parameter.values[i * stride + element.place];
  }
  return result;
}

Matrix rows_of(const ChainDraws& draws, std::size_t count) {
  std::size_t available = draws.chains * draws.draws;
  if (count == 0 || count > available) {
    throw Error("rows_of: " + std::to_string(count) + " rows of " + std::to_string(available) +
                " draws. Give 1 to " + std::to_string(available));
  }
  return rows_at(draws, count, [&](std::size_t i) { return i * available / count; });
}

Matrix rows_between(const ChainDraws& draws, std::size_t begin, std::size_t end) {
  std::size_t available = draws.chains * draws.draws;
  if (begin > end || end > available) {
    throw Error("rows_between: draws " + std::to_string(begin) + " to " + std::to_string(end) +
                " of " + std::to_string(available) + ". Give two of 0 to " +
                std::to_string(available) + ", in order");
  }
  return rows_at(draws, end - begin, [&](std::size_t i) { return begin + i; });
}

void check_draws(const char* function, const ChainDraws& draws) {
  std::set<std::string> names;
  for (const ParameterDraws& parameter : draws.parameters) {
    const std::string& name = parameter.name;
    if (!files_can_hold(name)) {
      throw Error(std::string(function) + ": parameter \"" + name +
                  "\" has a name that files cannot hold. Use letters, digits and _, a letter "
                  "first, and no __ at the end.");
    }
    if (!names.insert(name).second) {
      throw Error(std::string(function) + ": two parameters are called " + name +
                  ". Give each a name of its own.");
    }
    std::size_t expected = draws.chains * draws.draws * size_of(parameter.shape);
    if (parameter.values.size() != expected) {
      throw Error(std::string(function) + ": parameter " + name + " has " +
                  std::to_string(parameter.values.size()) + " values, " +
                  std::to_string(draws.chains) + " chains x " + std::to_string(draws.draws) +
                  " draws of its shape have " + std::to_string(expected) +
                  ". Give one value per chain, draw and element.");
    }
  }
  const SamplerStatistics& statistics = draws.statistics;
  check_matrix(function, "log_density", statistics.log_density, draws);
  check_matrix(function, "acceptance", statistics.acceptance, draws);
  check_matrix(function, "step_size", statistics.step_size, draws);
  check_matrix(function, "tree_depth", statistics.tree_depth, draws);
  check_matrix(function, "leapfrog_steps", statistics.leapfrog_steps, draws);
  check_matrix(function, "divergent", statistics.divergent, draws);
  check_matrix(function, "energy", statistics.energy, draws);
}

}  // namespace sturnus
