// Einstein's summation convention.
#pragma once

#include <sturnus/functional/array.h>

#include <string_view>

namespace sturnus {

/// Products of arrays summed over shared labels: einsum("ij,jk->ik", a, b) is the matrix product.
/// A letter labels an axis; "..." stands for any axes, which are broadcast. A label that occurs
/// twice in one operand takes the diagonal. Labels that the output does not name are summed over;
/// without "->" the output has the labels that occur once, in alphabetical order, behind "...".
/// Several operands are contracted in pairs, the cheapest pair first.
/// Throws Error for a spec that cannot be read, and ShapeError when it does not fit the operands.
Array einsum(std::string_view spec, Operand a);
Array einsum(std::string_view spec, Operand a, Operand b);
Array einsum(std::string_view spec, Operand a, Operand b, Operand c);
Array einsum(std::string_view spec, const Arrays& operands, Where where = Where::here());

}  // namespace sturnus
