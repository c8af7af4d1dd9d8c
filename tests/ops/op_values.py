#!/usr/bin/env python3
"""Prints FAMILY_values.h: values and gradients of a family of operations, from JAX.

    JAX_ENABLE_X64=1 python3 op_values.py FAMILY > FAMILY_values.h

Families are those at the end of this file, and special. op_values.h has the helpers.
"""
import math
import sys

import jax
import jax.numpy as jnp
import jax.scipy as jsp
import numpy as np
from jax import lax


# ------------------------------------------------------ what op_values.h has under these names
def points(shape, k):
    """Argument k of a case."""
    return jnp.asarray(np.sin(1.7 * np.arange(math.prod(shape)) + k + 0.4).reshape(shape))


def weights(shape):
    return jnp.asarray((np.arange(math.prod(shape)) % 3 - 0.5).reshape(shape))


def parts(z):
    return jnp.stack([jnp.real(z), jnp.imag(z)])


def positive(a):
    return a @ a.swapaxes(-1, -2) + jnp.eye(a.shape[-2])


def symmetric(a):
    return a + a.swapaxes(-1, -2)


def steps(x):
    """With many equal elements."""
    return jnp.floor(3 * x)


# ------------------------------------------------------------------------------------ the cases
# What C++ writes, what JAX does, and the shapes of the arguments.
def einsum(spec, *shapes):
    arguments = "".join(f", x[{k}]" for k in range(len(shapes)))
    if len(shapes) > 3:
        arguments = ", {" + arguments[2:] + "}"
    return f'einsum("{spec}"{arguments})', lambda x: jnp.einsum(spec, *x), shapes


EINSUM = [
    einsum("ij,jk->ik", (2, 3), (3, 2)),
    einsum("ij,jk", (2, 3), (3, 2)),
    einsum("ba,cb", (2, 3), (4, 2)),
    einsum("ii->i", (3, 3)),
    einsum("ii", (3, 3)),
    einsum("iij->j", (2, 2, 3)),
    einsum("ijk->kji", (2, 3, 2)),
    einsum("ij->", (2, 3)),
    einsum("i,j->ij", (2,), (3,)),
    einsum("i,i", (3,), (3,)),
    einsum("ij,ij->i", (2, 3), (2, 3)),
    einsum("bij,bjk->bik", (2, 2, 3), (2, 3, 2)),
    einsum("bij,bkj->kbi", (2, 2, 3), (2, 2, 3)),
    einsum("...ij,...j->...i", (2, 1, 2, 3), (3, 3)),
    einsum("i...,i...->...", (2, 3), (2, 3)),
    einsum("...i->...", (2, 2, 3)),
    einsum("ij,jk,kl->il", (2, 3), (3, 2), (2, 2)),
    einsum("i,ij,j", (2,), (2, 3), (3,)),
    einsum("ab,bc,cd,da->", (2, 3), (3, 2), (2, 3), (3, 2)),
    einsum("abc,ad,be,cf->def", (2, 2, 2), (2, 3), (2, 2), (2, 1)),
    einsum("iji,j->i", (2, 3, 2), (3,)),
    einsum("ijk,k->ji", (2, 2, 3), (3,)),
]

FFT = [
    ("parts(fft(x[0]))", lambda x: parts(jnp.fft.fft(x[0])), [(2, 5)]),
    ("parts(fft(x[0], 2))", lambda x: parts(jnp.fft.fft2(x[0])), [(3, 4)]),
    ("parts(fft(x[0], 3))", lambda x: parts(jnp.fft.fftn(x[0])), [(2, 3, 2)]),
    ("parts(ifft(make_complex(x[0], x[1])))",
     lambda x: parts(jnp.fft.ifft(x[0] + 1j * x[1])), [(6,), (6,)]),
    ("parts(ifft(make_complex(x[0], x[1]), 2))",
     lambda x: parts(jnp.fft.ifft2(x[0] + 1j * x[1])), [(2, 3), (2, 3)]),
    ("parts(rfft(x[0]))", lambda x: parts(jnp.fft.rfft(x[0])), [(2, 5)]),
    ("parts(rfft(x[0], 2))", lambda x: parts(jnp.fft.rfft2(x[0])), [(3, 4)]),
    ("parts(rfft(x[0], 3))", lambda x: parts(jnp.fft.rfftn(x[0])), [(2, 2, 3)]),
    ("irfft(make_complex(x[0], x[1]))",
     lambda x: jnp.fft.irfft(x[0] + 1j * x[1]), [(4,), (4,)]),
    ("irfft(make_complex(x[0], x[1]), 1, 7)",
     lambda x: jnp.fft.irfft(x[0] + 1j * x[1], 7), [(4,), (4,)]),
    ("irfft(make_complex(x[0], x[1]), 2)",
     lambda x: jnp.fft.irfft2(x[0] + 1j * x[1]), [(2, 3), (2, 3)]),
    ("irfft(square(abs(rfft(x[0]))), 1, 5)",
     lambda x: jnp.fft.irfft(jnp.abs(jnp.fft.rfft(x[0]))**2, 5), [(5,)]),
]


