#!/usr/bin/env python3
"""The files of draws as ArviZ and cmdstanpy read them, and whether their numbers are ours.

    readers_test.py PROGRAM      the built `sturnus`

Skipped (exit code 77) without these packages; `./sturnus test` brings them into build/readers.
"""

import json
import logging
import os
import subprocess
import sys
import tempfile
import unittest
import warnings
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PYTHON = ROOT / "build/readers/bin/python"
PROGRAM = None
logging.getLogger("arviz").setLevel(logging.ERROR)  # it warns that one chain has no R-hat

try:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import arviz
        import cmdstanpy
        import numpy
except ImportError:
    if PYTHON.exists() and Path(sys.prefix) != PYTHON.parents[1]:
        os.execv(PYTHON, [str(PYTHON), *sys.argv])
    print("skipped: there is no ArviZ or no cmdstanpy; ./sturnus test installs both")
    sys.exit(77)


class ReadersTest(unittest.TestCase):

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)

    def run_program(self, *arguments):
        """The result.json, the InferenceData and the Stan files of a run."""
        place = Path(self.folder.name) / self.id().rsplit(".", 1)[1] / "-".join(arguments[:6])
        run = subprocess.run([PROGRAM, *arguments, "--out", place], capture_output=True, text=True)
        self.assertEqual(run.returncode, 0, run.stderr)
        data = arviz.from_netcdf(place / "draws.nc")
        stan = sorted(str(path) for path in place.glob("*.csv"))
        return json.loads((place / "result.json").read_text()), data, stan

    def assert_measured(self, data, chains, draws, points, inputs=()):
        """What was measured, and predictions of it for every draw."""
        self.assertEqual(data.observed_data["y"].shape, points)
        self.assertEqual(data.posterior_predictive["y"].shape, (chains, draws, *points))
        self.assertEqual(data.posterior_predictive["y"].dims[:2], ("chain", "draw"))
        self.assertEqual(data.constant_data["x"].shape, points[:1] + inputs)
        self.assertTrue(numpy.isfinite(data.posterior_predictive["y"]).all())

    def assert_same_summary(self, result, data):
        """ArviZ's summary, whose indices count from 0, and ours, whose count from 1 as Stan's."""
        theirs = arviz.summary(data, round_to="none", hdi_prob=0.9)
        ours = {name: row for name, row in result["summary"].items() if name != "lp__"}
        self.assertEqual(len(theirs), len(ours))
        for name, row in theirs.iterrows():
            base, bracket, index = name.partition("[")
            mine = ours[f"{base}[{int(index[:-1]) + 1}]" if bracket else name]
            expected = [row[k] for k in ("mean", "sd", "hdi_5%", "hdi_95%", "ess_bulk", "ess_tail")]
            found = [mine[k] for k in ("mean", "sd")] + mine["hdi90"] + [
                mine[k] for k in ("ess_bulk", "ess_tail")]
            numpy.testing.assert_allclose(found, expected, rtol=1e-8, err_msg=name)
            if data.posterior.sizes["chain"] > 1:  # of one chain ArviZ gives none
                numpy.testing.assert_allclose(mine["rhat"], row["r_hat"], rtol=1e-8, err_msg=name)

    def assert_same_statistics(self, result, data):
        stats, by_chain = data.sample_stats, result["by_chain"]
        lp = result["summary"]["lp__"]
        numpy.testing.assert_allclose(lp["rhat"], float(arviz.rhat(stats["lp"])["lp"]), rtol=1e-8)
        numpy.testing.assert_allclose(by_chain["step_size"], stats["step_size"][:, -1])
        numpy.testing.assert_allclose(by_chain["acceptance"], stats["acceptance_rate"].mean("draw"))
        if "energy" in stats:
            numpy.testing.assert_allclose(by_chain["ebfmi"], arviz.bfmi(data), rtol=1e-6)
            self.assertEqual(stats["diverging"].dtype, bool)
            self.assertEqual(by_chain["divergences"], stats["diverging"].sum("draw").values.tolist())

    def test_chains(self):
        common = ("--chains", "2", "--warmup", "150", "--draws", "100")
        # Problem and method with its statistics, and the points that were measured.
        of_all = {"lp", "acceptance_rate", "step_size"}
        of_hmc = of_all | {"n_steps", "diverging", "energy"}
        cases = [
            (("exponential", "--method", "nuts"), of_hmc | {"tree_depth"}, (10,), "diag_e"),
            (("eight_schools", "--metric", "dense"), of_hmc | {"tree_depth"}, (8,), "dense_e"),
            (("exponential", "--method", "hmc", "--metric", "unit"), of_hmc, (10,), "unit_e"),
            (("exponential", "--method", "random_walk"), of_all, (10,), "diag_e"),
            (("exponential", "--method", "mala"), of_all, (10,), "diag_e"),
            (("exponential", "--method", "hmc", "--metric", "dense"), of_hmc, (10,), "dense_e"),
            (("hare_lynx", "--method", "nuts"), of_hmc | {"tree_depth"}, (21, 2), "diag_e"),
            (("advection", "--run", "1"), of_hmc | {"tree_depth"}, (64,), "diag_e"),
        ]
        for arguments, statistics, points, metric in cases:
            with self.subTest(arguments):
                result, data, stan = self.run_program("sample", *arguments, *common)
                self.assertEqual(set(data.sample_stats.data_vars), statistics)
                inputs = (2,) if "advection" in arguments else ()
                self.assert_measured(data, 2, 100, points, inputs)
                self.assert_same_summary(result, data)
                self.assert_same_statistics(result, data)
                self.assert_stan_reads(stan, data, metric, "tree_depth" in statistics)

    def assert_stan_reads(self, files, data, metric, is_nuts):
        fit = cmdstanpy.from_csv(files, "sample")
        self.assertEqual((fit.chains, fit.num_draws_sampling), (2, 100))
        for name, draws in data.posterior.data_vars.items():
            found = fit.stan_variable(name).reshape(draws.shape)
            numpy.testing.assert_array_equal(found, draws, err_msg=name)
        numpy.testing.assert_array_equal(fit.method_variables()["lp__"].T, data.sample_stats["lp"])
        if not is_nuts:  # others cmdstanpy takes for draws without adaptation
            return
        self.assertEqual(fit.metric_type, metric)
        numpy.testing.assert_array_equal(fit.step_size, data.sample_stats["step_size"][:, -1])
        # The metric is near the variances of the unconstrained draws, of which mu is one.
        inverse = fit.inv_metric
        self.assertEqual(inverse.shape[0], 2)
        if metric == "dense_e":
            numpy.testing.assert_array_equal(inverse, inverse.transpose(0, 2, 1))
            self.assertTrue((numpy.linalg.eigvalsh(inverse) > 0).all())
            variance = float(data.posterior["mu"].var())
            for chain in inverse:
                self.assertTrue(0.2 < chain[0, 0] / variance < 5, chain[0, 0] / variance)
        else:
            parameters = sum(draws[0, 0].size for draws in data.posterior.data_vars.values())
            self.assertEqual(inverse.shape, (2, parameters))
            self.assertTrue((inverse > 0).all())

    def test_variational(self):
        result, data, _ = self.run_program("vi", "eight_schools", "--iterations", "200", "--draws",
                                           "50")
        self.assert_measured(data, 1, 50, (8,))
        self.assertEqual(set(data.sample_stats.data_vars), {"lp", "log_weight"})
        weights = numpy.exp(data.sample_stats["log_weight"].values)
        efficiency = weights.sum() ** 2 / (weights.size * (weights**2).sum())
        numpy.testing.assert_allclose(result["weight_efficiency"], efficiency, rtol=1e-9)
        self.assert_same_summary(result, data)

    def test_ensembles(self):
        result, data, _ = self.run_program("run", "exponential", "--members", "4", "--iterations",
                                           "20")
        self.assert_measured(data, 1, 4, (10,))
        self.assertEqual(set(data.sample_stats.data_vars), {
            "member", "log_likelihood", "loss_data", "loss_residual", "loss_prior",
            "loss_repulsion"})
        numpy.testing.assert_array_equal(data.sample_stats["member"][0], range(4))
        numpy.testing.assert_allclose(data.posterior["lambda"][0],
                                      [row[0] for row in result["lambda"]["draws"]])


if __name__ == "__main__":
    PROGRAM = str(Path(sys.argv.pop(1)).resolve())
    unittest.main()
