"""`make demo`: a set of 12 problems, its worksheet and key as PDF, and a file of answers graded."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
DEMO = ROOT / "demo"
SEED = "demo"
CARDS = ["--card", "softmax", "--card", "kv_cache", "--card", "online_softmax"]


def drillgen(*args: str) -> None:
    """Run one command as a user would, and show it."""
    shown = " ".join(f'"{a}"' if " " in a else a for a in args)
    print(f"\n$ drillgen {shown}", flush=True)
    subprocess.run([sys.executable, "-m", "drillgen", *args], check=True, cwd=ROOT)


def main() -> None:
    """Everything goes to demo/, which is made anew."""
    DEMO.mkdir(exist_ok=True)
    drawn = [*CARDS, "--count", "12", "--seed", SEED]
    drillgen("generate", *drawn, "--answers", "--out", "demo/set.jsonl")
    drillgen("sheet", *drawn, "--out", "demo/sheet.pdf", "--key", "demo/key.pdf", "--solutions")
    drillgen("grade", "examples/answers.csv")
    drillgen("grade", "examples/answers.csv", "--out", "demo/verdicts.jsonl", "--gradebook", "demo/gradebook.csv")
    print("\nwritten:")
    for name in ("set.jsonl", "sheet.pdf", "key.pdf", "verdicts.jsonl", "gradebook.csv"):
        path = DEMO / name
        print(f"  {path}  ({path.stat().st_size:,} bytes)")
    print("\nnext: .venv/bin/drillgen drill --card 13")


if __name__ == "__main__":
    main()
