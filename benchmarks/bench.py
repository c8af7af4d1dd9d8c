#!/usr/bin/env python3
"""Trainings of repulsive ensembles side by side: Sturnus, JAX in two styles, PyTorch.

    ./sturnus bench [--experiment ...] [--rounds 3] [--cores 1] [--without-torch] [--members ...] [--page FILE]

All are the published trainings with full repulsion, as in benchmarks/baselines. Programs take turns,
round by round, and the best round counts; what matters are the ratios. JAX's programs run twice:
on JAX's own XLA, and on the CPU plugin that Sturnus runs on, whose XLA is older.
"""
import argparse
import json
import math
import os
import subprocess
import sys
import tempfile

from page import Page

HERE = os.path.dirname(os.path.abspath(__file__))
BASELINES = os.path.join(HERE, "baselines")
EXPERIMENTS = ("exponential", "oscillator", "lotka_volterra", "advection")
# At most this exponent of the cost in the number of members, between the two.
ASKED_EXPONENT, EXPONENT_FROM, EXPONENT_TO = 1.3, 25, 400


def asked_of(experiment):
    """The least ratios that Sturnus is to reach, by program and number."""
    dense = experiment == "advection"  # products of matrices, which all do equally fast, take its time
    return {("JAX plain", "ms_per_iteration"): 1.3 if dense else 4, ("JAX tuned", "ms_per_iteration"): 1,
            ("PyTorch", "ms_per_iteration"): None if dense else 40, ("JAX plain", "compile_s"): 2,
            ("JAX plain", "h100_kernels"): 2}


def call(command, cores):
    """The last line that the command prints, as JSON."""
    pinned = ["taskset", "--cpu-list", f"0-{cores - 1}"] + command if cores else command
    done = subprocess.run(pinned, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"bench: `{' '.join(command)}` failed:\n{done.stderr[-2000:]}")
    return json.loads(done.stdout.strip().splitlines()[-1])


class Best:
    """The smallest of each number over all rounds."""

    def __init__(self):
        self.numbers = {}

    def add(self, numbers):
        for name, value in numbers.items():
            if isinstance(value, (int, float)):
                self.numbers[name] = min(value, self.numbers.get(name, math.inf))

    def __getitem__(self, name):
        return self.numbers[name]


def iterations_of(experiment):
    return 20 if experiment == "advection" else 200


def measure(experiment, arguments, scratch):
    """Best numbers by the name of the program."""
    results = {}
    mlir = {style: os.path.join(scratch, f"{experiment}_{style}.mlir") for style in ("plain", "tuned")}
    common = ["--experiment", experiment, "--variant", "full", "--json", "--rounds", "3",
              "--iterations", str(iterations_of(experiment))]

    def add(name, numbers):
        results.setdefault(name, Best()).add(numbers)

    for _ in range(arguments.rounds):
        for style in ("plain", "tuned"):
            add(f"JAX {style}", call([sys.executable, os.path.join(BASELINES, "repulsive_jax.py"), "--style", style,
                                      "--mlir", mlir[style], *common], arguments.cores))
        ours = call([os.path.join(arguments.folder, "benchmarks", "ensemble_benchmark"), experiment, "--rounds", "5",
                     "--iterations", str(iterations_of(experiment)), mlir["plain"], mlir["tuned"]], arguments.cores)
        for name, numbers in zip(("sturnus", "JAX plain on the plugin", "JAX tuned on the plugin"), ours["programs"]):
            add(name, numbers)
    if not arguments.without_torch:
        add("PyTorch", call([sys.executable, os.path.join(BASELINES, "repulsive_torch.py"), *common[:-4],
                             "--rounds", "2", "--iterations", "5"], arguments.cores))
    return results, mlir


def kernels(arguments, program, scratch):
    """Kernels per iteration of the outermost loop, compiled ahead of time for an H100."""
    path = os.path.join(scratch, "report.json")
    subprocess.run([os.path.join(arguments.folder, "src", "app", "sturnus"), "compile", program, "--for", "h100",
                    "--json", path], check=True, capture_output=True)
    with open(path) as file:
        loops = json.load(file)["h100"]["loops"]
    return max(sum(loop["iteration"]["kernels"].values()) for loop in loops)


