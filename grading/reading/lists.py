"""Lists and tables of answers, cut into their members before each is read on its own.

Accepts (a, b), [a b], {a; b}, bare lists, rows by semicolon or newline, nested brackets, numpy prints, array(...)
and LaTeX matrices. Commas and spaces separate; where commas do, spaces do not.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from grading.errors import Unreadable
from grading.reading.tokens import MAX_SUMS, PROGRAM, SUMS

MAX_LENGTH = 2000
MAX_CELLS = 400

OPENING = {"(": ")", "[": "]", "{": "}", "⟨": "⟩"}
CLOSING = {close: opening for opening, close in OPENING.items()}


class Cell(NamedTuple):
    """A piece of the text and where it began."""

    text: str
    start: int


def strip(cell: Cell) -> Cell:
    """Without the white space around it."""
    left = len(cell.text) - len(cell.text.lstrip())
    return Cell(cell.text.strip(), cell.start + left)


def cut(cell: Cell, separators: str) -> list[Cell]:
    """The pieces between separators that stand outside all brackets. Brackets must match."""
    pieces = []
    stack: list[tuple[str, int]] = []
    begin = 0
    text = cell.text
    for at, char in enumerate(text):
        if char in OPENING:
            stack.append((char, at))
        elif char in CLOSING:
            if not stack:
                raise Unreadable(f"a closing {char!r} without an opening one", cell.start + at)
            opening, _ = stack.pop()
            if opening != CLOSING[char]:
                raise Unreadable(f"{opening!r} is closed by {char!r}", cell.start + at)
        elif char in separators and not stack:
            pieces.append(Cell(text[begin:at], cell.start + begin))
            begin = at + 1
    if stack:
        raise Unreadable(f"the bracket {stack[-1][0]!r} is never closed", cell.start + stack[-1][1])
    pieces.append(Cell(text[begin:], cell.start + begin))
    return pieces


def peeled(cell: Cell) -> Cell | None:
    """The inside of a bracket that encloses the whole cell, or None."""
    cell = strip(cell)
    text = cell.text
    if len(text) < 2 or text[0] not in OPENING or text[-1] not in CLOSING:
        return None
    depth = 0
    for at, char in enumerate(text):
        if char in OPENING:
            depth += 1
        elif char in CLOSING:
            depth -= 1
            if depth == 0 and at < len(text) - 1:
                return None
    if OPENING[text[0]] != text[-1]:
        raise Unreadable(f"{text[0]!r} is closed by {text[-1]!r}", cell.start + len(text) - 1)
    return Cell(text[1:-1], cell.start + 1)


_QUIET = re.compile(
    r"\\\\|\\(?:m?left|m?right|big[lrm]?|Big[lrm]?|bigg[lrm]?|Bigg[lrm]?|displaystyle)(?![A-Za-z])"
    r"|\\[,;:! ]|\$|\\quad|\\qquad|~"
)
_ENVIRONMENT = re.compile(r"\\begin\s*\{([pbvBV]?matrix|smallmatrix|array|psmallmatrix|bsmallmatrix)\*?\}")
_COLUMNS = re.compile(r"\s*\{[lcr| ]*\}")
_WRAPPER = re.compile(
    r"\s*(?:(?:np|numpy|torch|jnp|tf|sympy)\s*\.\s*)?(?:array|Array|asarray|matrix|Matrix|tensor|tuple|list|vector|vec|Size|shape)"
    r"\s*(?=\()"
)
_NAME = re.compile(r"\s*[A-Za-zα-ωΑ-Ω\\][\w\\{}' ,.^()]{0,40}?\s*(?:=|:=|≈|\\approx)\s*(?![=])")
_TURNED = re.compile(
    r"[)\]}]\s{0,9}(?:\^\s{0,9}\{?\s{0,9}(?:T|\\top|\\intercal)\s{0,9}\}?|ᵀ|\.T|\^\{?\\mathsf\{T\}\}?)\Z"
)
_TRAILER = re.compile(
    r"(?:,\s{0,9}(?:dtype|requires_grad|device|grad_fn|weak_type)\s{0,3}=\s{0,3}[\w.'\":<>]{1,60}\s{0,9}){1,6}\Z"
)
_SCALAR_PRINT = re.compile(r"((?:np|numpy|jnp|torch)\s?\.\s?(?:float|int|uint|bfloat)\d{1,3}\()([^()]{1,60})\)")
"""A number as numpy 2 prints it inside a list: np.float64(0.5)."""
_BOXED = re.compile(r"\s*\\(?:boxed|fbox)\s{0,9}(?=\{)")


def cleaned(text: str) -> Cell:
    """The text with typesetting that carries no meaning blanked out, the columns kept."""
    if len(text) > MAX_LENGTH:
        raise Unreadable(f"the answer is longer than {MAX_LENGTH} characters")
    if not text.strip():
        raise Unreadable("the answer is empty", 0)
    if sum(map(text.count, SUMS)) > MAX_SUMS:
        raise Unreadable(f"more than {MAX_SUMS} sums")
    text = _QUIET.sub(lambda found: found.group() if found.group() == "\\\\" else " " * len(found.group()), text)
    text = text.replace("\\langle", "      (").replace("\\rangle", "      )")
    text = _SCALAR_PRINT.sub(lambda found: f"{' ' * len(found.group(1))}{found.group(2)} ", text)
    text = text.replace("\\{", " {").replace("\\}", " }").replace("\\lbrace", "      {").replace("\\rbrace", "      }")
    cell = Cell(text, 0)
    bare = text.strip()
    if not bare:
        raise Unreadable("the answer is empty", 0)
    if bare[0] == "<" and bare[-1] == ">" and "," in bare:
        text = text.replace("<", "(", 1)
        text = ")".join(text.rsplit(">", 1))
        cell = Cell(text, 0)
    cell = _unboxed(cell)
    text = " " * cell.start + cell.text
    named = _NAME.match(text)
    if named is not None and not any(char in named.group() for char in ";\n") and not _defines(named.group()):
        cell = _unboxed(Cell(text[named.end() :], named.end()))
    wrapper = _WRAPPER.match(cell.text)
    if wrapper is not None:
        inside = peeled(Cell(cell.text[wrapper.end() :], cell.start + wrapper.end()))
        if inside is not None:
            trailer = _TRAILER.search(inside.text)
            cell = inside if trailer is None else Cell(inside.text[: trailer.start()], inside.start)
    cell = strip(cell)
    if cell.text.endswith(".") and not cell.text.endswith(".."):
        cell = Cell(cell.text[:-1].rstrip(), cell.start)
    return cell


def _defines(left: str) -> bool:
    """Whether a left side is a definition in TeX rather than a name."""
    return any(word in PROGRAM for word in re.findall(r"\\([A-Za-z]+)", left))


def _unboxed(cell: Cell) -> Cell:
    """The inside of \\boxed{…}."""
    found = _BOXED.match(cell.text)
    inside = peeled(Cell(cell.text[found.end() :], cell.start + found.end())) if found else None
    return cell if inside is None else strip(inside)


def rows(text: str) -> list[list[Cell]]:
    """The answer as rows of cells; a plain list is one row, a single number one row of one cell. A transpose mark
    behind the last bracket turns rows into columns."""
    cell = cleaned(text)
    turned = _TURNED.search(cell.text)
    if turned is None:
        return _rows(cell)
    found = _rows(Cell(cell.text[: turned.start() + 1], cell.start))
    if len({len(cells) for cells in found}) != 1:
        return found
    return [list(column) for column in zip(*found, strict=True)]


def in_braces(text: str) -> bool:
    """Whether a list stands in braces, as a set does."""
    cell = cleaned(text)
    inner = peeled(cell)
    # {(1, 2)} is a list that LaTeX keeps together
    return inner is not None and cell.text.startswith("{") and peeled(inner) is None and "\\begin" not in inner.text


def _rows(cell: Cell) -> list[list[Cell]]:
    environment = _ENVIRONMENT.search(cell.text)
    if environment is not None:
        return _latex_rows(cell, environment)
    inner = peeled(cell)
    if inner is not None:
        nested = _nested(inner)
        if nested is not None:
            return _limited(nested)
        cell = inner
    else:
        nested = _nested(cell)
        if nested is not None:
            return _limited(nested)
    lines = cut(cell, ";\n")
    if len(lines) > 1 and not strip(lines[-1]).text:
        lines.pop()
    return _limited([row(line) for line in lines])


def row(line: Cell) -> list[Cell]:
    """The cells of one row: by commas, or by spaces where there are none."""
    inner = peeled(line)
    line = strip(line) if inner is None else strip(inner)
    if not line.text:
        return []
    line = Cell(_LETTER_TIMES.sub("×", line.text), line.start)
    pieces = cut(line, ",，")
    if len(pieces) > 1 and not strip(pieces[-1]).text:
        pieces.pop()  # (7,)
        if len(pieces) == 1:
            return [strip(pieces[0])]
    if len(pieces) == 1:
        return words(line)
    out = []
    for piece in pieces:
        piece = strip(piece)
        if not piece.text:
            raise Unreadable("an entry is missing between the commas", piece.start)
        out += [piece] if " " not in piece.text or _GROUPED.match(piece.text) else words(piece)
    return out


_LETTER_TIMES = re.compile(r"(?<=\d\s)[xX](?=\s\d)")
_GROUPED = re.compile(r"[+\-−]?\d{1,3}(?: \d{3})+(?:\.\d*)?\Z")
_ENDS = re.compile(r"[\w)\]}%!²³⁰¹⁴-⁹½-¾⅐-⅞∞'|]$")
_WAITS = re.compile(r"(?:\\?(?:ln|log|log2|log10|exp|sqrt|sin|cos|tan|cdot|times|div|frac|max|min)|√|per)$")


def words(line: Cell) -> list[Cell]:
    """Cells between spaces; a space beside an operator or after a function name separates nothing."""
    text = line.text
    out: list[Cell] = []
    begin = 0
    depth = 0
    at = 0
    while at < len(text):
        char = text[at]
        if char in OPENING:
            depth += 1
        elif char in CLOSING:
            depth -= 1
        elif char.isspace() and depth == 0:
            end = at
            while end < len(text) and text[end].isspace():
                end += 1
            if _separates(text[begin:at], text[end : end + 2]):
                out.append(Cell(text[begin:at], line.start + begin))
                begin = end
            at = end
            continue
        at += 1
    out.append(Cell(text[begin:], line.start + begin))
    return out


def _separates(left: str, right: str) -> bool:
    if not left or not right or _WAITS.search(left[-12:]):
        return False
    if not _ENDS.match(left[-1]) and not (left[-1] == "." and left[-2:-1].isdigit()):
        return False  # numpy prints 1. for a whole number
    first = right[0]
    if first in "+-−±":
        return len(right) > 1 and not right[1].isspace()
    return first.isalnum() or first in "([{\\√.½¼¾⅓⅔∞|_"


def _nested(cell: Cell) -> list[list[Cell]] | None:
    """Rows that stand in their own brackets, whatever lies between them; None where there are none."""
    text = cell.text
    if not text.strip() or strip(cell).text[0] not in OPENING:
        return None
    pieces: list[Cell] = []
    depth = begin = 0
    stack: list[str] = []
    for at, char in enumerate(text):
        if char in OPENING:
            if depth == 0:
                begin = at
            stack.append(char)
            depth += 1
        elif char in CLOSING:
            if not stack or stack.pop() != CLOSING[char]:
                raise Unreadable(f"the bracket {char!r} closes nothing or another kind", cell.start + at)
            depth -= 1
            if depth == 0:
                pieces.append(Cell(text[begin : at + 1], cell.start + begin))
        elif depth == 0 and not (char.isspace() or char in ",;，"):
            return None
    if stack:
        raise Unreadable(f"the bracket {stack[-1]!r} is never closed", cell.start + begin)
    if len(pieces) < 2 and not _is_list(pieces[0]):
        return None
    return [row(piece) for piece in pieces]


def _is_list(piece: Cell) -> bool:
    """Whether a bracket holds several members rather than one number."""
    return len(row(piece)) > 1


def _latex_rows(cell: Cell, opening: re.Match[str]) -> list[list[Cell]]:
    """The rows of \\begin{pmatrix} … \\end{pmatrix} and its sisters."""
    name = opening.group(1)
    if cell.text[: opening.start()].strip(" ([{\\|"):
        raise Unreadable("the matrix must stand alone", cell.start)
    begin = opening.end()
    if name == "array":
        columns = _COLUMNS.match(cell.text, begin)
        begin = columns.end() if columns else begin
    closing = re.compile(r"\\end\s*\{" + name + r"\*?\}").search(cell.text, begin)
    if closing is None:
        raise Unreadable(f"\\begin{{{name}}} is never closed", cell.start + opening.start())
    if cell.text[closing.end() :].strip(" )]}.\\|"):
        raise Unreadable("nothing may follow the matrix", cell.start + closing.end())
    body = cell.text[begin : closing.start()]
    if "\\begin" in body:
        raise Unreadable("a matrix inside a matrix cannot be read", cell.start + begin)
    out: list[list[Cell]] = []
    at = cell.start + begin
    lines = re.split(r"(\\\\(?:\s*\[[^\]]*\])?|\\cr(?![A-Za-z]))", body)
    for index, line in enumerate(lines):
        if index % 2 == 0 and not (index == len(lines) - 1 and not line.strip()):
            cells = []
            place = at
            for piece in line.replace("\\hline", "      ").split("&"):
                if not piece.strip():
                    raise Unreadable("an entry of the matrix is empty", place)
                cells.append(strip(Cell(piece, place)))
                place += len(piece) + 1
            out.append(cells)
        at += len(line)
    return _limited(out)


def _limited(found: list[list[Cell]]) -> list[list[Cell]]:
    if sum(len(cells) for cells in found) > MAX_CELLS:
        raise Unreadable(f"more than {MAX_CELLS} entries")
    return found
