#!/usr/bin/env python3
"""Prints transform_values.h: what JAX's transforms make of the functions in transform_values_test.cc.

    JAX_ENABLE_X64=1 python3 transform_values.py > transform_values.h
"""
import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.experimental.jet import jet


def points(*shape, phase=0.0):
    return jnp.asarray(np.sin(0.7 * np.arange(np.prod(shape)) + phase).reshape(shape))


def leaves(tree):
    return np.concatenate([np.asarray(leaf, float).ravel() for leaf in jax.tree.leaves(tree)])


# ------------------------------------------------------------------------------- the functions
NET = (points(3, 4), points(4, phase=1), points(4, 2, phase=2), points(2, phase=3))
DIRECTION = (points(3, 4, phase=4), points(4, phase=5), points(4, 2, phase=6), points(2, phase=7))
INPUTS, TARGETS = points(5, 3, phase=8), points(5, 2, phase=9)


def net(w, x):
    return jnp.tanh(x @ w[0] + w[1]) @ w[2] + w[3]


def loss(w, x):
    return jnp.mean((net(w, x) - TARGETS) ** 2)


def kernel(x):
    """The logarithm of the sum of a kernel matrix."""
    difference = x[:, None] - x[None]
    return jax.nn.logsumexp(-0.5 * jnp.sum(difference**2, -1) + jnp.outer(x[:, 0], x[:, 1]))


def curve(x):
    return jnp.exp(jnp.sin(x)) * jnp.tanh(x) / (1 + x * x)


def predator_prey(rates, y):
    return jnp.stack([rates[0] * y[0] - rates[1] * y[0] * y[1], rates[2] * y[0] * y[1] - rates[3] * y[1]])


def trajectory(rates, start):
    def step(y, h):
        k1 = predator_prey(rates, y)
        k2 = predator_prey(rates, y + h / 2 * k1)
        k3 = predator_prey(rates, y + h / 2 * k2)
        k4 = predator_prey(rates, y + h * k3)
        y = y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        return y, y[0] * y[1]
    return lax.scan(step, start, 0.1 + 0.01 * jnp.arange(6.0))


RATES, START = jnp.array([1.1, 0.4, 0.3, 0.8]), jnp.array([2.0, 1.5])


def passed(rates, start):
    end, products = trajectory(rates, start)
    return jnp.sum(end) + jnp.sum(products**2)


def anomaly(mean, eccentricity):
    """Kepler's equation E - e sin(E) = M by Newton's method, until it stands still."""
    def go_on(state):
        e, change, n = state
        return (jnp.abs(change) > 1e-14) & (n < 20)

    def step(state):
        e, _, n = state
        change = (e - eccentricity * jnp.sin(e) - mean) / (1 - eccentricity * jnp.cos(e))
        return e - change, change, n + 1
    return lax.while_loop(go_on, step, (mean, jnp.ones_like(mean), 0))[0]


def either(x, y):
    return lax.cond(x * y > 0, lambda a, b: jnp.sin(a) * b, lambda a, b: a / (2 + b * b), x, y)


def one_of(i, x):
    return lax.switch(i, [jnp.exp, lambda a: a**3, lambda a: jnp.cos(a * a)], x)


@jax.custom_jvp
def soft(x):
    return jnp.log1p(jnp.exp(x))


# Not the derivative, so that it shows that the rule is used; and not constant, for the second.
soft.defjvp(lambda x, dx: (soft(x[0]), dx[0] * jnp.tanh(x[0])))


@jax.custom_vjp
def clipped(x, y):
    return x * y


clipped.defvjp(lambda x, y: (x * y, (x, y)),
               lambda kept, c: (jnp.clip(c * kept[1], -0.5, 0.5), c * jnp.sin(kept[0])))


def recurrence(a, b):
    """y_i = a_i y_(i-1) + b_i."""
    def combine(left, right):
        return left[0] * right[0], left[1] * right[0] + right[1]
    return lax.associative_scan(combine, (a, b))[1]


def backwards(x):
    """A scan from the end, with two carries."""
    def step(carry, v):
        total, largest = carry
        return (total * 0.5 + jnp.sin(v * total), jnp.maximum(largest, v)), total + largest
    return lax.scan(step, (jnp.float64(1), jnp.float64(-2)), x, reverse=True)


def powers(x):
    return lax.fori_loop(0, 4, lambda i, y: jnp.sin(y) * x + i * 0.1, x)


def standardized(x):
    mean = lax.pmean(x, "rows")
    return (x - mean) / jnp.sqrt(lax.psum((x - mean) ** 2, "rows"))


# ------------------------------------------------------------------------- what transforms give
x = points(6, phase=0.4)
one = points(3, phase=8)
matrix = points(3, 2, phase=0.2)
velocity = [points(3, phase=10.0 + k) for k in range(4)]


def hvp(f, x, v):
    return jax.jvp(jax.grad(f), (x,), (v,))[1]


def diagonal(f, x):
    return jnp.diagonal(jax.hessian(f)(x.ravel()))


