"""Sheets: one from a cold start, and a hundred students with keys and worked solutions in one run.

    python benchmarks/sheets.py

Bars: one sheet within 0.6 s including start-up; 100 students x 10 problems within 6 CPU seconds and 400 MB.
Where pdflatex is installed, its time on the .tex export of the same sheets stands beside.
"""

from __future__ import annotations

import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

SEED = "bench"
CARDS = ["--card", "2,4,13"]
PROGRAM = [sys.executable, "-m", "drillgen"]


def run(command: list[str], folder: Path) -> tuple[float, float, float]:
    """Wall seconds, CPU seconds and peak MB of one process."""
    begun = time.perf_counter()
    process = subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"{' '.join(command)} failed with {process.returncode}")
    scale = 1 if sys.platform == "darwin" else 1024
    return time.perf_counter() - begun, used.ru_utime + used.ru_stime, used.ru_maxrss * scale / 1e6


def best(command: list[str], folder: Path, times: int = 3) -> tuple[float, float, float]:
    """The fastest of some runs (after one that is not counted)."""
    run(command, folder)
    return min(run(command, folder) for _ in range(times))


def show(what: str, measured: tuple[float, float, float], bar: str) -> None:
    wall, cpu, peak = measured
    print(f"{what:52} {wall:7.2f} s wall {cpu:7.2f} s CPU {peak:7.0f} MB   {bar}")


def main() -> None:
    """Measure and print."""
    sheet = [*PROGRAM, "sheet", *CARDS, "--count", "10", "--seed", SEED]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        rows = "".join(f"Student {n},s{n}\n" for n in range(100))
        (folder / "roster.csv").write_text("name,id\n" + rows)
        bare = best([sys.executable, "-c", "pass"], folder)
        show("python -c pass", bare, "")
        one = [*sheet, "--out", "s.pdf", "--key", "k.pdf"]
        show("one sheet and key, PDF, cold", best(one, folder), "bar: 0.6 s wall")
        show("one sheet, HTML, cold", best([*sheet, "--out", "s.html"], folder), "")
        many = [*sheet, "--students", "roster.csv", "--solutions", "--out", "all.pdf", "--key", "keys.pdf"]
        show("100 students x 10, keys with solutions, one PDF", best(many, folder, 2), "bar: 6 s CPU, 400 MB")
        split = [*sheet, "--students", "roster.csv", "--solutions", "--split", "each", "--key", "keys.pdf"]
        show("the same, 100 files", best(split, folder, 2), "")
        if shutil.which("pdflatex") is None:
            print("pdflatex is not installed: not compared")
            return
        run([*sheet, "--students", "roster.csv", "--solutions", "--out", "all.tex", "--key", "keys.tex"], folder)
        for part in ("all", "keys"):
            latex = ["pdflatex", "-interaction=batchmode", f"{part}.tex"]
            show(f"pdflatex on the .tex export ({part})", best(latex, folder, 1), "")
    print(f"peak of this process: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000:.0f} MB")


if __name__ == "__main__":
    main()
