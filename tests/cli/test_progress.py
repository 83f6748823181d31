"""The progress line: only at a terminal, and notes never run into it."""

import io

import pytest

from drillgen import progress


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture
def clock(monkeypatch):
    now = [0.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: now[0])
    return now


def test_a_note_takes_the_place_of_the_line(monkeypatch, clock):
    screen = Terminal()
    monkeypatch.setattr("sys.stderr", screen)
    monkeypatch.setenv("TERM", "xterm")
    for number in progress.track(range(4000), "generate", 400_000):
        clock[0] += 1.0
        if number == 2:
            progress.note("said aside")
    lines = screen.getvalue().split(progress.CLEAR)
    assert "generate: 2/400,000 (0%), 1/s, 111 h 7 min left" in lines
    assert "note: said aside\n" in lines
    assert screen.getvalue().endswith(progress.CLEAR)
    before = screen.getvalue()
    progress.note("afterwards")
    assert screen.getvalue().removeprefix(before) == "note: afterwards\n"


@pytest.mark.parametrize(("kind", "term"), [(io.StringIO, "xterm"), (Terminal, "dumb")])
def test_nothing_elsewhere(monkeypatch, clock, kind, term):
    screen = kind()
    monkeypatch.setattr("sys.stderr", screen)
    monkeypatch.setenv("TERM", term)
    for _ in progress.track(range(5), "generate", 5):
        clock[0] += 1.0
    assert screen.getvalue() == ""


def test_nothing_between_rows_on_the_same_terminal(monkeypatch, clock):
    screen, rows = Terminal(), Terminal()
    monkeypatch.setattr("sys.stderr", screen)
    monkeypatch.setattr("sys.stdout", rows)
    monkeypatch.setenv("TERM", "xterm")
    for _ in progress.track(range(5), "grade", 5, printing=True):
        clock[0] += 1.0
    assert screen.getvalue() == ""
    monkeypatch.setattr("sys.stdout", io.StringIO())
    for _ in progress.track(range(5), "grade", 5, printing=True):
        clock[0] += 1.0
    assert "grade: 3/5" in screen.getvalue()
