"""What values a declared name may take, and the points at which expressions are compared.

The language: `real`, `integer`, `integer >= 1`, `integer n >= 1`, `sigma > 0`, `1/2 < w < 1`; `<=` for `<`; bounds
are numbers or fractions. A plain list of names declares all of them real. `f()` declares an unknown function.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

from grading.errors import BadKey

Point = dict[str, Fraction]

MAX_NAMES = 60
"""More names than this in one problem are refused."""
POINTS = 72
"""Length of the list of candidate points of a problem."""
REACH = 10
"""Samples of an unbounded side stay within this distance of the bound (of 0 if there is none)."""

_SPECIAL = tuple(Fraction(n, d) for n, d in ((0, 1), (1, 1), (-1, 1), (2, 1), (-2, 1), (1, 2), (-1, 2)))
_TOKEN = re.compile(
    r"\s*(?:(?P<number>-?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d{1,3})?(?:\s*/\s*\d+)?)|(?P<relation><=|>=|<|>)"
    r"|(?P<name>[^\W\d][\w^{}]*))"
)
_WORDS = {"real": False, "integer": True}


@dataclass(frozen=True, slots=True)
class Interval:
    """The values of one name: real or integer between two bounds, None for an unbounded side."""

    lower: Fraction | None = None
    upper: Fraction | None = None
    lower_open: bool = True
    upper_open: bool = True
    integer: bool = False

    def holds(self, value: Fraction) -> bool:
        """Whether a value lies in the interval (and is an integer where that is asked)."""
        if self.integer and value.denominator != 1:
            return False
        if self.lower is not None and (value < self.lower or (self.lower_open and value == self.lower)):
            return False
        return not (self.upper is not None and (value > self.upper or (self.upper_open and value == self.upper)))

    @property
    def positive(self) -> bool:
        """Every value is above zero."""
        return self.lower is not None and (self.lower > 0 or (self.lower == 0 and self.lower_open))


REAL = Interval()


@dataclass(frozen=True, slots=True)
class Domain:
    """The declared names of a problem with their intervals, and the unknown functions. Hashable."""

    names: tuple[tuple[str, Interval], ...] = ()
    functions: frozenset[str] = frozenset()

    @property
    def order(self) -> tuple[str, ...]:
        """The names in order of declaration."""
        return tuple(name for name, _ in self.names)

    def interval(self, name: str) -> Interval:
        """The interval of a name; real where nothing was said."""
        return dict(self.names).get(name, REAL)

    def holds(self, point: Mapping[str, Fraction]) -> bool:
        """Whether a point lies in the domain."""
        return all(interval.holds(point[name]) for name, interval in self.names if name in point)

    def points(self) -> tuple[Point, ...]:
        """Up to `POINTS` different points of the domain, always the same ones; generic points come first.

        A domain with few points (integers between close bounds) gives all of them that the stream meets.
        """
        return _points(self)


def read_domain(symbols: Mapping[str, object] | Iterable[str] | None) -> Domain:
    """The domain that a problem's `symbols` declare; `BadKey` where a declaration cannot be used."""
    if symbols is None:
        return Domain()
    if isinstance(symbols, str):
        raise BadKey("symbols: a list of names or an object of names and domains is needed, not a text")
    pairs = list(symbols.items()) if isinstance(symbols, Mapping) else [(name, "real") for name in symbols]
    if len(pairs) > MAX_NAMES:
        raise BadKey(f"symbols: {len(pairs)} names are declared, at most {MAX_NAMES} are possible")
    names: list[tuple[str, Interval]] = []
    functions: list[str] = []
    for name, text in pairs:
        if not isinstance(name, str) or not name.strip():
            raise BadKey("symbols: every name must be a text that is not empty")
        if name.endswith("()"):
            functions.append(name[:-2])
        else:
            names.append((name, read_interval(name, text)))
    return Domain(tuple(names), frozenset(functions))


