"""Whether an answer equals a key on the declared domain, and how that is known.

Order: the same tree; a few float points that refute; the normal form that proves; then 24 points or more at 40 digits.
Wrong answers end as refuted with a witness point, right ones as proved or sampled; undecided only where no point of the
domain gives both a value. A difference between floats counts only far above its error bound, else decimals decide.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Context, Decimal
from fractions import Fraction
from functools import cached_property
from typing import Any

from grading.equivalence.balls import Ball, TooLarge, Unclear, Undefined, as_ball
from grading.equivalence.decimals import DIGITS, Value
from grading.equivalence.domain import Domain, Point
from grading.equivalence.evaluate import Frame, Program, Slots, compile_tree
from grading.equivalence.polynomial import Table
from grading.equivalence.precise import MAX_STEPS, Precise
from grading.equivalence.proof import Normal
from grading.reading.tree import Node, Symbol, children

QUICK = 6
"""Float points that are looked at before a proof is tried."""
ENOUGH = 24
"""Points that make an answer right without a proof."""
AGREE = Decimal("1e-40")
"""At a point two values are equal when they agree to this, relative to their size."""
FAR = 5
"""Points at which an answer that was only sampled is looked at beyond the samples."""
WORK = 25_000
"""Nodes that decimals visit for one comparison, all points together."""
_MARGIN = 1000.0
"""A float difference refutes when it is this many times its error bound."""
_GRID = Fraction(1, 512)


@dataclass(frozen=True, slots=True)
class Outcome:
    """right: True, False or None; method: proved, sampled, refuted or undecided; witness: the point that refutes."""

    right: bool | None
    method: str
    detail: str = ""
    witness: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Ready:
    """A tree with its program over the names of a domain, and the number of places that needs."""

    tree: Node
    program: Program
    size: int


def ready(tree: Node, domain: Domain) -> Ready:
    """Compile a tree; `Unsupported` where a part of it has no value among the real numbers."""
    frame = Frame(domain.order, domain.functions)
    return Ready(tree, compile_tree(tree, frame), frame.size)


@dataclass(slots=True, eq=False)
class Site:
    """A point of the domain where the key has a value: the float ball, or None where only decimals give it."""

    point: Point
    slots: Slots
    ball: Ball | None
    exact: Value | None = None


class Key:
    """A key made ready for many answers: its program, its sites, its normal form, each made when first needed."""

    def __init__(self, ready: Ready, domain: Domain) -> None:
        self.tree = ready.tree
        self.domain = domain
        self.names = domain.order
        self.program, self.size = ready.program, ready.size

    @cached_property
    def quick(self) -> tuple[Site, ...]:
        """The first few sites at which floats give the key a value of moderate size."""
        found = []
        for point in self.domain.points():
            site = self.site(point)
            if site is not None and site.ball is not None and (1e-60 < abs(site.ball[0]) < 1e60):
                found.append(site)
                if len(found) == QUICK:
                    break
        return tuple(found)

    @cached_property
    def sites(self) -> tuple[Site, ...]:
        """Every candidate point at which the key has a value, the ones that floats handle well first."""
        found = [site for site in map(self.site, self.domain.points()) if site is not None]
        found.sort(key=lambda site: 0 if site.ball and 1e-60 < abs(site.ball[0]) < 1e60 else 1 if site.ball else 2)
        return tuple(found)

    def site(self, point: Point) -> Site | None:
        """A point with the key's value there, None where it has none."""
        slots = self.slots(point, self.size)
        try:
            ball = self.program(slots)
        except Undefined:
            return None
        except (Unclear, TooLarge):
            return Site(point, slots, None)
        value, error = ball
        return Site(point, slots, ball if error <= 1e-9 * abs(value) else None)

    @cached_property
    def used(self) -> frozenset[str]:
        """The names that occur in the key."""
        return frozenset(names_in(self.tree))

    @cached_property
    def normal(self) -> Normal:
        """The normal form."""
        return Normal(self.tree, Table(self.domain))

    def slots(self, point: Mapping[str, Fraction], size: int) -> Slots:
        """The balls of a point, with room for running indices."""
        out = [as_ball(point[name]) for name in self.names]
        return out + [(0.0, 0.0)] * (size - len(out))

    def exact(self, site: Site) -> Value:
        """The key's value at a site to 60 digits; raises where there is none."""
        if site.exact is None:
            site.exact = self.precise(self.tree, site.point)
        return site.exact

    def precise(self, tree: Node, point: Mapping[str, Fraction], digits: int = DIGITS) -> Value:
        """A tree's value at a point in decimals."""
        return Precise(point, self.domain.functions, digits=digits).value(tree)


