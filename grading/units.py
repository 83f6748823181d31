"""Units of measurement that answers carry, and conversion between them.

A unit is a factor and a dimension. Counted things (tokens, heads, layers …) are words, not dimensions: they are
checked for nothing but whether a rate stands upside down (ms/token for tokens/s).
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple

MAX_WORDS = 7
"""Words of one unit phrase, slashes counted: some words have two meanings, and all combinations are looked at."""

Dimension = tuple[tuple[str, int], ...]

LN2 = Fraction(693147180559945309417232121458176568075500134360255254120680, 10**60)
"""ln 2 to 60 digits: nats in one bit of entropy."""

_DECIMAL = {"": 0, "k": 1, "K": 1, "M": 2, "G": 3, "T": 4, "P": 5, "E": 6}
_BINARY = {"Ki": 1, "Mi": 2, "Gi": 3, "Ti": 4, "Pi": 5, "Ei": 6}
_WORDS = {"kilo": "K", "mega": "M", "giga": "G", "tera": "T", "peta": "P"}
_SHORT = frozenset({"nat", "bit", "tok", "sec"})
_BINARY_WORDS = {"kibi": "Ki", "mebi": "Mi", "gibi": "Gi", "tebi": "Ti", "pebi": "Pi"}
_COUNTED_WORDS = """
token sequence head layer parameter number entry key query value step sample position weight pair
row column element option request user slot page block tile group time item
"""

_COUNTED = _COUNTED_WORDS.split()


class Unit(NamedTuple):
    """factor: base units in one of this unit. dimension: base dimensions with their powers, sorted by name.

    counted: +1 where a counted thing stands on top, −1 below, 0 otherwise. label: the usual spelling.
    """

    factor: Fraction
    dimension: Dimension
    label: str
    counted: int = 0
    fixed: bool = True  # False where the word has a second meaning in another dimension (bit, FLOPS)

    @property
    def plain(self) -> bool:
        """A bare count, without dimension."""
        return not self.dimension

    def times(self, other: Unit, power: int) -> Unit:
        """This unit times (power 1) or divided by (power −1) another."""
        powers = dict(self.dimension)
        for name, exponent in other.dimension:
            powers[name] = powers.get(name, 0) + power * exponent
        factor = self.factor * other.factor if power > 0 else self.factor / other.factor
        label = f"{self.label}/{other.label}" if power < 0 else f"{self.label} {other.label}"
        return Unit(
            factor,
            tuple(sorted((n, e) for n, e in powers.items() if e)),
            label,
            self.counted + power * other.counted,
            self.fixed and other.fixed,
        )


NONE = Unit(Fraction(1), (), "")
PERCENT = Unit(Fraction(1, 100), (), "%")


class _Words:
    """The unit words while the table is made."""

    def __init__(self) -> None:
        self.units: dict[str, list[Unit]] = {}

    def add(self, words: str, factor: Fraction | int, dimension: str, label: str, counted: int = 0) -> None:
        """One more meaning of each of the words, which spaces separate."""
        dims = ((dimension, 1),) if dimension else ()
        for word in words.split():
            self.units.setdefault(word, []).append(Unit(Fraction(factor), dims, label, counted))

    def prefixed(self, prefix: str, words: str, factor: Fraction, dimension: str, label: str) -> None:
        """As `add`, with the prefix before each word and before the label."""
        self.add(" ".join(prefix + word for word in words.split()), factor, dimension, label)


@lru_cache(maxsize=1)
def table() -> Mapping[str, tuple[Unit, ...]]:
    """Every unit word with its meanings; most have one."""
    made = _Words()
    _decimal(made)
    _binary(made)
    _spelled(made)
    _time(made)
    _counts(made)
    out = made.units
    for word in [word for word in out if word.isalpha() and word.islower() and (len(word) > 3 or word in _SHORT)]:
        out.setdefault(word.capitalize(), out[word])
    out["B"].append(Unit(Fraction(10**9), (), "B"))
    return {
        word: tuple(Unit(u.factor, u.dimension, u.label, u.counted, len(units) == 1) for u in units)
        for word, units in out.items()
    }


def _decimal(made: _Words) -> None:
    """B, KB, Mbit, GFLOP; FLOPS is also a rate."""
    for prefix, power in _DECIMAL.items():
        scale = Fraction(1000) ** power
        label = "K" if prefix in ("k", "K") else prefix
        made.prefixed(prefix, "B byte bytes Byte Bytes", scale, "data", label + "B")
        made.prefixed(prefix, "bit bits", scale / 8, "data", label + "bit")
        made.prefixed(prefix, "FLOP FLOPs FLOPS flop flops Flop Flops flOps", scale, "flop", label + "FLOP")
        rate = Unit(scale, (("flop", 1), ("time", -1)), label + "FLOP/s")
        for word in ("FLOPS", "flops", "Flops", "FLOPps"):
            made.units.setdefault(prefix + word, []).append(rate)


def _binary(made: _Words) -> None:
    """KiB, Mibit, GiFLOP, and in small letters as typed: kib, mib; kb and mb are decimal."""
    for prefix, power in _BINARY.items():
        scale = Fraction(1024) ** power
        made.prefixed(prefix, "B byte bytes", scale, "data", prefix + "B")
        made.prefixed(prefix, "bit bits", scale / 8, "data", prefix + "bit")
        made.prefixed(prefix, "FLOP FLOPs", scale, "flop", prefix + "FLOP")
    for prefix, power in _BINARY.items():
        made.add(f"{prefix.lower()}b {prefix.upper()}B", Fraction(1024) ** power, "data", prefix + "B")
    for prefix in "kmgt":
        made.add(prefix + "b", Fraction(1000) ** _DECIMAL[prefix.upper()], "data", prefix.upper() + "B")


def _spelled(made: _Words) -> None:
    """kilobytes, gigaflops (a rate too), mebibytes."""
    for stem, prefix in _WORDS.items():
        made.add(stem + "byte", Fraction(1000) ** _DECIMAL[prefix], "data", prefix + "B")
        made.add(stem + "flop", Fraction(1000) ** _DECIMAL[prefix], "flop", prefix + "FLOP")
    for stem, prefix in _BINARY_WORDS.items():
        made.add(stem + "byte", Fraction(1024) ** _BINARY[prefix], "data", prefix + "B")
    for word in [stem + thing for stem in (*_WORDS, *_BINARY_WORDS) for thing in ("byte", "flop")]:
        if word in made.units:
            made.units[word + "s"] = made.units[word]
    for stem, prefix in _WORDS.items():
        made.units[stem + "flops"] = [*made.units[stem + "flops"], *made.units[prefix + "FLOPS"][1:]]


def _time(made: _Words) -> None:
    made.add("s sec secs second seconds", 1, "time", "s")
    made.add("ms msec millisecond milliseconds", Fraction(1, 1000), "time", "ms")
    made.add("us µs μs usec microsecond microseconds", Fraction(1, 10**6), "time", "µs")
    made.add("ns nanosecond nanoseconds", Fraction(1, 10**9), "time", "ns")
    made.add("min mins minute minutes", 60, "time", "min")
    made.add("h hr hour hours", 3600, "time", "h")


def _counts(made: _Words) -> None:
    """Entropy, counted things, percent, plain factors and the names of large numbers."""
    made.add("nat nats", 1, "entropy", "nats")
    made.add("bit bits shannon shannons", LN2, "entropy", "bits")
    for word in ("nat", "nats", "bit", "bits"):
        bits = word[0] == "b"
        made.units[f"{word} of entropy"] = [
            Unit(LN2 if bits else Fraction(1), (("entropy", 1),), "bits" if bits else "nats")
        ]
    for stem in _COUNTED:
        plural = {"entry": "entries", "query": "queries"}.get(stem, stem + "s")
        made.add(f"{stem} {plural}", 1, "", plural, 1)
    made.add("tok toks", 1, "", "tokens", 1)
    made.add("params param", 1, "", "parameters", 1)
    made.add("seqs seq", 1, "", "sequences", 1)
    for word in ("%", "percent", "pct"):
        made.units[word] = [PERCENT]
    made.add("x × X fold -fold probability none nothing", 1, "", "")
    for word, power in (("k", 1), ("K", 1), ("M", 2), ("G", 3), ("T", 4)):
        made.add(word, Fraction(1000) ** power, "", word)
    for word, power in (("thousand", 1), ("million", 2), ("billion", 3), ("trillion", 4), ("bn", 3)):
        made.add(word, Fraction(1000) ** power, "", word)


@lru_cache(maxsize=4096)
def meanings(words: tuple[str, ...]) -> tuple[Unit, ...]:
    """All readings of a unit phrase given as words, "/" and "per": ("ms", "/", "token"). Empty where a word is none."""
    if len(words) > MAX_WORDS:
        return ()
    units = table()
    found: tuple[Unit, ...] = (NONE,)
    power = 1
    first = True
    for word in words:
        if word in ("/", "per"):
            power = -1
            continue
        options = units.get(word)
        if options is None:
            return ()
        if first and power > 0:
            found = options
        else:
            found = tuple(left.times(right, power) for left in found for right in options)
        first = False
        power = 1
    return found if not first else ()


def split_phrase(text: str) -> tuple[str, ...]:
    """A unit phrase as words: "FLOPs per byte" -> ("FLOPs", "per", "byte")."""
    return tuple(text.replace("/", " / ").replace("·", " ").split())


_KINDS = {
    (): "a plain number",
    (("data", 1),): "an amount of data",
    (("flop", 1),): "a number of FLOPs",
    (("time", 1),): "a time",
    (("entropy", 1),): "an entropy",
    (("time", -1),): "a rate",
    (("flop", 1), ("time", -1)): "FLOPs per time",
    (("data", 1), ("time", -1)): "data per time",
    (("data", -1), ("flop", 1)): "FLOPs per amount of data",
}


def kind_of(unit: Unit) -> str:
    """What a unit measures, in words."""
    if unit.label == "%":
        return "a share"
    return _KINDS.get(unit.dimension, f"something in {unit.label}")


@lru_cache(maxsize=512)
def named(text: str) -> Unit:
    """The unit that an author wrote ("bytes", "FLOP/byte", "none", "none or %"); the first meaning counts.

    Raises KeyError for a unit that is none of ours.
    """
    if text in ("", "none", "none or %", "probability"):
        return NONE
    found = meanings(split_phrase(text))
    if not found:
        raise KeyError(text)
    return found[0]


def fit(options: tuple[Unit, ...], wanted: Unit) -> tuple[Unit, bool] | None:
    """The reading of a unit phrase that has the wanted dimension, and whether the rate stands upside down.

    None where no reading fits. An inverted rate counts only where a counted thing says which way round it is.
    """
    for unit in options:
        if unit.dimension == wanted.dimension:
            return unit, False
        if wanted.plain and unit.label == "nats":
            return unit, False  # an entropy is a plain number where no unit is asked for
    for unit in options:
        upside_down = tuple((name, -power) for name, power in unit.dimension)
        if upside_down == wanted.dimension and unit.dimension and (unit.counted < 0 or unit.counted > 0):
            return unit, True
    return None


def humanised(amount: Fraction, unit: Unit, exact: bool) -> tuple[Fraction, str]:
    """The scale and label in which a person would write `amount` base units; label "" keeps the asked unit.

    Sizes in bytes get a binary prefix where that leaves at most three decimals, else a decimal one (bytes as they
    are where the value is to be exact).
    """
    size = abs(amount)
    if len(unit.dimension) != 1 or unit.dimension[0][1] != 1 or unit.label == "%" or not size:
        return unit.factor, ""
    name = unit.dimension[0][0]
    if name == "data" and not unit.label.endswith("bit"):
        for label, power in reversed(_BINARY.items()):
            scale = Fraction(1024) ** power
            if size >= scale and (amount / scale * 1000).denominator == 1:
                return scale, label + "B"
        ladder = [] if exact else [(p + "B", Fraction(1000) ** n) for p, n in _STEPS]
        return _rung(size, [*ladder, ("B", Fraction(1))])
    if name == "flop":
        return _rung(size, [*((p + "FLOP", Fraction(1000) ** n) for p, n in _STEPS if n > 1), ("FLOP", Fraction(1))])
    if name == "time":
        return _rung(
            size,
            [
                ("s", Fraction(1)),
                ("ms", Fraction(1, 10**3)),
                ("µs", Fraction(1, 10**6)),
                ("ns", Fraction(1, 10**9)),
            ],
        )
    return unit.factor, ""


def quick_rung(value: float, unit: Unit) -> tuple[int | float, str] | None:
    """`humanised` for plain numbers in bytes, FLOP or seconds, without fractions; None where it does not apply."""
    if unit.label == "B":
        if type(value) is float:
            if not value.is_integer():
                return None
            value = int(value)
        size = abs(value)
        for label, scale in _BINARY_RUNGS:
            if size >= scale and not (size * 1000) % scale:
                return scale, label
        return _quick_step(size, _BYTE_RUNGS)
    if unit.label == "FLOP":
        return _quick_step(abs(value), _FLOP_RUNGS)
    if unit.label == "s":
        return _quick_step(abs(value), _SECOND_RUNGS)
    return None


def _quick_step(size: float, rungs: tuple[tuple[str, int | float], ...]) -> tuple[int | float, str] | None:
    for label, scale in rungs:
        if size >= scale:
            return scale, label
    return None


BINARY = {label + "B": 1024**power for label, power in _BINARY.items()}
"""Bytes of each binary unit."""
_BINARY_RUNGS = tuple(reversed(BINARY.items()))
_BYTE_RUNGS = (("PB", 10**15), ("TB", 10**12), ("GB", 10**9), ("MB", 10**6), ("KB", 10**3), ("B", 1))
_FLOP_RUNGS = (("PFLOP", 10**15), ("TFLOP", 10**12), ("GFLOP", 10**9), ("MFLOP", 10**6), ("FLOP", 1))
_SECOND_RUNGS = (("s", 1), ("ms", 1e-3), ("µs", 1e-6), ("ns", 1e-9))
_STEPS = (("P", 5), ("T", 4), ("G", 3), ("M", 2), ("K", 1))


def _rung(size: Fraction, ladder: list[tuple[str, Fraction]]) -> tuple[Fraction, str]:
    for label, scale in ladder:
        if size >= scale:
            return scale, label
    return ladder[-1][1], ladder[-1][0]
