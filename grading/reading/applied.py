"""The parts of the grammar that apply something: functions and methods."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from grading.errors import Unreadable
from grading.reading.names import ARITY, FUNCTIONS, OPEN_ENDED
from grading.reading.tree import Add, Call, Div, Mul, Neg, Node, Number, Pow, Sub, Symbol, Transpose

if TYPE_CHECKING:
    from grading.reading.machine import Machine

_BRACKETS = {"(": ")", "[": "]", "{": "}"}
_INVERSES = {
    "sin": "asin", "cos": "acos", "tan": "atan", "sinh": "asinh", "cosh": "acosh", "tanh": "atanh",
}  # fmt: skip


def number(value: int, at: int) -> Number:
    """A whole number that was not typed but is meant."""
    return Number(Fraction(value), str(value), start=at, end=at)


# ------------------------------------------------------------------------------------------------------ functions


def function(parser: Machine) -> Node:
    """A function name with its base, its power and its arguments: ln x, log_2(8), \\cos^2(x), \\sin^{-1} a."""
    tokens = parser.tokens
    _, word, start, _, _ = tokens[parser.at]
    parser.at += 1
    name = word if word in parser.declared.functions else FUNCTIONS[word]
    base = _log_base(parser) if word in ("log", "Log") else None
    power: Node | None = None
    if parser.is_op("^") and name != "exp":
        parser.at += 1
        power = parser.exponent()
    elif tokens[parser.at][0] == "sup":
        _, text, at, end, _ = tokens[parser.at]
        parser.at += 1
        wrapped = parser.superscript(Symbol("e"), text, at, end)
        power = wrapped.exponent if isinstance(wrapped, Pow) else None
    if power is not None and name in _INVERSES and _is_minus_one(power):
        name, power = _INVERSES[name], None
    args = arguments(parser, name, start)
    if name == "root" and len(args) == 1:  # root(3)(x), as some systems write it
        if not parser.is_op("("):
            raise Unreadable("root needs what it is taken of: root(x, 3)", start)
        args = (*arguments(parser, name, start), *args)
    if base is not None:
        args = (*args, base)
        if len(args) != 2:
            raise Unreadable("a logarithm has one argument", start)
    found = _meaning(parser, name, args, start)
    if power is not None:
        found = parser.made(Pow(found, power, start=start, end=found.end))
    return found


def _is_minus_one(power: Node) -> bool:
    return isinstance(power, Neg) and isinstance(power.arg, Number) and power.arg.value == 1


def _log_base(parser: Machine) -> Node | None:
    """The base of log_2, log_{10} or log_b."""
    kind, text, start, end, spaced = parser.tokens[parser.at]
    if kind == "sub" and not spaced:
        parser.at += 1
        digits = len(text) - len(text.lstrip("0123456789"))
        if digits and digits < len(text):  # log_2T is log_2 of T
            rest = ("name", text[digits:], start + 1 + digits, end, True)
            parser.tokens.insert(parser.at, rest)
            text = text[:digits]
        if text.isdigit():
            return parser.made(Number(Fraction(int(text)), text, start=start + 1, end=end))
        if parser.declared.knows(text) or text == "e":
            return parser.made(Symbol(text, start=start + 1, end=end))
        raise Unreadable(f"the base {text!r} of the logarithm is not known here", start)
    if kind == "op" and text == "_":
        parser.at += 1
        if not parser.is_op("{", "("):
            raise Unreadable("the base of the logarithm is missing", end)
        return parser.group(parser.tokens[parser.at][1])
    return None


def arguments(parser: Machine, name: str, start: int) -> tuple[Node, ...]:
    """The arguments in brackets, or without brackets the next factor with its power."""
    kind, text, opened, _, _ = parser.tokens[parser.at]
    if kind == "op" and text in _BRACKETS:
        return _bracketed(parser, name, text, opened)
    if (
        name in parser.declared.functions
        or name in OPEN_ENDED
        or (name not in ("log",) and 2 in ARITY.get(name, ()) and 1 not in ARITY.get(name, ()))
    ):
        raise Unreadable(f"{name} needs its arguments in brackets", start)
    parser.enter()
    if kind == "op" and text in ("-", "+"):
        parser.at += 1
        inner = _factor(parser)
        inner = inner if text == "+" else parser.made(Neg(inner, start=opened, end=inner.end))
    else:
        inner = _factor(parser)
    parser.depth -= 1
    return (inner,)


def _factor(parser: Machine) -> Node:
    """The next factor with its power; a number and the letters that touch it are one factor (ln 2T, sin xy)."""
    found = parser.operand(after_slash=True)
    while True:
        kind, text, _, _, spaced = parser.tokens[parser.at]
        if spaced or kind not in ("name", "atom") or (kind == "name" and text in FUNCTIONS):
            return found
        right = parser.operand(after_slash=True)
        found = parser.made(Mul(found, right, "space", start=found.start, end=right.end))


def _bracketed(parser: Machine, name: str, opening: str, opened: int) -> tuple[Node, ...]:
    """Arguments between brackets, separated by commas or semicolons."""
    parser.at += 1
    bars, parser.bars = parser.bars, 0
    commas = parser.commas
    several = name in parser.declared.functions or (name in ARITY and name != "ln")
    parser.commas = not several
    args: list[Node] = []
    while not parser.is_op(_BRACKETS[opening]):
        if _keyword(parser):
            continue
        args.append(parser.expression())
        if name == "softmax" and len(args) == 1:
            _last_axis(parser)
        if parser.is_op(",", ";"):
            parser.at += 1
            if parser.is_op(_BRACKETS[opening]):
                raise Unreadable("an argument is missing after the comma", parser.tokens[parser.at][2])
        elif not parser.is_op(_BRACKETS[opening]):
            parser.expect(_BRACKETS[opening], opened)
    close = parser.expect(_BRACKETS[opening], opened)
    parser.bars, parser.commas = bars, commas
    if not args and name not in parser.declared.functions:
        raise Unreadable(f"{name} has no argument", close[2])
    return tuple(args)


def _last_axis(parser: Machine) -> None:
    """Take the axis of softmax(x, -1), which is that of rows."""
    tokens, at = parser.tokens, parser.at
    if tokens[at][:2] != ("op", ","):
        return
    at += 1 + (tokens[at + 1][:2] == ("op", "-"))
    if tokens[at][:2] == ("num", "1") and tokens[at + 1][1] in _BRACKETS.values():
        parser.at = at + 1


def _keyword(parser: Machine) -> bool:
    """Take axis=-1, dim=1 and the like, which change nothing where rows are meant."""
    tokens, at = parser.tokens, parser.at
    if tokens[at][0] != "name" or tokens[at][1] not in ("axis", "dim", "keepdims", "keepdim", "base"):
        return False
    if tokens[at + 1][:2] != ("op", "="):
        return False
    word = tokens[at][1]
    at += 2
    negative = tokens[at][:2] == ("op", "-")
    at += negative
    value = ("-" if negative else "") + tokens[at][1]
    if word in ("axis", "dim"):
        if value not in ("-1", "1", "0", "-2"):
            raise Unreadable("the axis is 0, 1 or -1 here", tokens[at][2])
        parser.columns = value in ("0", "-2")
    parser.at = at + 1
    if parser.is_op(","):
        parser.at += 1
    return True


def _meaning(parser: Machine, name: str, args: tuple[Node, ...], start: int) -> Node:
    """The node that a function stands for."""
    end = parser.tokens[parser.at - 1][3]
    declared = name in parser.declared.functions
    allowed = ARITY.get(name, (1,))
    if name == "ln" and len(args) == 2:
        name = "log"
    if not declared and allowed and len(args) not in allowed and name != "log":
        wanted = " or ".join(map(str, allowed))
        raise Unreadable(f"{name} takes {wanted} argument{'s' if allowed != (1,) else ''}, not {len(args)}", start)
    if declared:
        return parser.made(Call(name, args, start=start, end=end))
    columns, parser.columns = parser.columns, False
    if columns:
        return _by_columns(parser, name, args[0], start, end)
    simple = _small_tree(name, args, start, end)
    if simple is not None:
        return parser.made(simple)
    return parser.made(Call(name, args, start=start, end=end))


def _by_columns(parser: Machine, name: str, arg: Node, start: int, end: int) -> Node:
    """softmax(A, axis=0): the transpose of what acts on the rows of the transpose."""
    if name != "softmax":
        raise Unreadable(f"{name} has no axis here", start)
    turned = parser.made(Transpose(arg, start=arg.start, end=arg.end))
    return parser.made(Transpose(parser.made(Call(name, (turned,), start=start, end=end)), start=start, end=end))


def _small_tree(name: str, args: tuple[Node, ...], start: int, end: int) -> Node | None:
    """Functions that are short for something else."""
    first = args[0]
    match name:
        case "log2" | "log10":
            return Call("log", (first, number(int(name[3:]), end)), start=start, end=end)
        case "asec" | "acsc" | "acot":
            over = Div(number(1, start), first, start=start, end=end)
            inverse = {"asec": "acos", "acsc": "asin", "acot": "atan"}[name]
            return Call(inverse, (over,), start=start, end=end)
        case "root":
            share = Div(number(1, end), args[1], start=end, end=end)
            return Pow(first, share, start=start, end=end)
        case "log1p":
            return Call("ln", (Add(number(1, start), first, start=start, end=end),), start=start, end=end)
        case "expm1":
            power = Call("exp", (first,), start=start, end=end)
            return Sub(power, number(1, end), start=start, end=end)
        case "exp2":
            return Pow(number(2, start), first, start=start, end=end)
        case "square":
            return Pow(first, number(2, end), start=start, end=end)
        case "cbrt":
            third = Div(number(1, end), number(3, end), start=end, end=end)
            return Pow(first, third, start=start, end=end)
        case "pow":
            return Pow(first, args[1], start=start, end=end)
        case "hypot":
            squares = [Pow(arg, number(2, end), start=arg.start, end=arg.end) for arg in args]
            return Call("sqrt", (Add(squares[0], squares[1], start=start, end=end),), start=start, end=end)
        case "transpose":
            return Transpose(first, start=start, end=end)
        case "outer":
            return Mul(first, Transpose(args[1], start=args[1].start, end=end), "at", start=start, end=end)
        case "matmul":
            return Mul(first, args[1], "at", start=start, end=end)
        case "multiply":
            return Mul(first, args[1], "entry", start=start, end=end)
        case _:
            return None


def special(parser: Machine, word: str) -> Node | None:
    """σ(x) is the logistic function and Φ(x) the normal distribution's where they are not declared; transpose marks."""
    declared = parser.declared
    _, _, start, _, _ = parser.tokens[parser.at]
    after = parser.tokens[parser.at + 1]
    if word in ("sigma", "Phi") and not declared.knows(word) and after[:2] == ("op", "("):
        parser.at += 1
        args = _bracketed(parser, "exp", "(", after[2])
        end = parser.tokens[parser.at - 1][3]
        if len(args) != 1:
            raise Unreadable("one argument is expected", start)
        return parser.made(Call("logistic" if word == "sigma" else "Phi", args, start=start, end=end))
    if word in ("I", "ones", "1") and declared.matrices and not declared.knows(word):
        parser.at += 1
        return parser.made(Symbol(word, start=start, end=start + len(word)))
    return None


