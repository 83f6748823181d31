"""Foreign text on the screen: nothing invisible, nothing endless, carets in the right column."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grading.reading.screen import caret, printable
from grading.reading.tokens import tokenize


@given(st.text(max_size=300))
def test_printable_is_printable(text: str) -> None:
    shown = printable(text)
    assert shown.isprintable()
    assert len(shown) <= 201


@given(st.text(max_size=300), st.integers(0, 300))
def test_the_caret_stands_below_its_column(text: str, column: int) -> None:
    lines = caret(text, column).split("\n")
    assert len(lines) == 2
    assert lines[0].isprintable()
    assert lines[1].lstrip(" ") == "^"
    assert len(lines[1]) - 1 <= len(lines[0])


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b[31m", "\\x1b[31m"),
        ("a\nb\tc", "a\\nb\\tc"),
        ("1\u202e2", "1\\u{202E}2"),
        ("\u200b", "\\u{200B}"),
        ("\ud800", "\\u{D800}"),
        ("x²", "x²"),
        ("a\u2009b", "a b"),
    ],
)
def test_written_out(text: str, shown: str) -> None:
    assert printable(text) == shown


def test_long_lines_are_shown_round_the_caret() -> None:
    shown = caret("1+" * 400 + "?", 800)
    line, mark = shown.split("\n")
    assert line[len(mark) - 1] == "?"
    assert len(line) < 230


def test_only_the_line_of_the_caret_is_shown() -> None:
    assert caret("first\nsecond\nthird", 8) == "second\n  ^"


@given(st.text(alphabet=st.characters(codec="utf-8", max_codepoint=0x3000), max_size=60))
def test_tokens_cover_the_text_in_order(text: str) -> None:
    from grading.errors import Unreadable

    try:
        tokens = tokenize(text)
    except Unreadable:
        return
    places = [token[2] for token in tokens]
    assert places == sorted(places)
    assert tokens[-1][0] == "end"
    assert all(0 <= token[2] <= token[3] <= len(text) for token in tokens)
