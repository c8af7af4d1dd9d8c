#!/usr/bin/env python3
"""Makes diagnostics_values.h: chains, and what ArviZ and R's posterior say of them.

    python3 make_diagnostics_values.py > diagnostics_values.h    (needs arviz < 1, and R with posterior)

Recorded with arviz 0.23.4 and posterior 1.4.0 on R 4.2.2, both as they are. Draws are whole numbers over 1024, so
that they are the same numbers everywhere; R's NA is written as nan.
"""
import json
import subprocess
import tempfile
import warnings

import numpy as np
from arviz.stats import diagnostics as az
from arviz.stats.stats import _hdi
from arviz.stats.stats_utils import autocov

UNIT = 1024
PROBABILITIES = (0.1, 0.3)

R = """
suppressMessages(library(posterior))
for (chain_file in commandArgs(TRUE)) {
  x <- t(as.matrix(read.csv(chain_file, header = FALSE)))
  values <- c(rhat(x), ess_bulk(x), ess_tail(x), ess_mean(x), ess_sd(x), ess_median(x),
              ess_quantile(x, 0.1), ess_quantile(x, 0.3), mcse_mean(x), mcse_sd(x), mcse_quantile(x, 0.5),
              mcse_quantile(x, 0.1), mcse_quantile(x, 0.3))
  cat(format(values, digits = 17), "\\n")
}
"""


def autoregressive(random, chains, draws, phi):
    x = random.normal(size=(chains, draws))
    for i in range(1, draws):
        x[:, i] = phi * x[:, i - 1] + np.sqrt(1 - phi * phi) * x[:, i]
    return x


def cases():
    random = np.random.RandomState(7)
    yield "independent", random.normal(size=(4, 100))
    yield "slow", autoregressive(random, 4, 150, 0.9)
    yield "very slow", autoregressive(random, 3, 64, 0.995)
    yield "antithetic", autoregressive(random, 4, 100, -0.7)
    yield "alternating", np.tile([1, -1], (2, 20)) * 3 + 0.1 * random.normal(size=(2, 40))
    yield "one chain", autoregressive(random, 1, 90, 0.5)
    yield "odd", autoregressive(random, 3, 51, 0.6)
    yield "odd halves", autoregressive(random, 3, 54, 0.6)
    yield "odd, odd halves", autoregressive(random, 1, 47, 0.98)
    for draws in range(4, 15):
        yield f"{draws} draws", random.normal(size=(2, draws))
    yield "4 draws of one chain", random.normal(size=(1, 4))
    yield "one chain elsewhere", random.normal(size=(4, 60)) + np.array([[0], [0], [0], [1.5]])
    yield "one chain wider", random.normal(size=(4, 60)) * np.array([[1], [1], [1], [4]])
    yield "one chain stuck", random.normal(size=(4, 40)) * np.array([[1], [1], [0], [1]])
    yield "trend", random.normal(size=(2, 80)) + np.linspace(0, 3, 80)
    yield "counts", random.poisson(4, size=(4, 60))
    yield "coin", random.randint(2, size=(2, 31))
    yield "fair coin", np.array([[0, 1, 1, 0, 1, 0, 0, 1], [1, 0, 0, 0, 1, 1, 1, 0]])
    yield "heavy tails", random.standard_cauchy(size=(4, 80))
    yield "large offset", 1e6 + autoregressive(random, 2, 100, 0.4)
    yield "constant", np.full((4, 50), 0.1)
    yield "constant, odd", np.full((1, 31), -7)
    for name, value in (("not a number", np.nan), ("infinite", np.inf)):
        x = autoregressive(random, 2, 40, 0.3)
        x[1, 7] = value
        yield name, x
    yield "all not numbers", np.full((2, 40), np.nan)
    x = autoregressive(random, 2, 40, 0.3)
    x[0, 3], x[1, 20], x[1, 21] = -np.inf, np.inf, np.inf
    yield "infinite both ways", x
    yield "one chain infinite", np.vstack([random.normal(size=40), np.full(40, np.inf)])
    yield "chains do not move", np.repeat([[0.5], [-0.25], [1]], 20, axis=1)
    yield "repelling", autoregressive(random, 4, 120, -0.95)
    yield "alternating, long", np.tile([1, -1], (4, 50)) + 0.5 * random.normal(size=(4, 100))
    yield "one chain alternating", np.tile([1, -1], (1, 30)) * 2 + 0.3 * random.normal(size=(1, 60))


def from_arviz(x):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return [az._rhat_rank(x), az._ess_bulk(x), np.min([az._ess_quantile(x, p) for p in (0.05, 0.95)]),
                az._ess_mean(x), az._ess_sd(x), az._ess_median(x), *(az._ess_quantile(x, p) for p in PROBABILITIES), az._mcse_mean(x), az._mcse_sd(x),
                *(az._mcse_quantile(x, p) for p in (0.5, *PROBABILITIES))]


def from_r(chains):
    with tempfile.TemporaryDirectory() as folder:
        files = [f"{folder}/{i}.csv" for i in range(len(chains))]
        for file, x in zip(files, chains):
            np.savetxt(file, x, delimiter=",", fmt="%.17g")
        result = subprocess.run(["Rscript", "-e", R, *files], check=True, text=True, stdout=subprocess.PIPE)
    return [[float("nan" if v == "NA" else v) for v in line.split()] for line in result.stdout.strip().split("\n")]


def number(value):
    value = float(value)
    return "nan" if np.isnan(value) else repr(value)


def braced(values):
    return "{" + ", ".join(map(number, values)) + "}"


def main():
    names, draws = zip(*((name, np.round(np.asarray(x) * UNIT)) for name, x in cases()))
    print("""// Made by make_diagnostics_values.py, which says how. Do not edit.
#pragma once

#include <cstddef>
#include <limits>
#include <vector>

namespace sturnus {

inline constexpr double nan = std::numeric_limits<double>::quiet_NaN();
inline constexpr double inf = std::numeric_limits<double>::infinity();

struct RecordedChains {
  const char* name;
  std::size_t chains;
  std::vector<double> draws;  // times 1024, one chain after the other
  // rhat; ess_bulk, _tail, _mean, _sd, _median, _quantile(0.1), (0.3); mcse_mean, _sd,
  // _quantile(0.5), (0.1), (0.3)
  std::vector<double> arviz;
  std::vector<double> posterior;
  std::vector<double> hdi;             // of 0.8, from ArviZ
  std::vector<double> bfmi;            // of each chain, from ArviZ
  std::vector<double> autocovariance;  // of the first chain, from ArviZ: lags 0, 1, 2, 3
  std::vector<double> quantiles;       // 0.05, 0.25, 0.5, 0.75, 0.95, from NumPy
};

// clang-format off
inline const std::vector<RecordedChains> recorded_chains = {""")
    for name, x, posterior in zip(names, draws, from_r([x / UNIT for x in draws])):
        whole = ", ".join(str(int(v)) if np.isfinite(v) else number(v) for v in x.ravel())
        x = x / UNIT
        with np.errstate(all="ignore"):
            bfmi = az._bfmi(x)
        print(f"  {{{json.dumps(name)}, {len(x)}, {{{whole}}},\n   {braced(from_arviz(x))},\n   {braced(posterior)},\n"
              f"   {braced(_hdi(x.ravel(), 0.8, False, False))}, {braced(bfmi)},\n"
              f"   {braced(autocov(x[0])[:4])}, {braced(np.quantile(x, [0.05, 0.25, 0.5, 0.75, 0.95]))}}},")
    print("};\n// clang-format on\n\n}  // namespace sturnus")


main()
