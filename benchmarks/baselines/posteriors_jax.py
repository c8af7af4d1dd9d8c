"""What NumPyro's and BlackJAX's chains share: settings of JAX, predators and prey, the command line."""
import argparse
import json
import os

import posteriors

os.environ["XLA_FLAGS"] = os.environ.get("XLA_FLAGS", "") + f" --xla_force_host_platform_device_count={posteriors.CHAINS}"
os.environ.setdefault("JAX_PLATFORMS", "cpu")

import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402
from jax.experimental.ode import odeint  # noqa: E402

jax.config.update("jax_enable_x64", True)


def slope(z, theta):
    alpha, beta, gamma, delta = theta
    return jnp.stack([z[0] * (alpha - beta * z[1]), z[1] * (delta * z[0] - gamma)])


def by_rk4(z_init, theta, steps=5):
    """Each year in equal steps of the classical method."""
    h = 1 / steps

    def step(z, _):
        a = slope(z, theta)
        b = slope(z + h / 2 * a, theta)
        c = slope(z + h / 2 * b, theta)
        d = slope(z + h * c, theta)
        return z + h / 6 * (a + 2 * (b + c) + d), None

    def year(z, _):
        z = jax.lax.scan(step, z, None, length=steps, unroll=steps)[0]
        return z, z

    return jnp.concatenate([z_init[None], jax.lax.scan(year, z_init, None, length=len(posteriors.YEARS) - 1)[1]])


def by_odeint(z_init, theta):
    """JAX's own solver, with Stan's usual tolerances for this model."""
    return odeint(lambda z, t, p: slope(z, p), z_init, jnp.asarray(posteriors.YEARS), theta, rtol=1e-5, atol=1e-3,
                  mxstep=500)


SOLVERS = {"rk4": by_rk4, "odeint": by_odeint}


def arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("posterior")
    parser.add_argument("data", type=json.loads, help="t, y and sigma as JSON")
    parser.add_argument("--chains", choices=("vectorized", "parallel"), default="vectorized")
    parser.add_argument("--solver", choices=SOLVERS, default="rk4")
    return parser.parse_args()
