"""Measured quality of the items, drill by drill, over a few hundred draws.

Wanted are 500 distinct items, 8 bits of entropy, and no item in more than 2 % of the draws; what a drill's own number
of instances cannot allow is not asked of it. A drill with n instances is held to min(gate, what a uniform choice of n
items gives, with a margin for the sample), and its answers to what as many different answers could give. Drills with
fewer than 20 instances are `fixed` and exempt from the entropy gates alone.
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from drillgen import catalog
from drillgen.instance import Instance, make, plain
from drillgen.problemset import fingerprint
from drillgen.render import num, render
from solvers.drill import Card, Drill

DRAWS = 300
NUMERIC = ("number", "integer", "quantity")
FIXED = 20
"""Fewer instances than this: the drill is `fixed`."""

EXCEPTIONS: dict[str, dict[str, str]] = {
    "causal_mask.triu_visible": {
        "trivial_key": "0.54: a count of keys is often i (the causal k = 1 itself), T or 0 (a blank row): the point",
    },
    "parameters.head_change": {
        "trivial_key": "0.50: at a fixed width, half of all draws, the count changes by 0, which is what is asked",
        "answer_entropy_bits": "3.7 of 5.6 bits: for the same reason half of the answers are one and the same",
    },
    "rank.score_rank": {
        "trivial_key": "1.00: the bound is the smaller of the two given sizes; which of them holds is the question",
    },
    "rank.linear_attention": {
        "trivial_key": "1.00: the bound is one of the two given sizes; that no + 1 and no T comes in is the question",
    },
    "alignment.width_growth": {
        "trivial_key": "0.52: a factor of 1 (the right divisor) or of c itself (no divisor) is what the drill is about",
    },
}
"""drill id -> gate -> measured figure and reason; at most five in all."""


@dataclass(frozen=True)
class Report:
    """One drill's metrics and gates (gate -> met), and whether all that count are met."""

    drill: str
    metrics: Mapping[str, Any]
    gates: Mapping[str, bool]
    excused: Mapping[str, str]

    @property
    def ok(self) -> bool:
        """All gates met, or excused by a stated exception."""
        return all(met or gate in self.excused for gate, met in self.gates.items())

    def to_json(self) -> dict[str, Any]:
        """One line of `drillgen audit --json`."""
        out = {"drill": self.drill, "metrics": dict(self.metrics), "gates": dict(self.gates), "ok": self.ok}
        return {**out, "excused": dict(self.excused)} if self.excused else out


def audit(card: Card, drill: Drill, draws: int = DRAWS) -> Report:
    """Draw, measure, hold against the gates."""
    found = [make(card, drill, seed) for seed in range(draws)]
    items = Counter(fingerprint(one) for one in found)
    answers = Counter(json.dumps(plain(one.answer)) for one in found)
    instances = _instances(drill, items, draws)
    kind = drill.answer.name
    metrics: dict[str, Any] = {
        "kind": kind,
        "instances": None if instances == math.inf else round(instances),
        "fixed": instances < FIXED,
        "distinct": len(items),
        "entropy_bits": round(_entropy(items, draws), 2),
        "answers": len(answers),
        "answer_entropy_bits": round(_entropy(answers, draws), 2),
        "top_item": round(max(items.values()) / draws, 4),
        "top_answer": round(max(answers.values()) / draws, 4),
        "slip_is_key": sum(_slip_is_key(one) for one in found),
        "slip_pairs_alike": round(_pairs_alike(found), 3),
        "slips_offered": round(sum(len(one.wrong) for one in found) / draws, 2),
    }
    if kind in NUMERIC:
        metrics["trivial_key"] = round(sum(_trivial(one) for one in found) / draws, 3)
        metrics["decades"] = round(_decades(found), 2)
    metrics["rounding"] = round(max(_rounding(one) for one in found), 4)
    words = [_words(one) for one in found[:40]]
    metrics["words"] = max(w for w, _ in words)
    metrics["symbols"] = max(s for _, s in words)
    metrics["undefined"] = sorted({name for one in found[:10] for name in undefined(one)})
    return Report(drill.id, metrics, _gates(metrics, instances, draws), EXCEPTIONS.get(drill.id, {}))


