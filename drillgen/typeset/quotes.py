"""Straight quotes as a printer sets them."""

from __future__ import annotations

import re

_APOSTROPHE = re.compile(r"(?<=\w)'")
_OPENING = re.compile(r'(^|[\s(\[])"')
_SINGLE = re.compile(r"(^|[\s(\[])'")


def curly(text: str) -> str:
    """“..” ‘..’ and apostrophes in the place of straight ones."""
    if '"' not in text and "'" not in text:
        return text
    text = _OPENING.sub(r"\1“", text).replace('"', "”")
    return _SINGLE.sub(r"\1‘", _APOSTROPHE.sub("’", text)).replace("'", "’")
