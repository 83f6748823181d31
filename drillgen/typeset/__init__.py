"""Typesetting: LaTeX in Markdown, read once and strictly, written as Typst, MathML, LaTeX or plain text.

`check(text)` is the template test: it raises `TypesetError` for whatever a writer could lose. The commands
that may stand in a formula are listed in `drillgen.typeset.parse`, the Markdown that is read in
`drillgen.typeset.markdown`.
"""

from __future__ import annotations

from drillgen.typeset.errors import TypesetError

__all__ = ["TypesetError", "check"]


def check(text: str) -> None:
    """Read a problem's Markdown; raise TypesetError(message, column, source) if it cannot be typeset."""
    from drillgen.typeset.markdown import read

    read(text)
