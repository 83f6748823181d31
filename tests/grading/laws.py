"""Laws that more than one test file holds its kinds to."""

from __future__ import annotations

from typing import Any

import pytest

from grading.errors import Unreadable
from grading.kinds.base import Kind


def samples_hold(kind: Kind, value: Any, right: int = 1, wrong: int = 0, unreadable: int = 1) -> None:
    """What a kind makes of a key to test itself is graded as its lists say; each list is at least so long."""
    samples = kind.samples(value)
    assert len(samples.right) >= right
    assert len(samples.wrong) >= wrong
    assert len(samples.unreadable) >= unreadable
    for text in samples.right:
        assert kind.compare(kind.parse(text), value).right is True, text
    for text in samples.wrong:
        assert kind.compare(kind.parse(text), value).right is False, text
    for text in samples.unreadable:
        with pytest.raises(Unreadable):
            kind.parse(text)
            pytest.fail(f"{text!r} was read")
