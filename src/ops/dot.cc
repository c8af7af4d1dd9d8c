#include <sturnus/ops/arithmetic.h>
#include <sturnus/ops/dot.h>
#include <sturnus/runtime/host_product.h>

#include <algorithm>
#include <optional>
#include <tuple>

#include "src/ops/elementwise.h"

namespace sturnus {
namespace internal {
namespace {

struct Dot {
  static constexpr std::string_view name = "dot", hlo = "dot_general";
  Axes left_batch, right_batch, left_sum, right_sum;

  Axes left_free(const Array& left) const {
    return complement(left.rank(), joined(left_batch, left_sum));
  }
  Axes right_free(const Array& right) const {
    return complement(right.rank(), joined(right_batch, right_sum));
  }

  std::string attributes() const {
    auto list = [](const char* key, const Axes& axes) {
      std::string text = std::string(key) + " = [";
      for (std::size_t i = 0; i < axes.size(); i++) {
        text += (i == 0 ? "" : ", ") + std::to_string(axes[i]);
      }
      return text + "]";
    };
    return "dot_dimension_numbers = #stablehlo.dot<" + list("lhs_batching_dimensions", left_batch) +
           ", " + list("rhs_batching_dimensions", right_batch) + ", " +
           list("lhs_contracting_dimensions", left_sum) + ", " +
           list("rhs_contracting_dimensions", right_sum) + ">";
  }

