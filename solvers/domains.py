"""What parameters are drawn from. A domain draws a value, reads one typed to `drillgen solve`, and may bring derived
sizes along (a model brings L, h, H_kv …; a dtype brings b). Plain classes: every command pays for their making.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from solvers import facts
from solvers.draws import Draws
from solvers.errors import BadParameter, Unknown

Values = Mapping[str, Any]
Length = int | str | Sequence[int]
"""A length: a number, the name of an earlier parameter, or several equally likely numbers."""


class Domain(ABC):
    """Where one parameter's values come from."""

    @abstractmethod
    def draw(self, draws: Draws, so_far: Values) -> Any:
        """One value; `so_far` holds the parameters drawn before it."""

    @abstractmethod
    def read(self, text: str, name: str) -> Any:
        """A value typed as text, or `BadParameter` / `Unknown`."""

    def size(self) -> float:
        """How many different values can be drawn (an upper bound; inf where that is not a useful number)."""
        return float("inf")

    def derive(self, value: Any) -> Values:
        """Sizes that the value brings along."""
        del value
        return {}


class OneOf(Domain):
    """Equally likely values; repeated ones weigh more."""

    def __init__(self, *values: Any) -> None:
        self.values = values

    def draw(self, draws: Draws, so_far: Values) -> Any:
        return draws.choice(self.values)

    def read(self, text: str, name: str) -> Any:
        if all(isinstance(v, str) for v in self.values):
            if text not in self.values:
                raise Unknown(name, text, self.values)
            return text
        return read_number(text, name, whole=all(isinstance(v, int) for v in self.values))

    def size(self) -> float:
        return len(set(self.values))


class Ints(Domain):
    """Integers low..high, both included."""

    def __init__(self, low: int, high: int, without: tuple[int, ...] = ()) -> None:
        self.low, self.high, self.without = low, high, without

    def draw(self, draws: Draws, so_far: Values) -> int:
        while (value := draws.integer(self.low, self.high)) in self.without:
            pass
        return value

    def read(self, text: str, name: str) -> Any:
        return read_number(text, name, whole=True)

    def size(self) -> float:
        return self.high - self.low + 1 - len(self.without)


class Steps(Domain):
    """Multiples of `step` in low..high, as the decimals a person would write."""

    def __init__(self, low: float, high: float, step: float, without: tuple[float, ...] = ()) -> None:
        self.low, self.high, self.step, self.without = low, high, step, without

    def draw(self, draws: Draws, so_far: Values) -> float:
        count = round((self.high - self.low) / self.step)
        while (value := self._at(draws.integer(0, count))) in self.without:
            pass
        return value

    def _at(self, k: int) -> float:
        # Divided by a whole number where that can be, so that 3 · 0.1 is 0.3 and not 0.30000000000000004.
        per_one = round(1 / self.step)
        if abs(per_one * self.step - 1) < 1e-12:
            return (round(self.low * per_one) + k) / per_one
        return round(self.low + k * self.step, 10)

    def read(self, text: str, name: str) -> Any:
        return read_number(text, name, whole=False)

    def size(self) -> float:
        return round((self.high - self.low) / self.step) + 1 - len(self.without)


class Vector(Domain):
    """A list of `length` values of one domain."""

    def __init__(self, length: Length, item: Domain) -> None:
        self.length, self.item = length, item

    def draw(self, draws: Draws, so_far: Values) -> list[Any]:
        return [self.item.draw(draws, so_far) for _ in range(_length(self.length, draws, so_far))]

    def read(self, text: str, name: str) -> Any:
        return read_list(text, name, depth=1)


class Matrix(Domain):
    """A list of `rows` lists of `columns` values of one domain."""

    def __init__(self, rows: Length, columns: Length, item: Domain) -> None:
        self.rows, self.columns, self.item = rows, columns, item

    def draw(self, draws: Draws, so_far: Values) -> list[list[Any]]:
        rows, columns = _length(self.rows, draws, so_far), _length(self.columns, draws, so_far)
        return [[self.item.draw(draws, so_far) for _ in range(columns)] for _ in range(rows)]

    def read(self, text: str, name: str) -> Any:
        return read_list(text, name, depth=2)


class Shares(Domain):
    """Positive weights that sum to 1, each a multiple of 1/units and at least `least` of them.

    count: how many; several counts are equally likely, repeated ones weigh more.
    """

    def __init__(self, count: Length, units: int, least: int = 1) -> None:
        self.count, self.units, self.least = count, units, least

    def draw(self, draws: Draws, so_far: Values) -> list[float]:
        count = _length(self.count, draws, so_far)
        spare = self.units - count * (self.least - 1)
        cuts = sorted(draws.sample(range(1, spare), count - 1))
        parts = [b - a + self.least - 1 for a, b in zip([0, *cuts], [*cuts, spare], strict=True)]
        return [part / self.units for part in parts]

    def read(self, text: str, name: str) -> Any:
        return read_list(text, name, depth=1)

    def size(self) -> float:
        from math import comb

        if isinstance(self.count, str):
            return float("inf")
        counts = {self.count} if isinstance(self.count, int) else set(self.count)
        return sum(comb(self.units - n * (self.least - 1) - 1, n - 1) for n in counts)


