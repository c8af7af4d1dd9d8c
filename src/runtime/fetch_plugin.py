#!/usr/bin/env python3
"""Fetches a PJRT plugin, or what reports draw with: the one place that pins and unpacks wheels.

    fetch_plugin.py cpu|cuda|tpu|plotly [--into ROOT] [--wheel FILE]

The wheel is unpacked to ROOT/plugins/<name>/<version>-<start of its SHA-256>/ (plotly: scripts/
instead of plugins/), laid out like a site-packages folder, and that path is printed. ROOT is the
builds' shared cache unless given.
Needs Python 3.8 or newer, its standard library, and pip unless --wheel is given.
"""

import argparse
import fcntl
import hashlib
import os
import platform
import shutil
import signal
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path
from typing import Dict, List, NamedTuple, Optional, Tuple


class Pin(NamedTuple):
    """One wheel per processor, or one for all; else no such wheel is published."""

    package: str
    version: str
    library: str  # the plugin, or another file, inside the wheel
    wheels: Dict[str, str]  # file name -> SHA-256
    companions: Tuple["Pin", ...] = ()  # unpacked into the same folder
    shelf: str = "plugins"  # the folder of ROOT
    whole: bool = True  # or only the library is unpacked


PINS = {
    "cpu": Pin(
        package="xla-cpu-pjrt",
        version="0.0.1",
        library="xla_plugins/xla_cpu_pjrt/xla_cpu_pjrt.so",
        wheels={
            "xla_cpu_pjrt-0.0.1-py3-none-manylinux_2_27_x86_64.whl":
                "55837b6b7b47daa717f2d9a5a03563ea0ceaa338d06a81a1e2d3f060d960decc",
            "xla_cpu_pjrt-0.0.1-py3-none-manylinux_2_27_aarch64.whl":
                "8f613be6e891858f40d64f9799319502fff42689661944fc18a6ffd8210b30c9",
        },
    ),
    "cuda": Pin(
        package="jax-cuda13-pjrt",
        version="0.12.0.1",
        library="jax_plugins/xla_cuda13/xla_cuda_plugin.so",
        wheels={
            "jax_cuda13_pjrt-0.12.0.1-py3-none-manylinux_2_27_x86_64.whl":
                "5899bb6177eda86ea532afb9a26794f2bdd04966f6a01f9028266b16c2b6cf90",
            "jax_cuda13_pjrt-0.12.0.1-py3-none-manylinux_2_27_aarch64.whl":
                "40758d042df8c06991b6a1a8016b56e9cefb1ed4c677c062125c3eb71c3dab97",
        },
        # What XLA compiles for NVIDIA GPUs with, where the CUDA toolkit is not installed.
        companions=(
            Pin(
                package="nvidia-nvvm",
                version="13.0.88",
                library="nvidia/cu13/nvvm/libdevice/libdevice.10.bc",
                wheels={
                    "nvidia_nvvm-13.0.88-py3-none-manylinux2010_x86_64.manylinux_2_12_x86_64.whl":
                        "c5f41ffeb6466944a026dfa5317d7d85355c119bbec279205d22f1869d1054e0",
                    "nvidia_nvvm-13.0.88-py3-none-manylinux2014_aarch64.manylinux_2_17_aarch64.whl":
                        "c4376a291d72d22a315d9d2f69bdae8f8cd83a627f75bad395cee49a0fe65dc1",
                },
            ),
            Pin(
                package="nvidia-nvjitlink",
                version="13.0.88",
                library="nvidia/cu13/lib/libnvJitLink.so.13",
                wheels={
                    "nvidia_nvjitlink-13.0.88-py3-none-manylinux2010_x86_64.manylinux_2_12_x86_64.whl":
                        "13a74f429e23b921c1109976abefacc69835f2f433ebd323d3946e11d804e47b",
                    "nvidia_nvjitlink-13.0.88-py3-none-manylinux2014_aarch64.manylinux_2_17_aarch64.whl":
                        "e931536ccc7d467a98ba1d8b89ff7fa7f1fa3b13f2b0069118cd7f47bff07d0c",
                },
            ),
            Pin(
                package="nvidia-cuda-runtime",
                version="13.0.96",
                library="nvidia/cu13/lib/libcudart.so.13",
                wheels={
                    "nvidia_cuda_runtime-13.0.96-py3-none-manylinux2014_x86_64.manylinux_2_17_x86_64.whl":
                        "7f82250d7782aa23b6cfe765ecc7db554bd3c2870c43f3d1821f1d18aebf0548",
                    "nvidia_cuda_runtime-13.0.96-py3-none-manylinux2014_aarch64.manylinux_2_17_aarch64.whl":
                        "ef9bcbe90493a2b9d810e43d249adb3d02e98dd30200d86607d8d02687c43f55",
                },
            ),
        ),
    ),
    "tpu": Pin(
        package="libtpu",
        version="0.0.51",
        library="libtpu/libtpu.so",
        wheels={
            "libtpu-0.0.51-cp311-cp311-manylinux_2_31_x86_64.whl":
                "ba67ddbfdbac61c8da1fafc26cd51b93e9fe4d298016e2882eb986b1718cba34",
        },
    ),
    "plotly": Pin(
        package="plotly",
        version="7.1.0",
        library="plotly/package_data/plotly.min.js",
        wheels={
            "plotly-7.1.0-py3-none-any.whl":
                "dbb7fa18afce40d0a8e80d1bf162eceb3faa0ce5a77fe741ad09a74cf78f53f3",
        },
        shelf="scripts",
        whole=False,
    ),
}