def _gates(m: Mapping[str, Any], instances: float, draws: int) -> dict[str, bool]:
    """The gates of the item-quality notes, as far as the number of instances can meet them."""
    n = min(instances, float(draws))
    expected = instances * (1 - math.exp(-draws / instances)) if instances != math.inf else float(draws)
    gates = {
        "slip_is_key": m["slip_is_key"] == 0,
        "undefined": not m["undefined"],
        "words": m["words"] <= 120,
        "rounding": m["rounding"] <= 0.5,
        "slips_offered": m["slips_offered"] >= 1,
    }
    if not m["fixed"]:
        # 500 items cannot be seen in 300 draws: the draws must be about as varied as draws from 500 items would be.
        wanted = min(expected, 500 * (1 - math.exp(-draws / 500)))
        gates["distinct"] = m["distinct"] >= 0.85 * wanted
        gates["entropy_bits"] = m["entropy_bits"] >= min(8.0, math.log2(n)) - 0.7
        # The commonest of n equally likely items, with four standard deviations for the luck of the sample.
        each = draws / min(n, 500)
        gates["top_item"] = m["top_item"] * draws <= each + 4 * math.sqrt(each) + 3
        # Many drills have few possible answers (a rank, a sign, three options): those must come about evenly, and no
        # guess that looks at nothing may be right in half of the draws.
        gates["answer_entropy_bits"] = m["answer_entropy_bits"] >= min(8.0, math.log2(m["answers"])) - 1.2
        gates["top_answer"] = m["top_answer"] <= 0.5
    if "trivial_key" in m:
        gates["trivial_key"] = m["trivial_key"] <= 0.01
        gates["decades"] = m["decades"] <= 3
    return gates


def _instances(drill: Drill, items: Counter[bytes], draws: int) -> float:
    """How many instances there are: the domains' product, or what the repeats among the draws say, if that is less."""
    bound = drill.instances()
    pairs = sum(c * (c - 1) / 2 for c in items.values())
    seen = draws * (draws - 1) / 2 / pairs if pairs else math.inf
    return max(float(len(items)), min(bound, seen))


def _entropy(counts: Counter[Any], total: int) -> float:
    return -sum(c / total * math.log2(c / total) for c in counts.values())


def _slip_is_key(one: Instance) -> bool:
    return any(one.kind.agrees(one.answer, value) for value in one.wrong.values())


def _pairs_alike(found: list[Instance]) -> float:
    """Share of slip pairs that the grader cannot tell apart (it then names both)."""
    alike = total = 0
    for one in found[:100]:
        values = list(one.wrong.values())
        for i, a in enumerate(values):
            for b in values[i + 1 :]:
                total += 1
                alike += one.kind.agrees(a, b)
    return alike / total if total else 0.0


def _shown(one: Instance) -> set[float]:
    return {abs(float(x)) for x in numbers({k: one.values[k] for k in one.drill.params if k in one.values})}


def numbers(value: Any) -> Iterator[int | float | Fraction]:
    """All numbers in a nested value."""
    if isinstance(value, Mapping):
        value = list(value.values())
    if isinstance(value, list | tuple):
        for item in value:
            yield from numbers(item)
    elif isinstance(value, int | float | Fraction) and not isinstance(value, bool):
        yield value


def _trivial(one: Instance) -> bool:
    """Key equal to 0, 1 or a number that the problem shows."""
    if isinstance(one.answer, str):
        return False
    key = abs(float(one.answer))
    return key in (0.0, 1.0) or key in _shown(one)