  ArrayType infer(const Arrays& x) const;
  Array simplify(const Arrays& x) const;
  Array jvp(const Arrays& x, const Array& y, const Arrays& dx) const;
  Arrays transpose(const Array& ct, const Arrays& x, const Mask& linear) const;
  Array batch(const Arrays& x, const Mask& mapped, std::int64_t n) const;
  void lower(Emitter& emitter, const Node& node) const;
  Array jet(const std::vector<Series>& x, const Series&, std::size_t k) const {
    return product_coefficient(x[0], x[1], k, [this](const Array& a, const Array& b) {
      return make(*this, {a, b});
    });
  }
};

Array contract(const Array& left, const Array& right, Axes left_batch, Axes right_batch,
               Axes left_sum, Axes right_sum) {
  return make(
      Dot{std::move(left_batch), std::move(right_batch), std::move(left_sum), std::move(right_sum)},
      {left, right});
}

ArrayType Dot::infer(const Arrays& x) const {
  auto check = [&x](const Axes& left, const Axes& right) {
    for (std::size_t i = 0; i < left.size(); i++) {
      auto l = static_cast<std::size_t>(left[i]), r = static_cast<std::size_t>(right[i]);
      if (x[0].shape()[l] == x[1].shape()[r]) continue;
      throw ShapeError(message("dot_general",
                               "axis " + std::to_string(l) + " of " + x[0].type().str() +
                                   " does not fit axis " + std::to_string(r) + " of " +
                                   x[1].type().str(),
                               "Name axes of one extent"));
    }
  };
  check(left_batch, right_batch);
  check(left_sum, right_sum);
  if (x[0].dtype() != x[1].dtype()) {
    throw DtypeError(message("dot_general",
                             "operands are " + x[0].type().str() + " and " + x[1].type().str(),
                             "Convert one of them"));
  }
  Shape shape = picked(x[0].shape(), joined(left_batch, left_free(x[0])));
  return {x[0].dtype(), joined(shape, picked(x[1].shape(), right_free(x[1])))};
}

// A transposed operand is the operand with its axes renamed, as long as its free axes keep their
// order.
Array Dot::simplify(const Arrays& x) const {
  if (auto* inner = as<Permute>(x[0])) {
    Axes free = picked(inner->permutation, left_free(x[0]));
    if (std::is_sorted(free.begin(), free.end())) {
      return contract(x[0].node()->inputs[0], x[1], picked(inner->permutation, left_batch),
                      right_batch, picked(inner->permutation, left_sum), right_sum);
    }
  }
  if (auto* inner = as<Permute>(x[1])) {
    Axes free = picked(inner->permutation, right_free(x[1]));
    if (std::is_sorted(free.begin(), free.end())) {
      return contract(x[0], x[1].node()->inputs[0], left_batch,
                      picked(inner->permutation, right_batch), left_sum,
                      picked(inner->permutation, right_sum));
    }
  }
  return {};
}

Array Dot::jvp(const Arrays& x, const Array&, const Arrays& dx) const {
  Array left, right;
  if (!dx[0].empty()) left = make(*this, {dx[0], x[1]});
  if (!dx[1].empty()) right = make(*this, {x[0], dx[1]});
  return add_tangents(left, right);
}

// The axes of a cotangent of one operand come in the order of the product that makes it; `order[i]`
// is the operand's axis that product axis i belongs to.
Array put_back(const Array& product, const Axes& order) { return permute(product, inverse(order)); }

// `sum` sorted by the axes `partner` that the product keeps of the other operand.
Axes by_partner(const Axes& sum, const Axes& partner) {
  Axes sorted = partner;
  std::sort(sorted.begin(), sorted.end());
  Axes result;
  for (std::int64_t axis : sorted) {
    result.push_back(sum[static_cast<std::size_t>(position(partner, axis))]);
  }
  return result;
}

Arrays Dot::transpose(const Array& ct, const Arrays& x, const Mask& linear) const {
  auto batches = static_cast<std::int64_t>(left_batch.size());
  Axes lf = left_free(x[0]), rf = right_free(x[1]);
  Axes ct_batch = iota_axes(batches);
  Axes ct_left = iota_axes(static_cast<std::int64_t>(lf.size()), batches);
  Axes ct_right = iota_axes(static_cast<std::int64_t>(rf.size()),
                            batches + static_cast<std::int64_t>(lf.size()));
  if (linear[0]) {
    Axes sums = by_partner(left_sum, right_sum);
    // Of the two orders of the factors the one that needs no transposition afterwards.
    if (!lf.empty() && !sums.empty() && sums.back() < lf.front()) {
      Array product = contract(x[1], ct, right_batch, ct_batch, rf, ct_right);
      return {put_back(product, joined(joined(left_batch, sums), lf)), {}};
    }
    Array product = contract(ct, x[1], ct_batch, right_batch, ct_right, rf);
    return {put_back(product, joined(joined(left_batch, lf), sums)), {}};
  }
  Axes sums = by_partner(right_sum, left_sum);
  if (!rf.empty() && !sums.empty() && rf.back() < sums.front()) {
    Array product = contract(ct, x[0], ct_batch, left_batch, ct_left, lf);
    return {{}, put_back(product, joined(joined(right_batch, rf), sums))};
  }
  Array product = contract(x[0], ct, left_batch, ct_batch, lf, ct_left);
  return {{}, put_back(product, joined(joined(right_batch, sums), rf))};
}

Array Dot::batch(const Arrays& x, const Mask& mapped, std::int64_t) const {
  auto batches = static_cast<std::int64_t>(left_batch.size());
  auto sums = static_cast<std::int64_t>(left_sum.size());
  if (mapped[0] && mapped[1]) {
    return contract(x[0], x[1], prepended(0, shifted(left_batch, 1)),
                    prepended(0, shifted(right_batch, 1)), shifted(left_sum, 1),
                    shifted(right_sum, 1));
  }
  auto axis_first = [](const Array& product, std::int64_t axis) {
    Axes order = {axis};
    for (std::int64_t i = 0; i < product.rank(); i++) {
      if (i != axis) order.push_back(i);
    }
    return permute(product, order);
  };
  if (mapped[0]) {
    bool vectors = x[0].rank() == batches + sums + 1;
    bool matrix = x[1].rank() > batches + sums;
    if (vectors && matrix) {
      // Many vectors times one matrix: the long mapped axis goes last, where the hardware likes it.
      Array product = contract(x[1], x[0], right_batch, shifted(left_batch, 1), right_sum,
                               shifted(left_sum, 1));
      return axis_first(product, product.rank() - 1);
    }
    Array product =
        contract(x[0], x[1], shifted(left_batch, 1), right_batch, shifted(left_sum, 1), right_sum);
    return axis_first(product, batches);
  }
  Array product =
      contract(x[0], x[1], left_batch, shifted(right_batch, 1), left_sum, shifted(right_sum, 1));
  return axis_first(product, x[0].rank() - sums);
}

// The operand with its axes in the order batch, `middle`, `last`, as a copy: the compiler would
// undo a transposition that it sees.
Array copied_in_order(const Array& x, const Axes& batch, const Axes& middle, const Axes& last) {
  Axes order = joined(joined(batch, middle), last), long_ones;
  for (std::int64_t axis : order) {
    if (x.shape()[static_cast<std::size_t>(axis)] != 1) long_ones.push_back(axis);
  }
  // Nothing moves in memory when only axes of extent 1 do.
  bool moves = !std::is_sorted(long_ones.begin(), long_ones.end());
  return moves ? barrier({permute(x, order)})[0] : reshape_to(x, picked(x.shape(), order));
}

// Whether the axes after the batch are `first` and then `second`, each in its order.
bool in_order(const Axes& batch, const Axes& first, const Axes& second) {
  Axes order = joined(joined(batch, first), second);
  return order == iota_axes(static_cast<std::int64_t>(order.size()));
}

// The call of the host's product that the dot is, if it is one: real matrices behind common leading
// axes, each so small that it stays in the cache, but all together no trifle. One product of some
// size is XLA's, which spreads it over the cores.
std::optional<HostProduct> as_host_product(const Dot& dot, const Array& left, const Array& right) {
  if (left.dtype() != DType::f32 && left.dtype() != DType::f64) return {};
  Axes lf = dot.left_free(left), rf = dot.right_free(right);
  auto among = [&](const Axes& left_batch, const Axes& left_rows) -> std::optional<HostProduct> {
    bool mk = in_order(left_batch, left_rows, dot.left_sum);
    bool km = in_order(left_batch, dot.left_sum, left_rows);
    bool kn = in_order(dot.right_batch, dot.right_sum, rf);
    bool nk = in_order(dot.right_batch, rf, dot.right_sum);
    if (!(mk || km) || !(kn || nk)) return {};
    ProductExtents extents{
        product(picked(left.shape(), left_batch)), product(picked(left.shape(), left_rows)),
        product(picked(left.shape(), dot.left_sum)), product(picked(right.shape(), rf))};
    bool shared = left_batch.size() > dot.right_batch.size();
    if (shared) extents.right_step = 0;
    constexpr std::int64_t many = std::int64_t{1} << 26, cached = 65536, alone = 1 << 20;
    std::int64_t work = extents.batch * extents.m * extents.k * extents.n;
    bool small = extents.m * extents.k <= cached && extents.k * extents.n <= cached;
    bool one = extents.batch == 1 || shared;
    if (work <= few_elements || work > (one ? alone : many) || !small) return {};
    return HostProduct{product_layout(mk, kn), extents};
  };
  if (auto product = among(dot.left_batch, lf)) return product;
  if (!dot.left_batch.empty() || lf.size() < 2) return {};
  // Several matrices by the same one.
  return among({lf[0]}, Axes(lf.begin() + 1, lf.end()));
}

// A matrix's columns need not be copied for the call: its rows are the batch.
void call_host_product(Emitter& emitter, const Node& node, HostProduct product) {
  Arrays operands = node.inputs;
  auto in_place = [&](Array& operand, std::int64_t& step, std::int64_t& first) {
    std::optional<Columns> columns = as_columns(operand);
    if (step == 0 || !columns || columns->matrix.shape()[0] != product.extents.batch) return;
    step = columns->matrix.shape()[1];
    first = columns->first;
    operand = columns->matrix;
  };
  in_place(operands[0], product.extents.left_step, product.left_first);
  in_place(operands[1], product.extents.right_step, product.right_first);
  emitter.host_call(node, host_product_name, host_product_parameter(product),
                    {emitter.name_of(operands[0]), emitter.name_of(operands[1])},
                    {operands[0].type(), operands[1].type()});
}

// The axes of the terms of a product: [batch, left free, right free, sum].
struct Terms {
  Axes of_left, of_right;  // which axes the operands' are
  std::int64_t kept, rank;

