#!/usr/bin/env python3
"""Prints linalg_values.h: values and gradients of pinv and expm.

Those of pinv are NumPy's and JAX's. Those of expm are the series itself, with 120 digits: SciPy's
have errors of up to 2e-13 here, and are only compared.

    JAX_ENABLE_X64=1 python3 linalg_values.py > linalg_values.h
"""
import decimal

import jax
import jax.numpy as jnp
import numpy as np
import scipy.linalg

MATRICES = {
    "tall": [[1, 2], [3, 4], [5, 6.5]],
    "wide": [[1, -2, 0.5, 3], [0.25, 1, 4, -1]],
    "of rank 1": [[1, 2, -1], [2, 4, -2], [-0.5, -1, 0.5]],
    "with equal singular values": [[0, 2, 0], [-2, 0, 0], [0, 0, 2]],
}
EXPONENTS = {
    "small": [[0.1, -0.2], [0.05, 0.3]],
    "nilpotent": [[0, 3, -2], [0, 0, 4], [0, 0, 0]],
    "a rotation by many turns": [[0, -40], [40, 0]],
    "growing": [[1, 2, 0], [-3, 4, 1], [2, 0.5, 6]],
    "decaying at two speeds": [[-2, 1], [0, -300]],
    "nearly defective": [[1, 20], [0, 1 + 1e-6]],
}


def numbers(x):
    return "{" + ", ".join(repr(float(v)) for v in np.asarray(x).ravel()) + "}"


def weights(shape):
    return (np.arange(np.prod(shape)) % 3 - 0.5).reshape(shape)


def series_expm(a):
    """exp(a) from the series of a / 2^40, squared 40 times."""
    decimal.getcontext().prec = 120
    n = range(len(a))

    def product(x, y):
        return [[sum(x[i][k] * y[k][j] for k in n) for j in n] for i in n]

    small = [[decimal.Decimal(float(v)) / 2**40 for v in row] for row in a]
    term = result = [[decimal.Decimal(int(i == j)) for j in n] for i in n]
    for k in range(1, 20):
        term = [[v / k for v in row] for row in product(term, small)]
        result = [[v + t for v, t in zip(*rows)] for rows in zip(result, term)]
    for _ in range(40):
        result = product(result, result)
    found = np.array(result, float)
    assert np.abs(found - scipy.linalg.expm(a)).max() < 1e-12 * np.abs(found).max()
    return found


def expm_gradient(a, w):
    """The derivative at a^T in the direction w: a block of an exponential twice as large."""
    n = len(a)
    return series_expm(np.block([[a.T, w], [np.zeros((n, n)), a.T]]))[:n, n:]


def print_cases(name, matrices, value, gradient):
    print(f"inline const std::vector<LinalgCase> {name} = {{")
    for text, rows in matrices.items():
        a = np.array(rows, float)
        y = value(a)
        print(f'    {{"{text}", {{{a.shape[0]}, {a.shape[1]}}}, {numbers(a)},\n'
              f"     {numbers(y)},\n     {numbers(gradient(a, weights(y.shape)))}}},")
    print("};")


print("""// Values and gradients of pinv and expm. By linalg_values.py.
#pragma once

#include <sturnus/runtime/dtype.h>

#include <vector>

namespace sturnus::testing::recorded {
// clang-format off

struct LinalgCase {
  const char* text;
  Shape shape;
  std::vector<double> matrix, value;
  std::vector<double> gradient;  // of the sum of (i mod 3 - 1/2) value[i]
};
""")
print_cases("pinv", MATRICES, np.linalg.pinv,
            lambda a, w: jax.grad(lambda x: jnp.sum(w * jnp.linalg.pinv(x)))(a))
print_cases("expm", EXPONENTS, series_expm, expm_gradient)
print("\n// clang-format on\n}  // namespace sturnus::testing::recorded")
