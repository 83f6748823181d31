"""Slips stand beside the key in its own unit, and read back as the slip."""

from __future__ import annotations

import pytest

from grading.kinds.quantity import Quantity
from grading.tolerance import rel


@pytest.mark.parametrize(
    ("key", "value", "shown"),
    [
        (8 * 2**30, 8.589934592 * 2**30, "8.58993 GiB"),
        (8 * 2**30, 256 * 2**20, "256 MiB"),
        (18 * 2**10, 18.432 * 2**10, "18.432 KiB"),
        (10**9 + 7, 8.589934592 * 2**30, "9.22337 GB"),
    ],
)
def test_a_slip_is_shown_with_the_binary_prefix_of_the_key(key: int, value: float, shown: str) -> None:
    kind = Quantity("bytes", tolerance=rel(0.01))
    assert kind.show_beside(value, key) == shown
    assert kind.compare(kind.parse(shown), value).right
