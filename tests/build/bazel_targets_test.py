#!/usr/bin/env python3
"""Tests cmake/BazelTargets.cmake: what it makes of BUILD files, and what it refuses."""

import subprocess
import tempfile
import unittest
from pathlib import Path

from build_files import ROOT

PROJECT = f"""
cmake_minimum_required(VERSION 3.21)
project(toy LANGUAGES CXX)
set(STURNUS_INSTALL OFF)
enable_testing()
include({ROOT}/cmake/BazelTargets.cmake)
sturnus_add_bazel_targets(src/room tests/room)
get_target_property(libraries sturnus_room LINK_LIBRARIES)
get_target_property(sources sturnus_room SOURCES)
get_target_property(module sturnus_tests_room_libplug_so TYPE)
message(STATUS "libraries=${{libraries}}")
message(STATUS "sources=${{sources}}")
message(STATUS "module=${{module}}")
"""

LIBRARY = """
load("@rules_cc//cc:defs.bzl", "cc_library")

package(default_visibility = ["//visibility:public"])

# A comment with "quotes", brackets [ and ; semicolons.
cc_library(
    name = "room",
    srcs = ["a.cc", "b.h"],
    hdrs = ["c.h"],
    include_prefix = "sturnus",
    strip_include_prefix = "/src",
    deps = ["@eigen//:eigen"],
)
"""

TESTS = """
cc_binary(
    name = "libplug.so",
    testonly = True,
    srcs = ["plug.cc"],
    linkshared = True,
)

cc_test(
    name = "a_test",
    size = "small",
    srcs = ["a_test.cc"],
    data = [":libplug.so"],
    env = {
        "PLUG": "$(rootpath :libplug.so)",
        "MODE": "quick",
    },
    tags = ["slow"],
    deps = ["//src/room"],
)
"""


class BazelTargetsTest(unittest.TestCase):

    def configure(self, library=LIBRARY, tests=TESTS):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        root = Path(folder.name)
        (root / "CMakeLists.txt").write_text(PROJECT)
        for package, text, files in (("src/room", library, ("a.cc", "b.h", "c.h")),
                                     ("tests/room", tests, ("a_test.cc", "plug.cc"))):
            (root / package).mkdir(parents=True)
            (root / package / "BUILD.bazel").write_text(text)
            for file in files:
                (root / package / file).write_text("int main() {}\n" if file == "a_test.cc" else "")
        result = subprocess.run(["cmake", "-G", "Ninja", "-S", str(root), "-B", str(root / "build")], text=True,
                                stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        return root, result.returncode, " ".join(result.stdout.split())

    def test_makes_libraries_modules_and_tests(self):
        root, code, output = self.configure()
        self.assertEqual(code, 0, output)
        self.assertIn("libraries=Eigen3::Eigen", output)
        self.assertIn(f"sources={root}/src/room/a.cc;{root}/src/room/b.h", output)
        self.assertIn("module=MODULE_LIBRARY", output)
        tests = (root / "build" / "CTestTestfile.cmake").read_text()
        for part in (f'add_test([=[tests/room/a_test]=] "{root}/build/tests/room/a_test")',
                     f"PLUG={root}/build/tests/room/libplug.so", "MODE=quick", 'LABELS "slow"', 'TIMEOUT "60"'):
            self.assertIn(part, tests)
        subprocess.run(["cmake", "--build", str(root / "build"), "--target", "sturnus_tests_room_a_test"],
                       check=True, stdout=subprocess.DEVNULL)
        self.assertTrue((root / "build/tests/room/libplug.so").exists(), "data is built before the test")

    def test_refuses_what_it_does_not_know(self):
        for what, old, new, complaint in (
                ("rule", "cc_library(\n", "java_library(\n", "`java_library` is not a rule"),
                ("attribute", "hdrs =", "textual_hdrs =", "`textual_hdrs` is not a rule, attribute"),
                ("variable", '["c.h"]', "HEADERS", "`HEADERS` is not a rule, attribute"),
                ("call", '["c.h"]', 'glob(["*.h"])', "`glob` is not a rule, attribute"),
                ("sum", '["c.h"]', '["c.h"] + ["d.h"]', "`+` is not a rule, attribute"),
                ("outside label", "@eigen//:eigen", "@armadillo//:arma", "`@armadillo//:arma` does not stand"),
                ("label", "@eigen//:eigen", "//src/attic", "//src/room:room: there is no `//src/attic`")):
            with self.subTest(what):
                self.assertIn(old, LIBRARY)
                _, code, output = self.configure(library=LIBRARY.replace(old, new))
                self.assertNotEqual(code, 0)
                self.assertIn(complaint, output)


if __name__ == "__main__":
    unittest.main()
