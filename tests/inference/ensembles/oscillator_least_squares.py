#!/usr/bin/env python3
"""How far least squares, without any network, are from the true parameters of the damped oscillator.

    python3 tests/inference/ensembles/oscillator_least_squares.py       (needs NumPy)

Prints abs dlambda = (|omega - 1| + |zeta - 0.1|) / 2 on the five published data sets, and its mean over five data
sets for 600 fives with fresh noise. docs/ensembles.md quotes it: ensembles score on the published data what the data
allow, and these five are an unlucky draw.
"""
import numpy as np

TIMES = np.r_[0, 1.5, 3, 4.5, 6, 15, 16.25, 17.5, 18.75, 20]
TRUTH = np.array([1.0, 0.0, 1.0, 0.1])  # amplitudes of sine and cosine, omega, zeta
NOISE_SD, TEST_POINTS = 0.1, 20


def curve(parameters):
    sine, cosine, omega, zeta = parameters
    phase = omega * np.sqrt(1 - zeta**2) * TIMES
    return np.exp(-zeta * omega * TIMES) * (sine * np.sin(phase) + cosine * np.cos(phase))


def least_squares(measured, steps=60, difference=1e-6):
    """Levenberg and Marquardt's method from the truth."""
    best, damping = TRUTH.copy(), 1e-3
    for _ in range(steps):
        error = measured - curve(best)
        slopes = np.stack([(curve(best + difference * axis) - curve(best)) / difference for axis in np.eye(4)], axis=1)
        normal = slopes.T @ slopes
        trial = best + np.linalg.solve(normal + damping * np.diag(np.diag(normal)), slopes.T @ error)
        if abs(trial[3]) < 0.95 and np.sum((measured - curve(trial))**2) < np.sum(error**2):
            best, damping = trial, 0.3 * damping
        else:
            damping *= 4
    return best


def abs_dlambda(noise):
    fitted = least_squares(curve(TRUTH) + NOISE_SD * noise)
    return np.mean(np.abs(fitted[2:] - TRUTH[2:]))


def main():
    stream = np.random.RandomState(0)
    published = []
    for _ in range(5):
        published.append(abs_dlambda(stream.standard_normal(len(TIMES))))
        stream.standard_normal(TEST_POINTS)
    print("published data sets:", np.round(published, 4), "mean", np.round(np.mean(published), 4))
    fresh = np.random.default_rng(0)
    means = [np.mean([abs_dlambda(fresh.standard_normal(len(TIMES))) for _ in range(5)]) for _ in range(600)]
    print("fresh fives: 5, 50, 95 % quantiles of the mean", np.round(np.quantile(means, [0.05, 0.5, 0.95]), 4))
    print("share of fives whose mean is at least that of the published sets:",
          np.round(np.mean(np.array(means) >= np.mean(published)), 3))


if __name__ == "__main__":
    main()
