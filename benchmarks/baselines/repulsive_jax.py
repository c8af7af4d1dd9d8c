#!/usr/bin/env python3
"""Training of repulsive ensembles in JAX, as one program: --style plain (jax_plain.py) or tuned (jax_tuned.py).

    python repulsive_jax.py --experiment oscillator --variant full --style tuned --iterations 100 --json
"""
import argparse
import functools
import time
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import lax

import experiments
from jax_plain import Plain
from jax_tuned import Tuned

STYLES = {"plain": Plain, "tuned": Tuned}


class Program(NamedTuple):
    """A compiled training: program(rows, first, iterations) returns the trained rows."""
    lowered: Any
    compiled: Any
    lower_s: float
    compile_s: float

    def __call__(self, rows, first, iterations):
        return self.compiled(rows, jnp.int32(first), jnp.int32(iterations))


def draw_points(task, iteration):
    """The residual's points: fixed, or uniform and new for each iteration and member."""
    if not task.redraws:
        return jnp.asarray(task.fixed_points)
    key = jax.random.fold_in(jax.random.key(0), iteration)
    unit = jax.random.uniform(key, (task.members, task.settings.points, len(task.low)))
    return task.low + (task.high - task.low) * unit


def gradient_at(task, style, parameters, iteration):
    """Losses of the members in one iteration of the schedules, and the gradient of their sum."""
    weight = 0.0
    for after, value in task.settings.physics:
        weight = jnp.where(iteration > after, value, weight)
    return style.gradient(parameters, draw_points(task, iteration), weight, iteration >= task.settings.repulsion_from)


def adam(task, n, parameters, mean, square, gradient):
    n = n.astype(jnp.float32)
    rate, correction = task.settings.rate / (1 - 0.9**n), 1 / jnp.sqrt(1 - 0.999**n)
    if task.settings.decay:
        gradient = jax.tree.map(lambda g, q: g + task.settings.decay * q, gradient, parameters)
    mean = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, mean, gradient)
    square = jax.tree.map(lambda v, g: 0.999 * v + 0.001 * g * g, square, gradient)
    parameters = jax.tree.map(lambda q, m, v: q - rate * m / (jnp.sqrt(v) * correction + 1e-8),
                              parameters, mean, square)
    return parameters, mean, square


def step(task, style, first, i, state):
    """Iteration first + i: the new state, and the losses and the gradient it started from."""
    losses, gradient = gradient_at(task, style, state[0], first + i)
    return adam(task, i + 1, *state, gradient), (losses, gradient)


def start_state(style, rows):
    parameters = style.unpack(rows)
    zeros = jax.tree.map(jnp.zeros_like, parameters)
    return parameters, zeros, zeros


def train(task, style, rows, first, iterations):
    def body(i, state):
        return step(task, style, first, i, state)[0]

    return style.pack(lax.fori_loop(0, iterations, body, start_state(style, rows))[0])


def build(task, style):
    """The training with this style, lowered and compiled."""
    rows = jax.ShapeDtypeStruct((task.members, experiments.row_size(task.name)), jnp.float32)
    number = jax.ShapeDtypeStruct((), jnp.int32)
    start = time.perf_counter()
    lowered = jax.jit(functools.partial(train, task, STYLES[style](task))).lower(rows, number, number)
    middle = time.perf_counter()
    compiled = lowered.compile()
    return Program(lowered, compiled, middle - start, time.perf_counter() - middle)


def build_trace(task, style):
    """For checks: trace(rows, first, iterations) returns the losses [iterations, members] along the training, and the
    gradients [iterations, members, row]."""
    style = STYLES[style](task)

    @functools.partial(jax.jit, static_argnums=2)
    def trace(rows, first, iterations):
        def body(state, i):
            state, (losses, gradient) = step(task, style, first, i, state)
            return state, (losses, style.pack(gradient))

        return lax.scan(body, start_state(style, rows), jnp.arange(iterations))[1]

    return trace


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    experiments.add_arguments(parser)
    parser.add_argument("--style", choices=STYLES, default="tuned")
    parser.add_argument("--mlir", help="write the StableHLO of the whole training")
    arguments = parser.parse_args()
    task, rows = experiments.task_and_rows(arguments)
    program = build(task, arguments.style)
    if arguments.mlir:
        with open(arguments.mlir, "w") as file:
            file.write(program.lowered.as_text())
    rows = jnp.asarray(rows)
    program(rows, arguments.first, 2).block_until_ready()

    def burst():
        return program(rows, arguments.first, arguments.iterations).block_until_ready()

    end, times = experiments.time_bursts(burst, arguments)
    experiments.report(arguments, task, end, {
        "style": arguments.style, "lower_s": program.lower_s, "compile_s": program.compile_s, **times})


if __name__ == "__main__":
    main()
