"""Reads BUILD.bazel files, as far as they are literal Python. Independent of cmake/BazelTargets.cmake."""

import ast
from pathlib import Path

ROOT = Path(__file__).absolute().parents[2]
PARTS = ("src", "tests", "examples", "benchmarks")


class Target:
    """A rule of a BUILD file: .rule, .package, .name, and the attributes that are given."""

    def __init__(self, package, rule, attributes):
        self.package, self.rule, self.attributes = package, rule, attributes
        self.name = attributes["name"]
        self.label = f"//{package}:{self.name}"

    def files(self, *suffixes):
        listed = self.attributes.get("srcs", []) + self.attributes.get("hdrs", [])
        return [f"{self.package}/{file}" for file in listed if file.endswith(suffixes)]

    def deps(self):
        """The labels it depends on, written out: //a/b and :c as //a/b:b and //<package>:c."""
        for dep in self.attributes.get("deps", []):
            if dep.startswith(":"):
                yield f"//{self.package}{dep}"
            else:
                yield dep if ":" in dep else f"{dep}:{dep.rpartition('/')[2]}"


def read_targets():
    targets = []
    for part in PARTS:
        for build_file in sorted((ROOT / part).rglob("BUILD.bazel")):
            package = str(build_file.parent.relative_to(ROOT))
            for statement in ast.parse(build_file.read_text(), str(build_file)).body:
                attributes = {k.arg: ast.literal_eval(k.value) for k in statement.value.keywords}
                if "name" in attributes:
                    targets.append(Target(package, statement.value.func.id, attributes))
    return targets
