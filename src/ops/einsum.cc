#include <sturnus/functional/evaluate.h>
#include <sturnus/ops/dot.h>
#include <sturnus/ops/einsum.h>
#include <sturnus/ops/rearrange.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <string>

#include "src/ops/promotion.h"
#include "src/ops/structural.h"

namespace sturnus {
namespace internal {
namespace {

// A label is a letter, or '0', '1', ... for the axes of "...", counted from the last.
using Labels = std::string;

bool has(const Labels& labels, char label) { return labels.find(label) != Labels::npos; }

std::string quoted(std::string_view spec) { return "\"" + std::string(spec) + "\""; }

// The labels of `text`, in which "..." stands for `rest` axes.
Labels expanded(std::string_view spec, std::string_view text, std::int64_t rest) {
  Labels labels;
  for (std::size_t i = 0; i < text.size(); i++) {
    if (text.substr(i, 3) == "...") {
      for (std::int64_t k = rest; k > 0; k--) labels += static_cast<char>('0' + k - 1);
      i += 2;
    } else if (std::isalpha(static_cast<unsigned char>(text[i]))) {
      labels += text[i];
    } else if (text[i] != ' ') {
      throw Error(message(
          "einsum", quoted(spec) + " has '" + text[i] + "', which is neither a letter nor \"...\"",
          "Write labels, commas and \"->\" only"));
    }
  }
  return labels;
}

std::int64_t letters_of(std::string_view text) {
  return std::count_if(text.begin(), text.end(),
                       [](char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0; });
}

bool has_ellipsis(std::string_view text) { return text.find("...") != text.npos; }

struct Term {
  Array value;
  Labels labels;
};

// The position of a label among the axes.
std::int64_t axis_of(const Term& term, char label) {
  return static_cast<std::int64_t>(term.labels.find(label));
}

Axes axes_of(const Term& term, const Labels& labels) {
  Axes axes;
  for (char label : labels) axes.push_back(axis_of(term, label));
  return axes;
}

class Contraction {
 public:
  Contraction(std::string_view spec, const Arrays& operands) : spec_(spec) {
    std::size_t arrow = spec.find("->");
    std::string_view left = spec.substr(0, arrow);
    std::vector<std::string_view> texts;
    for (std::size_t begin = 0, comma = 0; comma != left.npos; begin = comma + 1) {
      comma = left.find(',', begin);
      texts.push_back(left.substr(begin, comma == left.npos ? comma : comma - begin));
    }
    if (texts.size() != operands.size()) {
      throw Error(message("einsum",
                          quoted(spec) + " is for " + std::to_string(texts.size()) + " operands, " +
                              std::to_string(operands.size()) + " were given",
                          "Give one operand per list of labels"));
    }
    std::int64_t most = 0;
    for (std::size_t i = 0; i < texts.size(); i++) {
      std::int64_t rest = operands[i].rank() - letters_of(texts[i]);
      bool any_rest = has_ellipsis(texts[i]);
      if (rest < 0 || (rest > 0 && !any_rest)) {
        throw ShapeError(message("einsum",
                                 quoted(texts[i]) + " of " + quoted(spec) +
                                     " does not fit the axes of " + operands[i].type().str(),
                                 "Give each axis a label, or write \"...\" for the others"));
      }
      if (any_rest) most = std::max(most, rest);
      terms_.push_back({operands[i], expanded(spec, texts[i], rest)});
    }
    if (arrow != spec.npos) {
      output_ = expanded(spec, spec.substr(arrow + 2), most);
    } else {
      output_ = implicit_output(most);
    }
    find_extents();
    check_output();
  }

  Array result() {
    for (Term& term : terms_) take_diagonals(term);
    for (std::size_t i = 0; i < terms_.size(); i++) sum_out(i);
    while (terms_.size() > 1) contract_cheapest();
    return permute(terms_[0].value, axes_of(terms_[0], output_));
  }

 private:
  Labels implicit_output(std::int64_t rest) const {
    Labels output = expanded(spec_, "...", rest), once;
    std::map<char, int> count;
    for (const Term& term : terms_) {
      for (char label : term.labels) count[label]++;
    }
    for (auto [label, times] : count) {
      if (times == 1 && std::isalpha(static_cast<unsigned char>(label))) once += label;
    }
    return output + once;
  }

  void find_extents() {
    std::map<char, const Term*> first;
    for (Term& term : terms_) {
      for (std::size_t i = 0; i < term.labels.size(); i++) {
        char label = term.labels[i];
        std::int64_t extent = term.value.shape()[i];
        bool spreads = !std::isalpha(static_cast<unsigned char>(label));
        auto [found, is_new] = extents_.emplace(label, extent);
        if (is_new) first[label] = &term;
        if (found->second == extent || (spreads && extent == 1)) continue;
        if (spreads && found->second == 1) {
          found->second = extent;
          continue;
        }
        std::string name = spreads ? "an axis of \"...\"" : "label '" + std::string(1, label) + "'";
        throw ShapeError(message("einsum",
                                 name + " of " + quoted(spec_) + " is " +
                                     std::to_string(found->second) + " in " +
                                     first[label]->value.type().str() + " and " +
                                     std::to_string(extent) + " in " + term.value.type().str(),
                                 "Give axes of different extents different labels"));
      }
    }
    // An axis of "..." that is repeated to fit has no part in the product.
    for (Term& term : terms_) {
      Shape kept;
      Labels labels;
      for (std::size_t i = 0; i < term.labels.size(); i++) {
        if (term.value.shape()[i] != extents_[term.labels[i]]) continue;
        kept.push_back(term.value.shape()[i]);
        labels += term.labels[i];
      }
      term = {reshape_to(term.value, kept), labels};
    }
  }

