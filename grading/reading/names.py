"""Names in an answer: what a problem declares, what everybody knows, and how a run of letters falls into names."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache

from grading.errors import Unreadable

_PLAIN_FUNCTIONS = """
ln exp sqrt abs min max factorial binomial floor ceil sign sin cos tan cot sec csc asin acos atan
sinh cosh tanh coth sech csch asinh acosh atanh logistic softmax diag rowsum colsum trace inverse
mean erf
"""

FUNCTIONS: Mapping[str, str] = {
    **{name: name for name in _PLAIN_FUNCTIONS.split()},
    "log": "ln", "Log": "ln", "Ln": "ln", "LN": "ln", "log2": "log2", "log10": "log10", "ld": "log2",
    "log1p": "log1p", "expm1": "expm1", "Exp": "exp", "Sqrt": "sqrt", "root": "root", "cbrt": "cbrt", "Abs": "abs",
    "fabs": "abs", "absolute": "abs", "Min": "min", "minimum": "min", "Max": "max", "maximum": "max",
    "comb": "binomial",
    "binom": "binomial", "nCr": "binomial", "choose": "binomial", "ceiling": "ceil",
    "sgn": "sign", "signum": "sign", "lg": "log10", "lb": "log2", "arcsin": "asin",
    "arccos": "acos", "arctan": "atan", "arcsinh": "asinh", "arccosh": "acosh", "arctanh": "atanh", "arsinh": "asinh",
    "arcosh": "acosh", "artanh": "atanh",
    "cosec": "csc", "arcsec": "asec", "arccsc": "acsc", "arccot": "acot", "asec": "asec",
    "acsc": "acsc", "acot": "acot", "sigmoid": "logistic", "Softmax": "softmax", "Diag": "diag",
    "diagflat": "diag", "row_sum": "rowsum", "rowSum": "rowsum", "row_sums": "rowsum", "rowsums": "rowsum",
    "col_sum": "colsum", "colSum": "colsum", "col_sums": "colsum", "colsums": "colsum", "tr": "trace", "Tr": "trace",
    "inv": "inverse", "transpose": "transpose", "trans": "transpose",
    "pow": "pow", "power": "pow", "square": "square", "outer": "outer",
    "matmul": "matmul", "dot": "matmul", "multiply": "multiply", "hadamard": "multiply",
    "exp2": "exp2", "hypot": "hypot",
}  # fmt: skip
"""Spellings of functions and what they stand for; a few stand for small trees (log2, square, outer …)."""

OF_ARRAYS = frozenset(
    {"softmax", "diag", "rowsum", "colsum", "trace", "inverse", "mean", "transpose", "outer", "matmul", "multiply"}
)
"""Functions that mean something only where arrays or matrices are declared."""
OPEN_ENDED = frozenset({"min", "max"})
ARITY: Mapping[str, tuple[int, ...]] = {
    "min": (), "max": (), "binomial": (2,), "log": (1, 2), "ln": (1, 2), "pow": (2,), "outer": (2,), "matmul": (2,),
    "multiply": (2,), "hypot": (2,), "root": (1, 2),
}  # fmt: skip
MODULES = frozenset(
    {"np", "numpy", "math", "torch", "jnp", "tf", "sympy", "linalg", "F", "functional", "nn", "scipy", "special"}
)


@dataclass(frozen=True, slots=True)
class Declared:
    """What a problem declares, names case-kept.

    symbols: scalars. arrays: indexed names with their number of indices, None where it is not known. functions: unknown
    functions. matrices: names of matrices and columns (`^T` is then the transpose). indexed: free indices, sums,
    δ and indicators may be typed.
    """

    symbols: frozenset[str] = frozenset()
    arrays: Mapping[str, int | None] = field(default_factory=dict)
    functions: frozenset[str] = frozenset()
    matrices: frozenset[str] = frozenset()

    def __hash__(self) -> int:
        return hash((self.symbols, tuple(sorted(self.arrays)), self.functions, self.matrices))

    @property
    def indexed(self) -> bool:
        """Whether arrays with indices are declared."""
        return bool(self.arrays)

    def names(self) -> tuple[str, ...]:
        """All declared names, the longest first."""
        return _longest_first(self.symbols, self.matrices)

    def function(self, word: str) -> str | None:
        """The canonical name of a function that can be applied here, or None."""
        if word in self.functions:
            return word
        name = FUNCTIONS.get(word)
        if name in OF_ARRAYS and not self.arrays and not self.matrices:
            return None
        return name

    def knows(self, name: str) -> bool:
        """Whether a name is declared as anything."""
        return name in self.symbols or name in self.matrices or name in self.arrays or name in self.functions


@lru_cache(maxsize=512)
def _longest_first(symbols: frozenset[str], matrices: frozenset[str]) -> tuple[str, ...]:
    return tuple(sorted(symbols | matrices, key=lambda name: (-len(name), name)))


Piece = tuple[str, str]
"""("symbol", name), ("number", digits), ("array", "p|i,j") or ("function", name)."""


def whole_arrays(run: str, declared: Declared) -> list[Piece] | None:
    """pv as the product of two whole arrays, where every letter is an array."""
    if len(run) < 2 or len(run) > 12 or not all(letter in declared.arrays for letter in run):
        return None
    return [("symbol", letter) for letter in run]


def split(run: str, declared: Declared) -> list[Piece] | None:
    """A run of letters, digits and subscripts as a product of declared names and numbers, or None.

    The whole run counts before any split; longer names before shorter ones; every piece must be declared.
    """
    if declared.knows(run) and run not in declared.arrays and run not in declared.functions:
        return [("symbol", run)]
    dead: set[int] = set()
    names = declared.names()
    arrays = sorted(declared.arrays, key=len, reverse=True)

    def from_(at: int) -> list[Piece] | None:
        if at == len(run):
            return []
        if at in dead or len(dead) > 4000:
            return None
        for piece, end in _candidates(run, at, names, arrays, declared):
            rest = from_(end)
            if rest is not None:
                return [piece, *rest]
        dead.add(at)
        return None

    if len(run) > 120:
        return None
    return from_(0)


def _candidates(
    run: str, at: int, names: tuple[str, ...], arrays: list[str], declared: Declared
) -> Iterable[tuple[Piece, int]]:
    """The pieces that may begin at a place of the run, the longest first."""
    for name in names:
        if run.startswith(name, at):
            yield ("symbol", name), at + len(name)
    for name in arrays:
        if run.startswith(name + "_", at):
            begin = at + len(name) + 1
            yield from _indices(run, begin, name, declared.arrays[name])
    for word in ("delta", "I"):
        if declared.arrays and not declared.knows(word) and run.startswith(word + "_", at):
            for (_, text), end in _indices(run, at + len(word) + 1, "delta", 2):
                yield ("array", text), end
    if at and run[at].isdigit():
        end = at
        while end < len(run) and run[end].isdigit():
            end += 1
        yield ("number", run[at:end]), end
    if run.startswith("pi", at) and "pi" not in names:
        yield ("symbol", "pi"), at + 2
    if run[at] == "e" and "e" not in names and (names or arrays):
        yield ("symbol", "e"), at + 1


def _indices(run: str, begin: int, name: str, rank: int | None) -> Iterable[tuple[Piece, int]]:
    """Index letters after an array's underscore: as many as its rank, or as many as there are."""
    end = begin
    while end < len(run) and run[end].isalnum():
        end += 1
    letters = run[begin:end]
    counts = [rank] if rank is not None else range(len(letters), 0, -1)
    for count in counts:
        if count <= len(letters):
            yield ("array", f"{name}|{','.join(letters[:count])}"), begin + count


