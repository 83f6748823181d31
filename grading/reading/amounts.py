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
from grading.reading.tree import Add, Div, Mul, Neg, Node, Number, Sub
from grading.units import MAX_WORDS, meanings, table

NOTHING = Declared()
_LEADING = re.compile(
    r"\s{0,99}(?:at most|up to|about|approximately|approx\.?|roughly|circa|ca\.?|exactly|nearly|around|~|≈"
    r"|\\approx(?![a-z])|\\sim(?![a-z])|=)\s*",
    re.IGNORECASE,
)
_SPECIAL = re.compile(
    r"\$? ?([+\-−]?) ?(?:\\(?:text|mathrm|operatorname) ?\{ ?)?"
    r"(?:(nan|undefined|not a number|\\bot|\(? ?0 ?/ ?0 ?\)?|\\[dt]?frac ?\{? ?0 ?\}? ?\{? ?0 ?\}?)"
    r"|(inf|infinity|\\infty|∞|oo|infinite))"
    r" ?\}? ?\$? ?\.?\Z",
    re.IGNORECASE,
)

_UNTIDY = re.compile(r"(?:mu|min|sec|of|[xX]|(?:[xX]\d{1,400}(?:[eE]\d{1,9})?){1,20})\Z")
_GLUED = re.compile(r"[xX](\d+(?:[eE]\d+)?)")
_OPENING = frozenset("([{")
_CLOSING = frozenset(")]}")
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
    if any(token[0] == "name" and _UNTIDY.match(token[1]) for token in tokens):
        tokens = _tidied(tokens)
    if any(token[1] in ("=", "≈") for token in tokens):
        return _last_side(tokens)
    return _side(tokens)


def _tidied(tokens: list[Token]) -> list[Token]:
    """Words with a second meaning, settled by what stands beside them: x between numbers is a times sign, min and sec
    behind a number are times, µ and s make one unit, as do "bits of entropy"."""
    out: list[Token] = []
    for at, (kind, text, start, end, spaced) in enumerate(tokens):
        before: Token = out[-1] if out else ("end", "", 0, 0, False)
        after = tokens[at + 1] if at + 1 < len(tokens) else tokens[-1]
        behind_number = before[0] in ("num", "vulgar", "sup") or before[1] in _CLOSING
        if kind != "name":
            out.append((kind, text, start, end, spaced))
        elif text in ("s", "sec") and before[:2] == ("name", "mu"):
            out[-1] = ("name", "µs", before[2], end, before[4])
        elif text in ("x", "X") and behind_number and after[0] == "num":
            out.append(("op", "×", start, end, spaced))
        elif behind_number and text[0] in "xX" and _UNTIDY.match(text):
            for glued in _GLUED.finditer(text):
                place = start + glued.start()
                out += [("op", "×", place, place + 1, spaced), ("num", glued.group(1), place + 1, end, False)]
        elif text in ("min", "sec") and after[1] not in _OPENING and after[0] != "num" and out:
            out.append(("name", f"{text}s", start, end, spaced))
        elif text == "entropy" and before[1] == "of" and len(out) > 1 and out[-2][1] in ("bit", "bits", "nat", "nats"):
            out.pop()
            out[-1] = ("name", f"{out[-1][1]} of entropy", out[-1][2], end, out[-1][4])
        else:
            out.append((kind, text, start, end, spaced))
    return out


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
    added = _added(tokens)
    if added is not None:
        return added
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
    if words.count("%") > 1:
        raise Unreadable("one percent sign too many", tokens[-2][2])
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


def _added(tokens: list[Token]) -> tuple[Real, tuple[str, ...]] | None:
    """6.61 ms + 1050 µs: terms that each carry a unit of the same dimension, given in the last one's unit."""
    cuts, depth = [], 0
    for at, (kind, text, *_) in enumerate(tokens):
        depth += (text in _OPENING) - (text in _CLOSING) if kind == "op" else 0
        if text in ("+", "-") and depth == 0 and at and tokens[at - 1][0] == "name" and _is_unit(tokens[at - 1]):
            cuts.append(at)
    if not cuts:
        return None
    terms = []
    for begin, stop in zip([0, *(at + 1 for at in cuts)], [*cuts, len(tokens) - 1], strict=True):
        end: Token = ("end", "", tokens[stop][2], tokens[stop][2], True)
        piece = [*tokens[begin:stop], end]
        cut = _unit_begins(piece)
        words = tuple([token[1] for token in piece[cut:-1]])
        units = meanings(words) if words else ()
        if not units or not units[0].dimension or not cut:
            return None
        terms.append((Parser([*piece[:cut], end], NOTHING).whole(), words, units[0]))
    *_, (_, words, last) = terms
    if any(unit.dimension != last.dimension for _, _, unit in terms):
        return None
    total: Node | None = None
    text = ""
    for sign, (term, names, unit) in zip(["", *(tokens[at][1] for at in cuts)], terms, strict=True):
        text += (f" {sign} " if sign else "") + f"{show(term)} {' '.join(names)}"
        factor = unit.factor / last.factor
        scaled = Mul(term, Number(factor, str(factor)), "dot")
        total = scaled if total is None else (Add if sign == "+" else Sub)(total, scaled)
    text = text.removesuffix(f" {' '.join(words)}")  # the last unit is echoed by whoever converts it
    assert total is not None
    return value(total, printable(text.replace(" / ", "/"), 120)), words


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
    if at < len(tokens) - 1 and tokens[at][1] in ("/", "per") and not _is_measure(tokens[at + 1]):
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


def _is_measure(token: Token) -> bool:
    """Whether a unit word has a dimension or counts something: 130.5/s is a rate, 1/x is none."""
    return _is_unit(token) and any(unit.dimension or unit.counted for unit in table().get(token[1], ()))


def _is_sum(tokens: list[Token]) -> bool:
    """Whether a percent sign stands among the tokens, or outside all brackets a plus or minus between two operands."""
    depth = 0
    for at, (kind, text, _, _, _) in enumerate(tokens):
        if kind != "op":
            continue
        depth += (text in _OPENING) - (text in _CLOSING)
        if text == "%":
            return True
        if text in ("+", "-") and depth == 0 and at:
            before = tokens[at - 1]
            if before[0] != "op" or before[1] in _CLOSING or before[1] in ("!", "|"):
                return True
    return False


def _in_words(error: Unreadable, tokens: list[Token], cut: int) -> Unreadable:
    """A clearer error where a word is neither unit nor function."""
    for kind, text, start, _, _ in tokens[:cut]:
        if kind == "name" and text.lower() in ("or", "and"):
            return Unreadable("one number is expected, this gives several", start)
    for at, (kind, text, start, _, _) in enumerate(tokens[:cut]):
        if kind == "name" and text not in FUNCTIONS and text not in ("pi", "e") and start == error.column:
            if at and text in table():
                return Unreadable("the answer goes on after its unit", tokens[at + 1][2])
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
