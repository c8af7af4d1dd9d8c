#!/usr/bin/env python3
"""Makes exact_posterior_values.h: posteriors by brute force, to compare ExactPosterior with.

    python3 make_exact_posterior_values.py > exact_posterior_values.h      (needs numpy and scipy)

A fixed tensor product of Gauss-Legendre nodes over the whole prior box, nothing adaptive; amplitudes are
nodes like the rest, only of two amplitudes the second is integrated with the normal distribution function.
A distribution function P(parameter <= x) is the integral over the box cut at x, with nodes of its own.
Data are the published ones, straight from numpy's RandomState.
"""
import sys

import numpy as np
from numpy.polynomial.legendre import leggauss
from scipy.special import log_ndtr

PREDICTED_AT = {"exponential": (4.0, 10.0, 14.0), "fixed": (4.0, 10.0, 22.0), "free": (4.0, 10.0, 22.0)}


def exponential_data(run):
    random = np.random.RandomState(42)
    for _ in range(run + 1):
        noise = 2 * random.normal(size=10)
        random.normal(size=20)
    t = np.linspace(0, 10, 10)
    return t, np.exp(0.3 * t) + noise, 2.0


def oscillator_data(run):
    random = np.random.RandomState(0)
    for _ in range(run + 1):
        noise = 0.1 * random.normal(size=10)
        random.normal(size=20)
    t = np.concatenate([np.linspace(0, 6, 5), np.linspace(15, 20, 5)])
    return t, np.exp(-0.1 * t) * np.sin(np.sqrt(0.99) * t) + noise, 0.1


def bases(kind, t, first, second):
    """basis functions, shape first x second x t"""
    if kind == "exponential":
        return [np.exp(first[:, None, None] * t) + 0 * second[None, :, None]]
    decay = np.exp(-(first[:, None] * second[None, :])[..., None] * t)
    angle = (first[:, None] * np.sqrt(1 - second[None, :] ** 2))[..., None] * t
    return [decay * np.sin(angle)] if kind == "fixed" else [decay * np.sin(angle), decay * np.cos(angle)]


def log_normal_mass(precision, linear, low, high):
    """log of the integral of exp(linear c - precision c^2 / 2) over [low, high]"""
    sd = 1 / np.sqrt(precision)
    mean = linear / precision
    a, b = (low - mean) / sd, (high - mean) / sd
    flip = a > 0
    a, b = np.where(flip, -b, a), np.where(flip, -a, b)
    with np.errstate(divide="ignore"):
        mass = log_ndtr(b) + np.log1p(-np.exp(log_ndtr(a) - log_ndtr(b)))
    return 0.5 * linear * mean + np.log(sd * np.sqrt(2 * np.pi)) + mass


def cut_normal_moments(precision, linear, low, high):
    sd = 1 / np.sqrt(precision)
    mean = linear / precision
    a, b = (low - mean) / sd, (high - mean) / sd
    log_mass = log_normal_mass(precision, linear, low, high) - 0.5 * linear * mean - np.log(sd)
    pa, pb = np.exp(-0.5 * a * a - log_mass), np.exp(-0.5 * b * b - log_mass)
    first = pa - pb
    return mean + sd * first, sd**2 * (1 + a * pa - b * pb - first**2)


def nodes(low, high, n, panels, dense_at_zero=False):
    x, w = leggauss(n)
    edges = np.linspace(low, high, panels + 1)
    if dense_at_zero:  # where growth is fast, f0 is small and known exactly
        edges = 0.01 * np.sinh(np.linspace(np.arcsinh(low / 0.01), np.arcsinh(high / 0.01), panels + 1))
    h = np.diff(edges) / 2
    return (edges[:-1, None] + h[:, None] * (x + 1)).ravel(), (h[:, None] * w).ravel()


class Sum:
    """Weighted first and second moments, on a log scale fixed in advance."""

    def __init__(self, scale):
        self.scale, self.total, self.first, self.second = scale, 0.0, None, None

    def add(self, log_density, weights, means, variances):
        p = np.exp(log_density - self.scale) * weights
        p[~np.isfinite(p)] = 0
        self.total += p.sum()
        first = np.array([(p * m).sum() for m in means])
        second = np.array([(p * (m * m + v)).sum() for m, v in zip(means, variances)])
        self.first = first if self.first is None else self.first + first
        self.second = second if self.second is None else self.second + second


