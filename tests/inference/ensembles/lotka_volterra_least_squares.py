#!/usr/bin/env python3
"""How far least squares, without any network, are from the true parameters of Lotka and Volterra's equations.

    python3 tests/inference/ensembles/lotka_volterra_least_squares.py       (needs NumPy)

Prints abs dlambda, the mean over the four parameters of their distance from the truth, on the five published data
sets, and its mean over five data sets for 200 fives with fresh noise. Start and parameters are fitted to the measured
values of both species through the equations themselves. docs/ensembles.md quotes it.
"""
import numpy as np

TIMES = np.r_[np.linspace(0, 4, 7), np.linspace(8, 10, 5)]
TRUTH = np.array([10.0, 5.0, 1.5, 1.0, 3.0, 1.0])  # start of both species, alpha, beta, gamma, delta
NOISE_SD, TEST_POINTS, STEP = 1.0, 7, 1 / 48


def slope(state, parameters):
    x, y = state
    alpha, beta, gamma, delta = parameters[..., 2:].T
    return np.stack([x * (alpha - beta * y), y * (delta * x - gamma)])


def curves(parameters):
    """Both species at the measured times, [sets, times, 2], for [sets, 6] parameters; Runge and Kutta's method."""
    state, now, seen = parameters[:, :2].T, 0.0, []
    for end in TIMES:
        steps = int(np.ceil((end - now) / STEP - 1e-9))
        h = (end - now) / max(steps, 1)
        for _ in range(steps):
            a = slope(state, parameters)
            b = slope(state + 0.5 * h * a, parameters)
            c = slope(state + 0.5 * h * b, parameters)
            d = slope(state + h * c, parameters)
            state = state + h / 6 * (a + 2 * b + 2 * c + d)
        now = end
        seen.append(state)
    return np.moveaxis(np.array(seen), 2, 0)


def least_squares(measured, steps=60, difference=1e-6):
    """Levenberg and Marquardt's method from the truth, for all data sets [sets, times, 2] at once."""
    sets = len(measured)
    flat = measured.reshape(sets, -1)
    value = lambda p: curves(p).reshape(len(p), -1)
    best, damping = np.tile(TRUTH, (sets, 1)), np.full(sets, 1e-3)
    error = flat - value(best)
    for _ in range(steps):
        moved = (best[None] + difference * np.eye(6)[:, None]).reshape(-1, 6)
        slopes = (value(moved).reshape(6, sets, -1) - (flat - error)[None]) / difference
        slopes = np.moveaxis(slopes, 0, 2)
        normal = np.einsum("sik,sil->skl", slopes, slopes)
        right = np.einsum("sik,si->sk", slopes, error)
        stiffer = normal + damping[:, None, None] * normal * np.eye(6)
        trial = best + np.linalg.solve(stiffer, right[..., None])[..., 0]
        trial = np.where((trial > 0.05).all(axis=1)[:, None], trial, best)
        there = flat - value(trial)
        better = np.sum(there**2, axis=1) < np.sum(error**2, axis=1)
        best, error = np.where(better[:, None], trial, best), np.where(better[:, None], there, error)
        damping = np.where(better, 0.3 * damping, 4 * damping)
    return best


def abs_dlambda(noise):
    """For noise of several data sets, [sets, times, 2]."""
    fitted = least_squares(curves(TRUTH[None]) + NOISE_SD * noise)
    return np.mean(np.abs(fitted[:, 2:] - TRUTH[2:]), axis=1)


def main():
    stream, noise = np.random.RandomState(42), []
    for _ in range(5):
        noise.append(stream.standard_normal((len(TIMES), 2)))
        stream.standard_normal((TEST_POINTS, 2))
    published = abs_dlambda(np.array(noise))
    print("published data sets:", np.round(published, 3), "mean", np.round(np.mean(published), 3))
    fresh = abs_dlambda(np.random.default_rng(0).standard_normal((1000, len(TIMES), 2)))
    means = fresh.reshape(200, 5).mean(axis=1)
    print("fresh fives: 5, 50, 95 % quantiles of the mean", np.round(np.quantile(means, [0.05, 0.5, 0.95]), 3))
    print("share of fives whose mean is at least that of the published sets:",
          np.round(np.mean(means >= np.mean(published)), 3))
    print("share of fives whose mean is at most 0.13:", np.round(np.mean(means <= 0.13), 3))


if __name__ == "__main__":
    main()