class Made(Domain):
    """Values made by a function of the draws and of the earlier parameters.

    like: what `solve` reads for it: "whole", "number", "vector", "matrix" or "text". values: how many there are.
    """

    def __init__(
        self, make: Callable[[Draws, Values], Any], like: str = "number", values: float = float("inf")
    ) -> None:
        self.make, self.like, self.values = make, like, values

    def draw(self, draws: Draws, so_far: Values) -> Any:
        return self.make(draws, so_far)

    def read(self, text: str, name: str) -> Any:
        if self.like in ("vector", "matrix"):
            return read_list(text, name, depth=1 if self.like == "vector" else 2)
        return text if self.like == "text" else read_number(text, name, whole=self.like == "whole")

    def size(self) -> float:
        return self.values


class Dtype(Domain):
    """A number format by name; brings b, its bytes per number."""

    def __init__(self, *names: str) -> None:
        self.names = names

    def draw(self, draws: Draws, so_far: Values) -> str:
        return draws.choice(self.names)

    def read(self, text: str, name: str) -> Any:
        if text not in facts.BYTES:
            raise Unknown(name, text, facts.BYTES)
        return text

    def size(self) -> float:
        return len(set(self.names))

    def derive(self, value: Any) -> Values:
        return {"b": facts.BYTES[value]}


class ModelOf(Domain):
    """A published model shape by id; brings model_name, L, d, h, H_kv, d_h, d_ff and N.

    `drillgen solve` reads every model of the table, drills draw the listed ones.
    """

    def __init__(self, *ids: str) -> None:
        self.ids = ids

    def draw(self, draws: Draws, so_far: Values) -> str:
        return draws.choice(self.ids)

    def read(self, text: str, name: str) -> Any:
        return facts.model(text).id

    def size(self) -> float:
        return len(set(self.ids))

    def derive(self, value: Any) -> Values:
        m = facts.model(value)
        return {
            "model_name": m.name, "L": m.L, "d": m.d, "h": m.h, "H_kv": m.H_kv,
            "d_h": m.d_h, "d_ff": m.d_ff, "N": m.N, "gated": m.gated, "grouped": m.grouped,
        }  # fmt: skip


class AcceleratorOf(Domain):
    """An accelerator by id; brings accelerator_name, flops (FLOP/s), bandwidth (bytes/s), memory (bytes)."""

    def __init__(self, *ids: str) -> None:
        self.ids = ids

    def draw(self, draws: Draws, so_far: Values) -> str:
        return draws.choice(self.ids)

    def read(self, text: str, name: str) -> Any:
        return facts.accelerator(text).id

    def size(self) -> float:
        return len(set(self.ids))

    def derive(self, value: Any) -> Values:
        a = facts.accelerator(value)
        return {
            "accelerator_name": a.name, "flops": a.flops, "bandwidth": a.bandwidth, "memory": a.memory,
        }  # fmt: skip


def _length(length: Length, draws: Draws, so_far: Values) -> int:
    if isinstance(length, int):
        return length
    if isinstance(length, str):
        return int(so_far[length])
    return draws.choice(length)


def read_number(text: str, name: str, whole: bool) -> int | float:
    """A plain number for `solve`: an integer, a decimal, or a power such as 2^20."""
    from grading.errors import Unreadable
    from grading.kinds.number import Number

    try:
        kind = Number()
        value = kind.plain(kind.parse(text))
    except Unreadable as error:
        raise BadParameter(f"{name}={text[:40]!r}: {error}") from None
    if value is None or abs(value) > 1e300:
        raise BadParameter(f"{name}={text[:40]!r}: a finite number is wanted")
    if whole and value != int(value):
        raise BadParameter(f"{name}={text[:40]!r}: a whole number is wanted")
    return int(value) if value == int(value) else float(value)


def read_list(text: str, name: str, depth: int) -> list[Any]:
    """A vector such as [1, 2] or a matrix such as [[1, 2], [3, 4]] for `solve`."""
    import json

    try:
        value = json.loads(text if text.lstrip().startswith("[") else f"[{text}]")
    except (ValueError, RecursionError):
        raise BadParameter(f"{name}={text[:40]!r}: a list is wanted, e.g. [1, 2, 3]") from None
    rows = [value] if depth == 1 else value
    ok = isinstance(rows, list) and 0 < len(rows) <= 64
    for row in rows if ok else ():
        ok = ok and isinstance(row, list) and 0 < len(row) <= 64 and all(_finite(x) for x in row)
    if not ok or (depth == 2 and len({len(row) for row in rows}) != 1):
        wanted = "[1, 2, 3]" if depth == 1 else "[[1, 2], [3, 4]], all rows equally long"
        raise BadParameter(f"{name}={text[:40]!r}: wanted is a list of numbers such as {wanted}")
    out: list[Any] = value
    return out


def _finite(x: object) -> bool:
    return isinstance(x, (int, float)) and not isinstance(x, bool) and abs(x) < 1e300
