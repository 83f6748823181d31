"""What can go wrong with a text, and whose fault it is."""

from __future__ import annotations


class Unreadable(ValueError):
    """A learner's answer that cannot be read: invalid, never wrong, and no attempt is charged.

    message: one sentence, what is wrong and what would be right. column: 0-based offset into the text
    as typed, or None. The caret line is drawn by whoever shows it (`grading.reading.show.caret`).
    """

    def __init__(self, message: str, column: int | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.column = column


class BadKey(ValueError):
    """A key, tolerance, domain or shape that cannot be used: the author's fault (status bad_key)."""


class BadRow(ValueError):
    """A row that is no row: not JSON, unknown kind, field missing (status bad_row)."""