def decide(key: Key, given: Ready) -> Outcome:
    """Whether an answer equals the key, both made ready over the key's domain."""
    answer = given.tree
    if answer == key.tree:
        return Outcome(True, "proved", "the same expression")
    trial = _Trial(key, given)
    found = trial.floats(key.quick)
    if found is not None:
        return found
    equal, partial = key.normal.proves(answer)
    if equal and key.quick and not (partial or trial.pending):
        return Outcome(True, "proved", "equal by algebra on the whole domain")
    # sums cost as much as all their terms
    sites = key.sites if max(given.size, key.size) == len(key.names) else key.sites[: ENOUGH + QUICK]
    found = trial.floats(sites if len(sites) == len(key.sites) else sites[: 2 * QUICK])
    if found is not None:
        return found
    if equal:
        return trial.open_points(4) or Outcome(True, "proved", "equal by algebra wherever both are defined")
    # what floats left open comes first
    return trial.decimals(tuple(dict.fromkeys((*trial.pending, *sites))))


class _Trial:
    """One answer held against one key."""

    def __init__(self, key: Key, given: Ready) -> None:
        self.key = key
        self.answer = given.tree
        self.program = given.program
        self.size = given.size
        self.pending: list[Site] = []
        self.left = WORK if self.size == len(key.names) else WORK // 6  # the numbers in sums and products are long
        self.unsettled = 0
        self.alone = 0

    def slots(self, site: Site) -> Slots:
        """The site's slots, with room for the answer's own running indices."""
        short = self.size - len(site.slots)
        return site.slots + [(0.0, 0.0)] * short if short > 0 else site.slots

    def floats(self, sites: tuple[Site, ...]) -> Outcome | None:
        """Refute by floats; sites that they cannot settle are put on the pending list."""
        program, simple = self.program, self.size <= self.key.size
        for site in sites:
            ball = site.ball
            if ball is None:
                self.pending.append(site)
                continue
            try:
                value, error = program(site.slots if simple else self.slots(site))
            except Undefined as reason:
                found = self.undefined(site, str(reason))
                if found is not None:
                    return found
                continue
            except (Unclear, TooLarge):
                self.pending.append(site)
                continue
            gap, bound = abs(value - ball[0]), error + ball[1]
            if gap > _MARGIN * bound and gap > 1e-300:
                return self.refuted(site, ball[0], value)
            if gap > bound or bound > 1e-6 * (abs(value) + abs(ball[0])):
                self.pending.append(site)
        return None

    def open_points(self, limit: int) -> Outcome | None:
        """Settle pending sites in decimals; None when none of them refutes."""
        for site in self.pending[:limit]:
            found, _ = self.settle(site)
            if found is not None:
                return found
        return None

    def decimals(self, sites: tuple[Site, ...]) -> Outcome:
        """The last resort: as many points as needed at 40 digits."""
        agreed = 0
        digits = DIGITS
        if not self.key.names:
            digits = 200
        for site in sites:
            found, equal = self.settle(site, digits)
            if found is not None:
                return found
            agreed += equal
            if agreed >= ENOUGH:
                break
        if not agreed or (agreed < ENOUGH and self.unsettled) or 4 * self.alone > agreed:
            # a few easy points, such as 0, say nothing where the others stay open
            return Outcome(None, "undecided", "no point of the domain was found at which both have a value")
        if not self.key.names:
            return Outcome(True, "sampled", f"the two numbers agree to {digits - 20} digits")
        return self.far(sites[0].point) or Outcome(
            True, "sampled", f"equal at {agreed} points of the domain to 40 digits"
        )

    def far(self, near: Point) -> Outcome | None:
        """A refutation by whole numbers farther out: T + (T − 2)(T − 3)…(T − 12) is T at all that lie near a bound."""
        endless = [(name, i) for name, i in self.key.domain.names if i.integer and None in (i.lower, i.upper)]
        for turn in range(FAR if endless else 0):
            point = dict(near)
            for at, (name, interval) in enumerate(endless):
                step = 13 + 9 * ((2 * turn + 3 * at) % 7)
                point[name] = (
                    (interval.lower or Fraction(0)) + step if interval.upper is None else interval.upper - step
                )
            site = self.key.site(point)
            found = None if site is None else self.settle(site)[0]
            if found is not None:
                return found
        return None

    def settle(self, site: Site, digits: int = DIGITS) -> tuple[Outcome | None, bool]:
        """(refutation or None, equal to 40 digits) at one site, with more digits where a difference stays unclear."""
        key = self.key
        while True:
            try:
                if digits != DIGITS:
                    ours = self.precise(key.tree, site, digits)
                elif site.exact is not None:
                    ours = site.exact
                else:
                    ours = site.exact = self.precise(key.tree, site, digits)
            except Undefined:
                return None, False
            except (Unclear, TooLarge):
                self.unsettled += 1
                return None, False
            try:
                theirs = self.precise(self.answer, site, digits)
            except Undefined as reason:
                return self.undefined(site, str(reason)), False
            except (Unclear, TooLarge):
                self.unsettled += 1
                return None, False
            verdict = _same(ours, theirs, digits)
            if verdict is False:
                return self.refuted(site, ours, theirs), False
            if verdict:
                return None, True
            if digits >= 4 * DIGITS:
                self.unsettled += 1
                return None, False
            digits *= 2

    def precise(self, tree: Node, site: Site, digits: int) -> Value:
        """A tree's value at a site in decimals, counted against the work that one comparison may cost."""
        run = Precise(site.point, self.key.domain.functions, digits=digits, limit=min(MAX_STEPS, self.left))
        try:
            return run.value(tree)
        finally:
            self.left -= run.steps * (digits // DIGITS)

    # ------------------------------------------------------------------------------------------------- undefined

    def undefined(self, site: Site, reason: str) -> Outcome | None:
        """A point where only the answer has no value refutes it, unless the gap is removable."""
        holes = seen = 0
        for point in self.neighbours(site.point):
            near = self.key.site(point)
            if near is None:
                continue
            verdict, ours, theirs = self.look(near)
            if verdict == "differs" and self.key.domain.holds(point):
                return self.refuted(near, ours, theirs)
            seen += verdict != "open"
            holes += verdict == "undefined"
        if seen and 3 * holes < seen:
            return None
        if not seen and any(not interval.integer for _, interval in self.key.domain.names):
            # the key itself is alone here, as (−1)^ln x at x = 1
            self.alone += 1
            return None
        key_value: Any = site.ball[0] if site.ball else self.key.exact(site)
        return self.refuted(site, key_value, f"undefined ({reason})")

    def look(self, site: Site) -> tuple[str, Any, Any]:
        """Whether the answer is "equal", "differs", "undefined" or "open" at a site, with both values."""
        if site.ball is not None:
            try:
                value, error = self.program(self.slots(site))
            except Undefined:
                return "undefined", None, None
            except (Unclear, TooLarge):
                pass
            else:
                gap, bound = abs(value - site.ball[0]), error + site.ball[1]
                differs = gap > _MARGIN * bound and gap > 1e-300
                return ("differs" if differs else "equal"), site.ball[0], value
        try:
            ours = self.precise(self.key.tree, site, DIGITS)
        except (Undefined, Unclear, TooLarge):
            return "open", None, None
        try:
            theirs = self.precise(self.answer, site, DIGITS)
        except Undefined:
            return "undefined", None, None
        except (Unclear, TooLarge):
            return "open", None, None
        return ("differs" if _same(ours, theirs, DIGITS) is False else "equal"), ours, theirs

    def neighbours(self, point: Point) -> list[Point]:
        """Points close by: real names move; where there are none, whole ones move between the whole numbers."""
        intervals = dict(self.key.domain.names)
        moving = [name for name in point if not intervals[name].integer] or list(point)
        out = []
        for turn in range(1, 9):
            moved = dict(point)
            for at, name in enumerate(moving):
                step = _GRID * (1 + (turn * (at + 3)) % 7) * (1 if (turn >> (at % 3)) & 1 else -1)
                interval = intervals[name]
                value = point[name] + step
                below = interval.lower is not None and value < interval.lower
                above = interval.upper is not None and value > interval.upper
                moved[name] = point[name] - step if below or above else value
            out.append(moved)
        return out

    # --------------------------------------------------------------------------------------------------- witness

    def refuted(self, site: Site, ours: Any, theirs: Any) -> Outcome:
        """The outcome with its witness."""
        key, answer = _pair(ours, theirs)
        used = self.key.used | names_in(self.answer)
        point = {name: decimal(value, 12) for name, value in site.point.items() if name in used}
        where = ", ".join(f"{name} = {value}" for name, value in point.items())
        if not self.key.used:
            # a key without names would be given away by its value
            detail = f"at {where} the answer is {answer}" if where else f"the answer is {answer}"
            return Outcome(False, "refuted", f"{detail}: that differs", {"point": point, "key": key, "answer": answer})
        return Outcome(
            False,
            "refuted",
            f"at {where} the key is {key}, the answer {answer}",
            {"point": point, "key": key, "answer": answer},
        )


def names_in(tree: Node) -> set[str]:
    """The names of a tree."""
    found: set[str] = set()
    rest = [tree]
    while rest:
        node = rest.pop()
        if isinstance(node, Symbol):
            found.add(node.name)
        else:
            rest.extend(children(node))
    return found


def _same(a: Value, b: Value, digits: int) -> bool | None:
    """Equal to 40 digits, different for certain, or None: more digits are needed."""
    if isinstance(a, Fraction) and isinstance(b, Fraction):
        return a == b
    tools = Precise({}, digits=digits)
    gap = tools.plus(a, b, -1)
    middle, error = tools.spread(gap)
    if abs(middle) > error:
        return False
    size = max(abs(tools.spread(a)[0]), abs(tools.spread(b)[0]), Decimal(1))
    return True if error <= size * AGREE else None


def _pair(a: Any, b: Any) -> tuple[str, str]:
    """Two values as short decimals that show the difference."""
    for digits in (6, 10, 16, 40, 200):
        left, right = decimal(a, digits), decimal(b, digits)
        if left != right:
            break
    return left, right


def decimal(value: Any, digits: int = 6) -> str:
    """A number as a short decimal."""
    if isinstance(value, str):
        return value
    if isinstance(value, tuple):
        value = value[0]
    if isinstance(value, Fraction):
        if value.denominator == 1 and abs(value) < 10**15:
            return str(value.numerator)
        value = _as_decimal(value, digits) if digits > 16 else _quick(value)
    text = format(value, f".{digits}g")
    if "." in text and "e" not in text.lower():
        text = text.rstrip("0").rstrip(".")
    return "0" if text == "-0" else text


def _quick(value: Fraction) -> float | Decimal:
    try:
        return value.numerator / value.denominator
    except OverflowError:
        return _as_decimal(value, 20)


def _as_decimal(value: Fraction, digits: int) -> Decimal:
    return Context(prec=digits + 5).divide(Decimal(value.numerator), Decimal(value.denominator))


def within(key: Key, given: Ready, allowed: Callable[[Fraction], Fraction]) -> bool:
    """Whether an answer stays within a tolerance of the key at every site; `allowed` gives the width at a key value."""
    seen = 0
    for site in key.sites[:ENOUGH]:
        try:
            ours = key.precise(key.tree, site.point)
            theirs = key.precise(given.tree, site.point)
        except Undefined:
            return False
        except (Unclear, TooLarge):
            continue
        a, b = (value if isinstance(value, Fraction) else Fraction(value[0]) for value in (ours, theirs))
        if abs(a - b) > allowed(a):
            return False
        seen += 1
    return seen > 0


# ---------------------------------------------------------------------------------------------------------- findings


def findings(key: Key, given: Ready) -> tuple[tuple[str, str], ...]:
    """What relates a wrong answer to the key at every float site: (id, sentence) pairs, the key itself not told."""
    program, trial = given.program, _Trial(key, given)
    pairs: list[tuple[float, float]] = []
    for site in key.quick:
        if site.ball is None:
            continue
        try:
            value, error = program(trial.slots(site))
        except (Undefined, Unclear, TooLarge):
            continue
        if error <= 1e-9 * abs(value) and value and site.ball[0]:
            pairs.append((site.ball[0], value))
    if len(pairs) < (3 if key.names else 1):
        return ()
    return tuple((name, text) for name, text, holds in _RELATIONS if all(holds(k, a) for k, a in pairs))[:1] or (
        _constant_relation(pairs)
    )


def _near(a: float, b: float) -> bool:
    return abs(a - b) <= 1e-9 * max(abs(a), abs(b))


_Relation = tuple[str, str, Callable[[float, float], bool]]
_RELATIONS: tuple[_Relation, ...] = (
    ("sign", "The sign is the other way round.", lambda k, a: _near(a, -k)),
    ("factor_2", "A factor 2 is too much.", lambda k, a: _near(a, 2 * k)),
    ("factor_half", "A factor 2 is missing.", lambda k, a: _near(2 * a, k)),
    ("reciprocal", "It is the reciprocal.", lambda k, a: _near(a * k, 1.0)),
    ("square", "It is the square; a root is missing.", lambda k, a: k > 0 and _near(a, k * k)),
    ("root", "It is the square root; a square is missing.", lambda k, a: a > 0 and _near(a * a, k)),
    ("complement", "It is what is left to 1.", lambda k, a: _near(a + k, 1.0)),
)


def _constant_relation(pairs: list[tuple[float, float]]) -> tuple[tuple[str, str], ...]:
    if len(pairs) < 3:
        return ()
    key, answer = pairs[0]
    if all(_near(a, k) for k, a in pairs):
        return ()
    if all(_near(a * key, answer * k) for k, a in pairs):
        return (("constant_factor", "It is right up to a constant factor."),)
    if all(abs((a - k) - (answer - key)) <= 1e-9 * (abs(a) + abs(k) + 1.0) for k, a in pairs):
        return (("constant_term", "It is right up to a constant term."),)
    return ()
