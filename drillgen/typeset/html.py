"""HTML: a text with its formulas as MathML, or passed through as LaTeX for MathJax."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from html import escape
from typing import Any

from drillgen.typeset import mathml
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

Formula = Callable[[Math], str]


def as_mathml(math: Math) -> str:
    """MathML, drawn by the browser itself."""
    return mathml.math(math.tree, math.display)


def as_mathjax(math: Math) -> str:
    r"""LaTeX between \( \) or \[ \], which Anki and Moodle hand to MathJax."""
    left, right = (r"\[", r"\]") if math.display else (r"\(", r"\)")
    return f"{left}{escape(math.source, quote=False)}{right}"


class Html:
    """A writer of HTML; `formula` decides how formulas are written."""

    def __init__(self, formula: Formula = as_mathml) -> None:
        self.formula = formula

    def inlines(self, body: Iterable[Inline]) -> str:
        return "".join(_INLINES[type(inline)](self, inline) for inline in body)

    def phrase(self, body: Sequence[Block]) -> str:
        """As `blocks`, but a single paragraph without its <p>."""
        if len(body) == 1 and isinstance(body[0], Paragraph):
            return self.inlines(body[0].body)
        return self.blocks(body)

    def blocks(self, body: Iterable[Block]) -> str:
        return "\n".join(_BLOCKS[type(block)](self, block) for block in body)

    def listing(self, block: Listing) -> str:
        items = "".join(f"<li>{self.phrase(item)}</li>" for item in block.items)
        if block.start is None:
            return f"<ul>{items}</ul>"
        start = f' start="{block.start}"' if block.start != 1 else ""
        return f"<ol{start}>{items}</ol>"

    def table(self, block: Table) -> str:
        def row(cells: Sequence[Sequence[Inline]], tag: str) -> str:
            made = "".join(
                f'<{tag} style="text-align:{align}">{self.inlines(cell)}</{tag}>'
                for cell, align in zip(cells, block.align, strict=True)
            )
            return f"<tr>{made}</tr>"

        body = "".join(row(cells, "td") for cells in block.rows)
        return f"<table><thead>{row(block.header, 'th')}</thead><tbody>{body}</tbody></table>"


def _code(_: Html, block: CodeBlock) -> str:
    return f"<pre><code>{escape(block.text, quote=False)}</code></pre>"


_INLINES: dict[type, Callable[[Html, Any], str]] = {
    Text: lambda _, inline: escape(curly(inline.text), quote=False),
    Strong: lambda html, inline: f"<strong>{html.inlines(inline.body)}</strong>",
    Emphasis: lambda html, inline: f"<em>{html.inlines(inline.body)}</em>",
    Code: lambda _, inline: f"<code>{escape(inline.text, quote=False)}</code>",
    Math: lambda html, inline: html.formula(inline),
    Break: lambda _, __: "<br/>",
}
_BLOCKS: dict[type, Callable[[Html, Any], str]] = {
    Paragraph: lambda html, block: f"<p>{html.inlines(block.body)}</p>",
    Listing: Html.listing,
    Table: Html.table,
    CodeBlock: _code,
}
