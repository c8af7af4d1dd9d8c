#!/usr/bin/env python3
"""Makes sobol_values.h: points of SciPy's Sobol sequence, to compare ours with.

    python3 make_sobol_values.py > sobol_values.h      (needs scipy)
"""
from scipy.stats import qmc


def point(index, dimensions):
    """In units of 2^-30."""
    units = qmc.Sobol(dimensions, scramble=False).fast_forward(index).random(1)[0] * 2**30
    assert all(x == int(x) for x in units)
    return [int(x) for x in units]


def table(name, dimensions, indices):
    print(f"inline constexpr std::int64_t {name}[{len(indices)}][{dimensions + 1}] = {{")
    for index in indices:
        numbers = [index, *point(index, dimensions)]
        lines = [numbers[i : i + 8] for i in range(0, len(numbers), 8)]
        print("    {" + ",\n     ".join(", ".join(str(x) for x in line) for line in lines) + "},")
    print("};\n")


print("// Made by make_sobol_values.py, which says how. Do not edit.\n#pragma once\n\n#include <cstdint>\n")
print("namespace sturnus::testing::recorded {\n// clang-format off\n")
print("// Index, then the coordinates of the point in units of 2^-30.")
table("sobol_in_5", 5, range(1, 10))
table("sobol_in_256", 256, (1000, 987654321))
print("// clang-format on\n}  // namespace sturnus::testing::recorded")