def unknown(word: str, declared: Declared, column: int) -> Unreadable:
    """The error for a name that nobody declared, with the nearest one that is."""
    if word.lower() in ("or", "and"):
        return Unreadable("one answer is expected, this offers two", column)
    known = [*declared.symbols, *declared.matrices, *declared.arrays, *declared.functions]
    near = nearest(word, known)
    if near:
        return Unreadable(f"the name {word[:40]!r} is not declared here; did you mean {near}?", column)
    if known and len(known) <= 12:
        return Unreadable(f"the name {word[:40]!r} is not declared here; names are {', '.join(sorted(known))}", column)
    near = nearest(word, FUNCTIONS)
    if near:
        return Unreadable(f"{word[:40]!r} is unknown; did you mean {near}?", column)
    return Unreadable(f"the name {word[:40]!r} is not known here", column)


def nearest(word: str, known: Iterable[str]) -> str | None:
    """The known name closest to a word, or None if none is close."""
    if len(word) > 30:
        return None
    lowered = word.lower()
    best: tuple[int, str] | None = None
    for name in known:
        other = name.lower()
        if other == lowered:
            distance = 0
        else:
            limit = min(len(word), len(name)) // 3 or (len(word) == 2)
            if not limit or abs(len(word) - len(name)) > limit or (other[0] != lowered[0] and other[-1] != lowered[-1]):
                continue
            distance = _edits(lowered, other)
            if distance > limit:
                continue
        if best is None or (distance, name) < best:
            best = (distance, name)
    return best[1] if best else None


def _edits(a: str, b: str) -> int:
    """Edit distance of two short words."""
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        above, row[0] = row[0], i
        for j, y in enumerate(b, 1):
            above, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, above + (x != y))
    return row[-1]