def convolution(x, kernel, options=""):
    """Of x and the kernel's shapes, with options in C++."""
    found = {name: eval(value.replace("{", "(").replace("}", ",)"))
             for name, value in (o.split(" = ") for o in options.split("; ") if o)}
    space = len(x) - 2
    letters = "XYZ"[:space]

    def f(v):
        return lax.conv_general_dilated(
            v[0], v[1], found.get("strides", (1,) * space), found.get("padding", ((0, 0),) * space),
            lhs_dilation=found.get("x_dilation"), rhs_dilation=found.get("kernel_dilation"),
            dimension_numbers=("NC" + letters, "OI" + letters, "NC" + letters),
            feature_group_count=found.get("groups", 1))
    text = ", ".join("." + option for option in options.split("; ")) if options else ""
    return "convolution(x[0], x[1]" + (f", {{{text}}}" if text else "") + ")", f, [x, kernel]


CONVOLUTION = [
    convolution((2, 2, 5), (3, 2, 3)),
    convolution((1, 2, 7), (2, 2, 3), "strides = {2}"),
    convolution((1, 2, 5), (2, 2, 3), "padding = {{2, 1}}"),
    convolution((1, 1, 5), (2, 1, 2), "padding = {{-1, 1}}"),
    convolution((1, 2, 3), (2, 2, 3), "x_dilation = {2}"),
    convolution((1, 2, 7), (2, 2, 3), "kernel_dilation = {2}"),
    convolution((1, 4, 4), (6, 2, 2), "groups = 2"),
    convolution((1, 3, 4), (3, 1, 2), "padding = {{1, 0}}; groups = 3"),
    convolution((1, 2, 4, 3), (2, 2, 2, 2)),
    convolution((1, 2, 5, 4), (2, 1, 2, 2),
                "strides = {2, 1}; padding = {{1, 0}, {0, 2}}; x_dilation = {1, 2}; "
                "kernel_dilation = {2, 1}; groups = 2"),
    convolution((1, 1, 2, 3, 2), (1, 1, 2, 2, 1), "padding = {{0, 1}, {1, 0}, {0, 0}}"),
    ("convolve(x[0], x[1])", lambda x: jnp.convolve(*x), [(5,), (3,)]),
    ("convolve(x[0], x[1], ConvolveMode::same)",
     lambda x: jnp.convolve(*x, mode="same"), [(3,), (6,)]),
    ("convolve(x[0], x[1], ConvolveMode::valid)",
     lambda x: jnp.convolve(*x, mode="valid"), [(5,), (3,)]),
    ("max_pool(x[0], {2, 2})", lambda x: pool(x[0], -jnp.inf, lax.max, (2, 2), (2, 2)), [(1, 2, 4, 4)]),
    ("max_pool(x[0], {3}, {.strides = {1}, .padding = {{1, 1}}})",
     lambda x: pool(x[0], -jnp.inf, lax.max, (3,), (1,), ((1, 1),)), [(1, 2, 5)]),
    ("avg_pool(x[0], {2, 3}, {.strides = {2, 1}})",
     lambda x: pool(x[0], 0.0, lax.add, (2, 3), (2, 1)) / 6, [(1, 1, 4, 4)]),
]


def pool(x, start, combine, window, strides, padding=None):
    padding = ((0, 0), (0, 0)) + (padding or ((0, 0),) * len(window))
    return lax.reduce_window(x, start, combine, (1, 1) + window, (1, 1) + strides, padding)


