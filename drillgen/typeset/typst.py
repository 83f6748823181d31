"""Typst: a formula as maths source, a text as a code expression.

Everything written is made of string literals, escaped glyphs and a fixed handful of function calls, so nothing
in a text can act as Typst source. The expression of `blocks` is evaluated by the sheet's template with four
functions in scope: `m(alt, equation)` sets a formula with its spoken form, `tall` one that needs a taller line, `short`
one that no line end may part, `boxed` one in a frame.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
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
from drillgen.typeset.quotes import curly
from drillgen.typeset.speech import speak

_ACCENTS = {
    "hat": "hat", "bar": "macron", "tilde": "tilde", "vec": "arrow", "dot": "dot", "ddot": "dot.double",
    "widehat": "hat", "widetilde": "tilde", "overline": "overline", "underline": "underline",
}  # fmt: skip
_STYLES = {
    "bf": "bold(upright({}))", "bb": "bb({})", "cal": "cal({})", "rm": "upright({})", "it": "italic({})",
    "sf": "sans(upright({}))", "tt": "mono({})", "bs": "bold({})",
}  # fmt: skip
_CLASSES = {"ord": "normal", "big": "large", "bin": "binary", "rel": "relation", "open": "opening",
            "close": "closing", "punct": "punctuation"}  # fmt: skip
_EXPLICIT = frozenset("|‖∣⊥□✓∠†/\\↑↓:∥⟂mod")
"""Glyphs whose own class in Typst differs from LaTeX's."""
_SIZES = (1.2, 1.8, 2.4, 3.0)
_FENCES = {"pmatrix": '("(", ")")', "bmatrix": '("[", "]")', "vmatrix": '"|"', "Vmatrix": '"‖"'}


def string(text: str) -> str:
    """A Typst string literal."""
    return '"' + "".join(_STRING.get(c, c) for c in text) + '"'


_STRING = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r", "\t": "\\t"}


def glyph(char: str) -> str:
    """One glyph of a formula, without any meaning of its own."""
    special = (char.isascii() and not char.isalnum()) or char in "⌊⌋⌈⌉⟨⟩‖"
    return "\\" + char if special else char


def _join(parts: Iterable[str]) -> str:
    """Side by side; no space beside a string literal, since Typst would print it."""
    out: list[str] = []
    for part in parts:
        if not part:
            continue
        if out and not (part.startswith('"') or out[-1].endswith('"')):
            out.append(" ")
        out.append(part)
    return "".join(out)


def _argument(node: n.Node | None) -> str:
    """The source of an argument; an empty one is an empty string, since Typst takes no empty arguments."""
    return (formula(node) if node is not None else "") or '""'


def _symbol(node: n.Symbol) -> str:
    if len(node.char) > 1:
        return f"class({string(_CLASSES[node.role])}, {string(node.char)})"
    if node.char in _EXPLICIT:
        return f"class({string(_CLASSES[node.role])}, {glyph(node.char)})"
    return glyph(node.char)


def _number(node: n.Number) -> str:
    return string(node.text) if "," in node.text else node.text


def _styled(node: n.Styled) -> str:
    return _STYLES[node.style].format(_argument(node.body))


def _fraction(node: n.Fraction) -> str:
    body = f"frac({_argument(node.top)}, {_argument(node.bottom)})"
    return {"": body, "text": f"inline({body})", "display": f"display({body})"}[node.size]


def _root(node: n.Root) -> str:
    if node.index is None:
        return f"sqrt({_argument(node.body)})"
    return f"root({_argument(node.index)}, {_argument(node.body)})"


def _scripts(node: n.Scripts) -> str:
    base = _argument(node.base)
    if node.limits is not None:
        base = f"limits({base})" if node.limits else f"scripts({base})"
    top = _join(["′" * node.primes, formula(node.sup) if node.sup is not None else ""])
    parts = [base]
    if top:
        parts.append(f"t: {top}")
    if node.sub is not None:
        parts.append(f"b: {_argument(node.sub)}")
    return f"attach({', '.join(parts)})"


def _fence(node: n.Fence) -> str:
    # An empty string for an empty delimiter keeps the body's own first bracket from growing in its place.
    left, right = (glyph(c) if c else '""' for c in (node.left, node.right))
    return f"lr({_join([left, formula(node.body), right])})"