  Terms(const Dot& dot, const Array& left, const Array& right)
      : of_left(static_cast<std::size_t>(left.rank())),
        of_right(static_cast<std::size_t>(right.rank())) {
    auto number = [](Axes& numbers, const Axes& axes, std::int64_t first) {
      for (std::int64_t axis : axes) numbers[static_cast<std::size_t>(axis)] = first++;
      return first;
    };
    number(of_left, dot.left_batch, 0);
    std::int64_t free = number(of_right, dot.right_batch, 0);
    free = number(of_left, dot.left_free(left), free);
    kept = number(of_right, dot.right_free(right), free);
    number(of_left, dot.left_sum, kept);
    rank = number(of_right, dot.right_sum, kept);
  }

  // All axes, ordered so that those of the result and of both operands keep their order, as far as
  // that is possible: then nothing needs to be transposed.
  Axes common_order() const {
    std::vector<Axes> waiting = {iota_axes(kept), of_left, of_right};
    Axes left_over = iota_axes(rank), order;
    auto may_come = [&](std::int64_t axis) {
      return std::all_of(waiting.begin(), waiting.end(), [axis](const Axes& axes) {
        return !contains(axes, axis) || axes.front() == axis;
      });
    };
    while (!left_over.empty()) {
      auto next = std::find_if(left_over.begin(), left_over.end(), may_come);
      if (next == left_over.end()) {
        waiting.pop_back();
        continue;
      }
      order.push_back(*next);
      for (Axes& axes : waiting) std::erase(axes, *next);
      left_over.erase(next);
    }
    return order;
  }
};

// The product as multiplications and a sum of terms that have their axes in this order.
Array as_sum(const Terms& terms, const Axes& order, const Array& left, const Array& right) {
  Axes place = inverse(order);
  Shape all(static_cast<std::size_t>(terms.rank));
  auto measure = [&](const Array& x, const Axes& axes) {
    for (std::size_t i = 0; i < axes.size(); i++) {
      all[static_cast<std::size_t>(picked(place, axes)[i])] = x.shape()[i];
    }
  };
  measure(left, terms.of_left);
  measure(right, terms.of_right);
  auto spread_out = [&](const Array& x, const Axes& axes) {
    Axes places = picked(place, axes), sorted = places, permutation;
    std::sort(sorted.begin(), sorted.end());
    for (std::int64_t p : sorted) permutation.push_back(position(places, p));
    return broadcast(permute(x, permutation), all, sorted);
  };
  Array products = spread_out(left, terms.of_left) * spread_out(right, terms.of_right);
  Axes summed = picked(place, iota_axes(terms.rank - terms.kept, terms.kept));
  std::sort(summed.begin(), summed.end());
  Axes kept = order;
  std::erase_if(kept, [&](std::int64_t axis) { return axis >= terms.kept; });
  bool one = product(picked(all, summed)) == 1;
  Array sum =
      one ? reshape_to(products, picked(all, picked(place, kept))) : sum_over(products, summed);
  return permute(sum, inverse(kept));
}

// Products that a GPU has done before it could start a second kernel, so that being one with what
// is around them matters more than how they are done.
constexpr std::int64_t few_on_gpu = 1 << 22;

// StableHLO's dot_general, in a form that XLA's CPU compiler does well (measured in
// benchmarks/training_benchmark.cc). It has a quick loop for [batch, m, k] x [batch, k, n], so a
// small operand in another order, such as the weights of a layer, is copied into that order;
// several products share the copy. A sum of one term is a product without a sum, and where there
// are few terms in all, XLA adds them up on the way.
void Dot::lower(Emitter& emitter, const Node& node) const {
  const Array &left = node.inputs[0], &right = node.inputs[1];
  auto batches = static_cast<std::int64_t>(left_batch.size());
  Axes lf = left_free(left), rf = right_free(right);
  std::int64_t terms = product(picked(left.shape(), left_sum));
  bool real = left.dtype() == DType::f32 || left.dtype() == DType::f64;
  bool on_gpu = emitter.platform() == "cuda";
  std::int64_t most = emitter.on_host() ? few_elements : on_gpu ? few_on_gpu : 0;
  if (terms == 1 || (real && terms * node.types[0].size() <= most)) {
    Terms all(*this, left, right);
    Axes order = on_gpu ? all.common_order() : iota_axes(all.rank);
    return emitter.expand(node, {as_sum(all, order, left, right)});
  }
  if (emitter.on_host()) {
    if (auto product = as_host_product(*this, left, right)) {
      return call_host_product(emitter, node, *product);
    }
  }
  auto is_small = [](const Array& x, const Array& other) { return 2 * x.size() <= other.size(); };
  bool one_sum = left_sum.size() == 1 && !lf.empty() && !rf.empty();
  bool copy_left = one_sum && is_small(left, right) &&
                   (left_batch != iota_axes(batches) || left_sum[0] != left.rank() - 1);
  bool copy_right = one_sum && is_small(right, left) &&
                    (right_batch != iota_axes(batches) || right_sum[0] != batches);
  if (emitter.platform() != "cpu" || !(copy_left || copy_right)) {
    return emitter.line(node, hlo, attributes());
  }
  Dot canonical = *this;
  Arrays operands = node.inputs;
  if (copy_left) {
    operands[0] = copied_in_order(left, left_batch, lf, left_sum);
    canonical.left_batch = iota_axes(batches);
    canonical.left_sum = {left.rank() - 1};
  }
  if (copy_right) {
    operands[1] = copied_in_order(right, right_batch, right_sum, rf);
    canonical.right_batch = iota_axes(batches);
    canonical.right_sum = {batches};
  }
  emitter.expand(node, {make(canonical, operands)});
}

}  // namespace
}  // namespace internal

using internal::Axes;
using internal::Blame;

namespace {

// Both operands in one element type; shapes stay.
std::pair<Array, Array> one_dtype(const Operand& a, const Operand& b) {
  Array x = internal::to_array(a), y = internal::to_array(b);
  DType dtype = internal::promoted(x.dtype(), y.dtype());
  return {internal::converted(x, dtype), internal::converted(y, dtype)};
}

// The last axis of x and the last but one of y, or the only one, are summed over.
void check_inner_extents(std::string_view function, const Array& x, const Array& y) {
  std::int64_t columns = x.shape().back();
  std::int64_t rows = y.shape()[y.rank() == 1 ? 0 : y.shape().size() - 2];
  if (columns == rows) return;
  throw ShapeError(internal::message(function,
                                     x.type().str() + " has " + std::to_string(columns) +
                                         " columns, " + y.type().str() + " has " +
                                         std::to_string(rows) + " rows",
                                     "Make these equal, for instance with transpose"));
}

}  // namespace

Array dot_general(Operand a, Operand b, DotAxes axes) {
  Blame blame(a.where, "dot_general");
  auto [x, y] = one_dtype(a, b);
  auto counted = [](const Array& array, Axes list) {
    for (std::int64_t& axis : list)
      axis = internal::checked_axis("dot_general", array.type(), axis);
    return list;
  };
  if (axes.left_batch.size() != axes.right_batch.size() ||
      axes.left_sum.size() != axes.right_sum.size()) {
    throw ShapeError(internal::message(
        "dot_general",
        std::to_string(axes.left_batch.size()) + " batch and " +
            std::to_string(axes.left_sum.size()) + " summed axes of " + x.type().str() + ", " +
            std::to_string(axes.right_batch.size()) + " and " +
            std::to_string(axes.right_sum.size()) + " of " + y.type().str(),
        "Name as many on the left as on the right"));
  }
  for (const auto& [array, batch, summed] : {std::tuple(x, axes.left_batch, axes.left_sum),
                                             std::tuple(y, axes.right_batch, axes.right_sum)}) {
    internal::checked_axes("dot_general", array.type(), internal::joined(batch, summed));
  }
  return internal::contract(x, y, counted(x, axes.left_batch), counted(y, axes.right_batch),
                            counted(x, axes.left_sum), counted(y, axes.right_sum));
}

Array matmul(Operand a, Operand b) {
  Blame blame(a.where, "matmul");
  auto [x, y] = one_dtype(a, b);
  if (x.rank() == 0 || y.rank() == 0) {
    throw ShapeError(internal::message("matmul",
                                       "operands are " + x.type().str() + " and " + y.type().str(),
                                       "Use * for scalars"));
  }
  check_inner_extents("matmul", x, y);
  if (x.rank() <= 2 && y.rank() <= 2) {
    return internal::contract(x, y, {}, {}, {x.rank() - 1},
                              {std::max<std::int64_t>(y.rank() - 2, 0)});
  }
  // Stacks of matrices: the leading axes are broadcast and become batch axes.
  bool row = x.rank() == 1, column = y.rank() == 1;
  if (row) x = internal::reshape_to(x, {1, x.size()});
  if (column) y = internal::reshape_to(y, {y.size(), 1});
  auto stack = [](const Array& m) { return Shape(m.shape().begin(), m.shape().end() - 2); };
  Shape common = internal::broadcast_shapes("matmul", {x.dtype(), stack(x)}, {y.dtype(), stack(y)});
  auto stacked = [&common](const Array& m) {
    Shape shape = common;
    shape.insert(shape.end(), m.shape().end() - 2, m.shape().end());
    return internal::broadcast_to_shape("matmul", m, shape);
  };
  x = stacked(x);
  y = stacked(y);
  auto depth = static_cast<std::int64_t>(common.size());
  Axes batch = internal::iota_axes(depth);
  Array product = internal::contract(x, y, batch, batch, {depth + 1}, {depth});
  Shape shape = common;
  if (!row) shape.push_back(x.shape()[common.size()]);
  if (!column) shape.push_back(y.shape()[common.size() + 1]);
  return internal::reshape_to(product, shape);
}

Array dot(Operand a, Operand b) {
  Blame blame(a.where, "dot");
  auto [x, y] = one_dtype(a, b);
  if (x.rank() == 0 || y.rank() == 0) return x * y;
  check_inner_extents("dot", x, y);
  return internal::contract(x, y, {}, {}, {x.rank() - 1},
                            {std::max<std::int64_t>(y.rank() - 2, 0)});
}

Array outer(Operand a, Operand b) {
  Blame blame(a.where, "outer");
  auto [x, y] = one_dtype(a, b);
  return internal::contract(internal::reshape_to(x, {x.size()}),
                            internal::reshape_to(y, {y.size()}), {}, {}, {}, {});
}

Array tensordot(Operand a, Operand b, int count) {
  Blame blame(a.where, "tensordot");
  auto [x, y] = one_dtype(a, b);
  if (count < 0 || count > x.rank() || count > y.rank()) {
    throw ShapeError(internal::message(
        "tensordot",
        std::to_string(count) + " axes of " + x.type().str() + " and " + y.type().str(),
        "Sum over no more axes than both have"));
  }
  return internal::contract(x, y, {}, {}, internal::iota_axes(count, x.rank() - count),
                            internal::iota_axes(count));
}

}  // namespace sturnus