# Vectors are known up to a sign: their absolute values.
MATRIX = [
    ("cholesky(positive(x[0]))", lambda x: jnp.linalg.cholesky(positive(x[0])), [(2, 3, 3)]),
    ("triangular_solve(tril(positive(x[0])), x[1])",
     lambda x: jsp.linalg.solve_triangular(positive(x[0]), x[1], lower=True), [(3, 3), (3, 2)]),
    ("triangular_solve(positive(x[0]), x[1], {.lower = false, .transposed = true})",
     lambda x: jsp.linalg.solve_triangular(positive(x[0]), x[1], trans=1), [(3, 3), (3,)]),
    ("triangular_solve(x[0], x[1], {.unit_diagonal = true})",
     lambda x: jsp.linalg.solve_triangular(x[0], x[1], lower=True, unit_diagonal=True), [(3, 3), (3,)]),
    ("solve_positive(positive(x[0]), x[1])",
     lambda x: jsp.linalg.cho_solve((jnp.linalg.cholesky(positive(x[0])), True), x[1]), [(3, 3), (3, 2)]),
    ("solve(x[0] + eye(4, DType::f64), x[1])",
     lambda x: jnp.linalg.solve(x[0] + jnp.eye(4), x[1]), [(4, 4), (4,)]),
    ("solve(x[0] + eye(2, DType::f64), x[1])",
     lambda x: jnp.linalg.solve(x[0] + jnp.eye(2), x[1]), [(3, 2, 2), (3, 2, 1)]),
    ("inverse(positive(x[0]))", lambda x: jnp.linalg.inv(positive(x[0])), [(3, 3)]),
    ("det(x[0] + eye(3, DType::f64))", lambda x: jnp.linalg.det(x[0] + jnp.eye(3)), [(2, 3, 3)]),
    ("slogdet(x[0] - 0.5 * eye(3, DType::f64)).log",
     lambda x: jnp.linalg.slogdet(x[0] - 0.5 * jnp.eye(3))[1], [(3, 3)]),
    ("slogdet(x[0] - 0.5 * eye(3, DType::f64)).sign",
     lambda x: jnp.linalg.slogdet(x[0] - 0.5 * jnp.eye(3))[0], [(3, 3)]),
    ("logdet(positive(x[0]))", lambda x: jnp.linalg.slogdet(positive(x[0]))[1], [(3, 3)]),
    ("eigh(symmetric(x[0])).values", lambda x: jnp.linalg.eigh(symmetric(x[0]))[0], [(2, 3, 3)]),
    ("abs(eigh(symmetric(x[0])).vectors)",
     lambda x: jnp.abs(jnp.linalg.eigh(symmetric(x[0]))[1]), [(4, 4)]),
    ("abs(qr(x[0] + eye(4, 3, 0, DType::f64)).q)",
     lambda x: jnp.abs(jnp.linalg.qr(x[0] + jnp.eye(4, 3))[0]), [(4, 3)]),
    ("abs(qr(x[0] + eye(4, 3, 0, DType::f64)).r)",
     lambda x: jnp.abs(jnp.linalg.qr(x[0] + jnp.eye(4, 3))[1]), [(4, 3)]),
    ("svd(x[0] + 0.25 * square(x[0])).s",
     lambda x: jnp.linalg.svd(x[0] + 0.25 * x[0]**2, full_matrices=False)[1], [(2, 3, 2)]),
    ("abs(svd(x[0] + 0.25 * square(x[0])).u)",
     lambda x: jnp.abs(jnp.linalg.svd(x[0] + 0.25 * x[0]**2, full_matrices=False)[0]), [(3, 2)]),
    ("abs(svd(x[0] + 0.25 * square(x[0])).vt)",
     lambda x: jnp.abs(jnp.linalg.svd(x[0] + 0.25 * x[0]**2, full_matrices=False)[2]), [(2, 3)]),
    ("lstsq(x[0] + 0.25 * square(x[0]), x[1])",
     lambda x: jnp.linalg.lstsq(x[0] + 0.25 * x[0]**2, x[1])[0], [(4, 2), (4,)]),
    ("matrix_power(x[0], 3)", lambda x: jnp.linalg.matrix_power(x[0], 3), [(3, 3)]),
    ("expm(x[0])", lambda x: jsp.linalg.expm(x[0]), [(3, 3)]),
    ("expm(4.0 * x[0])", lambda x: jsp.linalg.expm(4 * x[0]), [(2, 2)]),
]