class FetchError(Exception):
    """What went wrong and what to do, in one sentence."""


def build_cache() -> Path:
    """The folder that all builds on this machine share."""
    cache_home = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    return Path(os.environ.get("STURNUS_CACHE") or os.path.join(cache_home, "sturnus")).expanduser()


def wheel_for_this_machine(pin: Pin) -> str:
    machine = {"amd64": "x86_64", "arm64": "aarch64"}.get(platform.machine(), platform.machine())
    for wheel in pin.wheels:
        if wheel.endswith("-any.whl") or (platform.system() == "Linux" and wheel.endswith(f"_{machine}.whl")):
            return wheel
    raise FetchError(
        f"{pin.package} {pin.version} has no wheel for {platform.system()} on {machine}, only "
        f"{', '.join(pin.wheels)}; build the plugin from source and set STURNUS_PJRT_DIR or "
        f"STURNUS_PLUGIN_<NAME> to it")


def sha256(path: Path) -> str:
    digest = hashlib.sha256()
    with open(path, "rb") as file:
        for block in iter(lambda: file.read(1 << 20), b""):
            digest.update(block)
    return digest.hexdigest()


def python_with_pip() -> str:
    """This Python, or the system's where this one is an environment made without pip."""
    for python in (sys.executable, "/usr/bin/python3"):
        if python and os.path.exists(python):
            probe = [python, "-c", "import pip.__main__"]
            if subprocess.run(probe, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode == 0:
                return python
    raise FetchError(f"{sys.executable} has no pip; install it (Debian and Ubuntu: apt-get install python3-pip)")


def download(pin: Pin, wheel: str, folder: Path) -> Path:
    """Lets pip bring the wheel, so that the user's own index, proxy and certificates are heeded."""
    python = python_with_pip()
    requirements = folder / "requirements.txt"
    requirements.write_text(f"{pin.package}=={pin.version} --hash=sha256:{pin.wheels[wheel]}\n")
    # Fixed tags instead of this Python's, so that every Python gets the same file.
    command = [python, "-m", "pip", "--disable-pip-version-check", "download", "--no-cache-dir", "--no-deps",
               "--only-binary=:all:", "--require-hashes", "--python-version=3.11", "--implementation=cp",
               "--abi=cp311", "--platform", wheel[:-len(".whl")].split("-")[-1].split(".")[-1],
               "--dest", str(folder), "--requirement", str(requirements)]
    print(f"fetch_plugin: downloading {wheel}", file=sys.stderr)
    pip = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                         text=True, errors="replace")
    if pip.returncode == 0 and (folder / wheel).exists():
        return folder / wheel
    complaints = [line for line in pip.stdout.splitlines() if line.startswith("ERROR: ")]
    reason = "pip says: " + (complaints or pip.stdout.splitlines() or ["nothing"])[-1]
    if "Retrying (" in pip.stdout:
        reason = "the package index did not answer; " + reason
    raise FetchError(f"could not download {wheel} ({reason}); check the network and pip's settings")


