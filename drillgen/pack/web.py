r"""Markdown as the HTML that learning systems take: formulas as \( \) for their MathJax, or as MathML."""

from __future__ import annotations

from functools import lru_cache
from html import escape

from drillgen.pack.items import Item
from drillgen.typeset.html import Html, as_mathjax, as_mathml
from drillgen.typeset.markdown import read
from drillgen.worksheet.choices import Choice


@lru_cache(maxsize=8192)
def html(markdown: str, mathml: bool = False) -> str:
    """Blocks of HTML, well-formed as XML too."""
    return Html(as_mathml if mathml else as_mathjax).blocks(read(markdown))


@lru_cache(maxsize=8192)
def phrase(markdown: str, mathml: bool = False) -> str:
    """As `html`, a single paragraph without its <p>."""
    return Html(as_mathml if mathml else as_mathjax).phrase(read(markdown))


def option(choice: Choice, code: bool, mathml: bool = False) -> str:
    """An option's text."""
    if not choice.plain:
        return phrase(choice.text, mathml)
    return f"<code>{escape(choice.text)}</code>" if code else escape(choice.text)


def question(item: Item, mathml: bool = False) -> str:
    """Prompt, and how to answer."""
    asked = f"<p><small>{escape(item.asked)}</small></p>" if item.asked else ""
    return html(item.prompt, mathml) + asked


def answer(item: Item, mathml: bool = False) -> str:
    """The right answer as HTML."""
    right = [choice for choice in item.choices if choice.right]
    if right:
        return "<br/>".join(f"{c.letter}. {option(c, item.symbolic, mathml)}" for c in right)
    if item.choices:
        return "none"
    return f"<code>{escape(item.show)}</code>" if item.symbolic else escape(item.show)


def slips(item: Item, mathml: bool = False) -> str:
    """Known slips as a list."""
    # Of several slips that show one value, the option keeps the first one's id; all of them lead to its letter.
    letters = {choice.text if choice.plain else choice.key: choice.letter for choice in item.choices}
    rows = "".join(
        f"<li><code>{escape(letters.get(s.show, letters.get(s.id, s.show)))}</code>: {phrase(s.remark, mathml)}</li>"
        for s in item.slips
    )
    return f"<ul>{rows}</ul>" if rows else ""