# -------------------------------------------------------------------------------------------------------- methods


def method(parser: Machine, base: Node) -> Node:
    """P.T, (A).transpose(), (P * dP).sum(axis=1, keepdims=True), x.exp()."""
    tokens = parser.tokens
    _, word, start, end, _ = tokens[parser.at + 1]
    if word in ("T", "mT", "H") and parser.declared.matrices:
        parser.at += 2
        return parser.made(Transpose(base, start=base.start, end=end))
    if parser.declared.matrices and word in ("dot", "matmul", "mm") and tokens[parser.at + 2][:2] == ("op", "("):
        parser.at += 3
        other = parser.expression()
        close = parser.expect(")", start)
        return parser.made(Mul(base, other, "at", start=base.start, end=close[3]))
    if (
        parser.declared.matrices
        and word in ("t", "transpose", "sum", "exp", "sqrt", "log", "softmax", "trace", "inverse", "inv")
        and tokens[parser.at + 2][:2] == ("op", "(")
    ):
        parser.at += 3
        if word == "sum":
            return _sum_method(parser, base, start)
        while _keyword(parser):
            pass
        while tokens[parser.at][0] == "num" or parser.is_op(",", "-"):
            parser.at += 1
        close = parser.expect(")", start)
        if word in ("t", "transpose"):
            return parser.made(Transpose(base, start=base.start, end=close[3]))
        return parser.made(Call(FUNCTIONS[word], (base,), start=base.start, end=close[3]))
    raise Unreadable(f"'.{word[:20]}' cannot be read here", start - 1)