VALUES = {
    "value_and_grad of a loss": jax.value_and_grad(loss)(NET, INPUTS),
    "grad by the second argument": jax.grad(loss, 1)(NET, INPUTS),
    "grad by both arguments": jax.grad(loss, (0, 1))(NET, INPUTS),
    "jvp of a network": jax.jvp(lambda w: net(w, INPUTS), (NET,), (DIRECTION,)),
    "vjp of a network": jax.vjp(net, NET, INPUTS)[1](TARGETS),
    "linearize": jax.linearize(lambda w: net(w, INPUTS), NET)[1](DIRECTION),
    "jacfwd": jax.jacfwd(net, 1)(NET, one),
    "jacrev": jax.jacrev(lambda w: net(w, one))(NET),
    "jacfwd of jacrev": jax.jacfwd(jax.jacrev(net, 1), 1)(NET, one),
    "hessian of a kernel": jax.hessian(kernel)(matrix),
    "hvp of a loss": hvp(lambda w: loss(w, INPUTS), NET, DIRECTION),
    "hvp of a kernel": hvp(kernel, matrix, points(3, 2, phase=1)),
    "hessian_diagonal": diagonal(lambda v: kernel(v.reshape(3, 2)), matrix),
    "laplacian": jnp.sum(diagonal(lambda v: kernel(v.reshape(3, 2)), matrix)),
    "third derivative of a kernel along a line":
        jax.grad(jax.grad(jax.grad(lambda s: kernel(matrix + s * points(3, 2, phase=1)))))(0.0),
    "jet of order 4": jet(curve, (one,), (velocity,)),
    "jet of order 3 of a network": jet(lambda v: net(NET, v), (one,), (velocity[:3],)),
    "vmap of grad": jax.vmap(jax.grad(curve))(x),
    "vmap along other axes":
        jax.vmap(lambda a, b: jnp.sin(a) @ b, in_axes=(1, None), out_axes=1)(points(4, 3), points(4, 2)),
    "vmap within vmap": jax.vmap(lambda a: jax.vmap(lambda b: either(a, b))(x))(x[:3]),
    "vmap with collectives": jax.vmap(standardized, axis_name="rows")(points(4, 2)),
    "grad through collectives":
        jax.grad(lambda v: jnp.sum(points(4, 2, phase=1) * jax.vmap(standardized, axis_name="rows")(v)))(points(4, 2)),
    "scan": trajectory(RATES, START),
    "grad of a scan": jax.grad(passed, (0, 1))(RATES, START),
    "jvp of a scan": jax.jvp(trajectory, (RATES, START), (points(4), points(2))),
    "hessian of a scan": jax.hessian(passed)(RATES, START),
    "vmap of grad of a scan": jax.vmap(jax.grad(passed), in_axes=(None, 0))(RATES, 2 + points(3, 2)),
    "scan from the end": backwards(x),
    "grad of a scan from the end": jax.grad(lambda v: jnp.sum(backwards(v)[1]) + backwards(v)[0][0])(x),
    "fori_loop": powers(x),
    "grad of a fori_loop": jax.grad(lambda v: jnp.sum(powers(v)))(x),
    "while_loop": anomaly(jnp.float64(1.2), jnp.float64(0.6)),
    "jvp of a while_loop":
        jax.jvp(anomaly, (jnp.float64(1.2), jnp.float64(0.6)), (jnp.float64(0.3), jnp.float64(-0.2))),
    "jacfwd of vmap of a while_loop":
        jnp.diagonal(jax.jacfwd(lambda m: jax.vmap(anomaly, in_axes=(0, None))(m, jnp.float64(0.4)))(x)),
    "cond": [either(*p) for p in zip(x, jnp.roll(x, 1))],
    "grad of cond": [jax.grad(either, (0, 1))(*p) for p in zip(x, jnp.roll(x, 1))],
    "grad of vmap of cond": jax.grad(lambda v: jnp.sum(jax.vmap(either)(v, jnp.roll(v, 1))))(x),
    "grad of switch": [jax.grad(one_of, 1)(i, v) for i, v in zip([-1, 0, 1, 2, 3, 1], x)],
    "grad of vmap of switch":
        jax.grad(lambda v: jnp.sum(jax.vmap(one_of)(jnp.array([-1, 0, 1, 2, 3, 1]), v)))(x),
    "custom_jvp": jax.vmap(soft)(x),
    "grad of custom_jvp": jax.vmap(jax.grad(lambda v: soft(v) ** 2))(x),
    "second derivative of custom_jvp": jax.vmap(jax.grad(jax.grad(lambda v: soft(v) ** 2)))(x),
    "grad of custom_vjp": jax.vmap(jax.grad(lambda a, b: clipped(a, b) ** 2, (0, 1)))(x, jnp.roll(x, 1)),
    "grad of checkpoint": jax.grad(lambda w: jnp.sum(jax.checkpoint(net)(w, INPUTS) ** 3))(NET),
    "hvp of checkpoint":
        hvp(lambda w: jnp.sum(jax.checkpoint(net)(w, INPUTS) ** 3), NET, DIRECTION),
    "associative_scan": recurrence(x, jnp.cos(x)),
    "grad of associative_scan": jax.grad(lambda a, b: jnp.sum(recurrence(a, b) ** 2), (0, 1))(x, jnp.cos(x)),
    "associative_scan from the end": lax.associative_scan(jnp.multiply, x, reverse=True),
}

print("""// What JAX's transforms give. By transform_values.py.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace sturnus::testing {
// clang-format off

inline const std::map<std::string, std::vector<double>> transform_values = {""")
for name, value in VALUES.items():
    print(f'    {{"{name}", {{{", ".join(repr(float(v)) for v in leaves(value))}}}}},')
print("""};

// clang-format on
}  // namespace sturnus::testing""")
