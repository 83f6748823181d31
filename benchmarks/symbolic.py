"""Symbolic answers through `match`: rows per CPU second with keys read once, and the slowest single row.

Rows are those of tests/cases/domain.jsonl (and peers.jsonl for the slowest row) of the three symbolic kinds. Each pass
grades every row; start-up (imports, first reading of every key) is left out and shown apart.
"""

import json
import statistics
import time
from pathlib import Path

from grading.match import match_row

CASES = Path(__file__).parent.parent / "tests" / "cases"
KINDS = ("expression", "indexed", "matrix_expression")
PASSES = 7
WANTED = 3000
SLOWEST_MS = 50


def rows(name):
    """The symbolic rows of a case file."""
    lines = (CASES / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
    return [row for row in map(json.loads, lines) if row["kind"] in KINDS]


def timed(work):
    """CPU seconds of one pass over rows."""
    began = time.process_time()
    for row in work:
        match_row(row)
    return time.process_time() - began


def methods(work):
    """How the right answers were found right."""
    counts = {}
    for row in work:
        verdict = match_row(row)
        if verdict.get("verdict") == "right":
            counts[verdict["method"]] = counts.get(verdict["method"], 0) + 1
    return ", ".join(f"{method} {count}" for method, count in sorted(counts.items()))


def main():
    """Print rates by kind, the first pass, and the slowest rows."""
    domain, peers = rows("domain"), rows("peers")
    first = timed(domain)
    print(f"first pass with imports and all keys to read: {first:.3f} CPU s for {len(domain)} rows")
    for kind in (*KINDS, None):
        work = [row for row in domain if kind in (None, row["kind"])]
        spent = statistics.median(timed(work) for _ in range(PASSES))
        name = kind or "all symbolic"
        print(f"{name:18} {len(work):4} rows {len(work) / spent:8.0f} rows per CPU s   right: {methods(work)}")
    rate = len(domain) / statistics.median(timed(domain) for _ in range(PASSES))
    timed(peers)
    slow = sorted(((min(timed([row]) for _ in range(3)), row["id"]) for row in domain + peers), reverse=True)
    print("slowest rows: " + ", ".join(f"{row} {1000 * seconds:.1f} ms" for seconds, row in slow[:5]))
    print(
        f"wanted: {WANTED} rows per CPU s ({'met' if rate >= WANTED else 'missed'}), slowest row under {SLOWEST_MS} ms"
    )


if __name__ == "__main__":
    main()
