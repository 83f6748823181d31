"""`make bench`: every benchmark in turn, each in a process of its own. These machines are noisy: read the ratios."""

import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
SECTIONS = ("startup", "generation", "answers", "symbolic", "sheets")


def main():
    """Run the named sections, or all."""
    for name in sys.argv[1:] or SECTIONS:
        print(f"\n== {name}", flush=True)
        subprocess.run([sys.executable, str(HERE / f"{name}.py")], check=True)


if __name__ == "__main__":
    main()
