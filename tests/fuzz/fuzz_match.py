"""Fuzz the grader: with atheris where it is installed (coverage-guided), else with the seeded mutator.

    python -m tests.fuzz.fuzz_match [seconds]

Ends with exit 1 and the row on the first exception, unknown status, slow row or unprintable text. Its finds belong into
`tests/cases` or a test of the rule that they broke.
"""

from __future__ import annotations

import importlib.util
import sys
import time

from tests.fuzz.mutate import corpus, judged, mutants


def walk(seconds: float) -> int:
    """The seeded mutator for some seconds; returns the number of rows."""
    begun, rounds, rows = time.monotonic(), 0, 0
    while time.monotonic() - begun < seconds:
        for row in mutants(f"{begun}/{rounds}", 500):
            judged(row)
            rows += 1
        rounds += 1
    return rows


def guided(seconds: float) -> None:
    """atheris, mutating the answers of the case files by coverage. Does not return."""
    import atheris

    with atheris.instrument_imports(include=["grading"]):
        from grading.kinds.lookup import ADHOC, kind_class

        for name in ADHOC:
            kind_class(name)
    rows = corpus()
    for row in rows:
        judged(row)

    def one(data: bytes) -> None:
        provider = atheris.FuzzedDataProvider(data)
        row = dict(rows[provider.ConsumeIntInRange(0, len(rows) - 1)])
        keep = provider.ConsumeIntInRange(0, len(row["answer"]))
        row["answer"] = row["answer"][:keep] + provider.ConsumeUnicode(2100)
        judged(row)

    atheris.Setup([sys.argv[0], f"-max_total_time={int(seconds)}", "-max_len=4096"], one)
    atheris.Fuzz()


def main() -> None:
    """The given number of seconds, 60 by default."""
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 60.0
    if importlib.util.find_spec("atheris") is not None:
        guided(seconds)
    print(f"{walk(seconds):,} rows without a fault")


if __name__ == "__main__":
    main()