def var(correction, **over):
    return lambda x: jnp.var(x[0], ddof=correction, **over)


REDUCE = [
    ("sum(x[0], 1)", lambda x: jnp.sum(x[0], 1), [(2, 3, 2)]),
    ("mean(x[0], {{0, 2}, true})", lambda x: jnp.mean(x[0], (0, 2), keepdims=True), [(2, 3, 2)]),
    ("prod(x[0], -1)", lambda x: jnp.prod(x[0], -1), [(2, 4)]),
    ("prod(relu(x[0]), 0)", lambda x: jnp.prod(jax.nn.relu(x[0]), 0), [(2, 4)]),
    ("max(x[0], 0)", lambda x: jnp.max(x[0], 0), [(3, 4)]),
    ("min(steps(x[0]) * x[1], 1)", lambda x: jnp.min(steps(x[0]) * x[1], 1), [(2, 5), (2, 5)]),
    ("var(x[0])", var(0), [(2, 4)]),
    ("var(x[0], 1, 1)", var(1, axis=1), [(2, 4)]),
    ("var(x[0], {{0, 2}, true}, 2)", var(2, axis=(0, 2), keepdims=True), [(2, 2, 3)]),
    ("stddev(x[0], 0, 1)", lambda x: jnp.std(x[0], 0, ddof=1), [(4, 2)]),
    ("norm(x[0])", lambda x: jnp.linalg.norm(x[0]), [(2, 3)]),
    ("norm(x[0], 1)", lambda x: jnp.linalg.norm(x[0], axis=1), [(2, 3)]),
    ("norm(x[0], {}, 1)", lambda x: jnp.linalg.norm(x[0].ravel(), 1), [(2, 3)]),
    ("norm(x[0], 0, 1)", lambda x: jnp.linalg.norm(x[0], 1, axis=0), [(2, 3)]),
    ("norm(x[0], {{0}, true}, infinity)",
     lambda x: jnp.linalg.norm(x[0], jnp.inf, axis=0, keepdims=True), [(2, 3)]),
    ("logsumexp(40.0 * x[0], 1)", lambda x: jsp.special.logsumexp(40 * x[0], 1), [(2, 4)]),
    ("logsumexp(x[0] + log(square(x[1])), 0)",
     lambda x: jsp.special.logsumexp(x[0], 0, b=x[1]**2), [(3, 2), (3, 2)]),
    ("logaddexp(800.0 * x[0], 801.0 * x[0])",
     lambda x: jnp.logaddexp(800 * x[0], 801 * x[0]), [(5,)]),
    ("softmax(30.0 * x[0], 0)", lambda x: jax.nn.softmax(30 * x[0], 0), [(3, 2)]),
    ("log_softmax(30.0 * x[0])", lambda x: jax.nn.log_softmax(30 * x[0]), [(2, 3)]),
    ("cumsum(x[0], 1)", lambda x: jnp.cumsum(x[0], 1), [(2, 5)]),
    ("cumsum(x[0], 0, true)", lambda x: lax.cumsum(x[0], 0, reverse=True), [(3, 2)]),
    ("cumprod(x[0], -1)", lambda x: jnp.cumprod(x[0], -1), [(2, 5)]),
    ("cumprod(x[0], 0, true)", lambda x: lax.cumprod(x[0], 0, reverse=True), [(4, 2)]),
    ("cummax(x[0], 1)", lambda x: lax.cummax(x[0], 1), [(2, 6)]),
    ("cummin(x[0], 0, true)", lambda x: lax.cummin(x[0], 0, reverse=True), [(5, 2)]),
    ("cumlogsumexp(50.0 * x[0], 1)", lambda x: lax.cumlogsumexp(50 * x[0], 1), [(2, 4)]),
    ("argmax(x[0], 1)", lambda x: jnp.argmax(x[0], 1), [(3, 5)]),
    ("argmin(steps(x[0]), 0)", lambda x: jnp.argmin(steps(x[0]), 0), [(5, 3)]),
    ("argmax(x[0])", lambda x: jnp.argmax(x[0]), [(3, 4)]),
]


