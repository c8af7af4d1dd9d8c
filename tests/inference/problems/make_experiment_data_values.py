#!/usr/bin/env python3
"""Makes experiment_data_values.h: the published noise, to compare make_data with.

    python3 make_experiment_data_values.py > experiment_data_values.h      (needs numpy and scipy)

The published code seeds numpy's legacy generator once and draws, run after run, noise for the training points
and then for the test points; for advection first the 64 frames and cells of the training points. Of the 1190
test values of advection only digests are kept: their sum, and their sum weighted by position.
The Lotka-Volterra solution is scipy's (DOP853).
"""
import numpy as np
from scipy.integrate import solve_ivp


def table(name, rows, form="{:.17g}"):
    print(f"inline constexpr double {name}[{len(rows)}][{len(rows[0])}] = {{")
    for row in rows:
        print("    {" + ", ".join(form.format(v) for v in row) + "},")
    print("};\n")


def noises(seed, sizes):
    random = np.random.RandomState(seed)
    return zip(*[[random.normal(size=n) for n in sizes] for _ in range(5)])


print("// Made by make_experiment_data_values.py, which says how. Do not edit.\n#pragma once\n")
print("namespace sturnus {\n// clang-format off\n")
print("// Standard normal noise: one row per run.")
for name, seed, sizes in (("exponential", 42, (10, 20)), ("oscillator", 0, (10, 20)), ("lotka_volterra", 42, (24, 14))):
    train, test = noises(seed, sizes)
    table(f"{name}_train_noise", train)
    table(f"{name}_test_noise", test)

random = np.random.RandomState(42)
frames, cells, noise, digests = [], [], [], []
for _ in range(5):
    frames.append(random.randint(0, 21, 64))
    cells.append(random.randint(0, 21, 64))
    noise.append(random.normal(size=64))
    test = random.normal(size=1190)
    digests.append((test.sum(), test @ np.arange(1, 1191)))
table("advection_train_frame", frames, "{}")
table("advection_train_cell", cells, "{}")
table("advection_train_noise", noise)
table("advection_test_digest", digests)

print("// t, x, y.")
rate = lambda t, s: (1.5 * s[0] - s[0] * s[1], -3 * s[1] + s[0] * s[1])
orbit = [(0, 10.0, 5.0)]
for t in (0.5, 2 / 3, 2, 10 / 3, 4, 5, 8.5, 9, 10):  # ends of integrations: interpolated values are less exact
    last = orbit[-1]
    end = solve_ivp(rate, (last[0], t), last[1:], method="DOP853", rtol=3e-14, atol=1e-15).y[:, -1]
    orbit.append((t, *end))
table("lotka_volterra_orbit", orbit, "{:.15g}")
print("// clang-format on\n}  // namespace sturnus")
