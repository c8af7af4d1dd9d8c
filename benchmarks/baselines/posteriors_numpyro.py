#!/usr/bin/env python3
"""NumPyro's NUTS on a posterior: see posteriors.py."""
import numpy as np

import posteriors
from posteriors import CHAINS, DRAWS, WARMUP, seconds
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
    def __init__(self, given):
        self.given = given
        if given.posterior == "hare_lynx":
            solve = SOLVERS[given.solver]
            self.names, self.model, self.inputs = ["theta", "z_init", "sigma"], lambda: hare_lynx(solve), ()
        else:
            self.names = list(posteriors.INTERVALS[given.posterior])
            self.model = {"exponential": exponential, "oscillator": oscillator}[given.posterior]
            self.inputs = tuple(np.array(given.data[key]) for key in ("t", "y", "sigma"))
        self.phases = self.make()

    def make(self):
        return MCMC(NUTS(self.model), num_warmup=WARMUP, num_samples=DRAWS, num_chains=CHAINS,
                    chain_method=self.given.chains, progress_bar=False)

    def free(self, starts):
        parts = np.split(starts, [4, 6], 1) if self.given.posterior == "hare_lynx" else starts.T
        return {name: jnp.asarray(part) for name, part in zip(self.names, parts)}

    def prepare(self, seed, starts):
        """One program for both phases, as most run it: what its second run is quicker by is compiling."""
        whole = self.make()

        def run():
            whole.run(jax.random.key(seed), *self.inputs, init_params=self.free(starts))
            jax.block_until_ready(whole.get_samples())

        first, second = seconds(run), seconds(run)
        self.sample(seed, starts)
        return first - second

    def sample(self, seed, starts):
        self.phases.post_warmup_state = None

        def warm_up():
            self.phases.warmup(jax.random.key(seed), *self.inputs, init_params=self.free(starts))
            jax.block_until_ready(self.phases.post_warmup_state)

        def draw():
            self.phases.run(self.phases.post_warmup_state.rng_key, *self.inputs)
            jax.block_until_ready(self.phases.get_samples())

        times = seconds(warm_up), seconds(draw)
        drawn = self.phases.get_samples(group_by_chain=True)
        return *times, np.concatenate([np.reshape(drawn[name], (CHAINS, DRAWS, -1)) for name in self.names], -1)


if __name__ == "__main__":
    chains = Chains(arguments())
    posteriors.answer(chains.prepare, chains.sample)
