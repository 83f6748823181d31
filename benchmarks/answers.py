"""Grading: answers per CPU second, beside Math-Verify in the same run. Imports and first calls are not counted.

50,000 rows with distinct answers to 500 keys: 70 % plain decimals or numbers with a unit, 30 % other notations of our
field, each as often (most need the full grammar), half of the answers wrong. Then numbers and quantities as the rows of
tests/cases/domain.jsonl write them, weighted 70 to 30 alike; all rows of that file; and the slowest single row.
"""

import json
import random
import re
import time
from pathlib import Path

CASES = Path(__file__).parent.parent / "tests" / "cases" / "domain.jsonl"
ROWS, KEYS = 50_000, 500
PLAIN = re.compile(r"[-+]?[\d.]+( ?[A-Za-zµ/]+)?")
UNITS = {
    "KiB": (("MiB", 1 / 1024), ("B", 1024), ("KB", 1.024)),
    "MiB": (("KiB", 1024), ("MB", 1.048576), ("GiB", 1 / 1024)),
    "GFLOP": (("TFLOP", 1e-3), ("FLOP", 1e9), ("MFLOP", 1e3)),
    "ms": (("s", 1e-3), ("us", 1e3), ("µs", 1e3)),
    "tokens/s": (("tok/s", 1), ("tokens per second", 1)),
}


def keys(rng):
    """Half numbers, half quantities, with a tolerance each."""
    for at in range(KEYS):
        value = f"{10 ** rng.uniform(-3, 4):.4g}"
        if at % 2:
            unit = rng.choice(list(UNITS))
            yield {"kind": "quantity", "key": f"{value} {unit}", "tolerance": {"rel": 0.01}}, float(value), unit
        else:
            tolerance = rng.choice(({"rel": 0.01}, {"abs": float(f"{float(value) * 0.005:.2g}")}, {"sig": 3}))
            yield {"kind": "number", "key": value, "tolerance": tolerance}, float(value), ""


def plain(rng, x, unit):
    """A decimal, or a number with its own or another unit."""
    if not unit:
        return f"{x:.7g}"
    other, factor = rng.choice(((unit, 1), *UNITS[unit]))
    return f"{x * factor:.7g} {other}"


def other(rng, x, unit):
    """The notations that the case file holds beside those."""
    power = len(f"{int(x)}") - 1 if x >= 1 else -3
    whole, below = round(x * 840_000), 840_000
    mantissa = f"{x / 10.0**power:.7g}"
    text = rng.choice(
        (
            f"{whole}/{below}",
            rf"\frac{{{whole}}}{{{below}}}",
            f"{mantissa}×10^{power}",
            f"{mantissa}*10^{power}",
            rf"{mantissa}\times 10^{{{power}}}",
            f"{mantissa}e{power}",
            f"{mantissa}×10{str(power).translate(str.maketrans('-0123456789', '⁻⁰¹²³⁴⁵⁶⁷⁸⁹'))}",
            f"{x * 100:.7g}%" if not unit else f"2^{rng.randrange(1, 9)}*{x:.5g}/{2 ** rng.randrange(1, 9)}",
            f"{x:,.3f}",
            f"+{x:.7g}",
            f"${x:.7g}$",
            f"{x / 2:.6g} + {x / 2:.7g}",
            f"2·{x / 2:.7g}",
            f"({x / 3:.7g})(3)",
            f"sqrt({x * x:.8g})",
            rf"\sqrt{{{x * x:.8g}}}",
            f"{x * x:.8g}^(1/2)",
            f"e^{{{0 if not x else round(__import__('math').log(x), 7)}}}",
            f"exp({round(__import__('math').log(x), 7)})",
            f"ln({round(2.718281828 ** min(x, 30), 6)})",
            f"½*{2 * x:.7g}",
        )
    )
    return f"{text} {unit}" if unit and "%" not in text and rng.random() < 0.7 else text


