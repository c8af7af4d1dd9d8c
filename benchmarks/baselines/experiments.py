"""The four experiments on repulsive ensembles: settings, data, and rows of parameters. NumPy only.

A row holds one member: W1 (inputs x outputs, row-major), b1, W2, b2, ..., then its equation's parameters lambda.
"""
import dataclasses
import functools
import json
import math
import time

import numpy as np

VARIANTS = ("none", "f", "lambda", "joint", "factorized", "full")


@dataclasses.dataclass(frozen=True)
class Experiment:
    members: int
    widths: tuple             # of the layers, from the inputs to the outputs
    lambdas: int
    points: int               # where the equation's residual is taken
    rate: float               # of Adam
    physics: tuple            # (after, weight): the residual's weight in iterations > after
    repulsion_from: int = 0   # the first iteration with repulsion
    decay: float = 0.0        # added to the gradient, times the parameter
    wall: float = 1000.0      # times min(lambda, 0)^2, the prior's penalty


EXPERIMENTS = {
    "exponential": Experiment(50, (1, 20, 20, 1), 1, 50, 0.01, ((-1, 5.0), (7500, 10.0), (9000, 25.0)), wall=0.0),
    "oscillator": Experiment(25, (1, 20, 20, 20, 1), 2, 100, 0.01, ((-1, 1.0), (5000, 5.0), (7500, 10.0)), 3000),
    "advection": Experiment(25, (2, 100, 100, 100, 100, 1), 1, 256, 0.003, ((-1, 0.1),), decay=5e-4),
    "lotka_volterra": Experiment(25, (1, 20, 20, 20, 2), 4, 100, 0.01, ((-1, 0.5), (5000, 1.0), (7500, 2.0)), 3000),
}


