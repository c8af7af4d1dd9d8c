// The derivative at a point as an object, and whole Jacobians.
#include <sturnus/functional/op.h>
#include <sturnus/functional/transform.h>
#include <sturnus/ops/creation.h>

#include "src/functional/body.h"
#include "src/functional/lists.h"
#include "src/ops/promotion.h"
#include "src/ops/structural.h"

namespace sturnus::internal {

struct LinearMap::Parts {
  Body tangents;     // of the directions and the residuals
  Arrays residuals;  // what the function computed and the tangents need
  Mask real;         // arguments that have a direction
  Mask moves;        // outputs that have a tangent
};

namespace {

Mask real_ones(const Arrays& x) {
  Mask mask;
  for (const Array& array : x) mask.push_back(is_inexact(array.dtype()));
  return mask;
}

void check_directions(std::string_view name, const std::string& what, const Arrays& got,
                      const ArrayTypes& wanted, const std::vector<std::string>& paths,
                      Where where) {
  for (std::size_t i = 0; i < got.size(); i++) {
    if (got[i].type() == wanted[i]) continue;
    Blame blame(where);
    std::string path = i < paths.size() && !paths[i].empty() ? " " + paths[i] : "";
    throw ShapeError(message(
        name,
        "the " + what + path + " is " + got[i].type().str() + ", its value is " + wanted[i].str(),
        "Give it the value's type"));
  }
}

}  // namespace

LinearMap::LinearMap(const FlatFunction& f, const Arrays& x, Arrays& aux, const Caller& caller)
    : name_(caller.name), types_(types_of(x)) {
  check_some_differentiable(x, caller);
  auto parts = std::make_shared<Parts>();
  parts->real = real_ones(x);
  Closed closed;
  {
    Trace trace;
    Arrays roots = placeholders(types_, name_, caller.where);
    Arrays directions = placeholders(types_of(chosen(x, parts->real)), name_);
    Duals duals = push_forward(f(roots), roots, x, scattered(directions, parts->real));
    outputs_ = duals.values;
    aux = substitute(aux, roots, x);
    parts->moves = present(duals.tangents);
    closed = close(chosen(duals.tangents, parts->moves), directions);
    parts->tangents = closed.body;
  }
  Arrays all = settle(joined(joined(outputs_, closed.captured), aux));
  parts->residuals = part(all, outputs_.size(), closed.captured.size());
  aux = part(all, all.size() - aux.size(), aux.size());
  outputs_ = part(all, 0, outputs_.size());
  parts_ = std::move(parts);
}

Arrays LinearMap::forward(const Arrays& tangents, const std::vector<std::string>& paths,
                          Where where) const {
  check_directions(name_, "tangent", tangents, types_, paths, where);
  Arrays results;
  {
    Trace trace;
    Arrays directions = chosen(tangents, parts_->real);
    results = scattered(parts_->tangents(joined(directions, parts_->residuals)), parts_->moves);
    results = or_zeros(std::move(results), types_of(outputs_));
  }
  return settle(std::move(results));
}

Arrays LinearMap::backward(const Arrays& cotangents, const std::vector<std::string>& paths,
                           Where where) const {
  check_directions(name_, "cotangent", cotangents, types_of(outputs_), paths, where);
  Arrays results;
  {
    Trace trace;
    ArrayTypes types;
    for (std::size_t i = 0; i < types_.size(); i++) {
      if (parts_->real[i]) types.push_back(types_[i]);
    }
    Arrays directions = placeholders(types, name_);
    Arrays tangents = parts_->tangents(joined(directions, parts_->residuals));
    Arrays back = pull_back(tangents, chosen(cotangents, parts_->moves), directions);
    results = or_zeros(scattered(back, parts_->real), types_);
  }
  return settle(std::move(results));
}

// -------------------------------------------------------------------------------------- Jacobians

namespace {

// `f` of every unit tensor of a type, with the results along a new axis 0.
Arrays of_unit_tensors(const std::function<Arrays(const Array& unit)>& f, const ArrayType& type) {
  std::int64_t size = type.size();
  if (size == 1) {  // without an axis of extent 1 inside of f
    Arrays results = f(full(1, type));
    for (Array& y : results) y = reshape_to(y, prepended(1, y.shape()));
    return results;
  }
  Array units = reshape_to(eye(size, type.dtype), prepended(size, type.shape));
  Mask mapped;
  Arrays results =
      spread_call([&](const Arrays& unit) { return f(unit[0]); }, {units}, {true}, size, mapped);
  return all_mapped(results, mapped, Mask(results.size(), true), size);
}

// `f` of lists of arrays of which number j runs through its unit tensors and the others are zero.
Arrays each_alone(const FlatFunction& f, const ArrayTypes& types, std::size_t j) {
  Arrays zeros;
  for (const ArrayType& type : types) zeros.push_back(zeros_of(type));
  auto with_one = [&](const Array& unit) {
    Arrays all = zeros;
    all[j] = unit;
    return f(all);
  };
  return of_unit_tensors(with_one, types[j]);
}

// With the axis 0, which counts elements of `x`, last and in the shape of `x`.
Array columns_last(const Array& columns, const Array& x) {
  Array last = move_axis(columns, 0, columns.rank() - 1);
  Shape shape(columns.shape().begin() + 1, columns.shape().end());
  shape.insert(shape.end(), x.shape().begin(), x.shape().end());
  return reshape_to(last, shape);
}

// Second derivatives of the outputs by the elements of x[j], along a new axis 0.
Arrays second_derivatives(const Arrays& outputs, const Arrays& roots, const Arrays& x,
                          std::size_t j) {
  auto along = [&](const Array& direction) {
    std::vector<Series> series;
    for (const Array& value : x) series.push_back({value, {}, {}});
    series[j][1] = direction;
    Arrays result;
    for (const Series& c : push_series(outputs, roots, series, 2)) {
      result.push_back(c[2].empty() ? zeros_of(c[0].type()) : add_tangents(c[2], c[2]));
    }
    return result;
  };
  return of_unit_tensors(along, x[j].type());
}

// For each output and each x[j], `reduced` of these and x[j].
std::vector<Arrays> second_derivatives(
    const Caller& caller, const FlatFunction& f, const Arrays& x, Arrays& aux,
    const std::function<Array(const Array& columns, const Array& x)>& reduced) {
  check_differentiable(x, caller);
  Trace trace;
  Arrays roots = placeholders(types_of(x), caller.name, caller.where);
  Arrays outputs = f(roots);
  aux = substitute(aux, roots, x);
  std::vector<Arrays> table(outputs.size());
  for (std::size_t j = 0; j < x.size(); j++) {
    Arrays columns = second_derivatives(outputs, roots, x, j);
    for (std::size_t i = 0; i < columns.size(); i++) table[i].push_back(reduced(columns[i], x[j]));
  }
  return table;
}

std::vector<Arrays> settle_table(std::vector<Arrays> table, Arrays& aux) {
  Arrays flat = aux;
  for (const Arrays& row : table) flat.insert(flat.end(), row.begin(), row.end());
  flat = settle(std::move(flat));
  aux = part(flat, 0, aux.size());
  std::size_t next = aux.size();
  for (Arrays& row : table) {
    for (Array& entry : row) entry = flat[next++];
  }
  return table;
}

}  // namespace

std::vector<Arrays> forward_jacobian(const FlatFunction& f, const Arrays& x, Arrays& aux,
                                     const Caller& caller) {
  check_differentiable(x, caller);
  std::vector<Arrays> table;
  {
    Trace trace;
    LinearMap map(f, x, aux, caller);
    table.resize(map.outputs().size());
    for (std::size_t j = 0; j < x.size(); j++) {
      Arrays columns =
          each_alone([&map](const Arrays& dx) { return map.forward(dx); }, types_of(x), j);
      for (std::size_t i = 0; i < columns.size(); i++) {
        table[i].push_back(columns_last(columns[i], x[j]));
      }
    }
  }
  return settle_table(std::move(table), aux);
}

std::vector<Arrays> reverse_jacobian(const FlatFunction& f, const Arrays& x, Arrays& aux,
                                     const Caller& caller) {
  check_differentiable(x, caller);
  std::vector<Arrays> table;
  {
    Trace trace;
    LinearMap map(f, x, aux, caller);
    for (std::size_t i = 0; i < map.outputs().size(); i++) {
      const Array& output = map.outputs()[i];
      Arrays rows = each_alone([&map](const Arrays& ct) { return map.backward(ct); },
                               types_of(map.outputs()), i);
      for (std::size_t j = 0; j < rows.size(); j++) {
        Shape shape = output.shape();
        shape.insert(shape.end(), x[j].shape().begin(), x[j].shape().end());
        rows[j] = reshape_to(rows[j], shape);
      }
      table.push_back(rows);
    }
  }
  return settle_table(std::move(table), aux);
}

std::vector<Arrays> hessian_diagonal(const FlatFunction& f, const Arrays& x, Arrays& aux,
                                     const Caller& caller) {
  std::vector<Arrays> table = second_derivatives(caller, f, x, aux, columns_last);
  return settle_table(std::move(table), aux);
}

Arrays laplacian(const FlatFunction& f, const Arrays& x, Arrays& aux, const Caller& caller) {
  auto summed = [](const Array& columns, const Array&) { return sum_over(columns, {0}); };
  Arrays sums;
  {
    Trace trace;
    for (const Arrays& parts : second_derivatives(caller, f, x, aux, summed)) {
      Array sum;
      for (const Array& part : parts) sum = add_tangents(sum, part);
      sums.push_back(sum);
    }
  }
  Arrays all = settle(joined(sums, aux));
  aux = part(all, sums.size(), aux.size());
  return part(all, 0, sums.size());
}

}  // namespace sturnus::internal
