#!/usr/bin/env python3
"""Stan's NUTS on a posterior, by PyStan: see posteriors.py. Chains run in processes, which tell no times of phases."""
import argparse
import json
import os
import tempfile

import numpy as np
import stan

import posteriors
from posteriors import CHAINS, DRAWS, WARMUP, seconds

CURVES = {"exponential": "p[1] * exp(p[2] * t)",
          "oscillator": "p[1] * exp(-p[3] * p[2] * t) .* sin(p[2] * sqrt(1 - square(p[3])) * t)"}
CURVE = """
data { int n; int k; vector[n] t; vector[n] y; real sigma; vector[k] low; vector[k] high; }
parameters { vector<lower=low, upper=high>[k] p; }
model { y ~ normal(CURVE, sigma); }
"""
HARES = """
functions {
  vector slope(real t, vector z, real alpha, real beta, real gamma, real delta) {
    return [z[1] * (alpha - beta * z[2]), z[2] * (delta * z[1] - gamma)]';
  }
}
data { int n; array[n] real t; matrix[n + 1, 2] y; vector[4] mean_theta; vector[4] sd_theta; }
parameters { vector<lower=0>[4] theta; vector<lower=0>[2] z_init; vector<lower=0>[2] sigma; }
model {
  array[n] vector[2] z = ode_rk45_tol(slope, z_init, 0, t, 1e-5, 1e-3, 500, theta[1], theta[2], theta[3], theta[4]);
  theta ~ normal(mean_theta, sd_theta);
  z_init ~ lognormal(log(10), 1);
  sigma ~ lognormal(-1, 1);
  for (i in 1:2) {
    y[1, i] ~ lognormal(log(z_init[i]), sigma[i]);
    y[2:, i] ~ lognormal(log(z[:, i]), sigma[i]);
  }
}
"""


class Chains:
    def __init__(self, given):
        self.posterior = given.posterior
        if given.posterior == "hare_lynx":
            self.names, self.code = ["theta", "z_init", "sigma"], HARES
            self.data = {"n": len(posteriors.YEARS) - 1, "t": posteriors.YEARS[1:].tolist(),
                         "y": posteriors.PELTS.tolist(), "mean_theta": posteriors.THETA_MEAN.tolist(),
                         "sd_theta": posteriors.THETA_SD.tolist()}
        else:
            self.names, self.code = ["p"], CURVE.replace("CURVE", CURVES[given.posterior])
            self.low, self.high = np.array(list(posteriors.INTERVALS[given.posterior].values()), float).T
            self.data = given.data | {"n": len(given.data["t"]), "k": len(self.low), "low": self.low.tolist(),
                                      "high": self.high.tolist()}

    def constrained(self, free):
        if self.posterior == "hare_lynx":
            return {name: part.tolist() for name, part in zip(self.names, np.split(np.exp(free), [4, 6]))}
        return {"p": (self.low + (self.high - self.low) / (1 + np.exp(-free))).tolist()}

    def prepare(self, seed, starts):
        return seconds(lambda: stan.build(self.code, data=self.data, random_seed=seed))

    def sample(self, seed, starts):
        model = stan.build(self.code, data=self.data, random_seed=seed)  # built before
        fits = []
        total = seconds(lambda: fits.append(model.sample(
            num_chains=CHAINS, num_warmup=WARMUP, num_samples=DRAWS, init=[self.constrained(x) for x in starts])))
        drawn = np.concatenate([fits[0][name] for name in self.names])  # [size, draws * chains], chains fastest
        return total, 0.0, drawn.reshape(-1, DRAWS, CHAINS).transpose(2, 1, 0)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("posterior")
    parser.add_argument("data", type=json.loads)
    chains = Chains(parser.parse_args())
    with tempfile.TemporaryDirectory() as scratch:  # where its compiler leaves files behind
        os.chdir(scratch)
        posteriors.answer(chains.prepare, chains.sample)
