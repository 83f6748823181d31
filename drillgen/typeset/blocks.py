"""What a problem's Markdown becomes: blocks of inlines, formulas already read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from drillgen.typeset.nodes import Node


@dataclass(frozen=True, slots=True)
class Text:
    text: str


@dataclass(frozen=True, slots=True)
class Strong:
    body: tuple[Inline, ...]


@dataclass(frozen=True, slots=True)
class Emphasis:
    body: tuple[Inline, ...]


@dataclass(frozen=True, slots=True)
class Code:
    text: str


@dataclass(frozen=True, slots=True)
class Math:
    """A formula: its LaTeX (without dollars) for the formats that take LaTeX, its tree for the others."""

    source: str
    tree: Node
    display: bool


@dataclass(frozen=True, slots=True)
class Break:
    """A line break asked for."""


@dataclass(frozen=True, slots=True)
class Paragraph:
    body: tuple[Inline, ...]


@dataclass(frozen=True, slots=True)
class Listing:
    """A list; `start` is the first number of an ordered one, None for bullets."""

    items: tuple[tuple[Block, ...], ...]
    start: int | None = None


@dataclass(frozen=True, slots=True)
class Table:
    """`align` has one of "left", "center", "right" a column; every row as many cells as the header."""

    align: tuple[Literal["left", "center", "right"], ...]
    header: tuple[tuple[Inline, ...], ...]
    rows: tuple[tuple[tuple[Inline, ...], ...], ...]


@dataclass(frozen=True, slots=True)
class CodeBlock:
    text: str
    language: str


Inline: TypeAlias = Text | Strong | Emphasis | Code | Math | Break
Block: TypeAlias = Paragraph | Listing | Table | CodeBlock
INLINE_TYPES: tuple[type, ...] = (Text, Strong, Emphasis, Code, Math, Break)
BLOCK_TYPES: tuple[type, ...] = (Paragraph, Listing, Table, CodeBlock)
