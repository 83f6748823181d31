r"""The small Markdown of the templates, read strictly: what would be lost or read differently is an error.

Read: paragraphs, `**bold**`, `*italic*`, `` `code` ``, line breaks (two spaces or a backslash at the end of
a line), bullet and numbered lists (nested), tables with a separator row, fenced code, `$..$`, `$$..$$`,
backslash escapes. Not read, each with its own message: headings, quotes, rules, links, images, HTML,
character entities, `_emphasis_`, `~~`, indented code, LaTeX commands outside dollars, and unmatched `*`,
`` ` `` or `$`.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

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
from drillgen.typeset.errors import TypesetError
from drillgen.typeset.parse import parse as parse_maths

MAX_DEPTH = 8

_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})\s*([\w+-]*)\s*$")
_ITEM = re.compile(r"( {0,3})([-*+]|\d{1,9}[.)])( +|$)")
_SEPARATOR = re.compile(r"^ {0,3}\|?\s*:?-+:?\s*(\|\s*:?-+:?\s*)*\|?\s*$")
_RULE = re.compile(r" {0,3}([-*_])( *\1){2,} *$")
_UNDERLINE = re.compile(r" {0,3}(=+|-+) *$")
_HEADING = re.compile(r" {0,3}#{1,6}( |$)")
_ORDINARY = re.compile(r"[^\\`$*_<&!\[\]~ \n]+| ")


@dataclass(frozen=True, slots=True)
class _Line:
    """A line of the source, dedented: `at` is where its text starts in the source."""

    text: str
    at: int

    @property
    def blank(self) -> bool:
        return not self.text.strip()

    @property
    def indent(self) -> int:
        return len(self.text) - len(self.text.lstrip(" "))

    def cut(self, columns: int) -> _Line:
        return _Line(self.text[columns:], self.at + columns)


@lru_cache(maxsize=4096)
def read(source: str) -> tuple[Block, ...]:
    """The blocks of a text. Raises TypesetError with the column in `source`."""
    lines: list[_Line] = []
    at = 0
    for text in source.split("\n"):
        if "\t" in text:
            raise TypesetError("a tab; write spaces", at + text.index("\t"), source)
        lines.append(_Line(text.rstrip("\r"), at))
        at += len(text) + 1
    return _Blocks(source).blocks(lines, 0)


class _Blocks:
    def __init__(self, source: str) -> None:
        self.source = source

    def error(self, message: str, at: int) -> TypesetError:
        return TypesetError(message, at, self.source)

    def blocks(self, lines: Sequence[_Line], depth: int) -> tuple[Block, ...]:
        if depth > MAX_DEPTH:
            raise self.error(f"lists nested more than {MAX_DEPTH} deep", lines[0].at)
        found: list[Block] = []
        at = 0
        while at < len(lines):
            line = lines[at]
            if line.blank:
                at += 1
                continue
            if line.indent >= 4:
                raise self.error("indented by four spaces, which Markdown reads as code", line.at)
            self._refuse(line)
            if _FENCE.match(line.text):
                at = self._code(lines, at, found)
            elif _ITEM.match(line.text):
                at = self._list(lines, at, depth, found)
            elif "|" in line.text and at + 1 < len(lines) and _is_separator(lines[at + 1].text):
                at = self._table(lines, at, found)
            else:
                at = self._paragraph(lines, at, found)
        return tuple(found)

    def _refuse(self, line: _Line) -> None:
        if _HEADING.match(line.text):
            raise self.error("a heading; problems have none (write \\# for the sign)", line.at)
        if line.text.lstrip().startswith(">"):
            raise self.error("a quotation; problems have none (write \\> for the sign)", line.at)
        if _RULE.match(line.text):
            raise self.error("a horizontal rule; problems have none", line.at)

    def _code(self, lines: Sequence[_Line], at: int, found: list[Block]) -> int:
        opening = _FENCE.match(lines[at].text)
        assert opening is not None
        fence, indent = opening[1], lines[at].indent
        body: list[str] = []
        for end in range(at + 1, len(lines)):
            text = lines[end].text
            stripped = text.strip()
            if len(stripped) >= len(fence) and set(stripped) == {fence[0]}:
                found.append(CodeBlock("\n".join(body), opening[2]))
                return end + 1
            body.append(text[min(indent, lines[end].indent) :])
        raise self.error("a code block that is never closed", lines[at].at)

    def _list(self, lines: Sequence[_Line], at: int, depth: int, found: list[Block]) -> int:
        first = _ITEM.match(lines[at].text)
        assert first is not None
        kind = first[2][-1]
        start = None if kind in "-*+" else int(first[2][:-1])
        items: list[tuple[Block, ...]] = []
        while at < len(lines):
            marker = _ITEM.match(lines[at].text)
            if marker is None or marker[2][-1] != kind:
                break
            spaces = len(marker[3])
            width = len(marker[1]) + len(marker[2]) + (spaces if 1 <= spaces <= 4 else 1)
            body = [lines[at].cut(min(width, len(lines[at].text)))]
            at += 1
            after_blank = False
            while at < len(lines):
                line = lines[at]
                if line.blank:
                    after_blank = True
                elif line.indent >= width:
                    after_blank = False
                elif after_blank or _starts_block(line.text):
                    break
                body.append(line.cut(min(width, line.indent)))
                at += 1
            if all(line.blank for line in body):
                raise self.error("an empty list item", body[0].at)
            items.append(self.blocks(body, depth + 1))
        found.append(Listing(tuple(items), start))
        return at

    def _table(self, lines: Sequence[_Line], at: int, found: list[Block]) -> int:
        header = self._cells(lines[at])
        marks = [cell.strip() for cell in lines[at + 1].text.strip().strip("|").split("|")]
        if len(marks) != len(header):
            raise self.error("the separator row and the header differ in their number of cells", lines[at + 1].at)
        align: tuple[Literal["left", "center", "right"], ...] = tuple(
            "center" if m.startswith(":") and m.endswith(":") else "right" if m.endswith(":") else "left" for m in marks
        )
        rows: list[tuple[tuple[Inline, ...], ...]] = []
        at += 2
        while at < len(lines) and not lines[at].blank and "|" in lines[at].text:
            cells = self._cells(lines[at])
            if len(cells) != len(header):
                raise self.error(f"a row of {len(cells)} cells under a header of {len(header)}", lines[at].at)
            rows.append(tuple(self.inlines([cell]) for cell in cells))
            at += 1
        found.append(Table(align, tuple(self.inlines([cell]) for cell in header), tuple(rows)))
        return at

    def _cells(self, line: _Line) -> list[_Line]:
        """The cells of a row; a bar inside code or a formula splits too, as in other Markdown readers."""
        text = line.text.rstrip()
        at = line.indent
        if text[at : at + 1] == "|":
            at += 1
        bars = [m.end() - 1 for m in re.finditer(r"(?:\\.|[^|\\])*\|", text[at:])]
        cells: list[_Line] = []
        start = 0
        for bar in [*bars, len(text) - at]:
            cells.append(_Line(text[at + start : at + bar], line.at + at + start))
            start = bar + 1
        if bars and bars[-1] == len(text) - at - 1:
            cells.pop()
        return [cell.cut(cell.indent) for cell in cells]

    def _paragraph(self, lines: Sequence[_Line], at: int, found: list[Block]) -> int:
        body: list[_Line] = []
        inside_display = False
        while at < len(lines) and not lines[at].blank:
            line = lines[at]
            if body and not inside_display:
                if _UNDERLINE.match(line.text):
                    raise self.error("a line of = or - under a text, which Markdown reads as a heading", line.at)
                if _starts_block(line.text, interrupting=True):
                    break
                self._refuse(line)
            body.append(line.cut(line.indent))
            if line.text.replace("\\$", "").count("$$") % 2:
                inside_display = not inside_display
            at += 1
        found.append(Paragraph(self.inlines(body)))
        return at

    def inlines(self, lines: Sequence[_Line]) -> tuple[Inline, ...]:
        return _Inlines(self, lines).all()


def _is_separator(text: str) -> bool:
    return "|" in text and _SEPARATOR.match(text) is not None


def _starts_block(text: str, interrupting: bool = False) -> bool:
    """Whether a line begins a list or code block; numbers other than 1 do not interrupt a paragraph."""
    if _FENCE.match(text):
        return True
    item = _ITEM.match(text)
    if item is None:
        return False
    if interrupting:
        return bool(item[3]) and (item[2] in "-*+" or item[2][:-1] == "1")
    return True


class _Inlines:
    """One paragraph's or cell's text, its lines joined; errors are mapped back to the source."""

    def __init__(self, owner: _Blocks, lines: Sequence[_Line]) -> None:
        self.owner = owner
        self.text = "\n".join(line.text for line in lines).rstrip()
        self.starts: list[int] = []
        self.ats = [line.at for line in lines]
        position = 0
        for line in lines:
            self.starts.append(position)
            position += len(line.text) + 1
        self.at = 0

    def error(self, message: str, at: int | None = None) -> TypesetError:
        position = self.at if at is None else at
        line = max(0, bisect_right(self.starts, position) - 1)
        return self.owner.error(message, self.ats[line] + position - self.starts[line])

    def all(self) -> tuple[Inline, ...]:
        return self._until("")

    def _until(self, closing: str) -> tuple[Inline, ...]:
        out: list[Inline] = []
        words: list[str] = []

        def flush() -> None:
            if words:
                out.append(Text("".join(words)))
                words.clear()

        opened = self.at
        while self.at < len(self.text):
            if closing and self._closes(closing):
                flush()
                self.at += len(closing)
                return tuple(out)
            plain = _ORDINARY.match(self.text, self.at)
            if plain:
                words.append(plain.group())
                self.at = plain.end()
                continue
            piece = self._piece(words)
            if isinstance(piece, str):
                words.append(piece)
            else:
                flush()
                out.append(piece)
        if closing:
            raise self.error(f"{closing} is never closed (write \\* for the sign)", opened - len(closing))
        flush()
        return tuple(out)

    def _closes(self, closing: str) -> bool:
        before = self.text[self.at - 1 : self.at]
        if not self.text.startswith(closing, self.at) or before.isspace():
            return False
        return closing == "**" or not self.text.startswith("**", self.at)

    def _piece(self, words: list[str]) -> Inline | str:
        """What stands at a character that may be markup."""
        text, at = self.text, self.at
        char = text[at]
        following = text[at + 1 : at + 2]
        before = text[at - 1 : at] if at else ""
        if char == "\n":
            self.at += 1
            spaces = len("".join(words)) - len("".join(words).rstrip(" "))
            if words and spaces:
                stripped = "".join(words).rstrip(" ")
                words[:] = [stripped] if stripped else []
            return Break() if spaces >= 2 else " "
        if char == "\\":
            return self._escape(following)
        if char == "`":
            return self._code()
        if char == "$":
            return self._maths()
        if char == "*":
            return self._star(before)
        self.at += 1
        if char == "_" and not (before.isalnum() and following.isalnum()) and not _spaced(before, following):
            if before.isalnum() and not following.isalnum():
                return "_"
            raise self.error("an underscore at the edge of a word; write *..* for italics, \\_ for the sign", at)
        if char == "<" and re.match(r"<(?:[A-Za-z/!?]|https?:)", text[at:]):
            raise self.error("HTML; write \\< for the sign, or put a space after it", at)
        if char == "&" and re.match(r"&#?\w+;", text[at:]):
            raise self.error("an HTML entity; write the character itself", at)
        if char == "!" and following == "[":
            raise self.error("an image; problems have none", at)
        if char == "]" and following == "(":
            raise self.error("a link; problems have none (write \\] for the bracket)", at)
        if char == "~" and following == "~":
            raise self.error("struck-out text; problems have none", at)
        return char

    def _escape(self, following: str) -> Inline | str:
        if following == "\n":
            self.at += 2
            return Break()
        if following and following in "\\`*_{}[]()#+-.!$<>&~|\"'%:,;=?@^/":
            self.at += 2
            return following
        command = re.match(r"\\[A-Za-z]+", self.text[self.at :])
        shown = command.group() if command else "\\"
        raise self.error(f"{shown} outside a formula; put dollars around it (write \\\\ for a backslash)")

    def _code(self) -> Inline:
        ticks = re.match(r"`+", self.text[self.at :])
        assert ticks is not None
        fence = ticks.group()
        closing = re.search(rf"(?<!`){fence}(?!`)", self.text[self.at + len(fence) :])
        if closing is None:
            raise self.error("code that is never closed (write \\` for the sign)")
        body = self.text[self.at + len(fence) :][: closing.start()].replace("\n", " ")
        self.at += 2 * len(fence) + len(body)
        if len(body) > 2 and body[0] == body[-1] == " " and body.strip():
            body = body[1:-1]
        return Code(body)

    def _maths(self) -> Inline:
        fence = "$$" if self.text.startswith("$$", self.at) else "$"
        start = self.at + len(fence)
        end = start
        while end < len(self.text) and not self.text.startswith(fence, end):
            end += 2 if self.text[end] == "\\" else 1
        if end >= len(self.text):
            raise self.error(f"a formula that is never closed by {fence} (write \\$ for the sign)")
        body = self.text[start:end]
        if fence == "$" and (body[:1].isspace() or body[-1:].isspace()):
            raise self.error("a space inside the dollars, where other Markdown readers see no formula")
        try:
            tree = parse_maths(body)
        except TypesetError as error:
            raise self.error(error.message, start + error.column) from None
        self.at = end + len(fence)
        return Math(body.strip(), tree, fence == "$$")

    def _star(self, before: str) -> Inline | str:
        marks = "**" if self.text.startswith("**", self.at) else "*"
        after = self.text[self.at + len(marks) : self.at + len(marks) + 1]
        if _spaced(before, after):
            self.at += len(marks)
            return marks
        if not after or after.isspace():
            raise self.error(f"{marks} closes nothing (write \\* for the sign)")
        if before.isalnum() and after.isalnum():
            raise self.error("a * inside a word; put maths in dollars, or write \\*")
        self.at += len(marks)
        opened = self.at
        body = self._until(marks)
        if any(isinstance(inline, Math) and inline.display for inline in body):
            raise self.error("a displayed formula inside bold or italics; end them before it", opened)
        return Strong(body) if marks == "**" else Emphasis(body)


def _spaced(before: str, after: str) -> bool:
    return (not before or before.isspace()) and (not after or after.isspace())
