#!/usr/bin/env python3
"""Do the baselines compute the same? One line for each program, experiment and variant; exits with 1 if not.

    python check_agreement.py [--experiment ...] [--variant ...] [--without-torch]

All is compared with the plain style of JAX, from the same rows, and for advection at the same points:
  loss        largest difference between the members' losses in the first iteration, over their mean
  gradient    relative difference of the gradients in the first iteration
  repulsion   the same, but relative to that part of the gradient which the repulsion adds
  path        the same as loss, over all iterations
  rounding    the path of the plain style when its start moves by one unit in the last place
"""
import argparse
import dataclasses
import functools
import sys

import numpy as np

import experiments
import repulsive_jax

# PyTorch corrects Adam's bias in double precision: at first, that alone moves a step by 3e-5.
LOSS, GRADIENT, REPULSION, PATH = 1e-5, 1e-5, 1e-3, 1e-3

# Times the noise, whose square weighs the repulsion: as published, it can be less than the rounding of the other terms.
LOUDER = 30


def relative(a, b):
    return float(np.max(np.abs(a - b)) / np.mean(np.abs(b)))


def norm_ratio(a, b):
    return float(np.linalg.norm(a) / np.linalg.norm(b))


def builders(with_torch):
    """{program: build_trace}, with what to compare to in front."""
    result = {style: functools.partial(repulsive_jax.build_trace, style=style) for style in repulsive_jax.STYLES}
    if with_torch:
        import repulsive_torch
        repulsive_torch.torch.set_num_threads(1)
        result["torch"] = repulsive_torch.build_trace
    return result


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--experiment", nargs="*", default=list(experiments.EXPERIMENTS))
    parser.add_argument("--variant", nargs="*", default=list(experiments.VARIANTS))
    parser.add_argument("--members", type=int, default=8)
    parser.add_argument("--steps", type=int, default=8)
    parser.add_argument("--without-torch", action="store_true")
    arguments = parser.parse_args()
    (_, build_plain), *others = builders(not arguments.without_torch).items()
    failures = 0
    print(f"{'experiment':15s} {'variant':11s} {'program':8s} {'loss':>8s} {'gradient':>9s} {'repulsion':>10s} "
          f"{'path':>8s} {'rounding':>9s}")
    for name in arguments.experiment:
        free = experiments.make_task(name, "none", arguments.members, redraw=False)
        free = dataclasses.replace(free, sigma=LOUDER * free.sigma)
        rows = experiments.random_rows(name, free.members, 0)
        first, steps = experiments.EXPERIMENTS[name].repulsion_from, arguments.steps
        _, free_gradients = build_plain(free)(rows, first, 1)
        for variant in arguments.variant:
            task = dataclasses.replace(free, variant=variant)
            plain = build_plain(task)
            losses, gradients = map(np.asarray, plain(rows, first, steps))
            moved, _ = plain(rows * np.float32(1 + 2**-23), first, steps)
            rounding = relative(moved, losses)
            for program, build in others:
                their_losses, their_gradients = build(task)(rows, first, steps)
                wrong = their_gradients[0] - gradients[0]
                loss, path = relative(their_losses[0], losses[0]), relative(their_losses, losses)
                gradient = norm_ratio(wrong, gradients[0])
                repulsion = 0.0 if variant == "none" else norm_ratio(wrong, gradients[0] - free_gradients[0])
                good = loss < LOSS and gradient < GRADIENT and repulsion < REPULSION and path < PATH
                failures += not good
                print(f"{name:15s} {variant:11s} {program:8s} {loss:8.1e} {gradient:9.1e} {repulsion:10.1e} "
                      f"{path:8.1e} {rounding:9.1e}{'' if good else '  DIFFERS'}", flush=True)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
