"""What a text that cannot be typeset raises."""

from __future__ import annotations


class TypesetError(ValueError):
    """A text in which something would be lost or set wrongly: the template author's fault.

    message: one sentence, what is wrong and what would be right. column: 0-based offset into `source`.
    source: the whole text that was being read (a formula without its dollars, or a Markdown text).
    """

    def __init__(self, message: str, column: int, source: str) -> None:
        super().__init__(message, column, source)
        self.message = message
        self.column = column
        self.source = source

    def __str__(self) -> str:
        start = self.source.rfind("\n", 0, self.column) + 1
        end = self.source.find("\n", self.column)
        line = self.source[start : end if end >= 0 else len(self.source)]
        place = self.column - start
        left = max(0, place - 50)
        shown = line[left : place + 30]
        where = f"line {self.source.count(chr(10), 0, self.column) + 1}, column {place + 1}"
        return f"{self.message} ({where})\n  {shown}\n  {' ' * (place - left)}^"
