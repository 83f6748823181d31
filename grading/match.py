"""Grade an answer against a key that comes with it (design 4.5). Key and answer are both untrusted text.

Pure functions: no signals, no global state but bounded caches, safe in threads and forked workers.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any

from grading import tolerance as tolerances
from grading.errors import BadKey, BadRow, Unreadable
from grading.grade import grade
from grading.kinds.base import Kind
from grading.kinds.lookup import ADHOC, kind_class
from grading.tolerance import Tolerance
from grading.verdict import Verdict

MAX_KEY = 2000
CACHED_KEYS = 2048
FIELDS = frozenset({"id", "kind", "key", "answer", "tolerance", "symbols", "arrays", "shapes"})

_CRASHES = (
    ArithmeticError,
    AssertionError,
    AttributeError,
    LookupError,
    MemoryError,
    RecursionError,
    TypeError,
    ValueError,
)
"""What a fault of the grader may raise; a row that meets one is quarantined, never marked."""

Frozen = tuple[Any, ...] | None


def match(
    *,
    kind: str,
    key: str,
    answer: str,
    tolerance: Mapping[str, Any] | None = None,
    symbols: Mapping[str, str] | Iterable[str] | None = None,
    arrays: Mapping[str, str] | None = None,
    shapes: Mapping[str, Iterable[str | int]] | None = None,
    id: Any = None,
) -> Verdict:
    """The verdict on one answer. A key is read once for many answers.

    kind: number, integer, quantity, vector, matrix, expression, indexed, matrix_expression, shape, choice or set.
    tolerance: {"exact": true}, {"rel": x}, {"abs": x}, {"rel": x, "abs": y}, {"sig": n} or {"equivalent": true};
    exact if left out. symbols: names and their domains, or a list of real names. arrays, shapes: as in design 4.5.

    A key, tolerance or domain that cannot be used gives status bad_key; an unknown kind or a field of the wrong type
    status bad_row; an unreadable answer status invalid. A fault of the grader itself is raised.

    >>> from grading.match import match
    >>> match(kind="quantity", key="512 KiB", answer="0.5 MiB", tolerance={"rel": 0.01}).verdict
    'right'
    >>> wrong = match(kind="quantity", key="512 KiB", answer="512 MiB", tolerance={"rel": 0.01})
    >>> wrong.verdict, wrong.findings[0].text
    ('wrong', 'A factor 1024 too large: check the prefix.')
    >>> match(kind="number", key="0.576", answer="about half", tolerance={"abs": 0.0005}).status
    'invalid'
    """
    try:
        if type(answer) is not str:
            raise BadRow("answer must be a text")
        if type(kind) is not str or type(key) is not str:
            raise BadRow("kind and key must be texts")
        prepared = _prepared(
            kind,
            key,
            None if tolerance is None else _frozen_tolerance(tolerance),
            None if symbols is None else _frozen(symbols, "symbols"),
            None if arrays is None else _frozen(arrays, "arrays"),
            None if shapes is None else _frozen(shapes, "shapes"),
        )
        if isinstance(prepared, str):
            raise BadKey(prepared)
        return grade(prepared[0], answer, prepared[1], id=id)
    except BadRow as error:
        return Verdict(status="bad_row", detail=str(error), id=id)
    except BadKey as error:
        return Verdict(status="bad_key", detail=str(error), id=id, kind=kind)


def match_row(row: object) -> dict[str, Any]:
    """The verdict on one row of design 4.5, as JSON. Always returns: a row that is no row gives status bad_row, one on
    which the grader fails status crash."""
    if not isinstance(row, dict):
        return Verdict(status="bad_row", detail="a row is a JSON object").to_json()
    missing = [name for name in ("kind", "key", "answer") if name not in row]
    if missing:
        detail = f"{', '.join(missing)} {'is' if len(missing) == 1 else 'are'} missing"
        return Verdict(status="bad_row", detail=detail, id=row.get("id")).to_json()
    try:
        return match(
            kind=row["kind"], key=row["key"], answer=row["answer"], tolerance=row.get("tolerance"),
            symbols=row.get("symbols"), arrays=row.get("arrays"), shapes=row.get("shapes"), id=row.get("id"),
        ).to_json()  # fmt: skip
    except _CRASHES as error:
        detail = f"the grader failed on this row ({type(error).__name__})"
        return Verdict(status="crash", detail=detail, id=row.get("id")).to_json()


def prepare(
    kind: str,
    key: str,
    tolerance: Tolerance,
    symbols: Any = None,
    arrays: Mapping[str, str] | None = None,
    shapes: Mapping[str, Any] | None = None,
) -> tuple[Kind, Any]:
    """The kind with its settings and the value of the key, or `BadKey`."""
    try:
        return _BUILDERS[kind](kind, key, tolerance, symbols, arrays, shapes)
    except Unreadable as error:
        raise BadKey(f"the key cannot be read: {error.message}") from None


@lru_cache(maxsize=CACHED_KEYS)
def _prepared(
    kind: str, key: str, tolerance: Frozen, symbols: Frozen, arrays: Frozen, shapes: Frozen
) -> tuple[Kind, Any] | str:
    """The prepared key, or what is wrong with it."""
    if kind not in ADHOC:
        raise BadRow(f"kind {kind[:40]!r} is none of {', '.join(ADHOC)}")
    if len(key) > MAX_KEY:
        return f"the key is longer than {MAX_KEY} characters"
    if not key.strip():
        return "the key is empty"
    try:
        rule = tolerances.parse(None if tolerance is None else dict(tolerance[: len(tolerance) // 2]))
        return prepare(kind, key, rule, _thawed(symbols), _thawed(arrays), _thawed(shapes))
    except BadKey as error:
        return str(error)


# -------------------------------------------------------------------------------- one builder a kind


def _scalar(kind: str, key: str, rule: Tolerance, symbols: Any, _arrays: Any, _shapes: Any) -> tuple[Kind, Any]:
    """number and integer; the key's own unit is the unit of the question."""
    from grading.reading.typed import read_number
    from grading.units import PERCENT, meanings

    number, words = read_number(key)
    unit = "none"
    if words == ("%",):
        number = number.scaled(PERCENT.factor, f"{number.text}%")
    elif words:
        found = meanings(words)[0]
        unit = " ".join(words) if found.dimension else "none"
        if not found.dimension:
            number = number.scaled(found.factor)
    made: Any = kind_class(kind)
    return made(unit=unit, tolerance=rule, symbols=_names(symbols)), number


