#!/usr/bin/env python3
"""NumPyro's NUTS on a posterior: see posteriors.py."""
import numpy as np

import posteriors
from posteriors import DRAWS, WARMUP, seconds
from posteriors_jax import SOLVERS, arguments, jax, jnp

import numpyro  # noqa: E402
import numpyro.distributions as dist  # noqa: E402
from numpyro.infer import MCMC, NUTS  # noqa: E402


def exponential(t, y, sigma):
    f0 = numpyro.sample("f0", dist.Uniform(-10, 10))
    rate = numpyro.sample("lambda", dist.Uniform(-10, 10))
    numpyro.sample("y", dist.Normal(f0 * jnp.exp(rate * t), sigma), obs=y)


def oscillator(t, y, sigma):
    f0 = numpyro.sample("f0", dist.Uniform(0, 1.5))
    omega = numpyro.sample("omega", dist.Uniform(0, 3))
    zeta = numpyro.sample("zeta", dist.Uniform(0, 0.9))
    f = f0 * jnp.exp(-zeta * omega * t) * jnp.sin(omega * jnp.sqrt(1 - zeta**2) * t)
    numpyro.sample("y", dist.Normal(f, sigma), obs=y)


def hare_lynx(solve):
    theta = numpyro.sample("theta", dist.TruncatedNormal(posteriors.THETA_MEAN, posteriors.THETA_SD, low=0.0))
    z_init = numpyro.sample("z_init", dist.LogNormal(jnp.log(10.0), jnp.ones(2)))
    sigma = numpyro.sample("sigma", dist.LogNormal(-1, jnp.ones(2)))
    numpyro.sample("y", dist.LogNormal(jnp.log(solve(z_init, theta)), sigma), obs=posteriors.PELTS)


class Chains:
    """NumPyro compiles each run anew; under a transform of JAX, as here, it is compiled once. Phases are one then."""

    def __init__(self, given):
        if given.posterior == "hare_lynx":
            solve = SOLVERS[given.solver]
            self.names, self.model, self.inputs = ["theta", "z_init", "sigma"], lambda: hare_lynx(solve), ()
        else:
            self.names = list(posteriors.INTERVALS[given.posterior])
            self.model = {"exponential": exponential, "oscillator": oscillator}[given.posterior]
            self.inputs = tuple(np.array(given.data[key]) for key in ("t", "y", "sigma"))
        self.on_chains = {"vectorized": lambda f: jax.jit(jax.vmap(f)), "parallel": jax.pmap}[given.chains]

    def free(self, start):
        parts = jnp.split(start, [4, 6]) if self.names[0] == "theta" else start
        return dict(zip(self.names, parts))

    def run(self, key, start):
        chain = MCMC(NUTS(self.model), num_warmup=WARMUP, num_samples=DRAWS, progress_bar=False)
        chain.run(key, *self.inputs, init_params=self.free(start))
        drawn = chain.get_samples()
        return jnp.concatenate([drawn[name].reshape(DRAWS, -1) for name in self.names], -1)

    def prepare(self, seed, starts):
        keys = jax.random.split(jax.random.key(seed), len(starts))

        def compile_all():
            self.program = self.on_chains(self.run).lower(keys, jnp.asarray(starts)).compile()

        return seconds(compile_all)

    def sample(self, seed, starts):
        keys, results = jax.random.split(jax.random.key(seed), len(starts)), []
        total = seconds(lambda: results.append(np.asarray(self.program(keys, jnp.asarray(starts)))))
        return total, 0.0, results[0]


if __name__ == "__main__":
    chains = Chains(arguments())
    posteriors.answer(chains.prepare, chains.sample)
