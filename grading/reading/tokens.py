"""Tokens of plain typing, Python and LaTeX alike: one pass over the text, linear in its length.

A token is (kind, text, start, end, spaced): kind is num, name, sub, op, sup, vulgar or end; text is canonical (greek
letters by name, ** as ^); start and end are offsets into the text as typed; spaced says whether space came before.
"""

from __future__ import annotations

import re
import unicodedata
from fractions import Fraction
from functools import lru_cache

from grading.errors import Unreadable

Token = tuple[str, str, int, int, bool]

MAX_LENGTH = 2000
MAX_TOKENS = 1200
MAX_DIGITS = 400
MAX_SUMS = 24
SUMS = ("sum_", "prod_", "sum^", "prod^", "∑", "∏", "Σ")

_GREEK_LETTERS = """
alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi pi rho sigma tau upsilon
phi chi psi omega Gamma Delta Theta Lambda Xi Pi Sigma Phi Psi Omega epsilon theta phi rho sigma
"""

GREEK = dict(
    zip(
        "αβγδεζηθικλμνξπρστυφχψωΓΔΘΛΞΠΣΦΨΩϵϑϕϱς",
        _GREEK_LETTERS.split(),
        strict=True,
    )
)
GREEK["µ"] = "mu"
GREEK_NAMES = frozenset(GREEK.values())
_GREEK_WORDS = GREEK_NAMES | {"varepsilon", "vartheta", "varphi", "varrho", "varsigma", "varpi"}
_VARIANTS = {
    "varepsilon": "epsilon",
    "vartheta": "theta",
    "varphi": "phi",
    "varrho": "rho",
    "varsigma": "sigma",
    "varpi": "pi",
}

_SUPERSCRIPT = dict(zip("⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁽⁾ⁿⁱᵀᵗˣʸ", "0123456789+-()niTtxy", strict=True))
_SUBSCRIPT = dict(zip("₀₁₂₃₄₅₆₇₈₉ₐₑₒₓₕₖₗₘₙₚₛₜᵢⱼᵣᵤᵥ", "0123456789aeoxhklmnpstijruv", strict=True))
VULGAR = {char: Fraction(*map(int, unicodedata.normalize("NFKC", char).split("⁄"))) for char in "½⅓⅔¼¾⅕⅖⅗⅘⅙⅚⅛⅜⅝⅞⅐⅑⅒"}

_OPERATORS = {
    ".*": "∘", "**": "^", "×": "×", "⋅": "·", "∙": "·", "•": "·", "∗": "*", "∘": "∘", "⊙": "∘", "÷": "/", "∕": "/",
    "⁄": "/",
    "−": "-", "–": "-", "‐": "-", "‑": "-", "﹣": "-", "≠": "!=", "≤": "<=", "≥": ">=", "==": "=", "≈": "≈", "≃": "≈",
    "∼": "≈",
    "∣": "|", "‖": "‖", "∥": "‖", "ˆ": "^", "，": ",", "；": ";", "＝": "=", "⟨": "(", "⟩": ")", "∛": "∛", "∜": "∜",
    "∑": "sum", "∏": "prod", "‧": "·", "․": ".", "→": "→", "´": "'", "′": "'", "’": "'", "⊤": "⊤", "≔": "=", ":=": "=",
}  # fmt: skip

_COMMANDS = {
    "cdot": "·", "times": "×", "ast": "*", "star": "*", "div": "/", "odot": "∘", "circ": "∘", "bullet": "·",
    "le": "<=", "leq": "<=", "leqslant": "<=", "ge": ">=", "geq": ">=", "geqslant": ">=", "ne": "!=", "neq": "!=",
    "lt": "<", "gt": ">", "approx": "≈", "simeq": "≈", "sim": "≈", "equiv": "=", "lbrace": "{", "rbrace": "}",
    "vert": "|",
    "lvert": "|", "rvert": "|", "mid": "|", "Vert": "‖", "lVert": "‖", "rVert": "‖", "lceil": "⌈", "rceil": "⌉",
    "lfloor": "⌊", "rfloor": "⌋", "langle": "(", "rangle": ")", "lbrack": "[", "rbrack": "]", "lparen": "(",
    "rparen": ")", "colon": ":", "cr": "\\\\", "dots": "…", "ldots": "…", "cdots": "…", "prime": "'", "top": "⊤",
    "intercal": "⊤", "infty": "∞", "emptyset": "∅", "varnothing": "∅", "lor": "or", "sum": "sum", "prod": "prod",
    "surd": "√", "transpose": "⊤",
}  # fmt: skip
_FRACTIONS = frozenset({"frac", "dfrac", "tfrac", "cfrac", "nicefrac", "sfrac"})
_SILENT_WORDS = """
left right mleft mright middle big Big bigg Bigg bigl bigr bigm Bigl Bigr Bigm biggl biggr biggm
Biggl Biggr Biggm displaystyle textstyle scriptstyle limits nolimits nonumber hspace
mathsf mathrm mathbf mathit mathbb mathcal mathtt mathfrak mathscr boldsymbol bm rm bf it sf tt cal
"""

