"""The ensemble's loss as a good user of JAX writes it: vmap over members and points, nested grad, a sort."""
import functools

import jax
import jax.numpy as jnp
import numpy as np


def network(task, layers, x):
    h = 2 * (x - task.low) / (task.high - task.low) - 1
    for w, b in layers[:-1]:
        h = jnp.tanh(h @ w + b)
    w, b = layers[-1]
    smallest, largest = task.output_range
    return smallest + 0.5 * (h @ w + b + 1) * (largest - smallest)


def residual(task, member, x):
    """What is left of the differential equation at one point; a vector for Lotka-Volterra."""
    layers, lam = member
    if task.name == "advection":
        u_t, u_x = jax.grad(lambda x: network(task, layers, x)[0])(x)
        return u_t + lam[0] * u_x
    t = x[0]
    if task.name == "lotka_volterra":
        prey, predators = network(task, layers, x)
        prey_t, predators_t = jax.jacfwd(lambda t: network(task, layers, t[None]))(t)
        alpha, beta, gamma, delta = lam
        return jnp.array([prey_t - prey * (alpha - beta * predators), predators_t + predators * (gamma - delta * prey)])

    def f(t):
        return network(task, layers, t[None])[0]

    f_t = jax.grad(f)
    if task.name == "exponential":
        return f_t(t) - lam[0] * f(t)
    omega, zeta = lam
    return jax.grad(f_t)(t) + 2 * zeta * omega * f_t(t) + omega**2 * f(t)


def log_kernels(task, values):
    """Exponents [member, other, dimension] and bandwidths; only the member itself carries a gradient."""
    others = jax.lax.stop_gradient(values)
    i, j = np.triu_indices(task.members, 1)
    distances = jnp.sort(jnp.abs(others[i] - others[j]) + 1e-7, axis=0)
    h = distances[task.median_rank] / np.sqrt(np.log(task.members))
    return -0.5 * ((values[:, None] - others[None]) / h) ** 2, h


def log_density(task, values):
    exponents, _ = log_kernels(task, values)
    return jax.nn.logsumexp(exponents.sum(-1), axis=1)


def repulsion(task, f, lam):
    """Log of the kernel density of each member among all, up to constants."""
    if task.variant == "f":
        return log_density(task, f)
    if task.variant == "lambda":
        return log_density(task, lam)
    if task.variant == "joint":
        return log_density(task, jnp.hstack([f, lam]))
    if task.variant == "factorized":
        return log_density(task, f) + log_density(task, lam)
    exponents, h = log_kernels(task, jnp.hstack([f, lam]))
    return jnp.sum(jax.nn.logsumexp(exponents, axis=1) - jnp.log(h), axis=1)


def losses(task, members, points, physics_weight, repulsive):
    """One loss for each member; `points` are [points, inputs], or with an axis of members in front."""
    layers, lam = members
    at_data = jax.vmap(functools.partial(network, task), (None, 0))
    at_points = jax.vmap(functools.partial(residual, task), (None, 0))
    f = jax.vmap(at_data, (0, None))(layers, task.x)
    r = jax.vmap(at_points, (0, None if points.ndim == 2 else 0))(members, points)

    total = jnp.mean((f - task.y) ** 2, axis=(1, 2))
    total += physics_weight * jnp.sum(r.reshape(task.members, -1) ** 2, axis=1) / task.settings.points
    total += task.prior_weight * task.settings.wall * jnp.sum(jnp.minimum(lam, 0) ** 2, axis=1)
    if task.variant != "none":
        total += jnp.where(repulsive, task.repulsion_weight, 0.0) * repulsion(task, f.reshape(task.members, -1), lam)
    return total


class Plain:
    """The members' parameters are a tree with a leading axis for members."""

    def __init__(self, task):
        self.task = task

    def unpack(self, rows):
        return self.task.split(rows)

    def pack(self, members):
        layers, lam = members
        return jnp.hstack([a.reshape(len(lam), -1) for layer in layers for a in layer] + [lam])

    def gradient(self, members, points, physics_weight, repulsive):
        def total(members):
            each = losses(self.task, members, points, physics_weight, repulsive)
            return each.sum(), each

        (_, each), gradient = jax.value_and_grad(total, has_aux=True)(members)
        return each, gradient
