#!/usr/bin/env python3
"""JAX runs the programs that Sturnus exports as StableHLO, and gets the same numbers.

    exported_programs_test.py PROGRAM     which prints them: exported_programs.cc

Exits with 77, for "skipped", where Python has no JAX.
"""

import json
import os
import subprocess
import sys
import unittest
from pathlib import Path

os.environ["JAX_PLATFORMS"] = "cpu"
os.environ["JAX_ENABLE_X64"] = "1"
try:
    import jax.numpy as jnp
    import numpy as np
except ImportError as error:
    print(f"skipped: {error}. Put a python3 that has JAX first into PATH to run this test")
    sys.exit(77)

sys.path.append(str(Path(__file__).resolve().parents[2] / "benchmarks"))
from stablehlo_in_jax import load_stablehlo  # noqa: E402

PROGRAM = None


def array_of(described):
    return jnp.asarray(described["values"], jnp.float64).reshape(described["shape"])


class ExportedProgramsTest(unittest.TestCase):

    def test_jax_gets_the_same_numbers(self):
        printed = subprocess.run([PROGRAM], check=True, capture_output=True, text=True).stdout
        for program in json.loads(printed):
            with self.subTest(program["name"]):
                run = load_stablehlo(program["stablehlo"])
                found = run(*map(array_of, program["arguments"]))
                self.assertEqual(len(found), len(program["results"]))
                for one, described in zip(found, program["results"]):
                    np.testing.assert_allclose(np.asarray(one), array_of(described), rtol=1e-12, atol=1e-13)


if __name__ == "__main__":
    PROGRAM = sys.argv.pop(1)
    unittest.main()
