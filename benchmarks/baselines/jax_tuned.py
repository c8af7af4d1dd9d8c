"""The same loss and its gradient, written for XLA's sake by someone who has measured.

Arrays are [members, width, points], so that dots are canonical and the long axis is the fast one. A jet is the list
of a value and its derivatives along the equation's direction, at all points; it is carried through the layers by
hand, and so are the cotangents on the way back.
"""
import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

SORT_MEMBERS_FROM = 200   # with so many members, the distances of all pairs are not worth writing down


# ---------------------------------------------------------------------------------------- layers
def tanh_jet(z):
    a = jnp.tanh(z[0])
    slope = 1 - a * a
    derivatives = [slope * z[1]] if len(z) > 1 else []
    if len(z) > 2:
        derivatives.append(slope * (z[2] - 2 * a * z[1] * z[1]))
    return [a, *derivatives]


def tanh_jet_back(a, z, bar):
    """Cotangents of the jet z from those of tanh_jet(z), whose value is a."""
    slope = 1 - a * a
    if len(z) == 1:
        return [slope * bar[0]]
    if len(z) == 2:
        return [slope * (bar[0] - 2 * a * z[1] * bar[1]), slope * bar[1]]
    curve = a * z[2] + (1 - 3 * a * a) * z[1] * z[1]
    return [slope * (bar[0] - 2 * (a * z[1] * bar[1] + curve * bar[2])),
            slope * (bar[1] - 4 * a * z[1] * bar[2]), slope * bar[2]]


def sum_points(g):
    """Over the last axis, as a dot: a plain float sum along the fast axis does not vectorise."""
    return jnp.einsum("emp,p->em", g, jnp.ones(g.shape[-1], g.dtype))


def forward(weights, biases, z):
    """From the first layer's jet (before tanh) to the output's, and what the way back needs."""
    tape = []
    for w, b in zip(weights, biases):
        a = tanh_jet(z)
        tape.append((a, z))
        # Without the barrier XLA would fold the transpose into the dots, and run them at half the speed.
        transposed = lax.optimization_barrier(jnp.swapaxes(w, 1, 2))
        z = [jnp.einsum("eoi,eip->eop", transposed, c) for c in a]
        z[0] = z[0] + b[:, :, None]
    return z, tape


def backward(weights, tape, bar):
    """Cotangents of the first layer's jet, of the weights and of the biases."""
    weights_bar, biases_bar = [], []
    for w, (a, z) in zip(reversed(weights), reversed(tape)):
        weights_bar.insert(0, sum(jnp.einsum("eip,eop->eio", c, g) for g, c in zip(bar, a)))
        biases_bar.insert(0, sum_points(bar[0]))
        bar = tanh_jet_back(a[0], z, [jnp.einsum("eio,eop->eip", w, g) for g in bar])
    return bar, weights_bar, biases_bar


# ------------------------------------------------------------------------------------- bandwidth
def bits_of(values):
    return lax.bitcast_convert_type(values, jnp.int32)


def bisect_bits(rank, count_below, dimensions, extra=None):
    """The rank-th smallest of numbers >= 0 in each dimension, bit by bit: their order is that of their bits.

    count_below(threshold, extra) returns how many numbers are smaller, and what to pass on for a larger or a smaller
    threshold.
    """
    def settle(i, state):
        bits, extra = state
        trial = bits | (1 << (30 - i))
        count, if_larger, if_smaller = count_below(trial, extra)
        larger = count <= rank
        extra = jax.tree.map(lambda a, b: jnp.where(larger[:, None], a, b), if_larger, if_smaller)
        return jnp.where(larger, trial, bits), extra

    bits, _ = lax.fori_loop(0, 31, settle, (jnp.zeros(dimensions, jnp.int32), extra))
    return lax.bitcast_convert_type(bits, jnp.float32)


def median_of_pairs(values, rank):
    """Lower median of |v_i - v_j| over i < j; values are [dimensions, members]."""
    i, j = np.triu_indices(values.shape[1], 1)
    gaps = jnp.abs(jnp.take(values, i, 1, mode="clip") - jnp.take(values, j, 1, mode="clip"))
    bits = bits_of(gaps)
    return bisect_bits(rank, lambda t, _: (jnp.sum(bits < t[:, None], 1), None, None), len(values))


