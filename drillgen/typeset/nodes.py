"""The tree of a formula: what the parser makes of LaTeX and what every writer must know how to write.

One class is one thing that looks or sounds its own way. A writer is total when it has an entry for each class
of `NODE_TYPES`; a test holds every writer to that.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

Role: TypeAlias = Literal["ord", "big", "bin", "rel", "open", "close", "punct"]
Style: TypeAlias = Literal["bf", "bb", "cal", "rm", "it", "sf", "tt", "bs"]
AccentKind: TypeAlias = Literal[
    "hat", "bar", "tilde", "vec", "dot", "ddot", "widehat", "widetilde", "overline", "underline"
]
Environment: TypeAlias = Literal["matrix", "pmatrix", "bmatrix", "vmatrix", "Vmatrix", "array", "substack"]


@dataclass(frozen=True, slots=True)
class Row:
    """Things side by side."""

    items: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Letter:
    """A variable: one Latin or Greek letter, in italics unless a `Styled` around it says otherwise."""

    char: str


@dataclass(frozen=True, slots=True)
class Number:
    """A number literal as printed, thousands commas included: `1,234.5`."""

    text: str


@dataclass(frozen=True, slots=True)
class Symbol:
    """Any other single glyph; `role` decides the space around it, `spoken` what is read out."""

    char: str
    role: Role
    spoken: str


@dataclass(frozen=True, slots=True)
class Word:
    r"""Upright text inside a formula (`\text{...}`), its spaces kept."""

    text: str


@dataclass(frozen=True, slots=True)
class Function:
    r"""A named operator such as \log or \operatorname{softmax}; `limits`: its scripts go below and above."""

    name: str
    limits: bool


@dataclass(frozen=True, slots=True)
class Styled:
    """Letters in another alphabet: bold, blackboard, calligraphic, upright ..."""

    style: Style
    body: Node


@dataclass(frozen=True, slots=True)
class Fraction:
    r"""`size` is "" for \frac, "text" for \tfrac, "display" for \dfrac."""

    top: Node
    bottom: Node
    size: Literal["", "text", "display"] = ""


@dataclass(frozen=True, slots=True)
class Binomial:
    top: Node
    bottom: Node


@dataclass(frozen=True, slots=True)
class Root:
    body: Node
    index: Node | None = None


@dataclass(frozen=True, slots=True)
class Scripts:
    r"""Subscript, superscript and primes of one base (None: an empty one).

    `limits`: True for \limits, False for \nolimits, None where neither was said.
    """

    base: Node | None
    sub: Node | None = None
    sup: Node | None = None
    primes: int = 0
    limits: bool | None = None


@dataclass(frozen=True, slots=True)
class Fence:
    r"""\left ... \right: delimiters that grow with the body ("" for the empty one)."""

    left: str
    body: Node
    right: str


@dataclass(frozen=True, slots=True)
class Middle:
    r"""\middle: a delimiter inside a `Fence` that grows with it."""

    char: str


@dataclass(frozen=True, slots=True)
class Sized:
    r"""\big .. \Bigg (levels 1 to 4): one delimiter of fixed size."""

    char: str
    level: int
    role: Role


@dataclass(frozen=True, slots=True)
class Grid:
    """A matrix or array: `align` one of l c r a column, `rules` the columns before which a line stands."""

    kind: Environment
    rows: tuple[tuple[Node, ...], ...]
    align: str = ""
    rules: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Cases:
    rows: tuple[tuple[Node, ...], ...]


@dataclass(frozen=True, slots=True)
class Aligned:
    rows: tuple[tuple[Node, ...], ...]


@dataclass(frozen=True, slots=True)
class Brace:
    r"""\underbrace or \overbrace with its label."""

    over: bool
    body: Node
    label: Node | None = None


@dataclass(frozen=True, slots=True)
class Stack:
    r"""\overset, \underset, \stackrel, \xrightarrow: something small above or below the base."""

    base: Node
    above: Node | None = None
    below: Node | None = None


@dataclass(frozen=True, slots=True)
class Accent:
    kind: AccentKind
    body: Node


@dataclass(frozen=True, slots=True)
class Space:
    """Empty width in em; may be negative."""

    em: float


@dataclass(frozen=True, slots=True)
class Boxed:
    body: Node


@dataclass(frozen=True, slots=True)
class Sizing:
    r"""\displaystyle or \textstyle for the rest of its group."""

    display: bool
    body: Node


Node: TypeAlias = (
    Row
    | Letter
    | Number
    | Symbol
    | Word
    | Function
    | Styled
    | Fraction
    | Binomial
    | Root
    | Scripts
    | Fence
    | Middle
    | Sized
    | Grid
    | Cases
    | Aligned
    | Brace
    | Stack
    | Accent
    | Space
    | Boxed
    | Sizing
)

NODE_TYPES: tuple[type, ...] = (
    Row,
    Letter,
    Number,
    Symbol,
    Word,
    Function,
    Styled,
    Fraction,
    Binomial,
    Root,
    Scripts,
    Fence,
    Middle,
    Sized,
    Grid,
    Cases,
    Aligned,
    Brace,
    Stack,
    Accent,
    Space,
    Boxed,
    Sizing,
)


def word(node: Node) -> str:
    """A run of plain letters and digits as one word, the KV of a roman KV; empty where it is none."""
    items = node.items if isinstance(node, Row) else (node,)
    marks = [i.char if isinstance(i, Letter) else i.text for i in items if isinstance(i, Letter | Number)]
    return "".join(marks) if len(marks) == len(items) > 1 else ""