_SILENT = frozenset(_SILENT_WORDS.split())
_PROGRAM_WORDS = """
catcode csname def edef futurelet gdef global immediate include input let loop newcommand openin openout read
renewcommand write xdef
"""
PROGRAM = frozenset(_PROGRAM_WORDS.split())
"""Commands that define or read something: no part of mathematics, and no name on a left side either."""
_SPACES = frozenset(["quad", "qquad", "thinspace", "medspace", "thickspace", "enspace", "negthinspace"])

_MASTER = r"""
 (?P<ws>(?:\s|~|\\m?(?:left|right)\s?\.(?!\d)|\$|\\\$|\\[,;:!\ >()\[\]]|\\/|\{,\}(?!\d{3}(?!\d)))+)
|(?P<hex>0[xXbBoO](?=[0-9a-fA-F]))
|(?P<num>(?:(?:\d{1,3}(?:_\d{3})+(?!\d)|\d+)(?:\.(?!\.)\d*)?|\.\d+)(?:[eE][+\-−]?\d+)?)
|(?P<brace>\{,\}(?=\d{3}(?!\d)))
|(?P<wrap>\\(?:operatorname\*?|text|textrm|textit|textbf|textsf|texttt|mathrm|mathit|mathbf|mathsf|mathtt|mathcal|mathbb
   |mathfrak|mathscr|boldsymbol|bm|bold|mbox|hbox|rm|bf|it)\s*\{\s*
   (?P<wrapped>\\?[A-Za-z0-9µ%/][A-Za-z0-9µ%/ .]*?|[πσδΣ])\s*\})
|(?P<break>\\\\(?:\s*\[[^\]\n]{0,20}\])?)
|(?P<cmd>\\[A-Za-z]+\*?)
|(?P<esc>\\[{}%_&|\#])
|(?P<name>[A-Za-zαβγδεζηθικλμµνξπρστυφχψωΓΔΘΛΞΠΣΦΨΩϵϑϕϱς][A-Za-z0-9]*)
|(?P<sub>_(?:[A-Za-z0-9]+|[αβγδεζηθικλμνξπρστυφχψω]))
|(?P<subs>[₀-₉ₐₑₒₓₕₖₗₘₙₚₛₜᵢⱼᵣᵤᵥ]+)
|(?P<sup>[⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁽⁾ⁿⁱᵀᵗˣʸ]+)
|(?P<op>\.\*(?!\*)|\*\*|<=|>=|!=|==|:=|\.\.\.?|[-+*/^_=<>!%|,;:()\[\]{}&.@'√∞∅⌈⌉⌊⌋…½⅓⅔¼¾⅕⅖⅗⅘⅙⅚⅛⅜⅝⅞⅐⅑⅒·])
"""


@lru_cache(maxsize=1)
def _master() -> re.Pattern[str]:
    """The one pattern, compiled at first use so that starting up stays cheap."""
    return re.compile(_MASTER, re.VERBOSE)


_FULL_WIDTH = {code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F)} | {0x3000: 0x20}


def tokenize(text: str, offset: int = 0) -> list[Token]:
    """The tokens of a text, an end token last. offset is added to all positions.

    Raises `Unreadable` with the column at the first character that belongs to no token.
    """
    if len(text) > MAX_LENGTH:
        raise Unreadable(f"the answer is longer than {MAX_LENGTH} characters")
    if not text.isascii():
        text = text.translate(_FULL_WIDTH)
    if len(text) > 100 and sum(map(text.count, SUMS)) > MAX_SUMS:
        raise Unreadable(f"more than {MAX_SUMS} sums")
    if ("${" in text or "$(" in text) and text.count("$") % 2:
        raise Unreadable("a dollar sign without its partner", offset + text.index("$"))
    out: list[Token] = []
    at, end, spaced = 0, len(text), False
    match = _master().match
    while at < end:
        found = match(text, at)
        if found is None:
            at = _odd(text, at, offset, out, spaced)
            spaced = False
            continue
        kind = found.lastgroup
        if kind == "wrapped":
            kind = "wrap"
        start, at = at, found.end()
        if kind == "ws":
            spaced = True
            continue
        if kind == "num":
            literal = found.group()
            if len(literal) > MAX_DIGITS:
                raise Unreadable(f"a number with more than {MAX_DIGITS} digits", start + offset)
            out.append(("num", literal, start + offset, at + offset, spaced))
        elif kind == "name":
            _name(found.group(), start + offset, spaced, out)
        elif kind == "op":
            symbol = found.group()
            what = "vulgar" if symbol in VULGAR else "op"
            out.append((what, _OPERATORS.get(symbol, symbol), start + offset, at + offset, spaced))
        elif kind == "sub":
            sub = found.group()[1:]
            out.append(("sub", GREEK.get(sub, sub), start + offset, at + offset, spaced))
        else:
            _special(str(kind), found, offset, spaced, out)
            if kind == "cmd" and found.group()[1:] in _SILENT:
                continue
            if kind == "cmd" and found.group()[1:] in _SPACES:
                spaced = True
                continue
        spaced = False
        if len(out) > MAX_TOKENS:
            raise Unreadable("the answer has too many parts")
    out.append(("end", "", end + offset, end + offset, spaced))
    return out


