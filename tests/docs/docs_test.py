#!/usr/bin/env python3
"""Compiles and runs the code in README.md and docs/, against an installed Sturnus.

    docs_test.py --prefix INSTALLED --work FOLDER

```cpp     a whole program: compiled with warnings as errors, and run
```sh      commands: run where the tree is, with ./sturnus as the installed program
```cmake   the same text as a CMakeLists.txt of tests/consumer
Other languages are not looked at, but every block has one. A block is left out by a comment on the
line before it, <!-- not run: why -->. After <!-- output -->, a ```text block is what the block
before it prints. Links to files of the tree lead somewhere.
"""

import argparse
import re
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).absolute().parents[2]

PROJECT = """
cmake_minimum_required(VERSION 3.21)
project(docs LANGUAGES CXX)
find_package(sturnus CONFIG REQUIRED)
add_compile_options(-Wall -Wextra -Werror)
file(GLOB sources *.cc)
foreach(source IN LISTS sources)
  get_filename_component(name "${source}" NAME_WE)
  add_executable("${name}" "${source}")
  target_link_libraries("${name}" PRIVATE sturnus::sturnus)
endforeach()
"""


class Block(NamedTuple):
    place: str  # file:line
    language: str
    comment: str  # what an HTML comment on the line before says
    text: str

    @property
    def name(self):
        return re.sub(r"\W", "_", self.place)


def read_blocks(file, name):
    blocks, fence, before = [], None, ""
    for number, line in enumerate(file.read_text().splitlines(), 1):
        if fence is None:
            opening = re.match(r"```(\w*)", line)
            if opening:
                fence, text = (number, opening.group(1), before), []
            if line.strip():
                before = line
        elif line == "```":
            comment = re.match(r"<!-- (.*) -->$", fence[2])
            blocks.append(Block(f"{name}:{fence[0]}", fence[1], comment.group(1) if comment else "",
                                "".join(t + "\n" for t in text)))
            fence, before = None, ""
        else:
            text.append(line)
    if fence:
        blocks.append(Block(f"{name}:{fence[0]}", "", "", ""))
    return blocks


def prose_of(file):
    return re.sub(r"^```.*?^```$", "", file.read_text(), flags=re.MULTILINE | re.DOTALL)


def headings(file):
    """By the names that links know them by."""
    lines = re.findall(r"^#+ (.*)$", prose_of(file), flags=re.MULTILINE)
    return [re.sub(r"[^\w\- ]", "", line.lower()).replace(" ", "-") for line in lines]


def broken_links(file):
    for link, heading in re.findall(r"\]\(([^)#:\s]*)#?([^):\s]*)\)", prose_of(file)):
        target = file.parent / link if link else file
        if not target.exists():
            yield f"{file.relative_to(ROOT)}: the link to {link} leads nowhere"
        elif heading and target.suffix == ".md" and heading not in headings(target):
            yield f"{file.relative_to(ROOT)}: {target.name} has no heading for the link #{heading}"


def write_if_changed(path, text):
    """So that a second run compiles nothing."""
    if not path.exists() or path.read_text() != text:
        path.write_text(text)


def build(blocks, prefix, work):
    """Compiles the programs; returns what the compiler says when that fails."""
    source = work / "programs"
    source.mkdir(parents=True, exist_ok=True)
    write_if_changed(source / "CMakeLists.txt", PROJECT)
    wanted = {f"{b.name}.cc": f'#line {int(b.place.split(":")[1]) + 1} "{b.place.split(":")[0]}"\n{b.text}'
              for b in blocks}
    for stale in set(source.glob("*.cc")) - {source / name for name in wanted}:
        stale.unlink()
    for name, text in wanted.items():
        write_if_changed(source / name, text)
    for command in (["cmake", "-G", "Ninja", "-S", source, "-B", work / "build", f"-DCMAKE_PREFIX_PATH={prefix}"],
                    ["cmake", "--build", work / "build"]):
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if done.returncode != 0:
            return done.stdout
    return ""


def image_of_tree(prefix, work):
    """A folder like the project's, but for ./sturnus, which is the installed program, and build/."""
    image = work / "tree"
    image.mkdir(parents=True, exist_ok=True)
    for entry in image.iterdir():
        entry.unlink()
    for entry in ROOT.iterdir():
        if entry.name not in ("build", "sturnus", ".git"):
            (image / entry.name).symlink_to(entry)
    (image / "sturnus").symlink_to(prefix / "bin" / "sturnus")
    return image


def check(blocks, prefix, work):
    """Yields a complaint for each block that is not as the rules at the top say."""
    blocks = [b for b in blocks if not b.comment.startswith("not run: ")]
    programs = [b for b in blocks if b.language == "cpp"]
    if programs:
        complaint = build(programs, prefix, work)
        if complaint:
            yield f"the programs do not compile:\n{complaint}"
            return
    consumers = [p.read_text() for p in (ROOT / "tests" / "consumer").rglob("CMakeLists.txt")]
    tree = image_of_tree(prefix, work)
    printed = None
    for block in blocks:
        if block.comment == "output":
            if block.text != printed:
                yield f"{block.place}: the block before it prints\n{printed}not\n{block.text}"
        elif block.language in ("cpp", "sh"):
            command = [work / "build" / block.name] if block.language == "cpp" else ["bash", "-euc", block.text]
            done = subprocess.run(command, cwd=tree, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            printed = done.stdout
            if done.returncode != 0:
                yield f"{block.place}: exit code {done.returncode}\n{done.stdout}{done.stderr}"
        elif block.language == "cmake" and block.text not in consumers:
            yield f"{block.place}: no CMakeLists.txt of tests/consumer has this text"
        elif not block.language:
            yield f"{block.place}: a block without a language, or without an end"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--prefix", type=Path, required=True)
    parser.add_argument("--work", type=Path, required=True)
    args = parser.parse_args()
    blocks, complaints = [], []
    for file in [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]:
        blocks += read_blocks(file, str(file.relative_to(ROOT)))
        complaints += broken_links(file)
    complaints += check(blocks, args.prefix.absolute(), args.work.absolute())
    print("\n\n".join(complaints) or f"{len(blocks)} blocks are as they should be")
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
