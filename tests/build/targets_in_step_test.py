#!/usr/bin/env python3
"""Fails when a file is in no target, or when CMake, Bazel and the BUILD files disagree.

    targets_in_step_test.py BUILD_FOLDER     checks the files, and CMake's targets and tests there
    targets_in_step_test.py --bazel          checks Bazel's tests
"""

import collections
import json
import re
import subprocess
import sys
import unittest
from pathlib import Path

from build_files import PARTS, ROOT, read_targets

BUILD_FOLDER = None  # or where CMake built


def tests_of_build_files():
    return {t.label for t in read_targets() if t.rule.endswith("_test")}


class FilesTest(unittest.TestCase):

    def test_every_source_is_in_exactly_one_target(self):
        listed = collections.Counter(f for t in read_targets() for f in t.files(".cc", ".h"))
        own_projects = [p.parent for part in PARTS for p in (ROOT / part).rglob("CMakeLists.txt")]
        present = {str(p.relative_to(ROOT)) for part in PARTS for p in (ROOT / part).rglob("*")
                   if p.suffix in (".cc", ".h") and not any(o in p.parents for o in own_projects)}
        self.assertEqual(present - set(listed), set(), "files in no target of a BUILD.bazel")
        self.assertEqual(set(listed) - present, set(), "files of a BUILD.bazel that do not exist")
        self.assertEqual({f for f, n in listed.items() if n > 1}, set(), "files in several targets")

    def test_the_whole_library_has_every_room_but_the_program(self):
        libraries = {t.label: t for t in read_targets()
                     if t.rule == "cc_library" and t.package.startswith("src") and t.package != "src/app"}
        reached, waiting = set(), ["//src:sturnus"]
        while waiting:
            label = waiting.pop()
            if label in libraries and label not in reached:
                reached.add(label)
                waiting += libraries[label].deps()
        self.assertEqual(reached, set(libraries))

    def test_outside_libraries_have_the_same_pins(self):
        def pins(file):
            return set(re.findall(r"\b[0-9a-f]{64}\b", (ROOT / file).read_text()))
        of_bazel_alone = re.search(r'name = "bazel_skylib".*?sha256 = "(\w+)"',
                                   (ROOT / "bazel/deps.bzl").read_text(), re.DOTALL).group(1)
        self.assertEqual(pins("bazel/deps.bzl") - {of_bazel_alone}, pins("cmake/Dependencies.cmake"))


class CMakeTest(unittest.TestCase):

    def setUp(self):
        if not BUILD_FOLDER:
            self.skipTest("no build folder given")

    def test_compiles_the_targets_of_the_build_files(self):
        compiled = collections.defaultdict(set)
        for entry in json.loads((BUILD_FOLDER / "compile_commands.json").read_text()):
            target = re.search(r" -o CMakeFiles/([^/]+)\.dir/", entry["command"])
            file = Path(entry["file"])
            if ROOT in file.parents and BUILD_FOLDER not in file.parents:
                compiled[target.group(1)].add(str(file.relative_to(ROOT)))
        self.assertEqual(sorted(map(sorted, compiled.values())),
                         sorted(sorted(t.files(".cc")) for t in read_targets() if t.files(".cc")))

    def test_runs_the_tests_of_the_build_files(self):
        shown = json.loads(subprocess.check_output(
            ["ctest", "--test-dir", str(BUILD_FOLDER), "--show-only=json-v1"]))
        of_the_code = set()
        for test in shown["tests"]:
            labels = [p["value"] for p in test["properties"] if p["name"] == "LABELS"]
            if ["tree"] not in labels:
                package, _, name = test["name"].rpartition("/")
                of_the_code.add(f"//{package}:{name}")
        self.assertEqual(of_the_code, tests_of_build_files())


class BazelTest(unittest.TestCase):

    def setUp(self):
        if BUILD_FOLDER:
            self.skipTest("--bazel not given")

    def test_runs_the_tests_of_the_build_files(self):
        query = subprocess.check_output(["bazel", "query", "--noshow_progress", "tests(//...)"], cwd=ROOT, text=True)
        self.assertEqual(set(query.split()), tests_of_build_files())


if __name__ == "__main__":
    argument = sys.argv.pop(1)
    BUILD_FOLDER = None if argument == "--bazel" else Path(argument).absolute()
    unittest.main()