def read_interval(name: str, text: object) -> Interval:
    """One declaration, e.g. read_interval("T", "integer >= 2"); `BadKey` with the place where it is nonsense."""
    if not isinstance(text, str):
        raise BadKey(f"symbols.{name}: a domain is a text such as 'real' or 'integer >= 1'")
    return _read_interval(name, text)


@lru_cache(maxsize=512)
def _read_interval(name: str, text: str) -> Interval:
    words = _words(name, text)
    integer = False
    if words and words[0] in _WORDS and (len(words) > 1 or words[0] != name):
        integer = _WORDS[words[0]]
        words = words[1:]
        if not words:
            return Interval(integer=integer)
        if words[0] in ("<", "<=", ">", ">="):
            words = [name, *words]
    lower: tuple[Fraction, bool] | None = None
    upper: tuple[Fraction, bool] | None = None
    if len(words) not in (3, 5):
        raise _nonsense(name, text)
    for left, relation, right in (words[i : i + 3] for i in range(0, len(words) - 2, 2)):
        bound, above, strict = _bound(name, text, left, relation, right)
        if above and lower is None:
            lower = (bound, strict)
        elif not above and upper is None:
            upper = (bound, strict)
        else:
            raise _nonsense(name, text)
    return _checked(name, text, lower, upper, integer)


def _words(name: str, text: str) -> list[str]:
    if len(text) > 120:
        raise BadKey(f"symbols.{name}: the domain is longer than 120 characters")
    cleaned = text.replace("≤", "<=").replace("≥", ">=").replace("−", "-").strip()
    words, at = [], 0
    while at < len(cleaned):
        # the name itself may hold signs that no word has, such as a prime
        if cleaned.startswith(name, at) and not re.match(r"\w", cleaned[at + len(name) : at + len(name) + 1]):
            words.append(name)
            at += len(name)
        elif found := _TOKEN.match(cleaned, at):
            words.append(found.group().strip())
            at = found.end()
        else:
            raise _nonsense(name, text)
        while at < len(cleaned) and cleaned[at].isspace():
            at += 1
    return words


def _bound(name: str, text: str, left: str, relation: str, right: str) -> tuple[Fraction, bool, bool]:
    """(bound, the name lies above it, strictly)."""
    if relation not in ("<", "<=", ">", ">="):
        raise _nonsense(name, text)
    strict = len(relation) == 1
    up = relation[0] == ">"
    if left == name:
        return _number(name, text, right), up, strict
    if right == name:
        return _number(name, text, left), not up, strict
    raise BadKey(f"symbols.{name}: {text!r} says nothing about {name}")


def _number(name: str, text: str, word: str) -> Fraction:
    try:
        top, _, bottom = word.replace(" ", "").partition("/")
        return Fraction(top) / Fraction(bottom or 1)
    except (ValueError, ZeroDivisionError):
        raise BadKey(f"symbols.{name}: in {text!r}, {word!r} is no number or fraction") from None


def _checked(
    name: str,
    text: str,
    lower: tuple[Fraction, bool] | None,
    upper: tuple[Fraction, bool] | None,
    integer: bool,
) -> Interval:
    low, low_open = lower if lower else (None, True)
    high, high_open = upper if upper else (None, True)
    if integer:
        # closed integer bounds say the same and are simpler to draw from
        if low is not None:
            low, low_open = Fraction(_ceil(low) + (1 if low_open and low.denominator == 1 else 0)), False
        if high is not None:
            high, high_open = (
                Fraction(_floor(high) - (1 if high_open and high.denominator == 1 else 0)),
                False,
            )
    if (
        low is not None
        and high is not None
        and (low > high or (low == high and not integer and (low_open or high_open)))
    ):
        raise BadKey(f"symbols.{name}: {text!r} holds no value at all")
    return Interval(low, high, low_open, high_open, integer)


def _floor(value: Fraction) -> int:
    return value.numerator // value.denominator


