#!/usr/bin/env python3
"""Training of repulsive ensembles in PyTorch as the published code does it: a loop over members in Python, with a
network and an Adam for each. (The bandwidths are found once in an iteration, where that code finds them once for
each member.)

    python repulsive_torch.py --experiment oscillator --variant full --iterations 20 --json
"""
import argparse
import math

import numpy as np
import torch

import experiments


def derivative(f, x):
    return torch.autograd.grad(f.sum(), x, create_graph=True)[0]


class Member(torch.nn.Module):
    """A network and the parameters of the equation."""

    def __init__(self, task, row):
        super().__init__()
        self.task = task
        layers, lam = task.split(torch.tensor(np.asarray(row))[None])
        self.layers = torch.nn.ModuleList()
        for w, b in layers:
            layer = torch.nn.Linear(*w.shape[1:])
            layer.weight.data, layer.bias.data = w[0].T.contiguous(), b[0].clone()
            self.layers.append(layer)
        self.lam = torch.nn.Parameter(lam[0].clone())
        self.low, self.high = torch.tensor(task.low), torch.tensor(task.high)

    def row(self, part=lambda p: p.detach()):
        """The parameters in the order of a row, or a part of them such as their gradients."""
        pieces = [piece for layer in self.layers for piece in (part(layer.weight).T, part(layer.bias))]
        return torch.cat([piece.reshape(-1) for piece in [*pieces, part(self.lam)]])

    def forward(self, x):
        h = 2 * (x - self.low) / (self.high - self.low) - 1
        for layer in self.layers[:-1]:
            h = torch.tanh(layer(h))
        smallest, largest = self.task.output_range
        return smallest + 0.5 * (self.layers[-1](h) + 1) * (largest - smallest)

    def residual(self, x):
        """[points] or, for Lotka-Volterra, [points, 2]."""
        x = x.clone().requires_grad_()
        f = self(x)
        if self.task.name == "lotka_volterra":
            prey, predators = f[:, 0], f[:, 1]
            prey_t, predators_t = derivative(prey, x)[:, 0], derivative(predators, x)[:, 0]
            alpha, beta, gamma, delta = self.lam
            return torch.stack([prey_t - prey * (alpha - beta * predators),
                                predators_t + predators * (gamma - delta * prey)], 1)
        f_x = derivative(f, x)
        if self.task.name == "advection":
            return f_x[:, 0] + self.lam[0] * f_x[:, 1]
        if self.task.name == "exponential":
            return (f_x - self.lam[0] * f)[:, 0]
        omega, zeta = self.lam
        return (derivative(f_x, x) + 2 * zeta * omega * f_x + omega**2 * f)[:, 0]


def bandwidths(values):
    """Lower median (which is torch's) of the distances between members, in each dimension."""
    i, j = np.triu_indices(len(values), 1)
    distances = (values[i] - values[j]).abs() + 1e-7
    return distances.median(dim=0).values / math.sqrt(math.log(len(values)))


class Ensemble:
    def __init__(self, task, rows):
        self.task = task
        self.members = [Member(task, row) for row in rows]
        self.adams = [torch.optim.Adam(m.parameters(), lr=task.settings.rate, weight_decay=task.settings.decay)
                      for m in self.members]
        self.x, self.y = torch.tensor(task.x), torch.tensor(task.y)

    def points(self, k):
        """Where member k takes its residual."""
        task = self.task
        if task.redraws:
            low, high = torch.tensor(task.low), torch.tensor(task.high)
            return low + (high - low) * torch.rand(task.settings.points, len(low))
        return torch.tensor(task.fixed_points if task.fixed_points.ndim == 2 else task.fixed_points[k])

    def repulsion(self, values, others, h):
        """Log density of one member's values among all members' values, which are constants."""
        exponents = -0.5 * ((values - others) / h) ** 2
        split = self.task.y.size
        if self.task.variant == "full":
            return (torch.logsumexp(exponents, 0) - torch.log(h)).sum()
        groups = {"f": [exponents[:, :split]], "lambda": [exponents[:, split:]], "joint": [exponents],
                  "factorized": [exponents[:, :split], exponents[:, split:]]}[self.task.variant]
        return sum(torch.logsumexp(group.sum(1), 0) for group in groups)

    def losses(self, iteration):
        task = self.task
        weight = [value for after, value in task.settings.physics if iteration > after][-1]
        outputs = [m(self.x) for m in self.members]
        values = [torch.cat([f.reshape(-1), m.lam]) for f, m in zip(outputs, self.members)]
        repulsive = task.variant != "none" and iteration >= task.settings.repulsion_from
        if repulsive:
            others = torch.stack(values).detach()
            h = bandwidths(others)
        losses = []
        for k, member in enumerate(self.members):
            loss = ((outputs[k] - self.y) ** 2).mean()
            loss = loss + weight * (member.residual(self.points(k)) ** 2).sum() / task.settings.points
            if task.settings.wall:
                loss = loss + task.prior_weight * task.settings.wall * (member.lam.clamp(max=0) ** 2).sum()
            if repulsive:
                loss = loss + task.repulsion_weight * self.repulsion(values[k], others, h)
            losses.append(loss)
        return losses

    def step(self, iteration):
        losses = self.losses(iteration)
        for loss, adam in zip(losses, self.adams):
            adam.zero_grad()
            loss.backward()
            adam.step()
        return losses

    def rows(self):
        return torch.stack([m.row() for m in self.members]).numpy()


def build(task):
    """A training: run(rows, first, iterations) returns the trained rows."""
    def run(rows, first, iterations):
        ensemble = Ensemble(task, rows)
        for i in range(iterations):
            ensemble.step(first + i)
        return ensemble.rows()

    return run


def build_trace(task):
    """For checks: trace(rows, first, iterations) returns the losses [iterations, members] along the training, and the
    gradients [iterations, members, row]."""
    def trace(rows, first, iterations):
        ensemble, losses, gradients = Ensemble(task, rows), [], []
        for i in range(iterations):
            losses.append([loss.item() for loss in ensemble.step(first + i)])
            gradients.append(torch.stack([m.row(lambda p: p.grad) for m in ensemble.members]).numpy())
        return np.array(losses), np.array(gradients)

    return trace


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    experiments.add_arguments(parser)
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    task, rows = experiments.task_and_rows(arguments)
    run = build(task)
    run(rows, arguments.first, 2)
    end, times = experiments.time_bursts(lambda: run(rows, arguments.first, arguments.iterations), arguments)
    experiments.report(arguments, task, end, {"style": "torch", "lower_s": 0.0, "compile_s": 0.0, **times})


if __name__ == "__main__":
    main()
