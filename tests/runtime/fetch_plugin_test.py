#!/usr/bin/env python3
"""Tests src/runtime/fetch_plugin.py with small wheels and a pip made here: no network."""

import contextlib
import hashlib
import io
import os
import signal
import subprocess
import sys
import tempfile
import textwrap
import time
import unittest
import zipfile
from pathlib import Path
from unittest import mock

ROOT = Path(__file__).absolute().parents[2]
sys.path.insert(0, str(ROOT / "src" / "runtime"))
import fetch_plugin  # noqa: E402

LIBRARY = "toy_plugins/toy.so"
WHEEL = "toy_pjrt-1.2-py3-none-manylinux_2_27_x86_64.whl"

# Stands in for `python -m pip`; the wheels it has to offer lie in $TOY_INDEX.
FAKE_PIP = """
import os, shutil, sys, time
args = sys.argv[1:]
dest = args[args.index("--dest") + 1]
behaviour = os.environ["TOY_PIP"]
with open(os.environ["TOY_INDEX"] + "/calls", "a") as calls:
    calls.write(" ".join(args) + "\\n")
if behaviour == "hangs":
    open(dest + "/half.whl", "w").close()
    parent = os.getppid()
    while os.getppid() == parent:
        time.sleep(0.05)
    sys.exit(1)
if behaviour == "unreachable":
    print("WARNING: Retrying (Retry(total=0)) after connection broken")
    sys.exit("ERROR: No matching distribution found for toy-pjrt==1.2")
if behaviour == "slow":
    time.sleep(0.5)
for name in os.listdir(os.environ["TOY_INDEX"]):
    if name.endswith(".whl"):
        shutil.copy(os.path.join(os.environ["TOY_INDEX"], name), dest)
"""


