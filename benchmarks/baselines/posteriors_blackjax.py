#!/usr/bin/env python3
"""BlackJAX's NUTS on a posterior: see posteriors.py."""
import numpy as np

import posteriors
from posteriors import DRAWS, WARMUP, seconds
from posteriors_jax import SOLVERS, arguments, jax, jnp

import blackjax  # noqa: E402
from jax.scipy.stats import norm  # noqa: E402


def in_intervals(intervals, free):
    low, high = jnp.array(intervals, float).T
    volume = jnp.sum(jnp.log(high - low) + jax.nn.log_sigmoid(free) + jax.nn.log_sigmoid(-free))
    return low + (high - low) * jax.nn.sigmoid(free), volume


def posterior_of(given):
    """The logarithm of the density of free numbers, and the parameters that these are."""
    if given.posterior == "hare_lynx":
        solve = SOLVERS[given.solver]

        def log_density(free):
            x = jnp.exp(free)
            theta, z_init, sigma = x[:4], x[4:6], x[6:]
            z = solve(z_init, theta)
            return (jnp.sum(norm.logpdf(theta, posteriors.THETA_MEAN, posteriors.THETA_SD)) +
                    jnp.sum(norm.logpdf(free[4:6], np.log(10), 1)) + jnp.sum(norm.logpdf(free[6:], -1, 1)) +
                    jnp.sum(norm.logpdf(np.log(posteriors.PELTS), jnp.log(z), sigma)) + jnp.sum(free[:4]))

        return log_density, jnp.exp

    t, y, sigma = (np.array(given.data[key]) for key in ("t", "y", "sigma"))
    intervals = list(posteriors.INTERVALS[given.posterior].values())

    def log_density(free):
        x, volume = in_intervals(intervals, free)
        if given.posterior == "exponential":
            f = x[0] * jnp.exp(x[1] * t)
        else:
            f = x[0] * jnp.exp(-x[2] * x[1] * t) * jnp.sin(x[1] * jnp.sqrt(1 - x[2] ** 2) * t)
        return jnp.sum(norm.logpdf(y, f, sigma)) + volume

    return log_density, lambda free: in_intervals(intervals, free)[0]


class Chains:
    def __init__(self, given):
        self.log_density, self.parameters = posterior_of(given)
        self.on_chains = {"vectorized": lambda f: jax.jit(jax.vmap(f)), "parallel": jax.pmap}[given.chains]

    def warm_up(self, key, start):
        adaptation = blackjax.window_adaptation(blackjax.nuts, self.log_density)
        (state, settings), _ = adaptation.run(key, start, num_steps=WARMUP)
        return state, settings

    def draw(self, key, state, settings):
        step = blackjax.nuts(self.log_density, **settings).step

        def one(state, key):
            state = step(key, state)[0]
            return state, state.position

        return jax.vmap(self.parameters)(jax.lax.scan(one, state, jax.random.split(key, DRAWS))[1])

    def prepare(self, seed, starts):
        keys = jax.random.split(jax.random.key(seed), len(starts))

        def compile_both():
            self.warm = self.on_chains(self.warm_up).lower(keys, jnp.asarray(starts)).compile()
            # The step size is a number of each chain, and so is what it belongs to.
            self.drawing = self.on_chains(self.draw).lower(keys, *self.warm(keys, jnp.asarray(starts))).compile()

        total = seconds(compile_both)
        return total - seconds(lambda: jax.block_until_ready(self.warm(keys, jnp.asarray(starts))))

    def sample(self, seed, starts):
        keys = jax.random.split(jax.random.key(seed), (2, len(starts)))
        results = {}

        def warm_up():
            results["warm"] = jax.block_until_ready(self.warm(keys[0], jnp.asarray(starts)))

        def draw():
            results["draws"] = np.asarray(self.drawing(keys[1], *results["warm"]))

        return seconds(warm_up), seconds(draw), results["draws"]


if __name__ == "__main__":
    chains = Chains(arguments())
    posteriors.answer(chains.prepare, chains.sample)
