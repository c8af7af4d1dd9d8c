#!/usr/bin/env python3
"""Sturnus and JAX side by side: calls, tracing, compiling, the oscillator's training, Taylor mode.

    ./sturnus bench --core [--rounds 5] [--page FILE]

Both take turns, the best of all rounds counts, and what matters are the ratios: JAX's time over that of Sturnus. The JAX
code is what a user of JAX would write, but for "hand-tuned JAX", which is baselines/jax_tuned.py.
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile
import time

import jax
import jax.numpy as jnp
import numpy as np

from page import Page
from stablehlo_in_jax import load_stablehlo

BASELINES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "baselines")
WIDTHS = (1, 20, 20, 20, 1)
MEMBERS, POINTS, LOW, HIGH, SIGMA = 25, 100, 0.0, 25.0, 0.1


def best_of(run, repeats):
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        run()
        times.append(time.perf_counter() - start)
    return min(times)


# ------------------------------------------------------------------------------- the oscillator
def make_training(t, y):
    """n iterations of Adam from rows of parameters, as in oscillator_training.cc."""
    t, y = jnp.asarray(t, jnp.float32), jnp.asarray(y, jnp.float32)
    y_low, y_high, count = float(y.min()), float(y.max()), len(y)
    weight = 2 * SIGMA**2 / count
    grid = jnp.linspace(LOW, HIGH, POINTS)

    def net(layers, time):
        h = (2 * (time - LOW) / (HIGH - LOW) - 1)[None]
        for w, b in layers[:-1]:
            h = jnp.tanh(h @ w + b)
        w, b = layers[-1]
        return y_low + 0.5 * ((h @ w + b)[0] + 1) * (y_high - y_low)

    def residual(member, time):
        layers, (omega, zeta) = member
        f = lambda s: net(layers, s)  # noqa: E731
        df = jax.grad(f)
        return jax.grad(df)(time) + 2 * zeta * omega * df(time) + omega**2 * f(time)

    def repulsion(values):
        others = jax.lax.stop_gradient(values)
        i, j = np.triu_indices(MEMBERS, 1)
        gaps = jnp.sort(jnp.abs(others[i] - others[j]) + 1e-7, axis=0)
        h = gaps[(len(i) - 1) // 2] / np.sqrt(np.log(MEMBERS))
        exponents = -0.5 * ((values[:, None] - others[None]) / h) ** 2
        return jnp.sum(jax.nn.logsumexp(exponents, axis=1) - jnp.log(h), axis=1)

    def loss(members, iteration):
        layers, lam = members
        everywhere = lambda f, s: jax.vmap(lambda m: jax.vmap(lambda u: f(m, u))(s))(members)  # noqa: E731
        f = everywhere(lambda m, s: net(m[0], s), t)
        r = everywhere(residual, grid)
        physics = jnp.where(iteration > 7500, 10.0, jnp.where(iteration > 5000, 5.0, 1.0))
        active = jnp.where(iteration >= 3000, weight / np.sqrt(count), 0.0)
        total = jnp.sum((f - y) ** 2, 1) / count + physics * jnp.mean(r**2, 1)
        total += weight * 1000 * jnp.sum(jnp.minimum(lam, 0) ** 2, 1)
        return jnp.sum(total + active * repulsion(jnp.concatenate([f, lam], 1)))

    def unpack(rows):
        layers, at = [], 0
        for a, b in zip(WIDTHS[:-1], WIDTHS[1:]):
            layers.append((rows[:, at:at + a * b].reshape(-1, a, b), rows[:, at + a * b:at + a * b + b]))
            at += a * b + b
        return layers, rows[:, at:]

    def step(i, state, first):
        members, mean, square = state
        gradient = jax.grad(loss)(members, first + i)
        mean = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, mean, gradient)
        square = jax.tree.map(lambda v, g: 0.999 * v + 0.001 * g * g, square, gradient)
        n = (i + 1).astype(jnp.float32)
        c1, c2 = 1 - 0.9**n, 1 - 0.999**n
        members = jax.tree.map(
            lambda q, m, v: q - 0.01 * (m / c1) / (jnp.sqrt(v / c2) + 1e-8), members, mean, square)
        return members, mean, square

    def train(rows, first, n):
        start = unpack(rows)
        zeros = jax.tree.map(jnp.zeros_like, start)
        layers, lam = jax.lax.fori_loop(0, n, lambda i, s: step(i, s, first), (start, zeros, zeros))[0]
        return jnp.concatenate([a.reshape(MEMBERS, -1) for w in layers for a in w] + [lam], 1)

    return train


def measurements():
    """Times and noisy values like the published ones; their values do not matter here."""
    t = 1.5 * np.arange(10)
    return t, np.sin(0.99 * t) * np.exp(-0.1 * t) + 0.1 * np.cos(7.0 * t)


def tuned_seconds(rounds):
    """Of an iteration of the same training, written by an expert."""
    command = [sys.executable, os.path.join(BASELINES, "repulsive_jax.py"), "--style", "tuned", "--experiment",
               "oscillator", "--variant", "full", "--json", "--iterations", "200", "--rounds", str(rounds)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return json.loads(done.stdout.strip().splitlines()[-1])["ms_per_iteration"] / 1e3


def compare_training(folder, rounds):
    t, y = measurements()
    rng = np.random.RandomState(0)
    rows = rng.uniform(-0.3, 0.3, (MEMBERS, 903)).astype(np.float32)
    rows[:, -2:] = np.abs(rows[:, -2:]) + 0.5
    with tempfile.TemporaryDirectory() as scratch:
        paths = {name: os.path.join(scratch, name) for name in ("rows.bin", "data.txt", "ours.mlir", "jax.mlir")}
        rows.tofile(paths["rows.bin"])
        np.savetxt(paths["data.txt"], np.stack([t, y], 1))
        train = jax.jit(make_training(t, y))
        first, few, many = jnp.int32(3000), jnp.int32(5), jnp.int32(100)
        rows = jnp.asarray(rows)

        def lower():
            jax.clear_caches()
            return jax.jit(make_training(t, y)).lower(rows, first, many)

        lower_s = best_of(lower, rounds)
        lowered = lower()
        with open(paths["jax.mlir"], "w") as file:
            file.write(lowered.as_text())
        report = subprocess.run(
            [os.path.join(folder, "training_benchmark"), "--data", paths["data.txt"], "--start", paths["rows.bin"],
             "--write", paths["ours.mlir"], "--rounds", str(3 * rounds), "--json", paths["jax.mlir"]],
            check=True, capture_output=True, text=True).stdout
        plugin = json.loads(report)
        start = time.perf_counter()
        compiled = lowered.compile()
        jax_compile = time.perf_counter() - start
        start = time.perf_counter()
        with open(paths["ours.mlir"]) as file:
            program = load_stablehlo(file.read())
        ours_compile = time.perf_counter() - start

        def ours(*arguments):
            return program(*arguments)[0]

        difference = float(jnp.max(jnp.abs(compiled(rows, first, few) - ours(rows, first, few))))
        best = {"jax": np.inf, "sturnus": np.inf}
        for _ in range(3 * rounds):
            for name, run in (("jax", compiled), ("sturnus", ours)):
                best[name] = min(best[name], best_of(lambda: run(rows, first, many).block_until_ready(), 1))
    one, other = plugin["programs"]
    compile_s, iteration_s = one["compile_seconds"], one["ms_per_iteration"] / 1e3
    return [
        ("training: trace, transform and lower", lower_s, plugin["lower_seconds"]),
        ("training: compile, each on its own XLA", jax_compile, compile_s),
        ("training: compile, both on the plugin", other["compile_seconds"], compile_s),
        ("training: compile, both on jaxlib", jax_compile, ours_compile),
        ("training: an iteration, each on its own XLA", best["jax"] / 100, iteration_s),
        ("training: an iteration, both on the plugin", other["ms_per_iteration"] / 1e3, iteration_s),
        ("training: an iteration, both on jaxlib", best["jax"] / 100, best["sturnus"] / 100),
        ("training: an iteration, hand-tuned JAX on its own XLA", tuned_seconds(rounds), iteration_s),
    ], difference


# -------------------------------------------------------------------------- calls, Taylor mode
def jax_cases():
    square = jax.jit(lambda x: x * x + 1.0)
    x = jnp.float32(2)
    tree = ([(jnp.zeros((4, 4)), jnp.zeros(4)) for _ in range(4)], jnp.float32(1))
    plus_one = jax.jit(lambda s: jax.tree.map(lambda a: a + 1.0, s))
    rng = np.random.RandomState(0)
    widths = (1, 50, 50, 50, 50, 1)
    layers = [(jnp.asarray(rng.randn(a, b) * (1 if a == 1 else 0.14), jnp.float32), jnp.zeros(b))
              for a, b in zip(widths[:-1], widths[1:])]

    def net(s):
        h = s[None]
        for w, b in layers[:-1]:
            h = jnp.tanh(h @ w + b)
        w, b = layers[-1]
        return (h @ w + b)[0]

    fourth = jax.jit(jax.vmap(jax.grad(jax.grad(jax.grad(jax.grad(net))))))
    points = jnp.linspace(-1, 1, 1000)
    # With the number of calls that take about as long as a round of Google Benchmark's.
    return {
        "BM_Call": (50000, lambda: square(x).block_until_ready()),
        "BM_CallWithTree": (15000, lambda: jax.block_until_ready(plus_one(tree))),
        "BM_FourthDerivativeByJet": (100, lambda: fourth(points).block_until_ready()),
    }


def compare_calls(folder, rounds):
    cases = jax_cases()
    for _, run in cases.values():
        run()
    ours, theirs = dict.fromkeys(cases, np.inf), dict.fromkeys(cases, np.inf)
    for _ in range(rounds):
        output = subprocess.run(
            [os.path.join(folder, "transform_benchmark"), "--benchmark_filter=" + "|".join(f"{c}$" for c in cases),
             "--benchmark_min_time=0.3", "--benchmark_format=json"], check=True, capture_output=True, text=True).stdout
        scale = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3}
        for case in json.loads(output)["benchmarks"]:
            ours[case["name"]] = min(ours[case["name"]], case["real_time"] * scale[case["time_unit"]])
        for name, (count, run) in cases.items():
            theirs[name] = min(theirs[name], best_of(lambda: [run() for _ in range(count)], 1) / count)
    titles = {"BM_Call": "calling a compiled x * x + 1", "BM_CallWithTree": "calling with a tree of nine arrays",
              "BM_FourthDerivativeByJet": "4th derivative of a 4 x 50 network at 1000 points: nested grad, jet"}
    return [(titles[name], theirs[name], ours[name]) for name in cases]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", help="with the built benchmarks")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--page", help="write the table to this file, as Markdown")
    arguments = parser.parse_args()
    folder = os.path.join(arguments.folder, "benchmarks")
    rows = compare_calls(folder, arguments.rounds)
    more, difference = compare_training(folder, arguments.rounds)
    page = Page("Speed of the functional core", "./sturnus bench --core", 0,
                f"beside JAX {jax.__version__}, the best of {arguments.rounds} rounds or more in which both take turns. A "
                "ratio is JAX's time over that of Sturnus. The training is the oscillator's, 25 members of 3 x 20 with full "
                "repulsion, in plain code on both sides (oscillator_training.cc, against_jax.py); after 5 iterations both "
                f"differ by {difference:.0e} at most.")
    page.table("Calls, Taylor mode, a training", ["", "JAX, ms", "Sturnus, ms", "ratio"],
               [[title, f"{theirs * 1e3:.4g}", f"{ours * 1e3:.4g}", f"{theirs / ours:.2f}"]
                for title, theirs, ours in rows + more])
    if arguments.page:
        page.write(arguments.page)


if __name__ == "__main__":
    main()