def _sized(node: n.Sized) -> str:
    body = f"stretch({glyph(node.char)}, size: #{_SIZES[node.level - 1]}em)"
    return f"class({string(_CLASSES[node.role])}, {body})"


def _grid(node: n.Grid) -> str:
    options = [f"delim: #{_FENCES.get(node.kind, 'none')}"]
    if node.kind == "substack":
        options.append("row-gap: #0.2em")
    if node.rules:
        inner = [str(r) for r in node.rules if 0 < r < len(node.align)]
        outer = [str(r) for r in node.rules if r == len(node.align)]
        lines = [*(["0"] if 0 in node.rules else []), *inner, *outer]
        options.append(f"augment: #(vline: ({', '.join(lines)},))")
    rows = []
    for row in node.rows:
        cells = []
        for column, cell in enumerate(row):
            align = node.align[column] if node.align else "c"
            body = _argument(cell)
            cells.append({"l": f"& {body}", "r": f"{body} &", "c": body}[align])
        rows.append(", ".join(cells))
    return f"mat({', '.join(options)}, {'; '.join(rows)})"


def _cases(node: n.Cases) -> str:
    rows = ["& " + " & quad & ".join(_argument(cell) for cell in row) for row in node.rows]
    return f"cases(delim: \\{{, {', '.join(rows)})"


def _aligned(node: n.Aligned) -> str:
    rows = [" & ".join(f"display({_argument(cell)})" for cell in row) for row in node.rows]
    return f"mat(delim: #none, row-gap: #0.6em, {'; '.join(rows)})"


def _brace(node: n.Brace) -> str:
    name = "overbrace" if node.over else "underbrace"
    label = f", {_argument(node.label)}" if node.label is not None else ""
    return f"{name}({_argument(node.body)}{label})"


def _stack(node: n.Stack) -> str:
    base = _argument(node.base)
    if node.base == n.Symbol("→", "rel", "to"):
        base = f"stretch({base})"
    above = f", t: {_argument(node.above)}" if node.above is not None else ""
    below = f", b: {_argument(node.below)}" if node.below is not None else ""
    return f"attach(limits({base}){above}{below})"


def _accent(node: n.Accent) -> str:
    return f"{_ACCENTS[node.kind]}({_argument(node.body)})"


def _boxed(node: n.Boxed) -> str:
    return f"#boxed({string(speak(node.body))}, $display({_argument(node.body)})$)"


_WRITERS: dict[type, Callable[[Any], str]] = {
    n.Row: lambda node: _join(formula(item) for item in node.items),
    n.Letter: lambda node: node.char,
    n.Number: _number,
    n.Symbol: _symbol,
    n.Word: lambda node: string(node.text),
    n.Function: lambda node: f"op({string(node.name)}, limits: #{'true' if node.limits else 'false'})",
    n.Styled: _styled,
    n.Fraction: _fraction,
    n.Binomial: lambda node: f"binom({_argument(node.top)}, {_argument(node.bottom)})",
    n.Root: _root,
    n.Scripts: _scripts,
    n.Fence: _fence,
    n.Middle: lambda node: f"mid({glyph(node.char)})",
    n.Sized: _sized,
    n.Grid: _grid,
    n.Cases: _cases,
    n.Aligned: _aligned,
    n.Brace: _brace,
    n.Stack: _stack,
    n.Accent: _accent,
    n.Space: lambda node: f"#h({node.em:.4f}em)",
    n.Boxed: _boxed,
    n.Sizing: lambda node: f"{'display' if node.display else 'inline'}({_argument(node.body)})",
}


def formula(node: n.Node) -> str:
    """The Typst maths source of a tree, without dollars."""
    return _WRITERS[type(node)](node)


@lru_cache(maxsize=8192)
def equation(math: Math) -> str:
    """A formula as a code expression: `m(alt, equation)`."""
    body = formula(math.tree) or '""'
    framed = f"$ {body} $" if math.display else f"${body}$"
    return f"{_setter(body, math.display)}({string(speak(math.tree))}, {framed})"


