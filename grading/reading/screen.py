"""Foreign text made harmless for the screen, and places in it pointed at; costs nothing to import."""

from __future__ import annotations

_HIDDEN = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})


def printable(text: str, limit: int = 200) -> str:
    """The text with control, bidi and other invisible characters written out, cut to `limit` characters."""
    if len(text) <= limit and text.isascii() and text.isprintable():
        return text
    out = []
    length = 0
    for char in text:
        shown = _visible(char)
        if length + len(shown) > limit:
            out.append("…")
            break
        out.append(shown)
        length += len(shown)
    return "".join(out)


def caret(text: str, column: int, limit: int = 200) -> str:
    """The line of the text that holds `column` (0-based), and below it a caret under that column."""
    column = max(0, min(column, len(text)))
    begin = text.rfind("\n", 0, column) + 1
    end = text.find("\n", column)
    line = text[begin : end if end >= 0 else len(text)]
    column -= begin
    lead = ""
    if column > limit - 40:
        cut = column - (limit - 60)
        line, column, lead = line[cut:], column - cut, "…"
    before = lead + "".join(map(_visible, line[:column]))
    shown = before + printable(line[column:], max(20, limit - len(before)))
    return f"{shown}\n{' ' * len(before)}^"


def _visible(char: str) -> str:
    if char.isascii():
        if char.isprintable():
            return char
        return {"\n": "\\n", "\t": "\\t", "\r": "\\r"}.get(char, f"\\x{ord(char):02x}")
    import unicodedata

    category = unicodedata.category(char)
    if category in _HIDDEN:
        return f"\\u{{{ord(char):04X}}}"
    return " " if category == "Zs" else char
