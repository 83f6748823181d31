"""Spoken English for a formula: the text alternative that a screen reader gets.

Short things are read as people say them ("d sub k", "e to the s sub j", "1 over T"); anything longer is
bracketed in words ("the fraction .. over .., end fraction"), so that different formulas do not sound alike.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from typing import Any

from drillgen.typeset import nodes as n
from drillgen.typeset.symbols import DELIMITER_NAMES, LETTER_NAMES

_STYLES = {
    "bf": "bold", "bb": "blackboard", "cal": "script", "rm": "", "it": "", "sf": "", "tt": "", "bs": "bold",
}  # fmt: skip
_ACCENTS = {
    "hat": "hat", "bar": "bar", "tilde": "tilde", "vec": "vector", "dot": "dot", "ddot": "double dot",
    "widehat": "hat", "widetilde": "tilde", "overline": "bar", "underline": "underlined",
}  # fmt: skip
_FUNCTIONS = {
    "ln": "natural log", "max": "the maximum", "min": "the minimum", "lim": "the limit", "Pr": "the probability",
    "sup": "the supremum", "inf": "the infimum", "det": "the determinant", "arg": "the argument", "sin": "sine",
    "cos": "cosine", "tan": "tangent", "lim sup": "the limit superior", "lim inf": "the limit inferior",
    "gcd": "the greatest common divisor",
}  # fmt: skip
_POWERS = {"2": "squared", "3": "cubed"}
_BLACKBOARD = {
    "E": "the expectation", "R": "the real numbers", "N": "the natural numbers", "Z": "the integers",
    "1": "the indicator",
}  # fmt: skip


_PAUSES = re.compile(r"(?:\s*[,;])+")
"""A run of pauses, read as its strongest."""


@lru_cache(maxsize=8192)
def speak(node: n.Node) -> str:
    """The whole formula in words."""
    said = re.sub(r"\s+", " ", _say(node))
    said = _PAUSES.sub(lambda run: ";" if ";" in run.group() else ",", said)
    return said.replace(" colon,", " colon").replace(" semicolon,", ";").strip(" ,;") or "empty"


def _say(node: n.Node | None) -> str:
    return "" if node is None else _WRITERS[type(node)](node)


def _join(parts: list[str]) -> str:
    return " ".join(part for part in parts if part)


def simple(node: n.Node | None) -> bool:
    """Whether it is said in one breath, so that what comes next needs no end mark."""
    if isinstance(node, n.Letter | n.Number | n.Symbol | n.Word | n.Function):
        return True
    if isinstance(node, n.Styled):
        return n.word(node.body) != "" or simple(node.body)
    if isinstance(node, n.Accent):
        return simple(node.body)
    if isinstance(node, n.Scripts):
        return all(part is None or simple(part) or _letters(part) for part in (node.base, node.sub, node.sup))
    return False


def _letters(node: n.Node) -> bool:
    """A subscript such as ij."""
    return isinstance(node, n.Row) and all(isinstance(i, n.Letter | n.Number) for i in node.items)


def _product(node: n.Node) -> bool:
    """Whether it is simple things side by side, without sums or relations."""
    if not isinstance(node, n.Row):
        return simple(node)
    return all(
        isinstance(i, n.Space) or (simple(i) and not (isinstance(i, n.Symbol) and i.role in ("bin", "rel", "punct")))
        for i in node.items
    )


def _row(node: n.Row) -> str:
    parts: list[str] = []
    for index, item in enumerate(node.items):
        said = _say(item)
        if isinstance(item, n.Symbol) and item.char == "−":
            said = "negative" if _unary(node.items[:index]) and index + 1 < len(node.items) else "minus"
        if _is_big(item):
            said += " of"
        if said == "the argument" and _is_arg(node.items[index + 1 : index + 2]):
            said = "arg"
        if said == "comma" and parts:
            parts[-1] += ","
            continue
        parts.append(said)
    return _join(parts)


def _is_arg(after: tuple[n.Node, ...]) -> bool:
    """Whether max or min follows, so that the two are said as "arg max"."""
    base = after[0].base if after and isinstance(after[0], n.Scripts) else after[0] if after else None
    return isinstance(base, n.Function) and base.name in ("max", "min")


def _unary(before: tuple[n.Node, ...]) -> bool:
    """Whether a minus behind these is a sign and no difference."""
    solid = [item for item in before if not isinstance(item, n.Space)]
    last = solid[-1] if solid else None
    return last is None or (isinstance(last, n.Symbol | n.Sized) and last.role in ("bin", "rel", "open", "punct"))


def _is_big(node: n.Node) -> bool:
    if isinstance(node, n.Symbol):
        return node.role == "big"
    if not isinstance(node, n.Scripts):
        return False
    base = node.base
    return (isinstance(base, n.Symbol) and base.role == "big") or (isinstance(base, n.Function) and base.limits)


def _letter(node: n.Letter) -> str:
    return LETTER_NAMES.get(node.char, node.char)


def _styled(node: n.Styled) -> str:
    if node.style == "bb" and isinstance(node.body, n.Letter | n.Number):
        name = node.body.char if isinstance(node.body, n.Letter) else node.body.text
        if name in _BLACKBOARD:
            return _BLACKBOARD[name]
    return _join([_STYLES[node.style], n.word(node.body) or _say(node.body)])


def _fraction(node: n.Fraction) -> str:
    top, bottom = _say(node.top), _say(node.bottom)
    if isinstance(node.top, n.Number) and node.top.text == "1" and isinstance(node.bottom, n.Number):
        halves = {"2": "one half", "3": "one third", "4": "one quarter"}
        if node.bottom.text in halves:
            return halves[node.bottom.text]
    if simple(node.top) and simple(node.bottom):
        return f"{top} over {bottom}"
    return f"the fraction {top} over {bottom}, end fraction,"


def _root(node: n.Root) -> str:
    name = "the square root" if node.index is None else f"the root of order {_say(node.index)}"
    return f"{name} of {_say(node.body)}" + ("" if simple(node.body) else ", end root,")


def _scripts(node: n.Scripts) -> str:
    parts = [_say(node.base)]
    if _is_big(node):
        return _big(node, parts[0])
    if node.primes:
        parts.append({1: "prime", 2: "double prime"}.get(node.primes, f"{node.primes} primes"))
    if node.sub is not None:
        parts += ["sub", _spoken_script(node.sub)]
    if node.sup is not None:
        parts.append(_power(node))
    return _join(parts)


def _spoken_script(node: n.Node) -> str:
    said = _say(node)
    return said if simple(node) or _letters(node) else f"{said}, end sub,"


def _power(node: n.Scripts) -> str:
    sup = node.sup
    assert sup is not None
    if isinstance(sup, n.Number) and sup.text in _POWERS:
        return _POWERS[sup.text]
    if isinstance(sup, n.Symbol):
        return sup.spoken
    if _say(sup) in ("negative transpose", "minus transpose"):
        return "inverse transpose"
    if _say(sup) == "negative 1":
        return "to the minus 1"
    items = sup.items if isinstance(sup, n.Row) else ()
    if items and isinstance(items[0], n.Symbol) and items[0].char == "(":
        return f"superscript {_say(sup)}"
    said = _say(sup)
    return f"to the {said}" + ("" if simple(sup) or _product(sup) else ", end power,")


def _big(node: n.Scripts, base: str) -> str:
    low, high = _say(node.sub), _say(node.sup)
    if node.sub is None:
        return f"{base} up to {high}"
    relation = isinstance(node.sub, n.Row) and any(isinstance(i, n.Symbol) and i.char == "=" for i in node.sub.items)
    if high:
        return f"{base} from {low} to {high}"
    arrow = isinstance(node.sub, n.Row) and any(isinstance(i, n.Symbol) and i.char == "→" for i in node.sub.items)
    if arrow:
        return f"{base} as {low.replace(' to ', ' goes to ', 1)}"
    return f"{base} {'for' if relation else 'over'} {low}"


def _fence(node: n.Fence) -> str:
    pairs = {
        ("|", "|"): ("the absolute value of", ", end absolute value,"),
        ("‖", "‖"): ("the norm of", ", end norm,"),
    }
    left, right = pairs.get((node.left, node.right), (DELIMITER_NAMES[node.left], DELIMITER_NAMES[node.right]))
    return _join([left, _say(node.body), right])


def _cells(rows: tuple[tuple[n.Node, ...], ...]) -> str:
    return "; ".join(f"row {i}: " + ", ".join(_say(cell) for cell in row) for i, row in enumerate(rows, 1))


def _grid(node: n.Grid) -> str:
    if node.kind == "substack":
        return "; ".join(_say(cell) for row in node.rows for cell in row)
    height, width = len(node.rows), max(len(row) for row in node.rows)
    what = {"array": "array", "vmatrix": "determinant"}.get(node.kind, "matrix")
    return f"the {height} by {width} {what}, {_cells(node.rows)}; end {what},"


def _cases(node: n.Cases) -> str:
    return "cases: " + "; ".join(" if ".join(_say(cell) for cell in row) for row in node.rows) + "; end cases,"


def _aligned(node: n.Aligned) -> str:
    return "; ".join(_join([_say(cell) for cell in row]) for row in node.rows)


def _brace(node: n.Brace) -> str:
    label = f", which is {_say(node.label)}," if node.label is not None else ""
    return f"{_say(node.body)}{label}"


def _stack(node: n.Stack) -> str:
    above = f"with {_say(node.above)} above" if node.above is not None else ""
    below = f"with {_say(node.below)} below" if node.below is not None else ""
    return _join([_say(node.base), above, below])


_WRITERS: dict[type, Callable[[Any], str]] = {
    n.Row: _row,
    n.Letter: _letter,
    n.Number: lambda node: node.text,
    n.Symbol: lambda node: node.spoken,
    n.Word: lambda node: node.text,
    n.Function: lambda node: _FUNCTIONS.get(node.name, node.name),
    n.Styled: _styled,
    n.Fraction: _fraction,
    n.Binomial: lambda node: f"{_say(node.top)} choose {_say(node.bottom)}",
    n.Root: _root,
    n.Scripts: _scripts,
    n.Fence: _fence,
    n.Middle: lambda node: "given" if node.char == "|" else DELIMITER_NAMES[node.char],
    n.Sized: lambda node: DELIMITER_NAMES[node.char],
    n.Grid: _grid,
    n.Cases: _cases,
    n.Aligned: _aligned,
    n.Brace: _brace,
    n.Stack: _stack,
    n.Accent: lambda node: _join([_say(node.body), _ACCENTS[node.kind]]),
    n.Space: lambda node: "" if node.em < 0.5 else ",",
    n.Boxed: lambda node: _say(node.body),
    n.Sizing: lambda node: _say(node.body),
}