def _decades(found: list[Instance]) -> float:
    """Spread of the keys' magnitudes between the 5th and the 95th percentile, in powers of ten."""
    sizes = sorted(abs(float(one.answer)) for one in found if not isinstance(one.answer, str))
    sizes = [s for s in sizes if 0 < s < math.inf]
    if len(sizes) < 2:
        return 0.0
    low, high = sizes[len(sizes) // 20], sizes[-1 - len(sizes) // 20]
    return math.log10(high / low)


def _rounding(one: Instance) -> float:
    """How much of the tolerance the rounding of the shown inputs uses up (1: all of it)."""
    params = {k: _as_shown(v) for k, v in one.values.items() if k in one.drill.params}
    if params == {k: one.values[k] for k in params} or one.kind.name not in (*NUMERIC, "vector", "matrix"):
        return 0.0
    answer = one.drill.solution(one.drill.complete(params))
    return next((s for s in (0.05, 0.1, 0.25, 0.5, 1.0, 2.0) if one.kind.agrees(one.answer, answer, s)), 9.0)


def _as_shown(value: Any) -> Any:
    """The value as its text says it: at most six significant digits."""
    if isinstance(value, list):
        return [_as_shown(v) for v in value]
    if isinstance(value, float) and math.isfinite(value):
        return float(num(value, 6).replace(",", ""))
    return value


_WORD = re.compile(r"[A-Za-z][A-Za-z'-]*")


def _words(one: Instance) -> tuple[int, int]:
    """Words and mathematical symbols of the statement."""
    text = render(one, solution=False)["problem"]
    formulas = re.findall(r"\$+([^$]*)\$+", text)
    prose = re.sub(r"\$[^$]*\$", " x ", text)
    return len(_WORD.findall(prose)), len({s for f in formulas for s in symbols(f)})


FIELD = {
    "e", "i", "j", "r", "c", "n", "s", "p", "q", "k", "v", "o", "m", "l", "T", "d", "h", "L", "N", "X", "Q",
    "K", "V", "O", "P", "S", "M", "J", "I", "H", "B", "b", "d_k", "d_v", "d_h", "H_kv", "d_ff", "W_Q", "W_K",
    "W_V", "W_O",
}  # fmt: skip
"""Notation that every reader of the cards brings along; anything else must be introduced by the statement."""

_COMMAND = re.compile(r"\\(?:mathbf|mathrm|mathcal|mathbb|text|operatorname|boldsymbol|hat|bar|tilde)\s*\{([^{}]*)\}")
_SYMBOL = re.compile(r"(\\?[A-Za-z]+)(?:_(?:\{([^{}]*)\}|(\w)))?")
_FUNCTIONS = {
    "\\" + name
    for name in (
        "sqrt",
        "frac",
        "ln",
        "log",
        "exp",
        "sum",
        "prod",
        "max",
        "min",
        "cdot",
        "times",
        "le",
        "ge",
        "ne",
        "to",
        "in",
        "top",
        "odot",
        "infty",
        "ldots",
        "dots",
        "cdots",
        "left",
        "right",
        "quad",
        "qquad",
        "partial",
        "approx",
        "sim",
        "mid",
        "lVert",
        "rVert",
        "lvert",
        "rvert",
        "begin",
        "end",
        "circ",
        "Pr",
        "det",
        "lfloor",
        "rfloor",
        "lceil",
        "rceil",
        "pm",
        "big",
        "Big",
        "bigl",
        "bigr",
        "Bigl",
        "Bigr",
        "leftarrow",
        "rightarrow",
        "mapsto",
        "Rightarrow",
        "iff",
        "equiv",
        "propto",
        "neq",
        "leq",
        "geq",
        "mathbf",
        "mathrm",
        "mathcal",
        "mathbb",
        "text",
        "operatorname",
        "boldsymbol",
        "limits",
        "pi",
        "Phi",
        "delta",
        "arg",
        "perp",
        "ll",
        "gg",
        "lt",
        "gt",
        "langle",
        "rangle",
        "mathsf",
    )
}


def symbols(formula: str) -> Iterator[str]:
    """The names in a formula, as LaTeX spells them without fonts: d_k, \\tau, H_kv."""
    formula = re.sub(r"\\(?:begin|end)\{\w+\}", " ", formula)
    formula = re.sub(
        r"\\(?:text|operatorname)\*?\{[^{}]*\}", lambda m: m[0] if _subscript(formula, m) else " ", formula
    )
    formula = _COMMAND.sub(lambda m: m[1], formula)
    for base, braced, single in _SYMBOL.findall(formula):
        if base in _FUNCTIONS:
            continue
        sub = (braced or single or "").replace("\\text", "").replace(" ", "")
        names = [base] if base.startswith("\\") else list(base)
        yield from names[:-1]
        yield f"{names[-1]}_{sub}" if sub else names[-1]


def _subscript(text: str, match: re.Match[str]) -> bool:
    return match.start() > 1 and text[match.start() - 2 : match.start()] == "_{"


_IDLE = frozenset(
    re.findall(
        r"\w+",
        "a all an and are as at be between both by compute do does each either every evaluate express find for from "
        "get gets give grow grows has have how if in into is it its no not of on only onto or over per shall so than "
        "that the their then these they this those through to under until via was were what when where which whose "
        "write",
    )
)
"""Words that introduce no symbol which follows them, unlike "temperature" or "keys"."""
_INTRODUCED = re.compile(r"([A-Za-z)-]+)[,:]?\s+(\$[^$]+\$(?:(?:,? and|,? or|,)\s+\$[^$]+\$)*)")


def undefined(one: Instance) -> set[str]:
    """Symbols that the statement uses and nobody has introduced."""
    text = render(one, solution=False)["problem"]
    declared = {str(n) for names in one.kind.declared().values() for n in names}
    return strangers(text, declared | set(one.values))


def strangers(text: str, named: AbstractSet[str] = frozenset()) -> set[str]:
    """Symbols in the formulas of a text that nobody has introduced.

    Introduced is what the field's notation holds, what is `named` beside the text (declared for the answer, or shown by
    value), what stands left of a sign of equality, and what follows a word of its own: "the temperature $\\tau$",
    "scores $s_1$ and $s_2$", but not "compute $\\kappa$" or "the variance of $z$".
    """
    text = text.replace(r"$\mu$P", "muP")  # a name, no symbol
    known = FIELD | named | {"\\" + n for n in named}
    for word, formulas in _INTRODUCED.findall(text):
        if word.lower() not in _IDLE:
            for formula in re.findall(r"\$([^$]+)\$", formulas):
                known.update(symbols(formula.split("=")[0]))
    found = re.findall(r"\$+([^$]*)\$+", text)
    for formula in found:
        if "=" in formula or r"\in" in formula or r"\sim" in formula:
            known.update(symbols(re.split(r"=|\\in\b|\\sim\b", formula)[0]))
    stems = {k.partition("_")[0] for k in known}
    return {s for f in found for s in symbols(f) if s not in known and s.partition("_")[0] not in stems}


def run(only: str | None = None) -> Iterator[Report]:
    """The reports of one drill, or of all."""
    for card, drill in [catalog.drill(only)] if only else catalog.drills():
        yield audit(card, drill)
