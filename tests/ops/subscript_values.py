#!/usr/bin/env python3
"""Prints subscript_values.h: parts of arrays as NumPy reads and writes them.

    python3 subscript_values.py > subscript_values.h
"""
import numpy as np

# Each row: what C++ writes, and what NumPy does.
READS = [
    ("x[1]", lambda x, i, j: x[1]),
    ("x[-1]", lambda x, i, j: x[-1]),
    ("x(2, -1)", lambda x, i, j: x[2, -1]),
    ("x(Slice{})", lambda x, i, j: x[:]),
    ("x(Slice{1, 3})", lambda x, i, j: x[1:3]),
    ("x(Slice{-3, {}})", lambda x, i, j: x[-3:]),
    ("x(Slice{{}, -1})", lambda x, i, j: x[:-1]),
    ("x(Slice{2, 99})", lambda x, i, j: x[2:99]),
    ("x(Slice{3, 1})", lambda x, i, j: x[3:1]),
    ("x(Slice{{}, {}, 2})", lambda x, i, j: x[::2]),
    ("x(Slice{{}, {}, -1})", lambda x, i, j: x[::-1]),
    ("x(Slice{3, {}, -2})", lambda x, i, j: x[3::-2]),
    ("x(Slice{-1, 0, -1})", lambda x, i, j: x[-1:0:-1]),
    ("x(1, Slice{{}, {}, 2}, Slice{1, 4})", lambda x, i, j: x[1, ::2, 1:4]),
    ("x(ellipsis, 0)", lambda x, i, j: x[..., 0]),
    ("x(0, ellipsis)", lambda x, i, j: x[0, ...]),
    ("x(0, ellipsis, 1)", lambda x, i, j: x[0, ..., 1]),
    ("x(new_axis, 0)", lambda x, i, j: x[None, 0]),
    ("x(0, new_axis, Slice{}, new_axis)", lambda x, i, j: x[0, None, :, None]),
    ("x(1, 2, 3)", lambda x, i, j: x[1, 2, 3]),
    ("x[i]", lambda x, i, j: x[i]),
    ("x(Slice{}, j)", lambda x, i, j: x[:, j]),
    ("x(ellipsis, j)", lambda x, i, j: x[..., j]),
    ("x(i, j)", lambda x, i, j: x[i, j]),
    ("x(i, Slice{}, j)", lambda x, i, j: x[i, :, j]),
    ("x(Slice{}, i, j)", lambda x, i, j: x[:, i, j]),
    ("x(1, i)", lambda x, i, j: x[1, i]),
    ("x(1, Slice{}, i)", lambda x, i, j: x[1, :, i]),
    ("x(Slice{1, 3}, 0, j)", lambda x, i, j: x[1:3, 0, j]),
    ("x(new_axis, i, Slice{1, {}})", lambda x, i, j: x[None, i, 1:]),
    ("x(Slice{}, new_axis, i)", lambda x, i, j: x[:, None, i]),
    ("x(i, new_axis, j)", lambda x, i, j: x[i, None, j]),
]
WRITES = [
    ("x.at(1).set(v)", lambda x, i, j: put(x, np.s_[1], lambda a, v: v)),
    ("x.at(-1, Slice{1, 3}).add(v)", lambda x, i, j: put(x, np.s_[-1, 1:3], np.add)),
    ("x.at(Slice{}, 1).multiply(v)", lambda x, i, j: put(x, np.s_[:, 1], np.multiply)),
    ("x.at(Slice{{}, {}, 2}).set(v)", lambda x, i, j: put(x, np.s_[::2], lambda a, v: v)),
    ("x.at(Slice{{}, {}, -1}).add(v)", lambda x, i, j: put(x, np.s_[::-1], np.add)),
    ("x.at(Slice{3, 0, -2}, 0, Slice{1, 3}).set(v)",
     lambda x, i, j: put(x, np.s_[3:0:-2, 0, 1:3], lambda a, v: v)),
    ("x.at(ellipsis, 2).max(v)", lambda x, i, j: put(x, np.s_[..., 2], np.maximum)),
    ("x.at(ellipsis, 2).min(v)", lambda x, i, j: put(x, np.s_[..., 2], np.minimum)),
    ("x.at(Slice{2, 2}).set(v)", lambda x, i, j: put(x, np.s_[2:2], lambda a, v: v)),
    ("x.at(i).add(v)", lambda x, i, j: put_at(x, np.s_[i], np.add)),
    ("x.at(i).multiply(v)", lambda x, i, j: put_at(x, np.s_[i], np.multiply)),
    ("x.at(i).max(v)", lambda x, i, j: put_at(x, np.s_[i], np.maximum)),
    ("x.at(i).min(v)", lambda x, i, j: put_at(x, np.s_[i], np.minimum)),
    ("x.at(Slice{1, 3}, i, 0).add(v)", lambda x, i, j: put_at(x, np.s_[1:3, i, 0], np.add)),
    ("x.at(i, Slice{}, j).add(v)", lambda x, i, j: put_at(x, np.s_[i, :, j], np.add)),
    ("x.at(new_axis, 0, j).add(v)", lambda x, i, j: put_at(x, np.s_[None, 0, j], np.add)),
]


def values(shape):
    """What the test makes: 1, 3, 5, ... up to 11, again and again."""
    return (np.arange(np.prod(shape, dtype=int)) * 2 % 11 + 1.0).reshape(shape)


def put(x, at, f):
    x = x.copy()
    x[at] = f(x[at], values(x[at].shape))
    return x, x[at].shape


def put_at(x, at, f):
    x = x.copy()
    shape = x[at].shape
    f.at(x, at, values(shape))
    return x, shape


def braces(numbers):
    return "{" + ", ".join(str(int(n)) for n in numbers) + "}"


x = np.arange(60.0).reshape(4, 3, 5)
i = np.array([2, 0, -1])
j = np.array([[1, 0, -2], [1, 1, 2]])
print("""// Parts of the numbers 0, 1, ... in the shape [4, 3, 5], as NumPy gives them. By subscript_values.py.
#pragma once

#include <sturnus/ops/subscript.h>

#include <vector>

namespace sturnus::testing {

struct ReadCase {
  const char* text;
  Array (*f)(const Array& x, const Array& i, const Array& j);
  Shape shape;
  std::vector<double> expected;
};

inline const std::vector<ReadCase> read_cases = {""")
for text, f in READS:
    y = np.asarray(f(x, i, j))
    uses = [f"const Array&{' ' + n if n in text else ''}" for n in ("i", "j")]
    uses = [f"const Array&{' ' + n if (n + ')' in text or n + ',' in text or n + ']' in text) else ''}"
            for n in ("i", "j")]
    print(f'    {{"{text}", [](const Array& x, {uses[0]}, {uses[1]}) {{ return {text}; }},'
          f' {braces(y.shape)}, {braces(y.ravel())}}},')
print("""};

struct WriteCase {
  const char* text;
  Array (*f)(const Array& x, const Array& i, const Array& j, const Array& v);
  Shape shape;  // of the values that are written
  std::vector<double> expected;
};

inline const std::vector<WriteCase> write_cases = {""")
for text, f in WRITES:
    y, shape = f(x, i, j)
    uses = [f"const Array&{' ' + n if (n + ')' in text or n + ',' in text) else ''}"
            for n in ("i", "j")]
    print(f'    {{"{text}", [](const Array& x, {uses[0]}, {uses[1]}, const Array& v) '
          f'{{ return {text}; }}, {braces(shape)}, {braces(y.ravel())}}},')
print("""};

}  // namespace sturnus::testing""")
