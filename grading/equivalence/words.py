"""Proofs for expressions of matrices: sums of words of letters that do not commute, with exact scalar coefficients.

(AB)^T is B^T A^T, A A^(−1) cancels, products are multiplied out, a word is cut where an inner dimension is 1 and its
1×1 pieces join the coefficient. Entrywise products, softmax and the like are letters of their own, equal when their
insides are. p ∘ y is diag(p) y; a column beside a matrix is that column times a row of ones. What does not fit raises
`TooBig`, and the decision goes by values.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from grading.equivalence.draws import Dim
from grading.equivalence.evaluate import rational
from grading.equivalence.normal import Form
from grading.equivalence.pieces import add_to, as_poly
from grading.equivalence.polynomial import Poly, Table
from grading.equivalence.rationals import TooBig
from grading.reading.tree import Add, Call, Div, Mul, Neg, Node, Number, Pow, Sub, Symbol, Transpose

Letter = tuple[Any, ...]
"""(kind, inside, transposed); kinds: m (a declared matrix), one (a column of ones), diag, had, inv, or a function."""
Word = tuple[Letter, ...]
Shape = tuple[Dim, Dim]

MAX_WORDS = 60
MAX_LENGTH = 40
_ONE: Poly = {(): 1}


@dataclass(frozen=True, slots=True)
class Words:
    """A matrix as a sum of coefficient × word. shape None: a scalar, its word empty; "I": a multiple of identity."""

    shape: Shape | str | None
    terms: dict[Word, Poly]


class Speller:
    """Spells trees as sums of words over a table of scalar atoms."""

    def __init__(self, shapes: Mapping[str, Shape], table: Table) -> None:
        self.shapes = shapes
        self.table = table
        self.form = Form(table)

    def spell(self, node: Node) -> Words:
        """The words of a tree."""
        run = _SPELL.get(type(node))
        if run is None:
            raise TooBig("no words for this")
        out = run(self, node)
        if len(out.terms) > MAX_WORDS:
            raise TooBig("too many words")
        return out

    # ---------------------------------------------------------------------------------------------------- letters

    def shape_of(self, letter: Letter) -> Shape:
        """Rows and columns of a letter."""
        kind, inside, flipped = letter[:3]
        if kind == "m":
            shape = self.shapes[inside]
        elif kind == "one":
            shape = (inside, 1)
        elif kind == "inv":
            return self.shape_of(inside)
        else:
            shape = letter[3]
        return (shape[1], shape[0]) if flipped else shape

    def flip(self, letter: Letter) -> Letter:
        """The transpose of a letter."""
        kind, inside, flipped, *rest = letter
        if kind == "inv":
            return ("inv", self.flip(inside), False)
        if kind == "diag":
            return letter
        return (kind, inside, not flipped, *rest)

    def turned(self, word: Word) -> Word:
        """The transpose of a word."""
        return tuple(self.flip(letter) for letter in reversed(word))

    def canonical(self, word: Word) -> tuple[Poly, Word]:
        """(coefficient, word): inverses cancelled, 1×1 pieces taken out, diagonal letters in order."""
        letters: list[Letter] = []
        for letter in word:
            if letters and (letter == ("inv", letters[-1], False) or letters[-1] == ("inv", letter, False)):
                letters.pop()
            else:
                letters.append(letter)
        if len(letters) > MAX_LENGTH:
            raise TooBig("a long word")
        blocks: list[list[Letter]] = [[]]
        for letter in letters:
            if blocks[-1] and self.shape_of(letter)[0] == 1:
                blocks.append([])
            blocks[-1].append(letter)
        factor = _ONE
        kept: list[Letter] = []
        for block in blocks:
            if not block:
                continue
            piece = self.ordered(tuple(block))
            rows, columns = self.shape_of(piece[0])[0], self.shape_of(piece[-1])[1]
            if rows == 1 and columns == 1:
                factor = self.table.times(factor, self.number(piece))
            else:
                kept.extend(piece)
        return factor, tuple(kept)

    def ordered(self, block: Word) -> Word:
        """Runs of diagonal letters sorted; diag(p) y and diag(y) p made one."""
        out: list[Letter] = []
        run: list[Letter] = []
        for letter in block:
            if letter[0] == "diag":
                run.append(letter)
                continue
            out.extend(sorted(run, key=repr))
            run = []
            out.append(letter)
        out.extend(sorted(run, key=repr))
        piece = tuple(out)
        if self.shape_of(piece[-1])[1] == 1 and self.shape_of(piece[0])[0] != 1:
            return self.column(piece)
        if self.shape_of(piece[0])[0] == 1 and self.shape_of(piece[-1])[1] != 1:
            return self.turned(self.column(self.turned(piece)))
        return piece

    def column(self, piece: Word) -> Word:
        """A column: its leading diagonals and its rest are one set of factors."""
        at = 0
        while at < len(piece) and piece[at][0] == "diag":
            at += 1
        if not at or at == len(piece):
            return piece
        parts = sorted([letter[1] for letter in piece[:at]] + [piece[at:]], key=repr)
        ones = [part for part in parts if len(part) == 1 and part[0][0] == "one"]
        parts = [part for part in parts if part not in ones] or ones[:1]
        size = self.shape_of(piece[0])[0]
        return (*(("diag", part, False, (size, size)) for part in parts[:-1]), *parts[-1])

    def number(self, piece: Word) -> Poly:
        """A 1×1 word as a scalar atom; it equals its transpose."""
        piece = self.entries(piece)
        if len(piece) == 2 and piece[0][0] == piece[1][0] == "one":
            dim = piece[1][1]
            if isinstance(dim, int):
                return {(): dim}
            number, mono = self.table.symbol(dim)
            return {mono: number}
        key = min(piece, self.turned(piece), key=repr)
        return {((self.table.atom("fn", ("word", key)), 1),): 1}

    def entries(self, piece: Word) -> Word:
        """u^T diag(v) w as the sum of one set of columns: 1^T diag(p) y is p^T y."""
        diagonal = [at for at, letter in enumerate(piece) if letter[0] == "diag"]
        if not diagonal or diagonal[-1] - diagonal[0] + 1 != len(diagonal):
            return piece
        first, last = diagonal[0], diagonal[-1]
        if not first or last == len(piece) - 1:
            return piece
        parts = [self.turned(piece[:first]), *(piece[at][1] for at in diagonal), piece[last + 1 :]]
        ones = self.one(self.shape_of(piece[first])[0])
        parts = sorted((part for part in parts if part != ones), key=repr)
        while len(parts) < 2:
            parts.append(ones)
        size = self.shape_of(piece[first])
        return (*self.turned(parts[0]), *(("diag", part, False, size) for part in parts[1:-1]), *parts[-1])

    def one(self, dim: Dim, flipped: bool = False) -> Word:
        """A column (or row) of ones."""
        return () if dim == 1 else (("one", dim, flipped),)

    # ------------------------------------------------------------------------------------------------- arithmetic

    def collected(self, shape: Any, parts: list[tuple[Poly, Word]]) -> Words:
        """Add terms up."""
        out: dict[Word, Poly] = {}
        for coefficient, word in parts:
            factor, kept = self.canonical(word)
            total = dict(out.get(kept, {}))
            add_to(total, self.table.times(coefficient, factor), 1)
            if total:
                out[kept] = total
            else:
                out.pop(kept, None)
        return Words(shape, out)

    def symbol(self, node: Symbol) -> Words:
        """A matrix, or a scalar."""
        name = node.name
        if name in self.shapes:
            shape = self.shapes[name]
            return self.collected(shape, [(_ONE, (("m", name, False),) if name != "ones" else self.ones(shape))])
        if name == "I":
            return Words("I", {(): _ONE})
        return Words(None, {(): self.form.poly(node)})

    def ones(self, shape: Shape) -> Word:
        """The matrix of ones as column times row."""
        return self.one(shape[0]) + self.one(shape[1], flipped=True)

    def scale(self, words: Words, factor: Poly) -> Words:
        """A scalar multiple."""
        return Words(words.shape, {word: self.table.times(poly, factor) for word, poly in words.terms.items()})

    def scalar(self, words: Words) -> Poly:
        """The value of a scalar or of a 1×1 product."""
        if words.shape not in (None, (1, 1)):
            raise TooBig("a scalar is needed")
        return words.terms.get((), {})

    def total(self, node: Add | Sub) -> Words:
        """a ± b, broadcast."""
        left, right = self.spell(node.left), self.spell(node.right)
        shape = self.joint(left.shape, right.shape)
        sign = -1 if isinstance(node, Sub) else 1
        parts = [(poly, word) for word, poly in self.stretched(left, shape).terms.items()]
        parts += [
            ({m: c * sign for m, c in poly.items()}, word) for word, poly in self.stretched(right, shape).terms.items()
        ]
        return self.collected(shape, parts)

    def joint(self, x: Any, y: Any) -> Any:
        """The shape of an entrywise operation, already known to fit."""
        if x == y or y is None:
            return x
        if x is None:
            return y
        if "I" in (x, y):
            return y if x == "I" else x
        return tuple(q if p == 1 else p for p, q in zip(x, y, strict=True))

    def stretched(self, words: Words, shape: Any) -> Words:
        """A scalar, a column or a row as a full matrix, by ones; an identity as it is."""
        if words.shape == shape or words.shape == "I" or not isinstance(shape, tuple):
            if words.shape is None and shape == "I":
                raise TooBig("a scalar beside an identity")
            return words
        have: Any = words.shape or (1, 1)
        left = self.one(shape[0]) if have[0] == 1 and shape[0] != 1 else ()
        right = self.one(shape[1], flipped=True) if have[1] == 1 and shape[1] != 1 else ()
        return self.collected(shape, [(poly, left + word + right) for word, poly in words.terms.items()])

    def product(self, node: Mul) -> Words:
        """A chain of products, or an entrywise one."""
        left, right = self.spell(node.left), self.spell(node.right)
        x, y = left.shape, right.shape
        for one, other in ((left, right), (right, left)):
            if one.shape is None or (one.shape == (1, 1) and node.how != "entry"):
                return self.scale(other, self.scalar(one))
        if node.how == "entry":
            return self.entrywise(left, right)
        if x == "I" or y == "I":
            other, one = (right, left) if x == "I" else (left, right)
            return self.scale(other, one.terms.get((), {}))
        if not isinstance(x, tuple) or not isinstance(y, tuple) or x[1] != y[0]:
            raise TooBig("a product in another order")
        parts = [(self.table.times(p, q), u + v) for u, p in left.terms.items() for v, q in right.terms.items()]
        return self.collected((x[0], y[1]), parts)

    def entrywise(self, left: Words, right: Words) -> Words:
        """a ∘ b, term by term."""
        shape = self.joint(left.shape, right.shape)
        if not isinstance(shape, tuple) or "I" in (left.shape, right.shape):
            raise TooBig("an entrywise product with an identity")
        a, b = self.stretched(left, shape), self.stretched(right, shape)
        parts = [
            (self.table.times(p, q), self.mixed(u, v, shape)) for u, p in a.terms.items() for v, q in b.terms.items()
        ]
        return self.collected(shape, parts)

    def mixed(self, u: Word, v: Word, shape: Shape) -> Word:
        """One word times another, entry by entry: an outer product scales rows and columns."""
        for one, other in ((u, v), (v, u)):
            cut = next((at for at in range(1, len(one)) if self.shape_of(one[at])[0] == 1), None)
            if shape[1] == 1 or shape[0] == 1:
                cut = len(one) if shape[1] == 1 else 0
            if cut is None:
                continue
            rows, columns = one[:cut], self.turned(one[cut:])
            return (*self.diagonal_letter(rows, shape[0]), *other, *self.diagonal_letter(columns, shape[1]))
        factors = sorted([*self.factors(u), *self.factors(v)], key=repr)
        return (("had", tuple(factors), False, shape),)

    def factors(self, word: Word) -> list[Word]:
        """The factors of an entrywise product, or the word alone."""
        if len(word) == 1 and word[0][0] == "had":
            return [self.turned(part) for part in word[0][1]] if word[0][2] else list(word[0][1])
        return [word]

    def diagonal_letter(self, column: Word, size: Dim) -> Word:
        """diag of a column; of ones it is the identity."""
        if not column or (len(column) == 1 and column[0][0] == "one"):
            return ()
        letters = []
        while column and column[0][0] == "diag" and len(column) > 1:
            letters.append(column[0])
            column = column[1:]
        return (*letters, ("diag", column, False, (size, size)))

    def quotient(self, node: Div) -> Words:
        """a over a scalar."""
        left, below = self.spell(node.left), self.scalar(self.spell(node.right))
        inverse = self.form.term_power(self.table.wrap(below), -1)
        return Words(left.shape, {word: self.table.scaled(poly, inverse) for word, poly in left.terms.items()})

    def power(self, node: Pow) -> Words:
        """Scalar powers, whole powers and inverses."""
        base, exponent = self.spell(node.base), rational(node.exponent)
        if base.shape in (None, (1, 1)):
            if exponent is None:
                return Words(None, {(): self.form.poly(node)})
            power = as_poly(self.form.term_power(self.table.wrap(self.scalar(base)), exponent))
            return Words(base.shape, {(): power})
        if exponent == -1:
            return self.inverse(base)
        if exponent is None or exponent.denominator != 1 or not 1 <= exponent <= 6:
            raise TooBig("a power of a matrix")
        out = base
        for _ in range(int(exponent) - 1):
            out = self.times(out, base)
        return out

    def times(self, left: Words, right: Words) -> Words:
        """The product of two square matrices of one shape."""
        parts = [(self.table.times(p, q), u + v) for u, p in left.terms.items() for v, q in right.terms.items()]
        return self.collected(left.shape, parts)

    def inverse(self, base: Words) -> Words:
        """The inverse of a single word, letter by letter."""
        if len(base.terms) != 1 or not isinstance(base.shape, tuple):
            raise TooBig("the inverse of a sum")
        ((word, poly),) = base.terms.items()
        letters: list[Letter] = []
        for letter in reversed(word):
            rows, columns = self.shape_of(letter)
            if rows != columns or letter[0] in ("diag", "had"):
                raise TooBig("the inverse of a product")
            letters.append(letter[1] if letter[0] == "inv" else ("inv", letter, False))
        inverse = self.form.term_power(self.table.wrap(poly), -1)
        return self.collected(base.shape, [({inverse[1]: inverse[0]}, tuple(letters))])

    def transposed(self, node: Transpose) -> Words:
        """A^T."""
        if isinstance(node.arg, Number):
            raise TooBig("a row of ones of open length")
        inner = self.spell(node.arg)
        if not isinstance(inner.shape, tuple):
            return inner
        shape = (inner.shape[1], inner.shape[0])
        return self.collected(shape, [(poly, self.turned(word)) for word, poly in inner.terms.items()])

    # -------------------------------------------------------------------------------------------------- functions

    def call(self, node: Call) -> Words:
        """Sums by ones, diagonals term by term, anything else as a letter."""
        name = node.name
        if len(node.args) != 1:
            return Words(None, {(): self.form.poly(node)})
        inner = self.spell(node.args[0])
        shape = inner.shape
        if shape is None:
            return Words(None, {(): self.form.poly(node)})
        if name == "inverse":
            return self.inverse(inner)
        if not isinstance(shape, tuple):
            raise TooBig("a function of an identity")
        items = list(inner.terms.items())
        if name == "rowsum":
            return self.collected((shape[0], 1), [(poly, word + self.one(shape[1])) for word, poly in items])
        if name == "colsum":
            return self.collected(
                (1, shape[1]), [(poly, self.one(shape[0], flipped=True) + word) for word, poly in items]
            )
        if name == "sum":
            ends = self.one(shape[0], flipped=True), self.one(shape[1])
            total = self.collected((1, 1), [(poly, ends[0] + word + ends[1]) for word, poly in items])
            return Words(None, {(): total.terms.get((), {})})
        if name == "trace":
            out: Poly = {}
            for word, poly in items:
                add_to(out, self.table.times(poly, self.trace(word, shape[0])), 1)
            return Words(None, {(): out})
        if name == "diag" and 1 in shape and shape != (1, 1):
            size = shape[0] if shape[1] == 1 else shape[1]
            columns = [(poly, word if shape[1] == 1 else self.turned(word)) for word, poly in items]
            return self.collected((size, size), [(poly, self.diagonal_letter(word, size)) for poly, word in columns])
        # sorted, so that equal insides give equal letters in every run
        key = tuple(sorted(((word, tuple(sorted(poly.items()))) for word, poly in items), key=repr))
        if name == "diag":
            # the diagonal of a matrix, a letter unlike the diagonal matrix of a column
            name, shape = "diagonal", (shape[0], 1)
        elif name == "mean":
            return Words(None, {(): {((self.table.atom("fn", (name, key)), 1),): 1}})
        return self.collected(shape, [(_ONE, ((name, key, False, shape),))])

    def trace(self, word: Word, size: Dim) -> Poly:
        """The trace of a word, which may be turned round and transposed."""
        if not word:
            return self.number((("one", size, True), ("one", size, False)))
        for at in range(len(word)):
            if self.shape_of(word[at])[0] == 1:
                return self.canonical(word[at:] + word[:at])[0]
        both = (word, self.turned(word))
        key = min((piece[at:] + piece[:at] for piece in both for at in range(len(word))), key=repr)
        return {((self.table.atom("fn", ("trace", key)), 1),): 1}


def _negative(speller: Speller, node: Neg) -> Words:
    inner = speller.spell(node.arg)
    return Words(inner.shape, {w: {m: -c for m, c in poly.items()} for w, poly in inner.terms.items()})


_SPELL: Mapping[type, Callable[..., Words]] = {
    Number: lambda speller, node: Words(None, {(): speller.form.poly(node)}),
    Symbol: Speller.symbol,
    Neg: _negative,
    Add: Speller.total,
    Sub: Speller.total,
    Mul: Speller.product,
    Div: Speller.quotient,
    Pow: Speller.power,
    Transpose: Speller.transposed,
    Call: Speller.call,
}


class Spelled:
    """A key's words, held against many answers."""

    def __init__(self, tree: Node, shapes: Mapping[str, Shape], table: Table) -> None:
        self.shapes = shapes
        self.table = table
        self.words: Words | None
        try:
            self.words = Speller(shapes, table).spell(tree)
        except TooBig:
            self.words = None

    def proves(self, answer: Node) -> bool:
        """Whether an answer has the same words with the same coefficients."""
        if self.words is None:
            return False
        table = self.table.fork()
        try:
            other = Speller(self.shapes, table).spell(answer)
            for word in {*self.words.terms, *other.terms}:
                gap: Poly = {}
                add_to(gap, self.words.terms.get(word, {}), 1)
                add_to(gap, other.terms.get(word, {}), -1)
                if gap and not (table.has_sums(gap) and not table.cleared(gap)[0]):
                    return False
        except TooBig:
            return False
        return True
