// Loops on flat lists of arrays. The typed forms are in control_flow.h.
#pragma once

#include <sturnus/functional/transform.h>

#include <functional>
#include <string_view>
#include <utility>

namespace sturnus::internal {

/// Repeats `body` on the carried values while `condition` holds. Differentiable in forward mode.
/// The loop itself, but not what its functions do, is charged to the line `where`; `name` is the
/// function that messages speak of.
Arrays while_loop(std::string_view name, const FlatFunction& condition, const FlatFunction& body,
                  const Arrays& start, const std::vector<std::string>& paths, Where where);

struct ScanResult {
  Arrays carry;
  Arrays stacked;
};

/// carry, y = body(carry, x[i]) for i = 0, ..., length - 1 (backwards when `reverse`); the ys are
/// stacked along a new axis 0.
ScanResult scan(std::string_view name, const FlatFunction& body, const Arrays& start,
                const Arrays& xs, std::int64_t length, bool reverse,
                const std::vector<std::string>& paths, Where where);

/// The same inside a trace, for the rules of other ops.
Arrays make_while(const FlatFunction& condition, const FlatFunction& body, const Arrays& start,
                  std::string_view name = "while_loop", const std::vector<std::string>& paths = {},
                  Where where = {});
ScanResult make_scan(const std::function<Arrays(const Arrays& carry, const Arrays& x)>& f,
                     const Arrays& start, const Arrays& xs, std::int64_t length, bool reverse,
                     std::string_view name = "scan", const std::vector<std::string>& paths = {},
                     Where where = {});
/// Throws unless what a loop carries keeps its types. `paths` names the leaves.
void check_carry(std::string_view loop, const ArrayTypes& in, const ArrayTypes& out,
                 const std::vector<std::string>& paths);

/// Running combinations along axis 0; `combine` takes the leaves of two trees, one after the other.
Arrays associative_scan(const FlatFunction& combine, const Arrays& xs, bool reverse,
                        const std::vector<std::string>& paths, Where where);

/// The common extent of axis 0. Throws ShapeError when there is none.
std::int64_t common_length(std::string_view function, const Arrays& xs, Where where);
/// Throws Error when a number of steps is negative.
void check_length(std::string_view function, std::int64_t length, Where where);
/// 0, 1, ..., upper - lower - 1, in i32 where all from lower to upper are such numbers, else in
/// i64; not computed, however many they are. Throws Error when there are too many. And which number
/// of a loop from `lower` a step has.
Array counting(std::int64_t lower, std::int64_t upper, Where where);
Array counted(const Array& step, std::int64_t lower);
/// Both in one type. Throws DtypeError unless they are integer scalars.
std::pair<Array, Array> loop_bounds(const Array& lower, const Array& upper, Where where);
Array is_below(const Array& i, const Array& end);
Array next_index(const Array& i);

}  // namespace sturnus::internal
