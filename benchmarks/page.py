"""Tables of benchmarks, printed at once and kept as Markdown."""
import os
import subprocess

HERE = os.path.dirname(os.path.abspath(__file__))


def commit():
    done = subprocess.run(["git", "-C", HERE, "rev-parse", "--short", "HEAD"], capture_output=True, text=True)
    return done.stdout.strip() or "unknown"


def processor():
    with open("/proc/cpuinfo") as file:
        return next((line.split(":")[1].strip() for line in file if line.startswith("model name")), "a CPU")


class Page:
    def __init__(self, title, command, cores, rest):
        self.text = (f"# {title}\n\nWritten by `{command}` at commit {commit()}: {processor()}, "
                     f"{cores or os.cpu_count()} cores, {rest}\n")

    def table(self, title, header, rows):
        widths = [max(len(row[i]) for row in [header, *rows]) for i in range(len(header))]
        print(f"\n{title}")
        for row in [header, *rows]:
            print("  ".join(cell.rjust(width) if i else cell.ljust(width)
                            for i, (cell, width) in enumerate(zip(row, widths))), flush=True)
        lines = [header, ["---"] + ["--:"] * (len(header) - 1), *rows]
        self.text += f"\n## {title}\n\n" + "".join("| " + " | ".join(line) + " |\n" for line in lines)

    def line(self, text):
        print(f"\n{text}", flush=True)
        self.text += f"\n{text}\n"

    def write(self, path):
        with open(path, "w") as file:
            file.write(self.text)
