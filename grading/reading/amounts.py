"""A number with the unit words after it, read by the full grammar where the quick look did not settle it."""

from __future__ import annotations

import math
import re
from fractions import Fraction

from grading.errors import Unreadable
from grading.reading.evaluate import value
from grading.reading.grammar import Parser
from grading.reading.names import FUNCTIONS, Declared
from grading.reading.numbers import Real
from grading.reading.screen import printable
from grading.reading.show import show
from grading.reading.tokens import Token, tokenize, undressed
from grading.reading.tree import Div, Neg, Node, Number
from grading.units import MAX_WORDS, meanings, table

NOTHING = Declared()
_LEADING = re.compile(
    r"\s{0,99}(?:at most|up to|about|approximately|approx\.?|roughly|circa|ca\.?|exactly|nearly|around|~|≈"
    r"|\\approx(?![a-z])|\\sim(?![a-z])|=)\s*",
    re.IGNORECASE,
)
_SPECIAL = re.compile(
    r"\$? ?([+\-−]?) ?(?:\\(?:text|mathrm|operatorname) ?\{ ?)?"
    r"(?:(nan|undefined|not a number|\\bot|\(? ?0 ?/ ?0 ?\)?)|(inf|infinity|\\infty|∞|oo|infinite))"
    r" ?\}? ?\$? ?\.?\Z",
    re.IGNORECASE,
)

_DIGIT = re.compile("[1-9]")
_STARTS = frozenset("0123456789.-−√(")


def read_amount(text: str, offset: int = 0) -> tuple[Real, tuple[str, ...]]:
    """The number and the words of its unit. A left side `name =` is dropped; of equal numbers the last counts."""
    special = _SPECIAL.match(" ".join(text.split())) if _DIGIT.search(text) is None else None
    if special is not None:
        sign, nan, _ = special.groups()
        if nan:
            return Real(math.nan, 0.0, "NaN"), ()
        size = -math.inf if sign in ("-", "−") else math.inf
        return Real(size, 0.0, "-inf" if size < 0 else "inf"), ()
    bare = undressed(text)
    for end in ("×", "-fold", " fold"):
        bare = bare.removesuffix(end).rstrip() or bare
    offset += text.find(bare)
    text = bare
    lead = None if text[0] in _STARTS else _LEADING.match(text)
    if lead is not None and lead.end() < len(text):
        offset += lead.end()
        text = text[lead.end() :]
    tokens = tokenize(text, offset)
    if len(tokens) == 1:
        raise Unreadable("the answer is empty", offset)
    if any(token[1] in ("=", "≈") for token in tokens):
        return _last_side(tokens)
    return _side(tokens)


def _last_side(tokens: list[Token]) -> tuple[Real, tuple[str, ...]]:
    """The number after the last equals sign; sides before it are names, or must be the same number."""
    sides: list[list[Token]] = [[]]
    depth = 0
    for token in tokens[:-1]:
        if token[0] == "op":
            depth += (token[1] in ("(", "[", "{")) - (token[1] in (")", "]", "}"))
            if depth == 0 and token[1] in ("=", "≈"):
                sides.append([])
                continue
        sides[-1].append(token)
    last = sides[-1]
    if not last:
        raise Unreadable("nothing stands after the equals sign", tokens[-1][2])
    found = _side([*last, tokens[-1]])
    for side in sides[:-1]:
        end: Token = ("end", "", side[-1][3] if side else 0, side[-1][3] if side else 0, False)
        if not side:
            continue
        if _is_label(side):
            continue
        other = _side([*side, end])
        if not _same(other, found):
            raise Unreadable("two different numbers are joined by an equals sign", side[0][2])
    return found


def _is_label(side: list[Token]) -> bool:
    """Whether a left side names something: it begins with a name that is no number, function or constant."""
    first = side[0]
    if first[0] == "command":
        return first[1] not in FUNCTIONS
    return first[0] == "name" and first[1] not in FUNCTIONS and first[1] not in ("pi", "e")


def _same(a: tuple[Real, tuple[str, ...]], b: tuple[Real, tuple[str, ...]]) -> bool:
    """Whether two sides are one number, the last perhaps rounded."""
    (x, x_words), (y, y_words) = a, b
    scale_x = meanings(x_words)[0].factor if x_words else Fraction(1)
    scale_y = meanings(y_words)[0].factor if y_words else Fraction(1)
    if x_words and y_words and meanings(x_words)[0].dimension != meanings(y_words)[0].dimension:
        return False
    if not x_words:
        scale_x = scale_y if y_words != ("%",) else Fraction(1)
    left, right = x.approx * float(scale_x), y.approx * float(scale_y)
    return abs(left - right) <= 0.005 * max(abs(left), abs(right))