def _sum_method(parser: Machine, base: Node, start: int) -> Node:
    """.sum(axis=1, keepdims=True) is rowsum, axis=0 colsum."""
    tokens = parser.tokens
    axis: int | None = None
    kept = False
    while not parser.is_op(")"):
        kind, word, at, _, _ = tokens[parser.at]
        if kind == "name" and tokens[parser.at + 1][:2] == ("op", "="):
            parser.at += 2
            if word in ("axis", "dim"):
                axis = _axis(parser)
            elif word in ("keepdims", "keepdim"):
                kept = tokens[parser.at][1] == "True"
                parser.at += 1
            else:
                raise Unreadable(f"sum has no option {word[:20]!r}", at)
        elif kind in ("num", "op") and axis is None:
            axis = _axis(parser)
        else:
            raise parser.unexpected()
        if parser.is_op(","):
            parser.at += 1
    close = parser.expect(")", start)
    if axis is None:
        # without an axis numpy adds all entries up
        return parser.made(Call("sum", (base,), start=base.start, end=close[3]))
    if not kept and axis != 0 and base.start > 0 and not _alone(parser, base):
        raise Unreadable(
            "without keepdims=True numpy flattens these sums and broadcasts them along the wrong axis", start
        )
    name = "colsum" if axis == 0 else "rowsum"
    return parser.made(Call(name, (base,), start=base.start, end=close[3]))


def sum_function(parser: Machine) -> Node:
    """np.sum(A, axis=1, keepdims=True), sum(A): the method, with the matrix as first argument."""
    opened = parser.tokens[parser.at + 1][2]
    parser.at += 2
    base = parser.expression()
    if parser.is_op(","):
        parser.at += 1
    elif not parser.is_op(")"):
        raise parser.unexpected()
    return _sum_method(parser, base, opened)


def _alone(parser: Machine, base: Node) -> bool:
    """Whether a sum is the whole answer, so that nothing is broadcast."""
    first = parser.tokens[0]
    return bool(base.start <= first[2] and parser.tokens[parser.at][0] == "end")


def _axis(parser: Machine) -> int:
    negative = parser.is_op("-")
    parser.at += negative
    kind, text, at, _, _ = parser.tokens[parser.at]
    if kind != "num" or text not in ("0", "1", "2"):
        raise Unreadable("the axis of a sum is 0, 1 or -1", at)
    parser.at += 1
    value = -int(text) if negative else int(text)
    if value not in (0, 1, -1, -2):
        raise Unreadable("the axis of a sum is 0, 1 or -1", at)
    return 0 if value == -2 else value
