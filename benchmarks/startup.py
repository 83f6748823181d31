"""Start-up: CPU time of commands as ratios to a bare `python -c pass` in the same run."""

import os
import resource
import statistics
import subprocess
import sys
import tempfile

ROUNDS = 15
COMMANDS = {
    "python -c pass": ["-c", "pass"],
    "import click": ["-c", "import click"],
    "drillgen --help": ["-m", "drillgen", "--help"],
    "drillgen check, quantity": ["-m", "drillgen", "check", "kv_cache.per_token@1/1", "56 KiB"],
    "drillgen check, formula": ["-m", "drillgen", "check", "kv_cache.formula@1/1", "2 L H_kv d_h b B T"],
}


def cpu_seconds(args):
    """User and system seconds of one run, interpreter included."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    # An installed program runs from its bytecode, whatever the shell says about writing it.
    kept = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    with tempfile.TemporaryDirectory() as elsewhere:
        subprocess.run([sys.executable, *args], cwd=elsewhere, env=kept, stdout=subprocess.DEVNULL, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main():
    """Interleaved rounds, medians, ratios."""
    taken = {name: [] for name in COMMANDS}
    for _ in range(ROUNDS):
        for name, args in COMMANDS.items():
            taken[name].append(cpu_seconds(args))
    base = statistics.median(taken["python -c pass"])
    print(f"{'start-up (median of ' + str(ROUNDS) + ')':<34}{'CPU ms':>9}{'ratio':>8}")
    for name, times in taken.items():
        middle = statistics.median(times)
        print(f"{name:<34}{middle * 1000:>9.1f}{middle / base:>8.2f}")


if __name__ == "__main__":
    main()