def _side(tokens: list[Token]) -> tuple[Real, tuple[str, ...]]:
    """One number with its unit."""
    if tokens[-2][1] == "." and len(tokens) > 2 and tokens[-2][0] == "op":
        tokens = [*tokens[:-2], tokens[-1]]
    cut = _unit_begins(tokens)
    words = tuple([token[1] for token in tokens[cut:-1]])
    if cut == 0:
        if _is_bracketed(tokens):
            return _side([*tokens[1:-2], tokens[-1]])
        raise Unreadable("a number is expected before the unit", tokens[0][2])
    if len(words) > MAX_WORDS:
        raise Unreadable(f"a unit has at most {MAX_WORDS} words", tokens[cut][2])
    if words and words[-1] in ("/", "per"):
        raise Unreadable("a unit is missing at the end", tokens[-1][2])
    if not words and tokens[-2][1] in (")", "]", "}") and _has_unit(tokens) and _is_bracketed(tokens):
        return _side([*tokens[1:-2], tokens[-1]])
    head = tokens
    if words:
        end = tokens[cut - 1][3]
        head = [*tokens[:cut], ("end", "", end, end, True)]
    try:
        tree = Parser(head, NOTHING).whole()
    except Unreadable as error:
        raise _in_words(error, tokens, cut) from None
    shown = show(tree)
    return value(tree, shown if len(shown) <= 120 and shown.isprintable() else printable(shown, 120)), words


def _is_bracketed(tokens: list[Token]) -> bool:
    """Whether one pair of brackets encloses everything."""
    pairs = {"(": ")", "[": "]", "{": "}"}
    if len(tokens) < 4 or pairs.get(tokens[0][1]) != tokens[-2][1]:
        return False
    depth = 0
    for token in tokens[:-2]:
        depth += (token[1] in pairs) - (token[1] in pairs.values())
        if depth == 0:
            return False
    return True


def _has_unit(tokens: list[Token]) -> bool:
    """Whether a unit word stands just inside the closing bracket."""
    return len(tokens) > 4 and _is_unit(tokens[-3])


def _is_unit(token: Token) -> bool:
    kind, text, _, _, _ = token
    if kind == "name":
        return (text in table() and text not in FUNCTIONS) or text == "per"
    return kind == "op" and text == "%"


def _unit_begins(tokens: list[Token]) -> int:
    """Where the unit phrase at the end begins."""
    at = len(tokens) - 1
    last = tokens[at - 1]
    if last[0] != "name" and last[1] not in ("%", "/"):
        return at
    while at > 0 and (_is_unit(tokens[at - 1]) or _divides_units(tokens, at - 1)):
        at -= 1
    if at < len(tokens) - 1 and tokens[at][1] in ("/", "per") and not _is_unit(tokens[at + 1]):
        at += 1
    if at < len(tokens) - 1 and tokens[at][1] == "%" and _is_sum(tokens[:at]):
        return len(tokens) - 1  # 1 - 42%: the percent sign belongs to the last number only
    return at


def _divides_units(tokens: list[Token], at: int) -> bool:
    """Whether the slash at a place stands between units, or after one at the end."""
    if tokens[at][:2] != ("op", "/"):
        return False
    if at < len(tokens) - 2:
        return _is_unit(tokens[at + 1])
    return at > 0 and _is_unit(tokens[at - 1])


def _is_sum(tokens: list[Token]) -> bool:
    """Whether a percent sign or a plus or minus stands among the tokens."""
    return any(
        text == "%" or (text in ("+", "-") and at > 0 and tokens[at - 1][1] not in ("^", "e", "("))
        for at, (_, text, _, _, _) in enumerate(tokens)
    )


def _in_words(error: Unreadable, tokens: list[Token], cut: int) -> Unreadable:
    """A clearer error where a word is neither unit nor function."""
    for kind, text, start, _, _ in tokens[:cut]:
        if kind == "name" and text.lower() in ("or", "and"):
            return Unreadable("one number is expected, this gives several", start)
    for at, (kind, text, start, _, _) in enumerate(tokens[:cut]):
        if kind == "name" and text not in FUNCTIONS and text not in ("pi", "e") and start == error.column:
            if at and all(token[0] == "num" for token in tokens[:at]):
                return Unreadable(f"{text[:40]!r} is no unit that is known here", start)
            return Unreadable(f"a number is expected; {text[:40]!r} is not known here", start)
    return error


def is_zero_over_zero(tree: Node) -> bool:
    """0/0, which stands for NaN."""
    if isinstance(tree, Neg):
        return is_zero_over_zero(tree.arg)
    return (
        isinstance(tree, Div)
        and isinstance(tree.left, Number)
        and isinstance(tree.right, Number)
        and tree.left.value == 0
        and tree.right.value == 0
    )