def median_of_sorted(values, rank):
    """The same for many members: sort them, then each needs only the place where its distances pass the threshold.

    That place moves with the threshold, so two bounds of it are kept and tighten with every bit.
    """
    dimensions, members = values.shape
    values = jnp.sort(values, axis=1)
    own = jnp.broadcast_to(jnp.arange(members, dtype=jnp.int32), values.shape)

    def count_below(trial, bounds):
        def halve(bounds):
            low, high = bounds
            middle = (low + high) // 2
            gaps = jnp.abs(jnp.take_along_axis(values, middle, 1, mode="clip") - values)
            near = bits_of(gaps) < trial[:, None]
            return jnp.where(near & (low < high), middle + 1, low), jnp.where(near, high, middle)

        place, _ = lax.while_loop(lambda b: jnp.any(b[0] < b[1]), halve, bounds)
        return jnp.sum(place - own - 1, 1), (place, bounds[1]), (bounds[0], place)

    return bisect_bits(rank, count_below, dimensions, (own + 1, jnp.full_like(own, members)))


# ------------------------------------------------------------------------------------- repulsion
def log_density(values, h, each_dimension):
    """Log density of each member and its gradient, in one pass; values are [dimensions, members]."""
    u = values / h[:, None]
    gaps = u[:, None, :] - u[:, :, None]            # [dimension, other, member]: sums leave the fast axis alone
    squares = gaps * gaps if each_dimension else jnp.sum(gaps * gaps, 0)
    kernels = jnp.exp(-0.5 * squares)
    density = jnp.sum(kernels, -2)                  # at least 1, by the member itself
    slope = -jnp.sum(kernels * gaps, 1) / (density * h[:, None])
    if each_dimension:
        return jnp.sum(jnp.log(density / h[:, None]), 0), slope
    return jnp.log(density), slope


def repulsion(task, values, lambdas):
    """Value [members] and gradient [dimensions, members]; lambdas are the last dimensions."""
    split = len(values) - lambdas
    groups = {"f": [slice(0, split)], "lambda": [slice(split, None)], "joint": [slice(None)], "full": [slice(None)],
              "factorized": [slice(0, split), slice(split, None)]}[task.variant]
    used = slice(groups[0].start, groups[-1].stop)
    median = median_of_sorted if task.members >= SORT_MEMBERS_FROM else median_of_pairs
    h = jnp.ones(len(values))
    h = h.at[used].set((median(values[used], task.median_rank) + 1e-7) / np.sqrt(np.log(task.members)))
    value, gradient = 0.0, jnp.zeros_like(values)
    for group in groups:
        part, slope = log_density(values[group], h[group], task.variant == "full")
        value, gradient = value + part, gradient.at[group].set(slope)
    return value, gradient


# ------------------------------------------------------------------------------------------ loss
def residual(task, f, lam):
    """[members, equations, points] from the jet f of the outputs; lam is [members, parameters, 1]."""
    if task.name == "advection":
        return f[1]                                 # already along (1, lambda)
    if task.name == "exponential":
        return f[1] - lam * f[0]
    if task.name == "oscillator":
        omega, zeta = lam[:, :1], lam[:, 1:]
        return f[2] + 2 * zeta * omega * f[1] + omega * omega * f[0]
    prey, predators = f[0][:, :1], f[0][:, 1:]
    alpha, beta, gamma, delta = (lam[:, k:k + 1] for k in range(4))
    growth = jnp.concatenate([prey * (alpha - beta * predators), predators * (delta * prey - gamma)], 1)
    return f[1] - growth


