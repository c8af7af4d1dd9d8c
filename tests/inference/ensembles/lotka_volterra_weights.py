#!/usr/bin/env python3
"""What the weight of Lotka and Volterra's equation does to the scores of the published variants.

    python3 tests/inference/ensembles/lotka_volterra_weights.py [--work FOLDER] [--keep FILE] [--program PROGRAM]

Trains with multiples of the published weight: without repulsion 10, 1, 1/10, 1/36 and 1/100 times as much, the other
variants with a tenth; each on the five published runs, with the seeds that the tables have. All else is as published.
That is 50 trainings, of which FOLDER keeps what is done: the same command goes on where it stopped. FILE gets the
settings, the source and the scores of every run, and the tables of docs/ensembles.md are printed.
"""
import argparse
import json
import statistics
import subprocess
from pathlib import Path

ROOT = Path(__file__).absolute().parents[3]
RUNS = range(5)
WITHOUT_REPULSION = [(10, "10 times the published one"), (1, "as published: 0.5, 1, 2"), (1 / 10, "a tenth"),
                     (1 / 36, "1/36"), (1 / 100, "1/100")]
OTHERS = ["f", "lambda", "joint", "factorized", "full"]
SCORES = ["rmse", "logl_per_n", "abs_dlambda", "logl_lambda"]


def scaled(schedule, times):
    return {"value": times * schedule["value"], "steps": [[after, times * value] for after, value in schedule["steps"]]}


def trained(program, folder, settings):
    """The result of a run with these settings, which is trained unless the folder has it."""
    file, result = folder / "settings.json", folder / "out" / "result.json"
    folder.mkdir(parents=True, exist_ok=True)
    if file.exists() and json.loads(file.read_text()) != settings:
        raise SystemExit(f"{file} has other settings. Choose another --work, or remove {folder}")
    file.write_text(json.dumps(settings, indent=1) + "\n")
    if not (result.exists() and json.loads(result.read_text())["finished"]):
        resume = ["--resume"] if (folder / "out" / "training.part").exists() else []
        subprocess.run([program, "run", file, "--out", folder / "out", *resume], check=True, stdout=subprocess.DEVNULL)
        if not json.loads(result.read_text())["finished"]:
            raise SystemExit("Interrupted; the same command goes on where this one stopped.")
    return json.loads(result.read_text())


def row_of(program, work, variant, times, published):
    """The five runs of a variant with so many times the published weight."""
    row = {"variant": variant, "times_published_weight": times, "runs": []}
    for run in RUNS:
        settings = {"experiment": "lotka_volterra", "variant": variant, "run": run, "seed": run,
                    "residual_weight": scaled(published, times)}
        result = trained(program, work / f"{variant}-{times:.4g}-run{run}", settings)
        row["sturnus"], row["device"] = result["sturnus"], result["device"]
        row["settings"] = {key: value for key, value in result["settings"].items() if key not in ("run", "seed")}
        row["runs"].append({"run": run, "seed": run, "source": result["sturnus"]["commit"],
                            "divergences": result["members"]["divergences"],
                            "metrics": {name: result["metrics"][name] for name in SCORES}})
    return row


def text(row, score):
    values = [run["metrics"][score] for run in row["runs"]]
    return f"{statistics.mean(values):.2f} ± {statistics.pstdev(values):.2f}"


def published_text(tables, variant, score):
    """The published score, from the page of the tables."""
    column = {"rmse": 3, "abs_dlambda": 5}[score]
    for line in tables.splitlines():
        cells = [cell.strip() for cell in line.split("|")]
        if cells[1:3] == [variant, "published"]:
            mean, sd = cells[column].split(" ± ")
            return f"{float(mean):.2f} ± {float(sd):.2f}"
    raise SystemExit(f"docs/results/lotka_volterra.md has no published scores of {variant}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--work", type=Path, default=ROOT / "results" / "lotka_volterra_weights")
    parser.add_argument("--keep", type=Path, default=ROOT / "docs" / "results" / "lotka_volterra_weights.json")
    parser.add_argument("--program", type=Path, default=ROOT / "sturnus")
    options = parser.parse_args()

    tables = (ROOT / "docs" / "results" / "lotka_volterra.md").read_text()
    kept = json.loads((ROOT / "docs" / "results" / "lotka_volterra.json").read_text())
    weights = {variant["name"]: variant["settings"]["residual_weight"] for variant in kept["variants"]}
    row = lambda variant, times: row_of(options.program, options.work, variant, times, weights[variant])

    rows = [row("none", times) for times, _ in WITHOUT_REPULSION]
    print("| residual weight | RMSE | abs dlambda |\n|---|---|---|")
    for (_, name), one in zip(WITHOUT_REPULSION, rows):
        print(f"| {name} | {text(one, 'rmse')} | {text(one, 'abs_dlambda')} |")
    print(f"| published scores | {published_text(tables, 'none', 'rmse')} "
          f"| {published_text(tables, 'none', 'abs_dlambda')} |\n")

    others = [row(variant, 1 / 10) for variant in OTHERS]
    print("| variant | RMSE | published | abs dlambda | published |\n|---|---|---|---|---|")
    for one in others:
        variant = one["variant"]
        print(f"| {variant} | {text(one, 'rmse')} | {published_text(tables, variant, 'rmse')} "
              f"| {text(one, 'abs_dlambda')} | {published_text(tables, variant, 'abs_dlambda')} |")

    options.keep.write_text(json.dumps({"rows": rows + others}, indent=1) + "\n")


if __name__ == "__main__":
    main()
