#!/usr/bin/env python3
"""The page of `./sturnus bench`, from numbers that are made up."""
import contextlib
import io
import os
import sys
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "benchmarks"))
import bench
from page import Page


def best(ms, compile_s=None):
    numbers = bench.Best()
    numbers.add({"ms_per_iteration": ms} | ({"compile_s": compile_s} if compile_s else {}))
    return numbers


class BenchPage(unittest.TestCase):
    def setUp(self):
        self.page = Page("Speed", "./sturnus bench", 1, "made up.")

    def show(self, experiment):
        results = {"JAX plain": best(10, 3), "JAX tuned": best(3, 1), "sturnus": best(2, 1), "PyTorch": best(100)}
        with contextlib.redirect_stdout(io.StringIO()):
            bench.show(self.page, experiment, results, {"JAX plain": 30, "sturnus": 10})
        return self.page.text

    def test_has_the_asked_ratio_beside_each_measured_one(self):
        text = self.show("oscillator")
        self.assertIn("| JAX plain | 10.000 | 5.00 | 4 |  | 3.00 | 3.00 | 2 | 30 | 3.00 | 2 |\n", text)
        self.assertIn("| JAX tuned | 3.000 | 1.50 | 1 |  | 1.00 | 1.00 |  |  |  |  |\n", text)
        self.assertIn("| PyTorch | 100.000 | 50.00 | 40 |  |  |  |  |  |  |  |\n", text)

    def test_asks_less_where_products_dominate(self):
        text = self.show("advection")
        self.assertIn("| JAX plain | 10.000 | 5.00 | 1.3 |", text)
        self.assertIn("| PyTorch | 100.000 | 50.00 |  |", text)

    def test_tells_the_exponent_over_all_and_which_memory_it_counts(self):
        with contextlib.redirect_stdout(io.StringIO()):
            bench.show_scaling(self.page, {25: (1.0, 100), 100: (4.0, 110), 400: (32.0, 120)})
        self.assertIn("| 400 | 32.00 | 120 | 1.50 |", self.page.text)
        self.assertIn("From 25 to 400 members the cost grows as members^1.25; asked is at most members^1.3", self.page.text)
        self.assertIn("peak of the resident memory", self.page.text)


if __name__ == "__main__":
    unittest.main()
