"""Expressions with indices: p_i (δ_ij − p_j), sums over an axis, indicators, evaluated for all index tuples at once.

Every index has an axis of a numpy array of its own; a sum reduces its axis. Free indices are the key's. An index runs
over the axis of the array that it indexes; running over two is said in words. Whole arrays (p^T y, softmax(s)_j) go
through `grading.equivalence.matrices`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from grading.equivalence.draws import Dim
from grading.equivalence.evaluate import rational
from grading.equivalence.grids import FUNCTIONS, MAX_AXES, Grid, Program, Shifted, whole_sum
from grading.equivalence.matrices import MAX_PLAIN_BITS, Planner, ShapeError
from grading.equivalence.matrix_values import Redraw
from grading.equivalence.pieces import chain
from grading.reading.tree import (
    RELATIONS,
    Add,
    Call,
    Div,
    Entry,
    Indexed,
    Indicator,
    Mul,
    Neg,
    Node,
    Number,
    Pow,
    Sub,
    Sum,
    Symbol,
    Transpose,
    children,
)

MAX_TERMS = 1000
"""Terms of a sum over numbers that index nothing, nested sums together."""


@dataclass(slots=True)
class Index:
    """An index in force: its axis and the dimension that it runs over, None until an array says it."""

    place: int
    dim: Dim | None = None
    why: str = ""


@dataclass(slots=True)
class Counter:
    """What a compilation learns: free indices in order, dimensions of sums by node, whether anything is delicate."""

    free: dict[str, Index]
    sums: dict[int, tuple[Dim | None, Sum]] = field(default_factory=dict)
    delicate: bool = False
    axes: int = 0
    """Indices in force at once at most: what one product costs."""


class IndexPlanner:
    """Compiles a tree with indices; `open_free` lets new free indices appear (for a key)."""

    def __init__(
        self,
        shapes: Mapping[str, tuple[Dim, ...]],
        scalars: frozenset[str],
        free: Mapping[str, Dim] | None = None,
        text: str = "",
    ) -> None:
        self.shapes = shapes
        self.scalars = scalars
        self.dims = tuple(dict.fromkeys(d for shape in shapes.values() for d in shape if isinstance(d, str)))
        self.text = text
        self.given = free
        start = {name: Index(at, dim, "the question") for at, (name, dim) in enumerate((free or {}).items())}
        self.seen = Counter(start)
        self.scope: dict[str, Index] = dict(start)
        self.used = self.seen.axes = len(start)
        self.open = self.bits = 0
        columns = {
            name: (shape[0], shape[1] if len(shape) > 1 else 1) for name, shape in shapes.items() if len(shape) < 3
        }
        self.matrices = Planner(columns, scalars, text)

    def whole(self, node: Node) -> Program:
        """Compile a whole answer and settle what every free index runs over."""
        program = self.compile(node)
        for name, index in self.seen.free.items():
            index.dim = self.sized(index.dim, name)
        return program

    def compile(self, node: Node) -> Program:
        """The closure of a tree, or `ShapeError` in words."""
        run = _BUILD.get(type(node))
        if run is None:
            raise ShapeError(f"{type(node).__name__.lower()} has no meaning among indices")
        return run(self, node)

    # --------------------------------------------------------------------------------------------------- indices

    def index(self, name: str, dim: Dim | None = None, where: str = "") -> Index:
        """The index of a name, learning or checking the dimension that it runs over."""
        found = self.scope.get(name)
        if found is None:
            if self.given is not None:
                asked = ", ".join(self.given) or "none"
                raise ShapeError(f"{name} is not an index of what is asked (indices: {asked})")
            found = Index(self.take())
            self.scope[name] = found
            self.seen.free[name] = found
        if dim is not None:
            if found.dim is None:
                found.dim, found.why = dim, where
            elif found.dim != dim:
                raise ShapeError(f"{name} runs over {found.dim} in {found.why} and over {dim} in {where}")
        return found

    def take(self) -> int:
        """A free axis."""
        if self.used >= MAX_AXES:
            raise ShapeError(f"more than {MAX_AXES} indices are in force at once")
        self.used += 1
        self.seen.axes = max(self.seen.axes, self.used)
        return self.used - 1

    def sized(self, dim: Dim | None, name: str) -> Dim:
        """The dimension of an index that no array fixes: the only one there is."""
        if dim is not None:
            return dim
        if len(self.dims) == 1:
            return self.dims[0]
        raise ShapeError(f"it is open what {name} runs over: it indexes no array")

    def symbol(self, node: Symbol) -> Program:
        """A scalar, a dimension, a constant, or the value of an index."""
        name = node.name
        found = self.scope.get(name)
        if found is not None:
            return self.running(found, name)
        if name in self.scalars or name in self.dims:
            return lambda grid: grid.scalars[name]
        if name in ("pi", "e"):
            import math

            value = math.pi if name == "pi" else math.e
            return lambda _grid: value
        if name in self.shapes:
            raise ShapeError(f"{name} is an array: give it an index")
        return self.running(self.index(name), name)

    def running(self, index: Index, name: str) -> Program:
        """The values of an index along its axis."""
        if index.dim is None and len(self.dims) == 1 and name in self.seen.free:
            index.dim = self.dims[0]

        def run(grid: Grid) -> Any:
            if index.dim is None:
                # an index that indexes nothing takes the values of its sum
                return grid.axis(index.place, 1, 1)
            return grid.axis(index.place, 1, grid.size(index.dim))

        return run

    def indexed(self, node: Indexed) -> Program:
        """An entry of an array, or the Kronecker delta."""
        name = node.name
        if name == "delta" and len(node.indices) == 2 and "delta" not in self.shapes:
            return self.indicator(Indicator(node.indices[0], "=", node.indices[1]))
        shape = self.shapes.get(name)
        if shape is None:
            raise ShapeError(f"{name} is no array here")
        if len(node.indices) != len(shape):
            raise ShapeError(f"{name} has {_counted(len(shape))}, {_counted(len(node.indices))} typed")
        places = [self.place(index, dim, name) for index, dim in zip(node.indices, shape, strict=True)]
        if len(places) == 1:
            only = places[0]
            return lambda grid: grid.raw[name][only(grid)]
        return lambda grid: grid.raw[name][tuple(place(grid) for place in places)]

    def place(self, node: Node, dim: Dim, name: str) -> Program:
        """Zero-based positions along one axis of an array."""
        if isinstance(node, Symbol) and node.name not in self.dims and node.name not in self.shapes:
            index = self.index(node.name, dim, name)
            axis = index.place
            return lambda grid: grid.axis(axis, 0, grid.size(dim))
        inner = self.compile(node)

        def run(grid: Grid) -> Any:
            import numpy as np

            values = np.asarray(inner(grid))
            places = np.rint(values).astype(int) - 1
            if (places < 0).any() or (places >= grid.size(dim)).any() or (abs(values - places - 1) > 1e-9).any():
                raise Redraw(f"an index of {name} outside its range")
            return places

        return run

    def entry(self, node: Entry) -> Program:
        """softmax(s)_j: one entry of a whole array."""
        plan = self.matrices.plan(_transposed(node.arg, self.shapes))
        self.seen.delicate = self.seen.delicate or self.matrices.delicate
        shape = plan.shape
        if not isinstance(shape, tuple):
            raise ShapeError("an index needs a vector or a matrix before it")
        if len(node.indices) == 1 and 1 in shape:
            long = shape[0] if shape[1] == 1 else shape[1]
            only = self.place(node.indices[0], long, "it")
            return lambda grid: plan.run(grid).reshape(-1)[only(grid)]
        if len(node.indices) != 2:
            raise ShapeError(f"it has two indices, {_counted(len(node.indices))} typed")
        places = [self.place(index, dim, "it") for index, dim in zip(node.indices, shape, strict=True)]
        return lambda grid: plan.run(grid)[tuple(place(grid) for place in places)]

    # --------------------------------------------------------------------------------------------------- products

    def product(self, node: Mul) -> Program:
        """A product; factors that are whole arrays (p^T y) are taken together and must give a number."""
        programs: list[Program] = []
        run: list[Node] = []
        how = node.how
        for part in [*chain(node), None]:
            if part is not None and self.bare(part):
                run.append(part)
                continue
            if run:
                programs.append(self.number_of(run, how))
                run = []
            if part is not None:
                programs.append(self.compile(part))
        first = programs[0]
        if len(programs) == 1:
            return first
        if len(programs) == 2:
            second = programs[1]
            return lambda grid: first(grid) * second(grid)

        def multiply(grid: Grid) -> Any:
            out = first(grid)
            for program in programs[1:]:
                out = out * program(grid)
            return out

        return multiply

    def bare(self, node: Node) -> bool:
        """Whether a tree is made of whole arrays, without indices."""
        return self.holds(node) == {"array"}

    def holds(self, node: Node) -> set[str]:
        """What a tree is made of: whole arrays, things with indices."""
        if isinstance(node, Symbol):
            if node.name in self.scope:
                return {"index"}
            return {"array"} if node.name in self.shapes else set()
        if isinstance(node, (Indexed, Entry, Sum, Indicator)):
            return {"index"}
        if isinstance(node, Call) and node.name in ("min", "max", "log"):
            # functions of numbers only
            return {"index"}
        if isinstance(node, Number):
            return set()
        return set().union(*(self.holds(child) for child in children(node)))

    def number_of(self, parts: list[Node], how: Any) -> Program:
        """Whole arrays multiplied to a number."""
        tree = _transposed(parts[0], self.shapes)
        for part in parts[1:]:
            right = _transposed(part, self.shapes)
            tree = Mul(tree, right, how, start=tree.start, end=right.end)
        plan = self.matrices.plan(tree)
        self.seen.delicate = self.seen.delicate or self.matrices.delicate
        if plan.shape not in (None, (1, 1)):
            name = self.matrices.name(parts[0])
            raise ShapeError(f"{name} is {self.matrices.shown(plan.shape)} and has no index: a number is needed here")

        def run(grid: Grid) -> Any:
            value = plan.run(grid)
            return value[0, 0] if getattr(value, "ndim", 0) == 2 else value

        return run

    # ------------------------------------------------------------------------------------------- sums, comparisons

    def sum(self, node: Sum) -> Program:
        """A sum or product over an index."""
        hidden = self.scope.get(node.index)
        bounds = [None if bound is None else self.compile(bound) for bound in (node.lower, node.upper)]
        before = self.used
        self.open += 1
        cap = int(MAX_TERMS ** (1.0 / self.open))
        index = Index(self.take())
        self.scope[node.index] = index
        try:
            body = self.compile(node.body)
            skip = None if node.skip is None else self.compile(node.skip)
        finally:
            self.open -= 1
            self.used = max(before, *(i.place + 1 for i in self.seen.free.values()), 0)
            if hidden is None:
                self.scope.pop(node.index, None)
            else:
                self.scope[node.index] = hidden
        self.seen.sums[id(node)] = (index.dim, node)
        if index.dim is None and node.upper is None:
            index.dim = self.sized(None, node.index)
            self.seen.sums[id(node)] = (index.dim, node)
        whole = (
            index.dim is not None
            and skip is None
            and (node.lower is None or rational(node.lower) == 1)
            and (node.upper is None or (isinstance(node.upper, Symbol) and node.upper.name == index.dim))
        )
        place = index.place
        if whole:
            dim = index.dim
            assert dim is not None
            return whole_sum(body, place, dim, node.product)
        return self.masked_sum(node, index, body, (bounds[0], bounds[1], skip), cap)

    def masked_sum(
        self,
        node: Sum,
        index: Index,
        body: Program,
        bounds: tuple[Program | None, Program | None, Program | None],
        cap: int,
    ) -> Program:
        """A sum over part of an axis, or over at most `cap` whole numbers that index nothing.

        bounds: the lower and the upper one and the value that is left out, where there are any.
        """
        lower, upper, skip = bounds
        place, product = index.place, node.product

        def run(grid: Grid) -> Any:
            import numpy as np

            first = np.asarray(1 if lower is None else lower(grid))
            if upper is None:
                assert index.dim is not None
                last = np.asarray(grid.size(index.dim))
            else:
                last = np.asarray(upper(grid))
            if index.dim is None:
                if first.size != 1 or last.size != 1 or not 0 <= float(last.max()) - float(first.max()) < cap:
                    raise Redraw("a sum whose bounds are not two small whole numbers")
                index_values = grid.axis(place, int(first.max()), int(last.max()) - int(first.max()) + 1)
                index_free = Shifted(grid, place, index_values)
            else:
                size = grid.size(index.dim)
                if float(last.max()) > size or float(first.min()) < 1:
                    raise Redraw(f"{node.index} runs out of its range")
                index_values, index_free = grid.axis(place, 1, size), None
            mask = (index_values >= first) & (index_values <= last)
            if skip is not None:
                mask = mask & (index_values != skip(grid))
            with_values = body(grid) if index_free is None else index_free.run(body)
            neutral = 1.0 if product else 0.0
            terms = np.where(mask, with_values, neutral)
            return terms.prod(axis=place, keepdims=True) if product else terms.sum(axis=place, keepdims=True)

        return run

    def indicator(self, node: Indicator) -> Program:
        """1 where the relation holds, else 0; indices on both sides run over the same axis."""
        left, right = self.compile(node.left), self.compile(node.right)
        ends = [n.name for n in (node.left, node.right) if isinstance(n, Symbol) and n.name in self.scope]
        if len(ends) == 2:
            one, two = (self.scope[name] for name in ends)
            for a, b in ((one, two), (two, one)):
                if a.dim is None and b.dim is not None:
                    a.dim, a.why = b.dim, "a comparison"
        relation = RELATIONS[node.relation]
        return lambda grid: relation(left(grid), right(grid)) * 1.0

    # ------------------------------------------------------------------------------------------------- arithmetic

    def number(self, node: Number) -> Program:
        """A literal."""
        self.bits += node.value.numerator.bit_length() + node.value.denominator.bit_length()
        self.seen.delicate = self.seen.delicate or self.bits > MAX_PLAIN_BITS
        value = float(node.value) if abs(node.value) < 10**300 else float("inf")
        return lambda _grid: value

    def total(self, node: Add | Sub) -> Program:
        """a ± b."""
        if self.bare(node.left) and self.bare(node.right):
            return self.number_of([node], "space")
        left, right = self.compile(node.left), self.compile(node.right)
        if isinstance(node, Sub):
            return lambda grid: left(grid) - right(grid)
        return lambda grid: left(grid) + right(grid)

    def quotient(self, node: Div) -> Program:
        """a / b; what has no value shows as inf or nan."""
        import numpy as np

        left, right = self.compile(node.left), self.compile(node.right)
        return lambda grid: np.true_divide(left(grid), right(grid))

    def power(self, node: Pow) -> Program:
        """Powers; an odd root takes negative numbers."""
        import numpy as np

        exponent = rational(node.exponent)
        base = self.compile(node.base)
        if exponent is None:
            if isinstance(node.base, Symbol) and node.base.name == "e" and "e" not in self.scalars | set(self.scope):
                power = self.compile(node.exponent)
                return lambda grid: np.exp(power(grid))
            raised = self.compile(node.exponent)
            return lambda grid: np.power(np.asarray(base(grid), dtype=float), raised(grid))
        if exponent == Fraction(1, 2):
            return lambda grid: np.sqrt(base(grid))
        if exponent.denominator == 1:
            n = int(exponent)
            if abs(n) > 2**52:
                # floats end long before: every power is 0, ±1 or infinite, and only the parity matters
                n = (2**52 + n % 2) * (1 if n > 0 else -1)
            self.seen.delicate = self.seen.delicate or abs(n) > 4
            if n == 2:

                def square(grid: Grid) -> Any:
                    value = base(grid)
                    return value * value

                return square
            return lambda grid: np.power(np.asarray(base(grid), dtype=float), n)
        plain, odd, flip = float(exponent), exponent.denominator % 2, exponent.numerator % 2

        def root(grid: Grid) -> Any:
            value = np.asarray(base(grid), dtype=float)
            if not odd:
                return np.power(value, plain)
            size = np.power(abs(value), plain)
            return np.where(value < 0, -size, size) if flip else size

        return root

    def call(self, node: Call) -> Program:
        """A function of numbers."""
        if node.name in ("sum", "trace", "mean") and len(node.args) == 1 and self.bare(node.args[0]):
            return self.number_of([node], "space")
        if node.name in ("min", "max") and node.args:
            import numpy as np

            parts = [self.compile(arg) for arg in node.args]
            pick = np.minimum if node.name == "min" else np.maximum

            def extreme(grid: Grid) -> Any:
                out = parts[0](grid)
                for part in parts[1:]:
                    out = pick(out, part(grid))
                return out

            return extreme
        if len(node.args) == 2 and node.name == "log":
            import numpy as np

            first, second = (self.compile(arg) for arg in node.args)
            return lambda grid: np.log(first(grid)) / np.log(second(grid))
        function = FUNCTIONS.get(node.name)
        if function is None or len(node.args) != 1:
            raise ShapeError(f"{node.name} is not known among indices")
        inner = self.compile(node.args[0])
        self.seen.delicate = self.seen.delicate or rational(node.args[0]) is not None
        return lambda grid: function(inner(grid))


def _counted(n: int) -> str:
    return f"{n} index" if n == 1 else f"{n} indices"


def _transposed(node: Node, arrays: Mapping[str, Any]) -> Node:
    """p^T of an array as a transpose: among indices T is also a length."""
    if isinstance(node, Pow) and isinstance(node.exponent, Symbol) and node.exponent.name == "T":
        if isinstance(node.base, Symbol) and node.base.name in arrays:
            return Transpose(node.base, start=node.start, end=node.end)
        return node
    match node:
        case Mul(left=left, right=right, how=how):
            return Mul(_transposed(left, arrays), _transposed(right, arrays), how, start=node.start, end=node.end)
        case Add(left=left, right=right):
            return Add(_transposed(left, arrays), _transposed(right, arrays), start=node.start, end=node.end)
        case Sub(left=left, right=right):
            return Sub(_transposed(left, arrays), _transposed(right, arrays), start=node.start, end=node.end)
        case Call(name=name, args=args):
            return Call(name, tuple(_transposed(arg, arrays) for arg in args), start=node.start, end=node.end)
        case _:
            return node


def _negative(self: IndexPlanner, node: Neg) -> Program:
    inner = self.compile(node.arg)
    return lambda grid: -inner(grid)


def _bare_transpose(self: IndexPlanner, node: Transpose) -> Program:
    return self.number_of([node], "space")


_BUILD: Mapping[type, Callable[..., Program]] = {
    Number: IndexPlanner.number,
    Symbol: IndexPlanner.symbol,
    Indexed: IndexPlanner.indexed,
    Entry: IndexPlanner.entry,
    Neg: _negative,
    Add: IndexPlanner.total,
    Sub: IndexPlanner.total,
    Mul: IndexPlanner.product,
    Div: IndexPlanner.quotient,
    Pow: IndexPlanner.power,
    Call: IndexPlanner.call,
    Sum: IndexPlanner.sum,
    Indicator: IndexPlanner.indicator,
    Transpose: _bare_transpose,
}