def unpack(wheel: Path, want_sha256: str, folder: Path, members: Optional[List[str]] = None) -> None:
    if not wheel.is_file():
        raise FetchError(f"there is no wheel {wheel}")
    got = sha256(wheel)
    if got != want_sha256:
        raise FetchError(f"{wheel} has SHA-256 {got}, not the pinned {want_sha256}: it is damaged or another file; "
                         "download it again")
    try:
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(folder, members)
    except zipfile.BadZipFile as error:
        raise FetchError(f"{wheel} is not a wheel ({error})") from error


def fetch(name: str, root: Path, wheel_file: Optional[Path] = None) -> Path:
    """Returns the folder of the unpacked wheel, made first where it is not there yet."""
    pin = PINS[name]
    wheel = wheel_for_this_machine(pin)
    target = root.absolute() / pin.shelf / name / f"{pin.version}-{pin.wheels[wheel][:12]}"
    # A wheel that the user gives stands alone: its companions are the user's affair too.
    parts = (pin,) if wheel_file else (pin, *pin.companions)

    def complete():  # a folder gets its name when all is in it
        return all((target / part.library).exists() for part in parts)

    if complete():
        return target
    target.parent.mkdir(parents=True, exist_ok=True)
    with open(target.parent / ".lock", "w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            print(f"fetch_plugin: waiting for another fetch of {name}", file=sys.stderr)
            fcntl.flock(lock, fcntl.LOCK_EX)
        if complete():
            return target
        for leftover in target.parent.glob(".partial-*"):  # of killed runs: the lock is ours
            shutil.rmtree(leftover, ignore_errors=True)
        with tempfile.TemporaryDirectory(prefix=".partial-", dir=target.parent) as partial:
            unpacked = Path(partial) / "unpacked"
            for part in parts:
                wheel = wheel_for_this_machine(part)
                source = wheel_file or download(part, wheel, Path(partial))
                unpack(source, part.wheels[wheel], unpacked, None if part.whole else [part.library])
            if target.exists():  # someone took files out of it
                os.replace(target, Path(partial) / "damaged")
            os.replace(unpacked, target)
    return target


def main() -> int:
    parser = argparse.ArgumentParser(description="Fetches a pinned wheel and prints where it is.")
    parser.add_argument("name", choices=PINS)
    parser.add_argument("--into", metavar="ROOT", type=Path, help="default: the builds' cache, $STURNUS_CACHE")
    parser.add_argument("--wheel", metavar="FILE", type=Path,
                        help="the wheel, already downloaded; default for cpu: $STURNUS_PJRT_WHEEL")
    args = parser.parse_args()
    root = args.into or build_cache()
    wheel = args.wheel
    if not wheel and args.name == "cpu" and os.environ.get("STURNUS_PJRT_WHEEL"):
        wheel = Path(os.environ["STURNUS_PJRT_WHEEL"])
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))  # runs the cleanups
    otherwise = "set STURNUS_PJRT_WHEEL to the wheel or STURNUS_PJRT_DIR to the unpacked wheel" \
        if args.name == "cpu" else "give the wheel with --wheel"
    try:
        print(fetch(args.name, root, wheel))
        return 0
    except FetchError as error:
        message = f"{error}, or {otherwise}."
    except OSError as error:
        message = (f"cannot use {error.filename or root} ({error.strerror}); set STURNUS_CACHE (builds) or "
                   f"XDG_DATA_HOME (sturnus plugins install) to a folder with room that you may write.")
    except KeyboardInterrupt:
        message = "interrupted; run it again."
    print(f"fetch_plugin: {message}", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