def undressed(text: str) -> str:
    """A text without the marks that bold or code put round it."""
    bare = text.strip()
    for mark in ("**", "`", "*"):
        if bare.startswith(mark) and bare.endswith(mark) and len(bare) > 2 * len(mark):
            bare = bare[len(mark) : -len(mark)].strip()
    return bare or text


def _name(word: str, start: int, spaced: bool, out: list[Token]) -> None:
    """A run of letters and digits; a greek letter at its head is a name of its own."""
    first = word[0]
    if first.isascii():
        out.append(("name", word, start, start + len(word), spaced))
        return
    if first == "Σ":
        out.append(("op", "sum", start, start + 1, spaced))
    else:
        out.append(("name", GREEK[first], start, start + 1, spaced))
    if len(word) > 1:
        rest = word[1:]
        kind = "num" if rest.isdigit() else "name"
        if rest[0].isdigit() and kind == "name":
            raise Unreadable(f"{word!r} cannot be read: write a product with *", start)
        out.append((kind, rest, start + 1, start + len(word), False))


def _special(kind: str, found: re.Match[str], offset: int, spaced: bool, out: list[Token]) -> None:
    """LaTeX commands, escapes, superscripts and other rare tokens."""
    text = found.group()
    start, end = found.start() + offset, found.end() + offset
    if kind == "cmd":
        _command(text[1:].rstrip("*"), start, end, spaced, out)
    elif kind == "wrap":
        word = found.group("wrapped").strip()
        if word.startswith("\\"):
            first, *rest = word[1:].split()
            _command(first, start, end, spaced, out)
            out.extend(("name", piece, start, end, True) for piece in rest)
        elif word.replace(" ", "").isdigit():
            out.append(("num", word.replace(" ", ""), start, end, spaced))
        else:
            for at, piece in enumerate(re.findall(r"[A-Za-z0-9µ.]+|[%/πσδΣ]", word)):
                known = GREEK.get(piece, piece)
                what = "op" if piece in "%/" else "name"
                out.append((what, known, start, end, spaced or at > 0))
    elif kind == "esc":
        out.append(("op", "‖" if text[1] == "|" else text[1], start, end, spaced))
    elif kind == "break":
        out.append(("op", "\\\\", start, end, spaced))
    elif kind == "sup":
        out.append(("sup", "".join(_SUPERSCRIPT[char] for char in text), start, end, spaced))
    elif kind == "subs":
        out.append(("sub", "".join(_SUBSCRIPT[char] for char in text), start, end, False))
    elif kind == "brace":
        out.append(("op", ",", start, end, spaced))
    else:
        raise Unreadable("numbers are read in base ten", start)


def _command(word: str, start: int, end: int, spaced: bool, out: list[Token]) -> None:
    """One LaTeX command as the token it stands for."""
    if word in _SILENT or word in _SPACES:
        return
    if word in _FRACTIONS:
        out.append(("op", "\\frac", start, end, spaced))
    elif word == "sqrt":
        out.append(("op", "\\sqrt", start, end, spaced))
    elif word in ("choose", "over"):
        out.append(("op", "\\" + word, start, end, spaced))
    elif word in ("binom", "dbinom", "tbinom"):
        out.append(("op", "\\binom", start, end, spaced))
    elif word in ("boxed", "fbox", "ensuremath", "mathstrut"):
        return
    elif word in PROGRAM:
        raise Unreadable(f"the command \\{word} is not known here", start)
    elif word in _GREEK_WORDS:
        out.append(("name", _VARIANTS.get(word, word), start, end, spaced))
    elif word in _COMMANDS:
        out.append(("op", _COMMANDS[word], start, end, spaced))
    else:
        out.append(("command", word, start, end, spaced))


def _odd(text: str, at: int, offset: int, out: list[Token], spaced: bool) -> int:
    """A character outside the pattern: a known sign in another dress, or an error that names it."""
    char = text[at]
    if char in "𝟙𝟏":
        out.append(("num", "1", at + offset, at + 1 + offset, spaced))
        return at + 1
    if char == "∂":
        out.append(("command", "partial", at + offset, at + 1 + offset, spaced))
        return at + 1
    if char in _OPERATORS:
        out.append(("op", _OPERATORS[char], at + offset, at + 1 + offset, spaced))
        return at + 1
    column = at + offset
    if char == "\\":
        raise Unreadable("a backslash without a command", column)
    category = unicodedata.category(char)
    if category in ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"):
        raise Unreadable(f"an invisible character (U+{ord(char):04X}) stands here", column)
    name = unicodedata.name(char, f"U+{ord(char):04X}").lower()
    if category[0] in "LM":
        raise Unreadable(f"{char!r} is {name}, not a letter that can be used here", column)
    raise Unreadable(f"{char!r} ({name}) cannot be read here", column)
