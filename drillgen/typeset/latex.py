"""LaTeX: texts are written, formulas pass through as they were typed (the reader has vouched for them)."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from typing import Any

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
from drillgen.typeset.symbols import LETTERS, SYMBOLS

_ESCAPES = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"\$", "&": r"\&", "#": r"\#", "%": r"\%", "_": r"\_",
    "^": r"\textasciicircum{}", "~": r"\textasciitilde{}", "<": r"\textless{}", ">": r"\textgreater{}",
    "|": r"\textbar{}", '"': r"\textquotedbl{}", "“": "``", "”": "''", "‘": "`", "’": "'", "–": "--", "—": "---",
    "…": r"\ldots{}", "\N{NO-BREAK SPACE}": "~", "\N{THIN SPACE}": r"\,", "µ": r"\ensuremath{\mu}",
    "²": r"\textsuperscript{2}", "³": r"\textsuperscript{3}", "°": r"\textdegree{}", "·": r"\textperiodcentered{}",
    "½": r"\textonehalf{}", "¼": r"\textonequarter{}", "¾": r"\textthreequarters{}", "★": r"\ensuremath{\star}",
    "√": r"\ensuremath{\surd}", "•": r"\textbullet{}", "−": r"\ensuremath{-}", "∗": r"\ensuremath{*}",
}  # fmt: skip
_T1 = frozenset("ĂăĄąĆćČčĎďĐđĘęĚěĞğĹĺĽľŁłŃńŇňŊŋŐőŔŕŘřŚśŞşŠšŤťŢţŮůŰűŸŹźŻżŽžİıŒœ")
"""Letters beyond Latin-1 that the T1 encoding prints."""
_MATHS = {symbol.char: name for name, symbol in reversed(SYMBOLS.items())} | {c: n for n, c in LETTERS.items()}


def escape(text: str) -> str:
    """A text as LaTeX source that prints it and does nothing else.

    Characters that pdflatex's fonts lack lose their accents, or stand as their code point in brackets.
    """
    return "".join(_escaped(c) for c in unicodedata.normalize("NFC", text))


def _escaped(char: str) -> str:
    if char in _ESCAPES:
        return _ESCAPES[char]
    if char.isascii():
        return char if char.isprintable() else " "
    if char in _MATHS:
        return rf"\ensuremath{{\{_MATHS[char]}}}"
    if char in _T1 or "\N{INVERTED EXCLAMATION MARK}" <= char <= "\N{LATIN SMALL LETTER Y WITH DIAERESIS}":
        return char
    plain = unicodedata.normalize("NFKD", char).encode("ascii", "ignore").decode()
    return escape(plain) if plain else f"[U+{ord(char):04X}]"


def _math(math: Math) -> str:
    return f"\\[ {math.source} \\]" if math.display else f"${math.source}$"


def typed(text: str) -> str:
    r"""Code: \texttt with its spaces kept and breakable after commas."""
    return rf"\texttt{{{escape(text).replace('  ', '~~')}}}"


_INLINES: dict[type, Callable[[Any], str]] = {
    Text: lambda inline: escape(curly(inline.text)),
    Strong: lambda inline: rf"\textbf{{{inlines(inline.body)}}}",
    Emphasis: lambda inline: rf"\emph{{{inlines(inline.body)}}}",
    Code: lambda inline: typed(inline.text),
    Math: _math,
    Break: lambda _: "\\\\\n",
}


def inlines(body: Iterable[Inline]) -> str:
    """A run of inlines."""
    return "".join(_INLINES[type(inline)](inline) for inline in body)


def _listing(block: Listing) -> str:
    if block.start is None:
        items = "\n".join(rf"\item {{}}{blocks(item)}" for item in block.items)
        return f"\\begin{{itemize}}\n{items}\n\\end{{itemize}}"
    items = "\n".join(rf"\item[{number}.] {blocks(item)}" for number, item in enumerate(block.items, block.start))
    return f"\\begin{{enumerate}}\n{items}\n\\end{{enumerate}}"


def _table(block: Table) -> str:
    def row(cells: Sequence[Sequence[Inline]]) -> str:
        return " & ".join(inlines(cell) for cell in cells) + r" \\ \hline"

    align = "|".join({"left": "l", "center": "c", "right": "r"}[a] for a in block.align)
    rows = "\n".join(row(cells) for cells in (block.header, *block.rows))
    return f"\\begin{{center}}\\begin{{tabular}}{{|{align}|}}\\hline\n{rows}\n\\end{{tabular}}\\end{{center}}"


def _code(block: CodeBlock) -> str:
    lines = (rf"\texttt{{{escape(line).replace(' ', '~') or '~'}}}" for line in block.text.split("\n"))
    return "\\begin{flushleft}\n" + "\\\\\n".join(lines) + "\n\\end{flushleft}"


_BLOCKS: dict[type, Callable[[Any], str]] = {
    Paragraph: lambda block: inlines(block.body),
    Listing: _listing,
    Table: _table,
    CodeBlock: _code,
}


def blocks(body: Iterable[Block]) -> str:
    """A text, paragraphs apart by blank lines."""
    made = "\n\n".join(_BLOCKS[type(block)](block) for block in body)
    return re.sub(r"\n{3,}", "\n\n", made)
