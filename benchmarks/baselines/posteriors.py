"""The posteriors on which samplers are compared: data and priors, bulk ESS, and how rounds are asked for. No JAX here.

A baseline gets lines of JSON, {"seed", "starts"} with free numbers [chains, size] in the order of the parameters. It
answers the first one with {"compile_s"}, and each later one, a round, with {"warmup_s", "draws_s", "ess"}.
"""
import json
import sys
import time

import numpy as np
from scipy import fft, special, stats

CHAINS, WARMUP, DRAWS = 4, 1000, 1000
# Uniform priors. Parameters are free numbers through a sigmoid here, and through an exponential for the hares.
INTERVALS = {
    "exponential": {"f0": (-10, 10), "lambda": (-10, 10)},
    "oscillator": {"f0": (0, 1.5), "omega": (0, 3), "zeta": (0, 0.9)},
}
HARES = [30, 47.2, 70.2, 77.4, 36.3, 20.6, 18.1, 21.4, 22, 25.4, 27.1, 40.3, 57, 76.6, 52.3, 19.5, 11.2, 7.6, 14.6,
         16.2, 24.7]
LYNXES = [4, 6.1, 9.8, 35.2, 59.4, 41.7, 19, 13, 8.3, 9.1, 7.4, 8, 12.3, 19.5, 45.7, 51.1, 29.7, 15.8, 9.7, 10.1, 8.6]
PELTS = np.stack([HARES, LYNXES], 1)
YEARS = np.arange(21.0)
THETA_MEAN, THETA_SD = np.array([1, 0.05, 1, 0.05]), np.array([0.5, 0.05, 0.5, 0.05])


def bulk_ess(x):
    """Of draws [chains, draws] (Vehtari et al., 2021): of split chains, whose draws become normal scores of ranks."""
    half = x.shape[1] // 2
    x = np.concatenate([x[:, :half], x[:, -half:]])
    z = special.ndtri((stats.rankdata(x).reshape(x.shape) - 0.375) / (x.size + 0.25))
    chains, n = z.shape
    size = fft.next_fast_len(2 * n)
    spectrum = np.abs(fft.rfft(z - z.mean(1, keepdims=True), size, axis=1)) ** 2
    covariance = fft.irfft(spectrum, size, axis=1)[:, :n].mean(0) / n
    variance = covariance[0] + z.mean(1).var(ddof=1)
    correlation = 1 - (covariance[0] * n / (n - 1) - covariance) / variance
    correlation[0] = 1
    # Sums of neighbours as long as they are positive, and no larger than those before (Geyer, 1992).
    pairs = correlation[:n - n % 2].reshape(-1, 2).sum(1)
    count = int(np.argmax(pairs < 0)) if np.any(pairs < 0) else len(pairs)
    time = 2 * np.minimum.accumulate(pairs[:count]).sum() - 1
    if count < len(pairs):
        time += max(correlation[2 * count], 0)
    return x.size / max(time, 1 / np.log10(x.size))


def answer(prepare, sample):
    """`prepare(seed, starts)` gives seconds of compiling, `sample` both times and draws [chains, draws, size]."""
    requests = ((request["seed"], np.array(request["starts"])) for request in map(json.loads, sys.stdin))
    print(json.dumps({"compile_s": prepare(*next(requests))}), flush=True)
    for seed, starts in requests:
        warmup_s, draws_s, draws = sample(seed, starts)
        ess = min(bulk_ess(draws[..., i]) for i in range(draws.shape[-1]))
        print(json.dumps({"warmup_s": warmup_s, "draws_s": draws_s, "ess": ess,
                          "mean": draws.mean((0, 1)).tolist()}), flush=True)


def seconds(run):
    begun = time.perf_counter()
    run()
    return time.perf_counter() - begun