def quantile(q, method, **over):
    return lambda x: jnp.quantile(x[0], jnp.asarray(q), method=method, **over)


ORDER = [
    ("sort(x[0])", lambda x: jnp.sort(x[0]), [(2, 5)]),
    ("sort(x[0], 0, true)", lambda x: jnp.sort(x[0], 0, descending=True), [(4, 2)]),
    ("sort(steps(x[0]) + x[1], 1)", lambda x: jnp.sort(steps(x[0]) + x[1], 1), [(2, 4), (2, 4)]),
    ("argsort(x[0])", lambda x: jnp.argsort(x[0]), [(2, 6)]),
    ("argsort(steps(x[0]), 0)", lambda x: jnp.argsort(steps(x[0]), 0, stable=True), [(6, 2)]),
    ("argsort(steps(x[0]), 0, true)",
     lambda x: jnp.argsort(steps(x[0]), 0, stable=True, descending=True), [(6, 2)]),
    ("sort_by_key(x[0], {x[1]})[1]", lambda x: x[1][jnp.argsort(x[0])], [(5,), (5,)]),
    ("top_k(x[0], 3).first", lambda x: lax.top_k(x[0], 3)[0], [(2, 5)]),
    ("top_k(x[0], 3).second", lambda x: lax.top_k(x[0], 3)[1], [(2, 5)]),
    ("order_statistic(x[0], 2)", lambda x: jnp.sort(x[0])[:, 2], [(2, 5)]),
    ("median(x[0], 1)", lambda x: jnp.median(x[0], 1), [(2, 5)]),
    ("median(x[0], 0)", lambda x: jnp.median(x[0], 0), [(4, 2)]),
    ("median(x[0])", lambda x: jnp.median(x[0]), [(3, 4)]),
    ("quantile(x[0], 0.3)", quantile(0.3, "linear"), [(2, 4)]),
    ("quantile(x[0], array({0.0, 0.2, 1.0}, DType::f64), 1)",
     quantile([0, 0.2, 1], "linear", axis=1), [(2, 6)]),
    ("quantile(x[0], 0.25, 1, Interpolation::lower)", quantile(0.25, "lower", axis=1), [(2, 6)]),
    ("quantile(x[0], 0.25, 1, Interpolation::higher)", quantile(0.25, "higher", axis=1), [(2, 6)]),
    ("quantile(x[0], 0.25, 1, Interpolation::nearest)", quantile(0.25, "nearest", axis=1), [(2, 6)]),
    ("quantile(x[0], 0.85, {{0, 1}, true}, Interpolation::nearest)",
     quantile(0.85, "nearest", keepdims=True), [(2, 4)]),
]