  void check_output() const {
    for (std::size_t i = 0; i < output_.size(); i++) {
      std::string name = "label '" + std::string(1, output_[i]) + "'";
      if (extents_.count(output_[i]) == 0) {
        throw Error(message("einsum",
                            name + " of the output of " + quoted(spec_) + " is in no operand",
                            "Name labels of operands only"));
      }
      if (output_.find(output_[i], i + 1) != Labels::npos) {
        throw Error(message("einsum", name + " is twice in the output of " + quoted(spec_),
                            "Name each label once there"));
      }
    }
  }

  static void take_diagonals(Term& term) {
    for (std::size_t i = 0; i < term.labels.size(); i++) {
      std::size_t j = term.labels.find(term.labels[i], i + 1);
      if (j == Labels::npos) continue;
      char label = term.labels[i];
      Array moved = moveaxis(term.value, static_cast<int>(j), -1);
      moved = moveaxis(moved, static_cast<int>(i), -2);
      term.value = diagonal(moved);
      term.labels.erase(j, 1);
      term.labels.erase(i, 1);
      term.labels += label;
      i = static_cast<std::size_t>(-1);  // from the start again
    }
  }

  bool needed_beside(char label, std::size_t a, std::size_t b) const {
    if (has(output_, label)) return true;
    for (std::size_t i = 0; i < terms_.size(); i++) {
      if (i != a && i != b && has(terms_[i].labels, label)) return true;
    }
    return false;
  }

  // Sums over what nothing else needs.
  void sum_out(std::size_t i) {
    Labels kept;
    Axes summed;
    for (char label : terms_[i].labels) {
      if (needed_beside(label, i, i)) {
        kept += label;
      } else {
        summed.push_back(axis_of(terms_[i], label));
      }
    }
    terms_[i] = {sum_over(terms_[i].value, summed), kept};
  }

  double cost(std::size_t a, std::size_t b) const {
    double operations = 1;
    for (char label : terms_[a].labels) operations *= static_cast<double>(extents_.at(label));
    for (char label : terms_[b].labels) {
      bool shared = has(terms_[a].labels, label);
      if (!shared) operations *= static_cast<double>(extents_.at(label));
    }
    return operations;
  }

  void contract_cheapest() {
    std::size_t a = 0, b = 1;
    for (std::size_t i = 0; i < terms_.size(); i++) {
      for (std::size_t j = i + 1; j < terms_.size(); j++) {
        if (cost(i, j) < cost(a, b)) {
          a = i;
          b = j;
        }
      }
    }
    const Term &left = terms_[a], &right = terms_[b];
    Labels batch, summed, left_free, right_free;
    for (char label : left.labels) {
      bool shared = has(right.labels, label);
      (!shared ? left_free : needed_beside(label, a, b) ? batch : summed) += label;
    }
    for (char label : right.labels) {
      if (!has(left.labels, label)) right_free += label;
    }
    DotAxes axes{axes_of(left, batch), axes_of(right, batch), axes_of(left, summed),
                 axes_of(right, summed)};
    Term product{dot_general(left.value, right.value, axes), batch + left_free + right_free};
    terms_.erase(terms_.begin() + static_cast<std::ptrdiff_t>(b));
    terms_[a] = product;
  }

  std::string_view spec_;
  std::vector<Term> terms_;
  Labels output_;
  std::map<char, std::int64_t> extents_;
};

}  // namespace
}  // namespace internal

Array einsum(std::string_view spec, const Arrays& operands, Where where) {
  internal::Blame blame(where, "einsum");
  if (operands.empty()) {
    throw Error(internal::message("einsum", "no operands were given", "Give at least one"));
  }
  DType dtype = operands[0].dtype();
  for (const Array& operand : operands) dtype = internal::promoted(dtype, operand.dtype());
  return internal::as_one_program([&] {
    Arrays same;
    for (const Array& operand : operands) same.push_back(internal::converted(operand, dtype));
    return internal::Contraction(spec, same).result();
  });
}

Array einsum(std::string_view spec, Operand a) {
  return einsum(spec, Arrays{internal::to_array(a)}, a.where);
}
Array einsum(std::string_view spec, Operand a, Operand b) {
  Array x = internal::to_array(a), y = internal::to_array(b);
  return einsum(spec, Arrays{x, y}, a.where);
}
Array einsum(std::string_view spec, Operand a, Operand b, Operand c) {
  Array x = internal::to_array(a), y = internal::to_array(b), z = internal::to_array(c);
  return einsum(spec, Arrays{x, y, z}, a.where);
}

}  // namespace sturnus