class Tuned:
    """The parameters stay rows, so that Adam is one piece of elementwise work."""

    def __init__(self, task):
        self.task = task
        self.order = 2 if task.name == "oscillator" else 1
        smallest, largest = task.output_range
        self.stretch, self.middle = (largest - smallest) / 2, (largest + smallest) / 2
        self.scale = 2 / (task.high - task.low)

    def unpack(self, rows):
        return rows

    def pack(self, rows):
        return rows

    def unit(self, points):
        """Mapped to [-1, 1], as [inputs, points] or [members, inputs, points]."""
        return jnp.swapaxes((points - self.task.low) * self.scale - 1, -1, -2)

    def direction(self, lam):
        """Along which the equation differentiates, in units of the network's inputs: one [members, 1] per input."""
        along = [jnp.full_like(lam[:, :1], self.scale[0])]
        return along + [self.scale[1] * lam] if self.task.name == "advection" else along

    def gradient(self, rows, points, physics_weight, repulsive):
        task = self.task
        layers, lam = task.split(rows)
        weights, biases = zip(*layers)
        inputs = range(task.x.shape[1])
        first = [weights[0][:, k] for k in inputs]
        x, p = self.unit(task.x), self.unit(points)
        x, p = [x[k] for k in inputs], [p[..., k, :] for k in inputs]

        # The first layer is a sum of outer products; its derivative is the same at all points, the next one is 0.
        def enter(x):
            z = [w[:, :, None] * (c[:, None] if c.ndim == 2 else c) for w, c in zip(first, x)]
            return sum(z) + biases[0][:, :, None]

        along = self.direction(lam)
        slope = sum(w * d for w, d in zip(first, along))[:, :, None]
        jet, tape = forward(weights[1:], biases[1:], [enter(p), slope, 0.0][:self.order + 1])
        (f,), data_tape = forward(weights[1:], biases[1:], [enter(x)])

        losses, f_bar, jet_bar, lam_bar = self.head(f, jet, lam, physics_weight, repulsive)

        bar, weights_bar, biases_bar = backward(weights[1:], tape, jet_bar)
        (data_bar,), *more = backward(weights[1:], data_tape, [f_bar])
        weights_bar, biases_bar = jax.tree.map(jnp.add, (weights_bar, biases_bar), tuple(more))
        slope_bar = sum_points(bar[1])
        first_bar = [jnp.einsum("emp,ep->em" if c.ndim == 2 else "emp,p->em", bar[0], c)
                     + jnp.einsum("emp,p->em", data_bar, d) + slope_bar * a for c, d, a in zip(p, x, along)]
        if task.name == "advection":
            lam_bar = lam_bar + self.scale[1] * jnp.sum(first[1] * slope_bar, 1, keepdims=True)
        first_bias_bar = sum_points(bar[0]) + sum_points(data_bar)
        later = [b for pair in zip(weights_bar, biases_bar) for b in pair]
        bars = [jnp.stack(first_bar, 1), first_bias_bar, *later, lam_bar]
        return losses, jnp.concatenate([b.reshape(task.members, -1) for b in bars], 1)

    def head(self, f, jet, lam, physics_weight, repulsive):
        """Losses, and their cotangents of the raw outputs at the data, of the raw jet, and of lambda."""
        task = self.task
        f = self.stretch * f + self.middle
        jet = [self.stretch * c for c in jet]
        jet[0] = jet[0] + self.middle
        wrong = f - task.y.T
        r, pull = jax.vjp(lambda jet, lam: residual(task, jet, lam[:, :, None]), jet, lam)
        physics_weight = physics_weight / task.settings.points
        jet_bar, lam_bar = pull(2 * physics_weight * r)
        f_bar = 2 / task.y.size * wrong
        losses = jnp.mean(wrong * wrong, (1, 2)) + physics_weight * jnp.sum(r * r, (1, 2))
        if task.settings.wall:
            below = jnp.minimum(lam, 0)
            wall = task.prior_weight * task.settings.wall
            losses, lam_bar = losses + wall * jnp.sum(below * below, 1), lam_bar + 2 * wall * below
        if task.variant != "none":
            values = jnp.concatenate([f.reshape(task.members, -1), lam], 1).T
            value, slope = lax.cond(repulsive, lambda v: repulsion(task, v, lam.shape[1]),
                                    lambda v: (jnp.zeros(task.members), jnp.zeros_like(v)), values)
            losses, slope = losses + task.repulsion_weight * value, task.repulsion_weight * slope.T
            f_bar = f_bar + slope[:, :task.y.size].reshape(f.shape)
            lam_bar = lam_bar + slope[:, task.y.size:]
        return losses, self.stretch * f_bar, [self.stretch * g for g in jet_bar], lam_bar