class FetchPluginTest(unittest.TestCase):

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.root = self.folder / "root"
        self.index = self.folder / "index"
        self.index.mkdir()
        self.wheel = self.index / WHEEL
        with zipfile.ZipFile(self.wheel, "w") as archive:
            archive.writestr(LIBRARY, b"machine code")
        self.sha256 = hashlib.sha256(self.wheel.read_bytes()).hexdigest()
        (self.folder / "pip").mkdir()
        (self.folder / "pip" / "__init__.py").touch()
        (self.folder / "pip" / "__main__.py").write_text("if __name__ == '__main__':\n" +
                                                         textwrap.indent(FAKE_PIP, "    "))
        self.target = self.root / "plugins" / "toy" / f"1.2-{self.sha256[:12]}"

    def start(self, *args, pip="works", **env):
        """Starts the program with one more pin, `toy`."""
        program = textwrap.dedent(f"""
            import sys
            sys.path.insert(0, {str(ROOT / "src" / "runtime")!r})
            import fetch_plugin
            fetch_plugin.platform.machine = lambda: "x86_64"
            fetch_plugin.PINS["toy"] = fetch_plugin.Pin(
                "toy-pjrt", "1.2", {LIBRARY!r}, {{{WHEEL!r}: {self.sha256!r}}})
            sys.exit(fetch_plugin.main())
            """)
        environment = dict(os.environ, TOY_PIP=pip, TOY_INDEX=str(self.index), PYTHONPATH=str(self.folder),
                           STURNUS_CACHE=str(self.root), **env)
        return subprocess.Popen([sys.executable, "-c", program, *args], env=environment, text=True,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def run_toy(self, *args, **kwargs):
        process = self.start("toy", *args, **kwargs)
        out, err = process.communicate(timeout=60)
        return process.returncode, out, err

    def assert_works(self):
        code, out, _ = self.run_toy()
        self.assertEqual((code, out), (0, f"{self.target}\n"))
        self.assertEqual((self.target / LIBRARY).read_bytes(), b"machine code")
        self.assertEqual({p.name for p in self.target.parent.iterdir()}, {".lock", self.target.name})

    def assert_fails(self, result, *phrases):
        code, out, err = result
        self.assertEqual((code, out), (1, ""))
        message = err.strip().splitlines()[-1]
        for phrase in phrases:
            self.assertIn(phrase, message)
        self.assertNotIn("Traceback", err)
        self.assertFalse(self.target.exists())

    def downloads(self):
        calls = self.index / "calls"
        return len(calls.read_text().splitlines()) if calls.exists() else 0

    def test_downloads_once_and_then_is_silent(self):
        self.assert_works()
        self.assertEqual(self.run_toy(), (0, f"{self.target}\n", ""))
        self.assertEqual(self.downloads(), 1)
        asked = (self.index / "calls").read_text()
        for option in ("--require-hashes", "--no-deps", "--platform manylinux_2_27_x86_64"):
            self.assertIn(option, asked)

    def test_present_plugin_needs_no_write_permission(self):
        self.assert_works()
        (self.target.parent / ".lock").unlink()
        self.target.parent.chmod(0o555)
        self.addCleanup(self.target.parent.chmod, 0o755)
        self.assertEqual(self.run_toy(), (0, f"{self.target}\n", ""))
        self.assertFalse((self.target.parent / ".lock").exists())

    def test_takes_a_wheel_given_by_the_user(self):
        code, out, err = self.run_toy("--wheel", str(self.wheel), "--into", str(self.folder / "other"))
        self.assertEqual((code, err), (0, ""))
        self.assertEqual(Path(out.strip()).parents[2], self.folder / "other")
        self.assertTrue(self.wheel.exists())
        self.assertEqual(self.downloads(), 0)

    def test_cpu_wheel_from_the_environment_is_checked_against_the_pin(self):
        process = self.start("cpu", STURNUS_PJRT_WHEEL=str(self.wheel))
        out, err = process.communicate(timeout=60)
        self.assert_fails((process.returncode, out, err), str(self.wheel), self.sha256,
                          "STURNUS_PJRT_WHEEL", "STURNUS_PJRT_DIR")

    def test_wrong_hash_is_refused_and_the_next_run_works(self):
        good = self.wheel.read_bytes()
        self.wheel.write_bytes(good + b"x")
        self.assert_fails(self.run_toy(), "SHA-256", self.sha256, "--wheel")
        self.wheel.write_bytes(good)
        self.assert_works()

    def test_truncated_wheel_is_refused(self):
        damaged = self.folder / "damaged.whl"
        damaged.write_bytes(self.wheel.read_bytes()[:40])
        self.assert_fails(self.run_toy("--wheel", str(damaged)), str(damaged), "SHA-256")

    def test_pinned_file_that_is_no_zip_is_refused(self):
        self.wheel.write_bytes(b"not a zip")
        self.sha256 = hashlib.sha256(b"not a zip").hexdigest()
        self.assert_fails(self.run_toy(), "is not a wheel")

    def test_missing_wheel_is_named(self):
        self.assert_fails(self.run_toy("--wheel", "nowhere.whl"), "no wheel nowhere.whl")

    def test_unreachable_index_is_named_and_the_next_run_works(self):
        self.assert_fails(self.run_toy(pip="unreachable"), "did not answer", "No matching distribution", "network")
        self.assert_works()

    def test_folder_that_cannot_be_written_is_named(self):
        self.root.write_text("a file where a folder should be")
        self.assert_fails(self.run_toy(), str(self.root), "STURNUS_CACHE", "XDG_DATA_HOME")

    def test_missing_pip_is_named(self):
        failed = subprocess.CompletedProcess([], 1)
        with mock.patch.object(fetch_plugin.subprocess, "run", return_value=failed):
            with self.assertRaisesRegex(fetch_plugin.FetchError, "no pip; install it"):
                fetch_plugin.python_with_pip()

    def test_machine_without_a_wheel_is_named(self):
        for system, machine in (("Linux", "riscv64"), ("Darwin", "arm64")):
            with mock.patch.object(fetch_plugin.platform, "system", return_value=system), \
                    mock.patch.object(fetch_plugin.platform, "machine", return_value=machine):
                with self.assertRaisesRegex(fetch_plugin.FetchError, f"no wheel for {system}.*STURNUS_PJRT_DIR"):
                    fetch_plugin.wheel_for_this_machine(fetch_plugin.PINS["cpu"])

    def test_wheel_for_all_machines_serves_any(self):
        with mock.patch.object(fetch_plugin.platform, "machine", return_value="riscv64"):
            wheel = fetch_plugin.wheel_for_this_machine(fetch_plugin.PINS["plotly"])
        self.assertTrue(wheel.endswith("-none-any.whl"))

    def test_unpacks_only_the_library_where_the_pin_says_so(self):
        with zipfile.ZipFile(self.wheel, "a") as archive:
            archive.writestr("toy_plugins/large", b"more")
        digest = hashlib.sha256(self.wheel.read_bytes()).hexdigest()
        for whole, files in ((False, {"toy.so"}), (True, {"toy.so", "large"})):
            pin = fetch_plugin.Pin("toy", "1.2", LIBRARY, {"toy-1.2-py3-none-any.whl": digest},
                                   shelf=f"whole {whole}", whole=whole)
            with mock.patch.dict(fetch_plugin.PINS, toy=pin):
                target = fetch_plugin.fetch("toy", self.root, self.wheel)
            self.assertEqual(target, self.root / f"whole {whole}" / "toy" / f"1.2-{digest[:12]}")
            self.assertEqual({p.name for p in (target / "toy_plugins").iterdir()}, files)

    def test_killed_run_leaves_nothing_behind_for_the_next(self):
        for how in (signal.SIGKILL, signal.SIGTERM):
            process = self.start("toy", pip="hangs")
            deadline = time.monotonic() + 30
            while not list(self.root.glob("plugins/toy/.partial-*/half.whl")):
                self.assertLess(time.monotonic(), deadline)
                time.sleep(0.02)
            process.send_signal(how)
            process.communicate(timeout=60)
        self.assert_works()

    def test_damaged_folder_is_made_again(self):
        self.assert_works()
        (self.target / LIBRARY).unlink()
        self.assert_works()
        self.assertEqual(self.downloads(), 2)

    def test_concurrent_runs_download_once(self):
        processes = [self.start("toy", pip="slow") for _ in range(4)]
        for process in processes:
            out, _ = process.communicate(timeout=60)
            self.assertEqual((process.returncode, out), (0, f"{self.target}\n"))
        self.assertEqual(self.downloads(), 1)

    def test_cache_folder_follows_the_environment(self):
        for env, want in (({"STURNUS_CACHE": "/a"}, "/a"), ({"XDG_CACHE_HOME": "/b"}, "/b/sturnus"),
                          ({"HOME": "/c"}, "/c/.cache/sturnus")):
            with mock.patch.dict(os.environ, env, clear=True):
                self.assertEqual(str(fetch_plugin.build_cache()), want)

    def test_pins_are_whole(self):
        for name, pin in fetch_plugin.PINS.items():
            for wheel, digest in pin.wheels.items():
                with self.subTest(name=name, wheel=wheel):
                    prefix = f"{pin.package.replace('-', '_')}-{pin.version}-"
                    self.assertTrue(wheel.startswith(prefix) and wheel.endswith(".whl"))
                    self.assertRegex(digest, "^[0-9a-f]{64}$")

    def test_unknown_plugin_is_a_usage_error(self):
        with mock.patch.object(sys, "argv", ["fetch_plugin.py", "abacus"]), \
                contextlib.redirect_stderr(io.StringIO()) as err, self.assertRaises(SystemExit):
            fetch_plugin.main()
        for name in fetch_plugin.PINS:
            self.assertIn(name, err.getvalue())


if __name__ == "__main__":
    unittest.main()
