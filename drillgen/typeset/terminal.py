"""Plain text for the terminal: formulas on one line in Unicode (√d_k, qᵀk, Σ_j), texts wrapped.

A reading aid, not a notation to type: what a learner may type is the grader's business.
"""

from __future__ import annotations

import textwrap
import unicodedata
from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import Any

from drillgen.typeset import nodes as n
from drillgen.typeset.blocks import (
    Block,
    Break,
    Code,
    CodeBlock,
    Emphasis,
    Inline,
    Listing,
    Math,
    Paragraph,
    Strong,
    Table,
    Text,
)
from drillgen.typeset.markdown import read

_RAISED = dict(zip("0123456789+−=()ni⊤", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁼⁽⁾ⁿⁱᵀ", strict=True))
_COMBINING = {
    "hat": "\u0302", "bar": "\u0304", "tilde": "\u0303", "vec": "\u20d7", "dot": "\u0307", "ddot": "\u0308",
    "widehat": "\u0302", "widetilde": "\u0303", "overline": "\u0305", "underline": "\u0332",
}  # fmt: skip
_BLACKBOARD = dict(zip("CEHNPQRZ1", "ℂ𝔼ℍℕℙℚℝℤ𝟙", strict=True))
_SCRIPT = dict(zip("BEFHILMR", "ℬℰℱℋℐℒℳℛ", strict=True))
_BOLD = {"0": "𝟎", "1": "𝟏"}
_PLAINER = {"∑": "Σ", "∏": "Π", "⋅": "·", "∗": "*", "∣": "|", "⟂": "⊥"}


@lru_cache(maxsize=4096)
def formula(node: n.Node) -> str:
    """A formula on one line (an `aligned` one on several)."""
    return _write(node).strip()


def _write(node: n.Node | None) -> str:
    return "" if node is None else _WRITERS[type(node)](node)


def _row(node: n.Row) -> str:
    out = ""
    for index, item in enumerate(node.items):
        said = _write(item)
        if isinstance(item, n.Symbol | n.Stack) and _role(item) in ("bin", "rel"):
            unary = _role(item) == "bin" and _is_sign(node.items[:index])
            said = ": " if said == ":" else said if unary else f" {said} "
        elif isinstance(item, n.Symbol) and item.role == "punct":
            said += " "
        elif said and out and _runs_together(node.items[index - 1], item, out, said):
            out += " "
        out += said
    while "  " in out:
        out = out.replace("  ", " ")
    return out


def _role(node: n.Node) -> str:
    if isinstance(node, n.Symbol | n.Sized):
        return node.role
    return _role(node.base) if isinstance(node, n.Stack) else ""


def _is_sign(before: tuple[n.Node, ...]) -> bool:
    solid = [item for item in before if not isinstance(item, n.Space)]
    return not solid or _role(solid[-1]) in ("bin", "rel", "open", "punct")


def _runs_together(before: n.Node, item: n.Node, out: str, said: str) -> bool:
    """Whether two things side by side would read as one name: d_k then σ, log then T, x then for."""
    if not (said[0].isalnum() or said[0] in "√Σ∫𝔼ℝ"):
        return False
    named = item.base if isinstance(item, n.Scripts) else item
    if isinstance(named, n.Function) or isinstance(before, n.Function | n.Word):
        return out[-1].isalnum()
    if isinstance(before, n.Scripts):
        operator = isinstance(before.base, n.Function) or _is_big(before.base)
        return operator or before.sub is not None or (out[-1].isalnum() and out[-1] not in _RAISED.values())
    return isinstance(before, n.Fraction) and out[-1].isalnum()


def _is_big(node: n.Node | None) -> bool:
    return isinstance(node, n.Symbol) and node.role == "big"


def _tight(node: n.Node) -> str:
    """As in a script: without spaces, except in words."""
    said = _write(node).strip()
    return said if any(isinstance(item, n.Word) for item in _items(node)) else said.replace(" ", "")


def _items(node: n.Node) -> tuple[n.Node, ...]:
    return node.items if isinstance(node, n.Row) else (node,)


def _atom(node: n.Node | None, loose: bool = False) -> str:
    """In brackets unless it is one thing (with `loose`: or a product)."""
    said = _write(node).strip()
    items = [item for item in _items(node) if not isinstance(item, n.Space)] if node is not None else []
    whole = len(items) == 1 and not isinstance(items[0], n.Fraction | n.Cases | n.Aligned)
    product = loose and all(_role(item) not in ("bin", "rel", "punct") for item in items)
    return said if whole or product or not said else f"({said})"


def _scripts(node: n.Scripts) -> str:
    out = _atom(node.base) + "′" * node.primes
    if node.sub is not None:
        sub = _tight(node.sub)
        out += f"_{sub}" if all(c.isalnum() or c in "⋆" for c in sub) else f"_({sub})"
    if node.sup is not None:
        sup = _tight(node.sup)
        if all(c in _RAISED for c in sup):
            out += "".join(_RAISED[c] for c in sup)
        else:
            out += f"^{sup}" if len(sup) == 1 or sup.isalnum() else f"^({sup})"
    return out


def _styled(node: n.Styled) -> str:
    said = _write(node.body)
    table = {"bb": _BLACKBOARD, "cal": _SCRIPT, "bf": _BOLD}.get(node.style, {})
    return "".join(table.get(c, c) for c in said)


def _fraction(node: n.Fraction) -> str:
    return f"{_atom(node.top, loose=True)}/{_atom(node.bottom)}"


def _root(node: n.Root) -> str:
    sign = {"": "√", "3": "∛", "4": "∜"}.get(_write(node.index), "")
    body = _atom(node.body)
    return f"{sign}{body}" if sign else f"root_{_write(node.index)}({_write(node.body)})"


def _grid(node: n.Grid) -> str:
    if node.kind == "substack":
        return ", ".join(_write(cell) for row in node.rows for cell in row)
    rows = [", ".join(_write(cell).strip() for cell in row) for row in node.rows]
    body = "[" + ", ".join(f"[{row}]" for row in rows) + "]"
    return {"vmatrix": f"det {body}", "Vmatrix": f"‖{body}‖"}.get(node.kind, body)


def _cases(node: n.Cases) -> str:
    return "{ " + "; ".join(" if ".join(_write(cell).strip() for cell in row) for row in node.rows) + " }"


def _aligned(node: n.Aligned) -> str:
    return "\n".join(" ".join(_write(cell).strip() for cell in row if _write(cell)) for row in node.rows)


def _brace(node: n.Brace) -> str:
    label = f" [{_write(node.label).strip()}]" if node.label is not None else ""
    return f"{_atom(node.body, loose=True)}{label}"


def _stack(node: n.Stack) -> str:
    notes = [_write(part).strip() for part in (node.above, node.below) if part is not None]
    return f"{_write(node.base)}[{'; '.join(notes)}]"


def _accent(node: n.Accent) -> str:
    body = _write(node.body)
    return body + _COMBINING[node.kind] if len(body) == 1 else f"{node.kind}({body})"


_WRITERS: dict[type, Callable[[Any], str]] = {
    n.Row: _row,
    n.Letter: lambda node: node.char,
    n.Number: lambda node: node.text,
    n.Symbol: lambda node: _PLAINER.get(node.char, node.char),
    n.Word: lambda node: node.text,
    n.Function: lambda node: node.name,
    n.Styled: _styled,
    n.Fraction: _fraction,
    n.Binomial: lambda node: f"C({_write(node.top)}, {_write(node.bottom)})",
    n.Root: _root,
    n.Scripts: _scripts,
    n.Fence: lambda node: f"{node.left}{_write(node.body).strip()}{node.right}",
    n.Middle: lambda node: f" {node.char} ",
    n.Sized: lambda node: node.char,
    n.Grid: _grid,
    n.Cases: _cases,
    n.Aligned: _aligned,
    n.Brace: _brace,
    n.Stack: _stack,
    n.Accent: _accent,
    n.Space: lambda node: " " * max(0, min(3, round(node.em * 3.6))),
    n.Boxed: lambda node: f"[{_write(node.body).strip()}]",
    n.Sizing: lambda node: _write(node.body),
}


# -- texts ---------------------------------------------------------------------------------------------------
_INLINES: dict[type, Callable[[Any], str]] = {
    Text: lambda inline: inline.text,
    Strong: lambda inline: inlines(inline.body),
    Emphasis: lambda inline: inlines(inline.body),
    Code: lambda inline: inline.text,
    Math: lambda inline: _display(inline) if inline.display else formula(inline.tree).replace("\n", "; "),
    Break: lambda _: "\n",
}


def _display(math: Math) -> str:
    return "\n" + "\n".join(f"\0{line}" for line in formula(math.tree).split("\n")) + "\n"


def inlines(body: Iterable[Inline]) -> str:
    """A run of inlines as text; a display formula stands on lines of its own, marked by a leading NUL."""
    return "".join(_INLINES[type(inline)](inline) for inline in body)


def _paragraph(block: Paragraph, width: int) -> list[str]:
    out: list[str] = []
    for line in inlines(block.body).split("\n"):
        indent = "    " if line.startswith("\0") else ""
        text = line.lstrip("\0").strip()
        if text:
            out += _wrapped(text, width, indent)
    return out


def _wrapped(text: str, width: int, indent: str) -> list[str]:
    # A formula may be split between lines, but never inside a name or number.
    filler = textwrap.TextWrapper(
        max(20, width), break_long_words=False, break_on_hyphens=False,
        initial_indent=indent, subsequent_indent=indent + ("  " if indent else ""),
    )  # fmt: skip
    return filler.wrap(text)


def _listing(block: Listing, width: int) -> list[str]:
    out: list[str] = []
    for number, item in enumerate(block.items):
        mark = "- " if block.start is None else f"{block.start + number}. "
        lines = _lines(item, width - len(mark))
        out += [(mark if i == 0 else " " * len(mark)) + line if line else "" for i, line in enumerate(lines)]
    return out


def _table(block: Table, _: int) -> list[str]:
    rows = [[inlines(cell) for cell in row] for row in (block.header, *block.rows)]
    widths = [max(_columns(row[i]) for row in rows) for i in range(len(block.align))]
    out = ["  ".join(_padded(c, w, a) for c, w, a in zip(r, widths, block.align, strict=True)).rstrip() for r in rows]
    return [out[0], "  ".join("-" * w for w in widths), *out[1:]]


def _columns(text: str) -> int:
    return sum(not unicodedata.combining(c) for c in text)


def _padded(text: str, width: int, align: str) -> str:
    room = width - _columns(text)
    left = {"left": 0, "center": room // 2, "right": room}[align]
    return " " * left + text + " " * (room - left)


_BLOCKS: dict[type, Callable[[Any, int], list[str]]] = {
    Paragraph: _paragraph,
    Listing: _listing,
    Table: _table,
    CodeBlock: lambda block, _: [f"    {line}" for line in block.text.split("\n")],
}


def _lines(body: Iterable[Block], width: int) -> list[str]:
    out: list[str] = []
    for block in body:
        if out and out[-1]:
            out.append("")
        out += _BLOCKS[type(block)](block, width)
    return out


def write(markdown: str, width: int = 88) -> str:
    """A template's text as lines of at most `width` columns (tables, code and long words excepted).

    Raises TypesetError where the text is not the Markdown that templates write.
    """
    return "\n".join(_lines(read(markdown), width))