@dataclasses.dataclass(frozen=True)
class Task:
    """One training: an experiment, a variant of the repulsion, the number of members, the data.

    Advection's points are drawn anew for every iteration and member, unless `redraw` is off.
    """
    name: str
    variant: str
    members: int
    x: np.ndarray      # [points, inputs]
    y: np.ndarray      # [points, outputs]
    low: np.ndarray    # [inputs]: bounds of the residual's domain
    high: np.ndarray
    sigma: float       # noise of y
    redraw: bool = True

    @property
    def settings(self):
        return EXPERIMENTS[self.name]

    @property
    def redraws(self):
        return self.name == "advection" and self.redraw

    @property
    def output_range(self):
        return float(self.y.min()), float(self.y.max())

    @property
    def prior_weight(self):
        return 2 * self.sigma**2 / self.y.size

    @property
    def repulsion_weight(self):
        return self.prior_weight / (math.sqrt(self.y.size) if self.variant == "full" else 1)

    @property
    def median_rank(self):
        """Position of the lower median among the sorted distances of all pairs of members."""
        return (self.members * (self.members - 1) // 2 - 1) // 2

    @functools.cached_property
    def fixed_points(self):
        """[points, inputs], a grid; for advection random ones for each member: [members, points, inputs]."""
        if len(self.low) == 1:
            return np.linspace(self.low, self.high, self.settings.points, dtype=np.float32)
        unit = np.random.RandomState(0).rand(self.members, self.settings.points, len(self.low))
        return (self.low + (self.high - self.low) * unit).astype(np.float32)

    def split(self, rows):
        """Rows of any array library as ([(weights, bias), ...], lambda), all with the members' axis in front."""
        layers, at = [], 0
        for a, b in zip(self.settings.widths, self.settings.widths[1:]):
            middle, end = at + a * b, at + a * b + b
            layers.append((rows[:, at:middle].reshape(-1, a, b), rows[:, middle:end]))
            at = end
        return layers, rows[:, at:]


def make_task(name, variant, members=None, data=None, redraw=True):
    data = data or example_data(name)
    x, y = (np.asarray(data["train"][k], np.float32) for k in "xy")
    return Task(name, variant, members or EXPERIMENTS[name].members, x.reshape(len(x), -1), y.reshape(len(y), -1),
                *(np.asarray(data[k], np.float32).ravel() for k in ("low", "high")), float(data["sigma"]), redraw)


def row_size(name):
    widths = EXPERIMENTS[name].widths
    return sum(a * b + b for a, b in zip(widths, widths[1:])) + EXPERIMENTS[name].lambdas


def random_rows(name, members, seed):
    random, settings = np.random.RandomState(seed), EXPERIMENTS[name]
    parts = [random.uniform(-1, 1, (members, a * b + b)) / math.sqrt(a)
             for a, b in zip(settings.widths, settings.widths[1:])]
    return np.hstack(parts + [np.abs(random.randn(members, settings.lambdas))]).astype(np.float32)


def example_data(name):
    """Noisy values of the true solution at the published points, for when no file is given."""
    if name == "exponential":
        x, low, high, sigma = np.linspace(0, 10, 10), 0, 15, 2.0
        y = np.exp(0.3 * x)
    elif name == "oscillator":
        x, low, high, sigma = np.append(np.linspace(0, 6, 5), np.linspace(15, 20, 5)), 0, 25, 0.1
        y = np.exp(-0.1 * x) * np.sin(math.sqrt(0.99) * x)
    elif name == "advection":
        x = np.random.RandomState(1).randint(0, 21, (64, 2)) * [0.1, 50 / 1024] + [0, 0.5 / 1024]
        low, high, sigma = (0, 0), (2, 1), 0.1
        y = 0.6 - np.sin(2 * math.pi * (x[:, 1] - 0.2 * x[:, 0]))
    else:
        x, low, high, sigma = np.append(np.linspace(0, 4, 7), np.linspace(8, 10, 5)), 0, 10, 1.0
        y = predator_and_prey(x)
    y = y + sigma * np.random.RandomState(2).standard_normal(y.shape)
    return {"train": {"x": x, "y": y}, "low": low, "high": high, "sigma": sigma}


def predator_and_prey(times, step=1e-3):
    """Lotka-Volterra from (10, 5) with alpha, beta, gamma, delta = 1.5, 1, 3, 1, by Runge and Kutta."""
    def slope(s):
        return np.array([s[0] * (1.5 - s[1]), -s[1] * (3 - s[0])])

    path = [np.array([10.0, 5.0])]
    for _ in range(round(times[-1] / step)):
        s = path[-1]
        a = slope(s)
        b = slope(s + step / 2 * a)
        c = slope(s + step / 2 * b)
        path.append(s + step / 6 * (a + 2 * b + 2 * c + slope(s + step * c)))
    return np.array([path[round(t / step)] for t in times])


def add_arguments(parser):
    parser.add_argument("--experiment", choices=EXPERIMENTS, required=True)
    parser.add_argument("--variant", choices=VARIANTS, default="full")
    parser.add_argument("--data", help="JSON: train.x, train.y, low, high, sigma (default: an example of our own)")
    parser.add_argument("--start", help="rows of parameters, raw float32 (default: random)")
    parser.add_argument("--seed", type=int, default=0, help="of random rows")
    parser.add_argument("--members", type=int, help="default: as published")
    parser.add_argument("--iterations", type=int, default=100, help="in a burst")
    parser.add_argument("--first", type=int, default=3000, help="number of the first iteration, for the schedules")
    parser.add_argument("--rounds", type=int, default=5, help="bursts; the best counts")
    parser.add_argument("--fixed-points", action="store_true", help="do not redraw advection's points")
    parser.add_argument("--theta-out", help="write the rows after one burst")
    parser.add_argument("--json", action="store_true", help="print JSON")


def task_and_rows(arguments):
    data = None
    if arguments.data:
        with open(arguments.data) as file:
            data = json.load(file)
    task = make_task(arguments.experiment, arguments.variant, arguments.members, data, not arguments.fixed_points)
    if not arguments.start:
        return task, random_rows(task.name, task.members, arguments.seed)
    return task, np.fromfile(arguments.start, np.float32).reshape(task.members, -1)


def time_bursts(burst, arguments):
    """The result of a burst, and the times of the fastest; those of the CPU say more on a busy machine."""
    wall, cpu = math.inf, math.inf
    for _ in range(arguments.rounds):
        start, cpu_start = time.perf_counter(), time.process_time()
        result = burst()
        wall, cpu = min(wall, time.perf_counter() - start), min(cpu, time.process_time() - cpu_start)
    each = 1e3 / arguments.iterations
    return result, {"ms_per_iteration": each * wall, "cpu_ms_per_iteration": each * cpu}


def report(arguments, task, rows, numbers):
    """Prints what was measured, and writes the rows if asked to."""
    if arguments.theta_out:
        np.asarray(rows, np.float32).tofile(arguments.theta_out)
    about = {"experiment": task.name, "variant": task.variant, "members": task.members,
             "iterations": arguments.iterations, "first": arguments.first}
    if arguments.json:
        print(json.dumps(about | numbers))
    else:
        print(", ".join(f"{k} {v:.4g}" if isinstance(v, float) else f"{k} {v}" for k, v in (about | numbers).items()))
