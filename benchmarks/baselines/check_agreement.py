#!/usr/bin/env python3
"""Do the baselines compute the same? One line for each experiment and variant; exits with 1 if not.

    python check_agreement.py [--experiment ...] [--variant ...] [--without-torch]

Everything is compared with the plain style of JAX, from the same rows, advection at fixed points:
  loss        largest relative difference between the members' losses in the first iteration
  gradient    relative difference of the gradients in the first iteration
  repulsion   the same, but relative to that part of the gradient which the repulsion adds
  path        largest relative difference of the members' losses over the next iterations
The last column is the path of the plain style itself when the start moves by one unit in the last place: what
rounding alone does. Paths may differ by some times that.
"""
import argparse
import sys

import jax.numpy as jnp
import numpy as np

import experiments
import repulsive_jax

LOSS, GRADIENT, REPULSION, PATH = 2e-5, 5e-5, 2e-2, 1e-3


def path(train, gradient, rows, first, steps):
    """The members' losses after 1, 2, 4, ... iterations."""
    counts = [n for n in (1, 2, 4, 8, 16, 32) if n <= steps]
    return np.stack([gradient(train(rows, first, n), first + n)[0] for n in counts])


def relative(a, b):
    return float(np.max(np.abs(a - b) / np.abs(b)))


def norm_ratio(difference, size):
    return float(np.linalg.norm(difference) / max(np.linalg.norm(size), 1e-30))


def compare(task, programs, rows, first, steps, no_repulsion):
    """{program: (loss, gradient, repulsion, path)} against the first program, and the path of moved rows."""
    (_, (train, gradient)), *others = programs.items()
    losses, bar = map(np.asarray, gradient(rows, first))
    expected = path(train, gradient, rows, first, steps)
    moved = path(train, gradient, rows * np.float32(1 + 2**-23), first, steps)
    results = {}
    for name, (train, gradient) in others:
        their_losses, their_bar = map(np.asarray, gradient(rows, first))
        difference = their_bar - bar
        repulsion = norm_ratio(difference, bar - no_repulsion) if task.variant != "none" else 0.0
        results[name] = (relative(their_losses, losses), norm_ratio(difference, bar), repulsion,
                         relative(path(train, gradient, rows, first, steps), expected))
    return results, relative(moved, expected)


def programs_of(task, with_torch):
    programs = {style: (repulsive_jax.build(task, style), repulsive_jax.build_gradient(task, style))
                for style in repulsive_jax.STYLES}
    if with_torch:
        import repulsive_torch
        programs["torch"] = (repulsive_torch.build(task), repulsive_torch.build_gradient(task))
    return programs


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--experiment", nargs="*", default=list(experiments.EXPERIMENTS))
    parser.add_argument("--variant", nargs="*", default=list(experiments.VARIANTS))
    parser.add_argument("--members", type=int)
    parser.add_argument("--steps", type=int, default=8)
    parser.add_argument("--without-torch", action="store_true")
    arguments = parser.parse_args()
    print(f"{'experiment':15s} {'variant':11s} {'program':8s} {'loss':>8s} {'gradient':>9s} {'repulsion':>10s} "
          f"{'path':>8s} {'rounding':>9s}")
    failures = 0
    for name in arguments.experiment:
        first = experiments.EXPERIMENTS[name].repulsion_from
        for variant in arguments.variant:
            task, free = (experiments.make_task(name, v, arguments.members, redraw=False) for v in (variant, "none"))
            rows = jnp.asarray(experiments.random_rows(name, task.members, 0))
            no_repulsion = repulsive_jax.build_gradient(free, "plain")(rows, first)[1]
            results, moved = compare(task, programs_of(task, not arguments.without_torch), rows, first,
                                     arguments.steps, no_repulsion)
            for program, (loss, gradient, repulsion, way) in results.items():
                good = loss < LOSS and gradient < GRADIENT and repulsion < REPULSION and way < max(PATH, 20 * moved)
                failures += not good
                print(f"{name:15s} {variant:11s} {program:8s} {loss:8.1e} {gradient:9.1e} {repulsion:10.1e} "
                      f"{way:8.1e} {moved:9.1e}{'' if good else '  DIFFERS'}", flush=True)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
