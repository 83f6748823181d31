"""Constant parts of an answer that have no value: 1/0, ln(0), 9^9^9^9. Such an answer is unreadable, not wrong."""

from __future__ import annotations

from fractions import Fraction

from grading.equivalence.balls import TooLarge, Unclear, Undefined
from grading.equivalence.evaluate import MAX_LENGTH, MAX_TERMS, Frame, Unsupported, compile_tree, rational
from grading.equivalence.precise import Precise
from grading.errors import Unreadable
from grading.reading.tree import Add, Call, Div, Indexed, Mul, Neg, Node, Number, Pow, Sub, Sum, Symbol, children

_PLAIN, _HEAVY, _OPEN = 0, 1, 2


def check_constants(tree: Node, functions: frozenset[str] = frozenset()) -> None:
    """Raise `Unreadable` when a part without names has no value or one beyond every limit."""
    if _weight(tree, functions) == _HEAVY:
        _evaluate(tree, functions)


def _weight(node: Node, functions: frozenset[str]) -> int:
    """Whether a tree is a plain number, a constant worth evaluating, or depends on names; faults inside are raised."""
    kind = type(node)
    if kind is Number:
        return _PLAIN
    if kind is Symbol or kind is Indexed:
        return _OPEN
    if isinstance(node, Div) and rational(node.right) == 0:
        raise Unreadable("there is no such number: division by zero", max(node.start, 0))
    if isinstance(node, Sum):
        _check_length(node)
    parts = []
    while isinstance(node, (Add, Sub, Mul)):
        parts.append(node.right)
        node = node.left
    parts.extend((node,) if parts else children(node))
    weights = [_weight(part, functions) for part in parts]
    if _OPEN in weights:
        for part, weight in zip(parts, weights, strict=True):
            if weight == _HEAVY:
                _evaluate(part, functions)
        return _OPEN
    if isinstance(node, Div) and isinstance(node.right, Number):
        return max(weights)
    if isinstance(node, (Div, Call)):
        return _HEAVY
    if isinstance(node, Pow):
        return max(weights) if _tame(node.base) and _tame(node.exponent) else _HEAVY
    return max(weights, default=_HEAVY if not isinstance(node, Neg) else _PLAIN)


def _check_length(node: Sum) -> None:
    """A sum over more numbers than will ever be added is unreadable."""
    length = _length(node)
    if length > MAX_LENGTH:
        raise Unreadable(f"a sum of more than {MAX_LENGTH} terms is too long to be checked", max(node.start, 0))
    if length * _inside(node.body) > MAX_TERMS:
        raise Unreadable(f"sums of more than {MAX_TERMS} terms in all are too long to be checked", max(node.start, 0))


def _length(node: Sum) -> int:
    """How many terms a sum between constant bounds has; 1 where that depends on names."""
    if node.lower is None or node.upper is None:
        return 1
    lower, upper = rational(node.lower), _size(node.upper)
    return 1 if lower is None or upper is None else max(int(upper - lower) + 1, 1)


def _inside(node: Node) -> int:
    """How many terms the longest sums inside a tree have, one inside the other."""
    inside = max(map(_inside, children(node)), default=1)
    return inside * _length(node) if isinstance(node, Sum) else inside


def _size(node: Node) -> Fraction | None:
    """A constant bound, a power of numbers such as 10^9 included."""
    if isinstance(node, Pow):
        base, exponent = rational(node.base), rational(node.exponent)
        if base is None or exponent is None or not 0 <= exponent <= 400:
            return None
        return base ** int(exponent)
    return rational(node)


def _tame(node: Node) -> bool:
    return isinstance(node, Number) and 0 < node.value <= 60


def _evaluate(node: Node, functions: frozenset[str]) -> None:
    try:
        frame = Frame((), functions)
        program = compile_tree(node, frame)
        program([(0.0, 0.0)] * frame.size)
    except Unsupported:
        return  # a sum over an axis, a function of matrices: the kind decides what they mean
    except (Undefined, Unclear, TooLarge):
        nothing: dict[str, Fraction] = {}
        try:
            Precise(nothing, functions).value(node)
        except Undefined as reason:
            raise Unreadable(f"there is no such number: {reason}", max(node.start, 0)) from None
        except TooLarge as reason:
            raise Unreadable(f"a number beyond every limit: {reason}", max(node.start, 0)) from None
        except (Unclear, Unsupported):
            return