def integrate(kind, data, amplitude_box, lambda_box, resolution, moments, scale):
    """evidence, and moments of (amplitudes, lambda, predictions)"""
    t, y, sigma = data
    times = np.array(PREDICTED_AT[kind])
    first_x, first_w = nodes(*lambda_box[0], 20, resolution[0])
    second_x, second_w = nodes(*lambda_box[1], 20, resolution[1]) if len(lambda_box) == 2 else ([0.0], [1.0])
    second_x, second_w = np.array(second_x), np.array(second_w)
    c_x, c_w = nodes(*amplitude_box[0], 20, resolution[2], kind == "exponential")
    sums = Sum(scale)
    for start in range(0, len(first_x), 20):
        block, block_w = first_x[start : start + 20], first_w[start : start + 20]
        g = bases(kind, t, block, second_x)
        p = [[(gi * gj).sum(-1)[..., None] / sigma**2 for gj in g] for gi in g]
        q = [(gi * y).sum(-1)[..., None] / sigma**2 for gi in g]
        log_density = -0.5 * p[0][0] * c_x**2 + q[0] * c_x
        if len(g) == 2:
            linear = q[1] - p[0][1] * c_x
            log_density = log_density + log_normal_mass(p[1][1], linear, *amplitude_box[1])
        weights = block_w[:, None, None] * second_w[:, None] * c_w
        means, variances = [], []
        if moments:
            zero = np.zeros_like(log_density)
            c = [zero + c_x]
            spread = [zero]
            if len(g) == 2:
                mean, variance = cut_normal_moments(p[1][1], linear, *amplitude_box[1])
                c.append(np.where(np.isfinite(mean), mean, 0))
                spread.append(np.where(np.isfinite(variance), variance, 0))
            means = c + [zero + block[:, None, None]] + ([zero + second_x[:, None]] if len(lambda_box) == 2 else [])
            variances = spread + [zero] * len(lambda_box)
            at = bases(kind, times, block, second_x)
            for k in range(len(times)):
                means.append(sum(a[..., k][..., None] * ci for a, ci in zip(at, c)))
                variances.append(sum(a[..., k][..., None] ** 2 * si for a, si in zip(at, spread)))
        sums.add(log_density, weights, means, variances)
    constant = -0.5 * (y @ y) / sigma**2 - len(y) * np.log(sigma * np.sqrt(2 * np.pi))
    return sums, constant


def case(name, kind, run, amplitude_box, lambda_box, resolution):
    data = exponential_data(run) if kind == "exponential" else oscillator_data(run)
    y, sigma = data[1], data[2]
    scale = 0.5 * (y @ y) / sigma**2
    whole, constant = integrate(kind, data, amplitude_box, lambda_box, resolution, True, scale)
    volume = np.prod([high - low for low, high in amplitude_box + lambda_box])
    log_evidence = scale + np.log(whole.total) + constant - np.log(volume)
    mean = whole.first / whole.total
    sd = np.sqrt(whole.second / whole.total - mean**2)
    parameters = len(amplitude_box) + len(lambda_box)
    rows = []
    for i in range(parameters):
        x = round(mean[i] + (0.7 if i % 2 else -1.2) * sd[i], 3)
        boxes = [list(b) for b in amplitude_box + lambda_box]
        boxes[i][1] = x
        cut, _ = integrate(kind, data, boxes[: len(amplitude_box)], boxes[len(amplitude_box) :], resolution, False, scale)
        rows.append((mean[i], sd[i], x, cut.total / whole.total))
    print(f'    {{"{name}", Kind::{kind}, {run}, {"false" if name.endswith("cut") else "true"},')
    print("     {" + ", ".join(f"{{{low!r}, {high!r}}}" for low, high in amplitude_box + lambda_box) + "},")
    print(f"     {log_evidence:.12g},")
    print("     {" + ",\n      ".join("{" + ", ".join(f"{v:.12g}" for v in row) + "}" for row in rows) + "},")
    print("     {" + ",\n      ".join(f"{{{t!r}, {mean[parameters + k]:.12g}, {sd[parameters + k]:.12g}}}"
                                     for k, t in enumerate(PREDICTED_AT[kind])) + "}},")
    sys.stdout.flush()


HEADER = """// Made by make_exact_posterior_values.py, which says how. Do not edit.
#pragma once

#include <vector>

namespace sturnus {

enum class Kind { exponential, fixed, free };

struct RecordedPosterior {
  struct Prior {
    double low, high;
  };
  struct Marginal {
    double mean, sd, x, cdf_at_x;
  };
  struct Prediction {
    double t, mean, sd;
  };
  const char* name;
  Kind kind;
  int run;
  bool is_default_prior;
  std::vector<Prior> priors;
  double log_evidence;
  std::vector<Marginal> marginals;
  std::vector<Prediction> predictions;
};

inline const std::vector<RecordedPosterior> recorded_posteriors = {
    // clang-format off"""

FOOTER = """    // clang-format on
};

}  // namespace sturnus"""

if __name__ == "__main__":
    factor = float(sys.argv[1]) if len(sys.argv) > 1 else 1.0  # finer or coarser, to see that it does not matter
    size = lambda *n: tuple(max(1, round(factor * i)) for i in n)
    print(HEADER)
    wide, omega, zeta = (-10.0, 10.0), (0.0, 3.0), (0.0, 0.9)
    case("exponential_0", "exponential", 0, [wide], [wide], size(600, 1, 200))
    case("exponential_1", "exponential", 1, [wide], [wide], size(600, 1, 200))
    case("exponential_cut", "exponential", 0, [(0.0, 1.5)], [wide], size(600, 1, 60))
    case("fixed_phase_0", "fixed", 0, [(0.0, 1.5)], [omega, zeta], size(50, 12, 4))
    case("fixed_phase_2", "fixed", 2, [(0.0, 1.5)], [omega, zeta], size(50, 12, 4))
    case("free_phase_0", "free", 0, [(-5.0, 5.0)] * 2, [omega, zeta], size(40, 10, 10))
    case("free_phase_1", "free", 1, [(-5.0, 5.0)] * 2, [omega, zeta], size(40, 10, 10))
    print(FOOTER)
