#!/usr/bin/env python3
"""What cannot be right for any value is refused by the compiler, in a sentence of ours, and headers
say what functions throw for the rest.

    sentences_test.py BUILD_FOLDER
"""

import json
import re
import shlex
import subprocess
import sys
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BUILD_FOLDER = None

# Each misuse with what the compiler must say about it.
MISUSES = {
    "jit_of_void": ("jit([](Array) {})(x);",
                    "a transformed function must return what it computes"),
    "grad_of_void": ("grad([](Array) {})(x);",
                     "a transformed function must return what it computes"),
    "cond_of_void": ("cond(true, [] {}, [] {});",
                     "a transformed function must return what it computes"),
    "cond_of_two_types": ("cond(true, [] { return Array(1); }, [] { return std::vector{Array(1)}; });",
                          "cond: both branches must return the same type"),
    "grad_by_no_argument": ("grad<1>([](Array y) { return y; })(x);",
                            "there is no argument of the number to differentiate by"),
    "jacrev_by_no_argument": ("jacrev<0, 1>([](Array y) { return y; })(x);",
                              "there is no argument of the number to differentiate by"),
    "hvp_of_another_type": ("hvp<0, 1>([](Array y, Array z) { return sum(y * z); }, std::tuple(x, x), x);",
                            "hvp: v must have the type of the argument"),
    "has_aux_of_no_pair": ("jacfwd(has_aux([](Array y) { return y; }))(x);",
                           "has_aux: the function must return a std::pair"),
    "jit_static_argument": ("jit<2>([](Array y) { return y; })(x);",
                            "jit<i>: there is no argument i"),
    "jit_of_a_pointer": ("struct S { Array a; int* p; }; jit([](const S& s) { return s.a; })(S{x, 0});",
                         "this type cannot be part of a tree"),
    "lost_update": ("x.at(0).set(1.0);", "use the new one that At::set returns"),
    "custom_jvp_of_no_pair": ("custom_jvp([](Array y) { return y; }, [](Array y, Array) { return y; })(x);",
                              "custom_jvp: the rule must return a std::pair"),
    "custom_vjp_of_no_pair": ("custom_vjp([](Array y) { return y; }, [](Array y) { return y; }, "
                              "[](Array, Array ct) { return ct; })(x);",
                              "custom_vjp: the forward pass must return a std::pair"),
    "switch_of_two_types": ("switch_(0, std::tuple([] { return Array(1); }, [] { return std::vector{Array(1)}; }));",
                            "switch_: all branches must return the same type"),
    "derivatives_with_aux": ("derivatives(has_aux([](Array y) { return std::pair(y, y); }), x, 2);",
                             "derivatives: has_aux is for jet"),
    "lost_print": ('debug_print("x", x);', "use what debug_print returns"),
}


class SentencesTest(unittest.TestCase):

    def test_the_compiler_says_them(self):
        program = "#include <sturnus/sturnus.h>\nusing namespace sturnus;\n"
        for name, (code, _) in MISUSES.items():
            program += f'#line 1 "{name}"\nvoid {name}(Array x) {{ (void)x; {code} }}\n'
        commands = json.loads((BUILD_FOLDER / "compile_commands.json").read_text())
        entry = next(c for c in commands if c["file"].endswith("tests/functional/errors_test.cc"))
        command = shlex.split(entry["command"])
        if "ccache" in command[0]:
            command.pop(0)
        options = [o for o in command[1:] if o.startswith(("-I", "-D", "-isystem", "-std"))
                   or command[command.index(o) - 1] == "-isystem"]
        limit = ["-ferror-limit=0"] if "clang" in command[0] else []
        result = subprocess.run(
            [command[0], *options, *limit, "-Wall", "-fsyntax-only", "-x", "c++", "-"],
            input=program, capture_output=True, text=True, cwd=entry["directory"])
        self.assertNotEqual(result.returncode, 0)
        for name, (code, sentence) in MISUSES.items():
            with self.subTest(name):
                for expected in (f"{name}:1", sentence):
                    self.assertTrue(expected in result.stderr, f"{expected!r} for {code}")

    def test_headers_say_what_functions_throw(self):
        """Where a source has a message in the name of a function, that one's comment says so."""
        public = re.findall(r"<sturnus/((?:ops|functional)/\w+\.h)>", (ROOT / "src/sturnus.h").read_text())
        headers = [ROOT / "src" / name for name in public]
        said = {}
        for header in headers:
            text = header.read_text()
            start = text[:text.index("#pragma once")]
            for comment, code in re.findall(r"((?:^ *///.*\n)+)((?:^(?! *///)(?!\n).*\n)+)", text, re.M):
                for name in re.findall(r"(\w+)\(", code):
                    said.setdefault(name, []).append((header, "hrow" in start + comment))
        for source in [s for folder in ("ops", "functional")
                       for s in (ROOT / "src" / folder).glob("*.cc")]:
            for name in set(re.findall(r'\bmessage\(\s*"(\w+)"', source.read_text())):
                own = [throws for header, throws in said.get(name, [])]
                with self.subTest(name, source=source.name):
                    self.assertTrue(not own or any(own), "its header does not say what it throws")


if __name__ == "__main__":
    BUILD_FOLDER = Path(sys.argv.pop())
    unittest.main()