def show(page, experiment, results, counts):
    asked = asked_of(experiment)
    all_numbers = {name: best.numbers | {"h100_kernels": counts.get(name)} for name, best in results.items()}
    ours = all_numbers["sturnus"]

    def cells(name, numbers):
        def ratio(key):
            least = asked.get((name, key))
            return [f"{numbers[key] / ours[key]:.2f}" if numbers.get(key) else "", f"{least}" if least else ""]

        def number(key, digits):
            return f"{numbers[key]:.{digits}f}" if numbers.get(key) else ""

        return [name, number("ms_per_iteration", 3), *ratio("ms_per_iteration"), number("lower_s", 3),
                number("compile_s", 2), *ratio("compile_s"), number("h100_kernels", 0), *ratio("h100_kernels")]

    page.table(f"{experiment}, full repulsion", ["", "ms/iteration", "ratio", "asked", "lower s", "compile s", "ratio",
                                                 "asked", "H100", "ratio", "asked"],
               [cells(name, numbers) for name, numbers in all_numbers.items()])


def exponent(costs, few, many):
    """Of the cost in the number of members, between two of these."""
    return math.log(costs[many][0] / costs[few][0]) / math.log(many / few)


def show_scaling(page, costs):
    """Milliseconds and megabytes by the number of members: the exponent between neighbours, and over all."""
    members = list(costs)
    rows = [[str(n), f"{costs[n][0]:.2f}", str(costs[n][1]), f"{exponent(costs, members[i - 1], n):.2f}" if i else ""]
            for i, n in enumerate(members)]
    page.table("oscillator, cost against members", ["members", "ms/iteration", "peak resident MB", "exponent"], rows)
    if EXPONENT_FROM in costs and EXPONENT_TO in costs:
        page.line(f"From {EXPONENT_FROM} to {EXPONENT_TO} members the cost grows as members^"
                  f"{exponent(costs, EXPONENT_FROM, EXPONENT_TO):.2f}; asked is at most members^{ASKED_EXPONENT}. "
                  "MB is the peak of the resident memory of the whole process, XLA included.")


def scaling(page, arguments):
    costs = {}
    for members in arguments.members:
        iterations = max(2, 2000 // members)
        report = call([os.path.join(arguments.folder, "benchmarks", "ensemble_benchmark"), "oscillator", "--members",
                       str(members), "--iterations", str(iterations), "--rounds", "3"], arguments.cores)
        costs[members] = report["programs"][0]["ms_per_iteration"], report["peak_megabytes"]
    show_scaling(page, costs)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", help="with the built program and benchmarks")
    parser.add_argument("--experiment", nargs="*", choices=EXPERIMENTS, default=list(EXPERIMENTS))
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--cores", type=int, default=0, help="how many each program may use (default: all)")
    parser.add_argument("--without-torch", action="store_true")
    parser.add_argument("--members", nargs="*", type=int, default=[25, 100, 400, 1600])
    parser.add_argument("--json", help="write all numbers to this file")
    parser.add_argument("--page", help="write the tables to this file, as Markdown")
    arguments = parser.parse_args()
    page = Page("Speed", "./sturnus bench", arguments.cores,
                f"the best of {arguments.rounds} rounds in which the programs take turns. A ratio is the program's time over "
                "that of Sturnus. \"On the plugin\" is JAX's program run by the XLA that Sturnus runs on; H100 counts "
                "kernels per iteration, compiled ahead of time. Asked is the least ratio that Sturnus is to reach.")
    everything = {}
    with tempfile.TemporaryDirectory() as scratch:
        for experiment in arguments.experiment:
            results, mlir = measure(experiment, arguments, scratch)
            counts = {"sturnus": kernels(arguments, experiment, scratch)}
            counts |= {f"JAX {style}": kernels(arguments, path, scratch) for style, path in mlir.items()}
            show(page, experiment, results, counts)
            everything[experiment] = {name: best.numbers | {"h100_kernels": counts.get(name)}
                                      for name, best in results.items()}
    if arguments.members:
        scaling(page, arguments)
    if arguments.page:
        page.write(arguments.page)
    if arguments.json:
        with open(arguments.json, "w") as file:
            json.dump(everything, file, indent=1)


if __name__ == "__main__":
    main()