# Elementwise functions, where they may go wrong: near zeros, poles and ends, far out, and at 0; but
# not where JAX's derivatives do, at poles and of digamma far below 0.
KINKED = [-700.0, -40.0, -3.0, -1e-9, 1e-9, 0.5, 3.0, 40.0, 700.0]  # without the kink at 0
FAR = KINKED + [0.0]
SPECIAL = [
    ("lgamma(x)", jax.lax.lgamma,
     [1e-300, 1e-10, 0.5, 1 - 1e-6, 1.0, 1 + 1e-6, 1.5, 2.0, 2 + 1e-6, 10.5, 171.5, 1e5, 1e300,
      -0.5, -1.5, -3.9999, -20.25, math.inf, math.nan]),
    ("digamma(x)", jax.lax.digamma,
     [1e-300, 1e-10, 0.5, 1.0, 1.4616321449683622, 2.0, 10.5, 1e5, 1e300, -0.5, -1.5, -3.9999, math.nan]),
    ("polygamma(1, x)", lambda x: jsp.special.polygamma(1, x), [1e-3, 0.5, 1.0, 2.0, 10.5, 1e5]),
    ("polygamma(3, x)", lambda x: jsp.special.polygamma(3, x), [1e-2, 0.5, 1.0, 2.0, 10.5, 1e3]),
    ("erf(x)", jax.lax.erf, [-8.0, -1.0, -1e-9, 0.0, 1e-300, 0.25, 0.75, 1.0, 2.5, 6.0, math.inf, math.nan]),
    ("erfc(x)", jax.lax.erfc, [-8.0, -1.0, -1e-9, 0.0, 0.25, 0.75, 1.0, 2.5, 6.0, 26.0, math.inf, math.nan]),
    ("erf_inv(x)", jax.lax.erf_inv,
     [-1.0, -1 + 1e-12, -0.999, -0.5, -1e-9, 0.0, 1e-300, 0.25, 0.9, 0.99999, 1 - 2.0**-50, 1.0, 1.5]),
    ("gelu(x)", lambda x: jax.nn.gelu(x, approximate=False), FAR + [-6.0, 6.0]),
    ("gelu_tanh(x)", lambda x: jax.nn.gelu(x, approximate=True), [-3.0, -1e-9, 0.0, 0.5, 3.0, 40.0]),
    ("silu(x)", jax.nn.silu, FAR),
    ("softplus(x)", jax.nn.softplus, FAR),
    ("log_sigmoid(x)", jax.nn.log_sigmoid, FAR),
    ("sigmoid(x)", jax.nn.sigmoid, FAR),
    ("elu(x, 1.5)", lambda x: jax.nn.elu(x, 1.5), KINKED),
    ("leaky_relu(x)", jax.nn.leaky_relu, KINKED),
    ("expm1(x)", jnp.expm1, [-40.0, -1e-9, 0.0, 1e-300, 0.5, 700.0]),
    ("log1p(x)", jnp.log1p, [-1.0, -0.5, -1e-9, 0.0, 1e-300, 1e-9, 1e300]),
    ("asinh(x)", jnp.arcsinh, [-1e200, -3.0, -1e-9, 0.0, 1e-9, 0.5, 1e200]),
    ("acosh(x)", jnp.arccosh, [1.0, 1 + 1e-9, 1.5, 1e200, 0.5]),
    ("atanh(x)", jnp.arctanh, [-1.0, -0.999999, -1e-9, 0.0, 0.5, 1.0, 1.5]),
    ("sinh(x)", jnp.sinh, [-700.0, -1e-9, 0.0, 0.5, 700.0]),
    ("tanh(x)", jnp.tanh, FAR),
    ("cbrt(x)", jnp.cbrt, [-27.0, -1e-300, 8.0, 1e300]),
    ("exp2(x)", jnp.exp2, [-1000.0, -0.5, 0.0, 10.0, 1000.0]),
]


# ----------------------------------------------------------------------------------- their form
def numbers(x):
    def text(v):
        v = float(v)
        return {math.inf: "infinity", -math.inf: "-infinity"}.get(v, "nan" if v != v else repr(v))
    return "{" + ", ".join(text(v) for v in np.asarray(x).ravel()) + "}"


def braces(extents):
    return "{" + ", ".join(str(n) for n in extents) + "}"


def gradient(f, x):
    if not jnp.issubdtype(f(x).dtype, jnp.floating):
        return []
    slopes = jax.grad(lambda v: jnp.sum(weights(f(v).shape) * f(v)))(x)
    return jnp.concatenate([slope.ravel() for slope in slopes])


def print_cases(cases):
    print("inline const std::vector<OpCase> {}_values = {{".format(sys.argv[1]))
    for text, f, shapes in cases:
        x = [points(shape, k) for k, shape in enumerate(shapes)]
        print(f"    {{R\"({text})\", [](const Arrays& x) {{ return {text}; }},\n"
              f"     {braces(map(braces, shapes))}, {numbers(f(x))},\n     {numbers(gradient(f, x))}}},")


def print_special_cases(cases):
    print("inline const std::vector<SpecialCase> special_values = {")
    for text, f, x in cases:
        x = jnp.asarray(x)
        print(f'    {{"{text}", [](const Array& x) {{ return {text}; }}, {numbers(x)},\n'
              f"     {numbers(f(x))},\n     {numbers(jax.vmap(jax.grad(f))(x))}}},")


FAMILIES = {"einsum": EINSUM, "fft": FFT, "convolution": CONVOLUTION, "matrix": MATRIX,
            "reduce": REDUCE, "order": ORDER}

print("""// Values and gradients of operations, from JAX. By op_values.py.
#pragma once

#include "tests/ops/op_values.h"

namespace sturnus::testing {
// clang-format off
""")
if sys.argv[1] == "special":
    print_special_cases(SPECIAL)
else:
    print_cases(FAMILIES[sys.argv[1]])
print("""};

// clang-format on
}  // namespace sturnus::testing""")