def _setter(body: str, display: bool) -> str:
    """The function that sets a formula: one in a line may need a taller line, or to be kept in one piece."""
    if display:
        return "m"
    if "display(frac(" in body:
        return "tall"
    # Only relations and operators are places where a formula breaks.
    return "short" if len(_INK.sub("", body)) <= SHORT and _BREAKS.search(body) else "m"


SHORT = 18
"""Glyphs up to which a formula in a line stays in one piece: a third of a line, so that none is left half empty."""
_INK = re.compile(
    r"limits: #\w+|\"(?:normal|large|binary|relation|opening|closing|punctuation)\"|"
    r"[a-z.]{2,}(?=\()|#h\([^)]*\)|[\\ \"(),]|[tb]:"
)
"""What of a formula's source puts no glyph on paper."""
_BREAKS = re.compile(r"[=<>≤≥≈≠→+−·×/∈∼]")


_UNIT = re.compile(
    r"(?:(?<=\d)|^) (?=(?:[KMGTP]?i?B(?:/s)?|[KMGTP]?FLOPs?(?:/s|/B)?|m?s|nats|bytes|tokens|%)(?![A-Za-z]))"
)


def _kept(text: str) -> str:
    """A number keeps its unit on its line; a text that begins with a unit goes on behind a formula."""
    return _UNIT.sub("\u00a0", text)


# -- texts ---------------------------------------------------------------------------------------------------
def _sequence(parts: Iterable[str]) -> str:
    return "{ " + "; ".join(parts) + " }"


_INLINES: dict[type, Callable[[Any], str]] = {
    Text: lambda inline: string(_kept(curly(inline.text))),
    Strong: lambda inline: f"strong({inlines(inline.body)})",
    Emphasis: lambda inline: f"emph({inlines(inline.body)})",
    Code: lambda inline: f"raw({string(inline.text)})",
    Math: equation,
    Break: lambda _: "linebreak()",
}


def inlines(body: Iterable[Inline]) -> str:
    """A run of inlines as one code expression giving content."""
    return _sequence(["[]", *(_INLINES[type(inline)](inline) for inline in body)])


def _paragraph(block: Paragraph) -> str:
    """Text in `par`, displayed formulas between: a `par` with a block in it would lose the block without a word."""
    out: list[str] = []
    run: list[Inline] = []
    for inline in (*block.body, None):
        if inline is not None and not (isinstance(inline, Math) and inline.display):
            run.append(inline)
            continue
        if any(not isinstance(item, Text) or item.text.strip() for item in run):
            out.append(f"par({inlines(run)})")
        run = []
        if inline is not None:
            out.append(equation(inline))
    return "; ".join(out)


def _listing(block: Listing) -> str:
    tight = all(len(item) == 1 for item in block.items)
    items = ", ".join(blocks(item) for item in block.items)
    options = f"tight: {'true' if tight else 'false'}"
    if block.start is None:
        return f"list({options}, {items})"
    return f"enum({options}, start: {block.start}, {items})"


def _table(block: Table) -> str:
    align = ", ".join(block.align)
    header = ", ".join(f"strong({inlines(cell)})" for cell in block.header)
    cells = "".join(f", {inlines(cell)}" for row in block.rows for cell in row)
    return (
        f"table(columns: {len(block.align)}, align: ({align},), stroke: 0.4pt + luma(150), "
        f"inset: (x: 6pt, y: 4pt), table.header({header}){cells})"
    )


def _code(block: CodeBlock) -> str:
    lang = string(block.language) if block.language else "none"
    return f"raw({string(block.text)}, block: true, lang: {lang})"


_BLOCKS: dict[type, Callable[[Any], str]] = {
    Paragraph: _paragraph,
    Listing: _listing,
    Table: _table,
    CodeBlock: _code,
}


def phrase(body: Sequence[Block]) -> str:
    """As `blocks`, but a single paragraph runs on in its line."""
    return inlines(body[0].body) if len(body) == 1 and isinstance(body[0], Paragraph) else blocks(body)


def blocks(body: Iterable[Block]) -> str:
    """A text as one code expression giving content."""
    return _sequence(["[]", *(_BLOCKS[type(block)](block) for block in body)])
