#!/usr/bin/env python3
"""NUTS side by side on the CPU: Sturnus, NumPyro, BlackJAX and Stan.

    ./sturnus bench --sampling [--posterior ...] [--rounds 3] [--without-stan] [--page FILE]

All sample the same posteriors in double precision, 4 chains of 1000 transitions of warm-up and 1000 draws, from the same
starts. What counts are effective draws per second: the smallest bulk ESS of all parameters over seconds of sampling,
compiling apart. Programs take turns, round by round; the table has medians and the ratios of Sturnus to the others. JAX's
programs have variants, chains on one core or on all, and fixed or adaptive steps of the ODE; the best of the first round
stays. The starts are those of Sturnus; its seconds have the search for them, its seconds of compiling do not.
"""
import argparse
import itertools
import json
import os
import statistics
import subprocess
import sys

from page import Page

HERE = os.path.dirname(os.path.abspath(__file__))
POSTERIORS = ("exponential", "oscillator", "hare_lynx")


class Program:
    """A process that answers lines of JSON."""

    def __init__(self, name, command):
        self.name, self.command, self.rounds = name, command, []
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                        stderr=subprocess.DEVNULL)

    def read(self):
        for line in self.process.stdout:
            if line.startswith("{"):
                return json.loads(line)
        sys.exit(f"bench: `{' '.join(self.command)}` ended early. Run it to see why")

    def ask(self, request):
        print(json.dumps(request), file=self.process.stdin, flush=True)
        return self.read()

    def close(self):
        self.process.stdin.close()
        self.process.wait()

    def median(self, number):
        return statistics.median(number(r) for r in self.rounds)

    @property
    def rate(self):
        return self.median(lambda r: r["ess"] / (r.get("search_s", 0) + r["warmup_s"] + r["draws_s"]))

    @property
    def rate_of_draws(self):
        """None when the program does not tell its phases apart."""
        return self.median(lambda r: r["ess"] / r["draws_s"]) if self.rounds[0]["draws_s"] > 0 else None


def variants(posterior):
    """The choices that programs of JAX have."""
    solvers = ("rk4", "odeint") if posterior == "hare_lynx" else ("rk4",)
    for chains, solver in itertools.product(("vectorized", "parallel"), solvers):
        yield f"{chains}, {solver}" if len(solvers) > 1 else chains, ["--chains", chains, "--solver", solver]


def baseline(library, posterior, data, options=()):
    script = os.path.join(HERE, "baselines", f"posteriors_{library}.py")
    return [sys.executable, script, posterior, json.dumps(data), *options]


def best_variant(name, posterior, data, first, request):
    """That of the highest rate in a first round, with this round done."""
    best = None
    for title, options in variants(posterior):
        program = Program(f"{name}, {title}", baseline(name.lower(), posterior, data, options))
        program.compile_s = program.ask(first)["compile_s"]
        program.rounds.append(program.ask(request))
        print(f"  {program.name}: {program.rate:.0f} effective draws per second", file=sys.stderr)
        worse = program if best and best.rate >= program.rate else best
        best = program if worse is not program else best
        if worse:
            worse.close()
    return best


def compare(posterior, arguments):
    ours = Program("Sturnus", [os.path.join(arguments.folder, "benchmarks", "sampling_benchmark"), posterior])
    about = ours.read()
    ours.compile_s, ours.search_compile_s = about["compile_s"], about["search_compile_s"]
    programs = [ours]
    first = {"seed": 0, "starts": about["starts"]}
    for seed in range(1, arguments.rounds + 1):
        ours.rounds.append(ours.ask(seed))
        request = {"seed": seed, "starts": ours.rounds[-1]["starts"]}
        if seed > 1:
            for program in programs[1:]:
                program.rounds.append(program.ask(request))
            continue
        programs += [best_variant(name, posterior, about["data"], first, request) for name in ("NumPyro", "BlackJAX")]
        if not arguments.without_stan:
            stan = Program("Stan", baseline("stan", posterior, about["data"]))
            stan.compile_s = stan.ask(first)["compile_s"]
            stan.rounds.append(stan.ask(request))
            programs.append(stan)
    for program in programs:
        program.close()
    return programs


def show(page, posterior, programs):
    ours = programs[0]

    def cells(program):
        alone = program.rate_of_draws
        # BlackJAX's is the time of its first run without that of its second, which may say nothing.
        compiled = program.compile_s > 0.1
        seconds = f"{program.compile_s:.2f}" + (f" (+ {ours.search_compile_s:.2f})" if program is ours else "")
        return [program.name, f"{program.rate:.0f}", f"{ours.rate / program.rate:.2f}",
                f"{alone:.0f}" if alone else "", f"{ours.rate_of_draws / alone:.2f}" if alone else "",
                *([seconds, f"{program.compile_s / ours.compile_s:.2f}"] if compiled else ["", ""])]

    page.table(f"{posterior}, effective draws per second",
               ["", "with warm-up", "ratio", "draws alone", "ratio", "compile s", "ratio"], [cells(p) for p in programs])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", help="with the built benchmarks")
    parser.add_argument("--posterior", nargs="*", choices=POSTERIORS, default=list(POSTERIORS))
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--without-stan", action="store_true")
    parser.add_argument("--json", help="write all numbers to this file")
    parser.add_argument("--page", help="write the tables to this file, as Markdown")
    arguments = parser.parse_args()
    page = Page("Speed of sampling", "./sturnus bench --sampling", 0,
                f"the median of {arguments.rounds} rounds in which the programs take turns: NUTS in double precision, 4 "
                "chains of 1000 transitions of warm-up and 1000 draws from the same starts. Effective draws are the smallest "
                "bulk ESS of all parameters. A ratio is the rate of Sturnus over the program's, for compiling the program's "
                "time over that of Sturnus. NumPyro and BlackJAX run in the variant that was the quickest of theirs in the "
                "first round. In brackets: what Sturnus takes once to compile its search for starts, which the others are "
                "spared.")
    everything = {}
    for posterior in arguments.posterior:
        programs = compare(posterior, arguments)
        show(page, posterior, programs)
        everything[posterior] = {p.name: {"compile_s": p.compile_s, "rounds": p.rounds} for p in programs}
        everything[posterior]["search_compile_s"] = programs[0].search_compile_s
    if arguments.page:
        page.write(arguments.page)
    if arguments.json:
        with open(arguments.json, "w") as file:
            json.dump(everything, file, indent=1)


if __name__ == "__main__":
    main()