def _quantity(kind: str, key: str, rule: Tolerance, symbols: Any, _arrays: Any, _shapes: Any) -> tuple[Kind, Any]:
    """A quantity; a bare number is read in the key's unit, and so is an absolute tolerance."""
    from grading.reading.typed import read_number

    number, words = read_number(key)
    made: Any = kind_class(kind)
    return made(unit=" ".join(words) or "none", tolerance=rule, symbols=_names(symbols)), number


def _entries(kind: str, key: str, rule: Tolerance, symbols: Any, _arrays: Any, _shapes: Any) -> tuple[Kind, Any]:
    """vector and matrix."""
    made: Any = kind_class(kind)
    made = made(tolerance=rule, symbols=_names(symbols))
    grid = made.parse(key)
    if any(x is None for line in grid.rows for x in line):
        raise BadKey("the key must be made of numbers")
    rows = [list(line) for line in grid.rows]
    if kind == "matrix":
        return made, rows
    if len(rows) > 1 and len(rows[0]) > 1:
        raise BadKey("the key is a matrix, not a vector")
    return made, [x for line in rows for x in line]


def _shape(_kind: str, key: str, _rule: Tolerance, symbols: Any, _arrays: Any, _shapes: Any) -> tuple[Kind, Any]:
    from grading.kinds.shape import Shape

    made = Shape(symbols=_names(symbols))
    return made, made.parse(key)


def _set(_kind: str, key: str, rule: Tolerance, _symbols: Any, _arrays: Any, _shapes: Any) -> tuple[Kind, Any]:
    from grading.kinds.set_ import Set

    made = Set(tolerance=rule)
    return made, made.parse(key).items


def _choice(_kind: str, key: str, _rule: Tolerance, _symbols: Any, _arrays: Any, _shapes: Any) -> tuple[Kind, Any]:
    from grading.kinds.choice import Choice

    made = Choice()
    made.parse(key)
    return made, key


def _symbolic(kind: str, key: str, rule: Tolerance, symbols: Any, arrays: Any, shapes: Any) -> tuple[Kind, Any]:
    """expression, indexed and matrix_expression: the key stays a text, which the kind reads once."""
    made: Any = kind_class(kind)
    given = {"symbols": symbols, "arrays": arrays, "shapes": shapes}
    known = made.__dataclass_fields__
    made = made(tolerance=rule, **{name: value for name, value in given.items() if value is not None and name in known})
    made.parse(key)
    return made, key


_BUILDERS = {
    "number": _scalar,
    "integer": _scalar,
    "quantity": _quantity,
    "vector": _entries,
    "matrix": _entries,
    "shape": _shape,
    "set": _set,
    "choice": _choice,
    "expression": _symbolic,
    "indexed": _symbolic,
    "matrix_expression": _symbolic,
}


def _names(symbols: Any) -> tuple[str, ...]:
    """The declared names, functions left out."""
    return tuple(name for name in symbols or () if not name.endswith("()"))


# -------------------------------------------------------------------------------- row to cache key


def _frozen_tolerance(tolerance: object) -> Frozen:
    """A tolerance as a cache key; its values are looked at when the key is prepared."""
    if tolerance is None:
        return None
    if type(tolerance) is not dict and not isinstance(tolerance, Mapping):
        raise BadKey('tolerance must be an object such as {"rel": 0.01}')
    return (*tolerance.items(), *map(type, tolerance.values()))  # 1, 1.0 and True are equal as keys, but not alike


def _frozen(value: object, field: str) -> Frozen:
    """A declaration as a cache key: pairs of an object, or the names of a list."""
    if value is None:
        return None
    if isinstance(value, Mapping):
        return ("object", *((str(name), _hashable(item, field)) for name, item in value.items()))
    if isinstance(value, list | tuple | set | frozenset):
        names = tuple(value)
        if not all(isinstance(name, str) for name in names):
            raise BadKey(f"{field} must be names")
        return ("list", *names)
    raise BadKey(f"{field} must be an object")


def _hashable(item: object, field: str) -> Any:
    if isinstance(item, list | tuple):
        if not all(isinstance(x, str | int) for x in item):
            raise BadKey(f"{field} must hold names and whole numbers")
        return tuple(item)
    if isinstance(item, str):
        return item
    raise BadKey(f"{field} must hold texts or lists")


def _thawed(frozen: Frozen) -> Any:
    """The declaration behind a cache key."""
    if frozen is None:
        return None
    shape, *items = frozen
    return dict(items) if shape == "object" else list(items)