def _ceil(value: Fraction) -> int:
    return -((-value.numerator) // value.denominator)


def _nonsense(name: str, text: str) -> BadKey:
    return BadKey(
        f"symbols.{name}: {text!r} is no domain; write 'real', 'integer', 'integer >= 1', '{name} > 0' or"
        f" '0 < {name} < 1'"
    )


# ------------------------------------------------------------------------------------------------ sample points


@lru_cache(maxsize=256)
def _points(domain: Domain) -> tuple[Point, ...]:
    if not domain.names:
        return ({},)
    found: dict[tuple[Fraction, ...], None] = {}
    axes = [_Axis(name, interval) for name, interval in domain.names]
    for turn in range(3 * POINTS):
        special = turn >= 8 and turn % 2 == 0
        values = tuple(axis.special(turn // 2 + at) if special else axis.drawn(turn) for at, axis in enumerate(axes))
        found.setdefault(values)
        if len(found) == POINTS:
            break
    return tuple(dict(zip((name for name, _ in domain.names), values, strict=True)) for values in found)


class _Axis:
    """Draws the values of one name: exact binary fractions, so that a float holds them without rounding."""

    def __init__(self, name: str, interval: Interval) -> None:
        self.interval = interval
        self.seed = zlib.crc32(name.encode())
        ends = [end for end in (interval.lower, interval.upper) if end is not None and interval.holds(end)]
        specials = [v for v in dict.fromkeys((*ends, *_SPECIAL)) if interval.holds(v) and self._near(v)]
        self.specials = specials or [self.drawn(99)]

    def _near(self, value: Fraction) -> bool:
        low, high = self._range(REACH)
        return low <= value <= high

    def special(self, turn: int) -> Fraction:
        return self.specials[turn % len(self.specials)]

    def drawn(self, turn: int) -> Fraction:
        # far and near draws take turns: towers such as 3^L leave the range of floats far from the bound
        low, high = self._range(REACH if turn % 2 else 3)
        if turn % 7 == 6 and not self.interval.integer:
            # close to an end, or to 0 where there is none
            return self._edge(turn, low, high)
        share = mixed(self.seed, turn)
        if self.interval.integer:
            first, last = _ceil(low), _floor(high)
            return Fraction(first + (share * (last - first + 1) >> 32))
        width = high - low
        if width == 0:
            return low
        # several hundred values across the range, and short ones, since a witness is shown to a person
        grid = 1
        while width * grid < 256:
            grid *= 2
        first, last = _floor(low * grid) + 1, _ceil(high * grid) - 1
        value = Fraction(first + (share * (last - first + 1) >> 32), grid)
        return value if value else Fraction(1, grid)

    def _edge(self, turn: int, low: Fraction, high: Fraction) -> Fraction:
        step = (high - low) / (1 << 6 + mixed(self.seed, turn) % 5)
        if self.interval.lower is not None:
            return low + step
        if self.interval.upper is not None:
            return high - step
        return step if turn % 2 else -step

    def _range(self, reach: int) -> tuple[Fraction, Fraction]:
        low, high = self.interval.lower, self.interval.upper
        if low is None and high is None:
            return Fraction(-reach), Fraction(reach)
        if low is None:
            assert high is not None
            return high - reach, high
        return low, low + reach if high is None else high


def mixed(seed: int, turn: int) -> int:
    """32 well-mixed bits of (seed, turn): the finalizer of splitmix64."""
    word = (seed * 0x9E3779B97F4A7C15 + (turn + 1) * 0xD1B54A32D192ED03) & 0xFFFFFFFFFFFFFFFF
    word = ((word ^ (word >> 30)) * 0xBF58476D1CE4E5B9) & 0xFFFFFFFFFFFFFFFF
    word = ((word ^ (word >> 27)) * 0x94D049BB133111EB) & 0xFFFFFFFFFFFFFFFF
    return (word ^ (word >> 31)) >> 32