def mix(seed):
    """The rows."""
    rng = random.Random(seed)
    choices = list(keys(rng))
    seen = set()
    rows = []
    while len(rows) < ROWS:
        row, value, unit = rng.choice(choices)
        x = value * rng.choice((rng.uniform(0.991, 1.009), rng.uniform(0.3, 3.0)))
        answer = (plain if len(rows) % 10 < 7 else other)(rng, x, unit)
        if (row["key"], answer) not in seen:
            seen.add((row["key"], answer))
            rows.append({**row, "answer": answer})
    rng.shuffle(rows)
    return rows


def rate(rows, function):
    """Rows per CPU second."""
    begun = time.process_time()
    for row in rows:
        function(row)
    return len(rows) / (time.process_time() - begun)


def symbolic(row):
    """Whether a row is graded by equivalence."""
    return row["kind"] in ("expression", "indexed", "matrix_expression")


def math_verify(rows, budget=20.0):
    """Math-Verify as it is meant to be used, both sides in $…$, for at most `budget` CPU seconds."""
    from math_verify import parse, verify

    parse("$1$", parsing_timeout=None)
    begun = time.process_time()
    done = agreed = 0
    for row in rows:
        gold = parse(f"${row['key']}$", parsing_timeout=None)
        said = verify(gold, parse(f"${row['answer']}$", parsing_timeout=None), timeout_seconds=None)
        agreed += said == (row["expect"] == "right")
        done += 1
        if time.process_time() - begun > budget:
            break
    return done / (time.process_time() - begun), agreed, done


def main():
    """All figures of the run."""
    from grading.match import match, match_row

    domain = [json.loads(line) for line in CASES.read_text(encoding="utf-8").splitlines()]
    bare = [{name: value for name, value in row.items() if name not in ("expect", "note", "origin")} for row in domain]
    for row in bare:
        match_row(row)
    rows = mix("grading")
    for row in rows[:2000]:
        match(**row)
    print(
        f"rows per CPU second\nnumbers and quantities, {ROWS:,} rows:    {rate(rows, lambda row: match(**row)):>10,.0f}"
    )
    print(f"  the same as rows of JSON values:      {rate(rows, match_row):>10,.0f} (match_row)")
    scalars = [row for row in bare if row["kind"] in ("number", "integer", "quantity")]
    typed = [row for row in scalars if PLAIN.fullmatch(row["answer"])]
    rest = [row for row in scalars if not PLAIN.fullmatch(row["answer"])]
    mixed = 1 / (0.7 / rate(typed * 40, match_row) + 0.3 / rate(rest * 40, match_row))
    print(f"domain.jsonl's own, 70 % plain, 30 % other:{mixed:>10,.0f} ({len(typed)} and {len(rest)} rows)")
    plain_rows = [row for row in bare if not symbolic(row)]
    ours = rate(bare * 3, match_row)
    print(f"domain.jsonl, all {len(bare):,} rows:           {ours:>10,.0f}")
    print(f"  plain kinds, {len(plain_rows)} rows:               {rate(plain_rows * 5, match_row):>10,.0f}")
    formulas = [row for row in bare if symbolic(row)]
    print(f"  symbolic, {len(formulas)} rows:                  {rate(formulas * 3, match_row):>10,.0f}")
    slowest = max(((1 / rate([row], match_row), row["id"]) for row in bare), key=lambda pair: pair[0])
    print(f"  slowest row: {slowest[0] * 1000:.1f} ms ({slowest[1]})")
    sample = random.Random("math-verify").sample(domain, len(domain))
    theirs, agreed, done = math_verify(sample)
    right = sum(
        (v["verdict"] if v["status"] == "graded" else v["status"]) == row["expect"]
        for row, v in ((row, match_row(row)) for row in sample[:done])
    )
    print(f"Math-Verify on the same rows:            {theirs:>10,.0f}   we are {ours / theirs:,.0f} times as fast")
    print(f"  of {done} rows it agrees with {agreed} verdicts, we with {right}")


if __name__ == "__main__":
    main()
