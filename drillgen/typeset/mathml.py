"""MathML Core: a formula for the web, without scripts or fonts of our own.

Only what MathML Core has is used: letters of other alphabets are the Unicode mathematical letters, not `mathvariant`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from html import escape
from typing import Any

from drillgen.typeset import nodes as n
from drillgen.typeset.speech import speak

_ACCENTS = {
    "hat": "ˆ", "bar": "‾", "tilde": "~", "vec": "→", "dot": "˙", "ddot": "¨", "widehat": "ˆ", "widetilde": "~",
    "overline": "‾", "underline": "_",
}  # fmt: skip
_STRETCHED = frozenset({"widehat", "widetilde", "overline", "underline"})
_SPECIAL = {
    "bb": dict(zip("CHNPQRZ", "ℂℍℕℙℚℝℤ", strict=True)),
    "cal": dict(zip("BEFHILMR", "ℬℰℱℋℐℒℳℛ", strict=True)),
}
_STARTS = {"bb": (0x1D538, 0x1D552, 0x1D7D8), "cal": (0x1D49C, 0x1D4B6, 0), "bf": (0x1D400, 0x1D41A, 0x1D7CE),
           "sf": (0x1D5A0, 0x1D5BA, 0x1D7E2), "tt": (0x1D670, 0x1D68A, 0x1D7F6),
           "bs": (0x1D468, 0x1D482, 0x1D7CE)}  # fmt: skip
"""Where each alphabet's A, a and 0 stand; 0 where it has no digits."""
_FENCES = {"pmatrix": ("(", ")"), "bmatrix": ("[", "]"), "vmatrix": ("|", "|"), "Vmatrix": ("‖", "‖")}
_SIZES = (1.2, 1.8, 2.4, 3.0)


def _char(char: str, style: str | None) -> str:
    """The character as the alphabet has it; itself where the alphabet lacks it."""
    if style is None or style in ("rm", "it"):
        return char
    special = _SPECIAL.get(style, {}).get(char)
    if special:
        return special
    upper, lower, digit = _STARTS[style]
    if "A" <= char <= "Z":
        return chr(upper + ord(char) - ord("A"))
    if "a" <= char <= "z":
        return chr(lower + ord(char) - ord("a"))
    if char.isdigit() and char.isascii() and digit:
        return chr(digit + int(char))
    return _bold_greek(char, style)


def _bold_greek(char: str, style: str) -> str:
    if style not in ("bf", "bs"):
        return char
    lower, upper = (0x1D6C2, 0x1D6A8) if style == "bf" else (0x1D736, 0x1D6A8)
    if "α" <= char <= "ω":
        return chr(lower + ord(char) - ord("α"))
    if "Α" <= char <= "Ω":
        return chr(upper + ord(char) - ord("Α"))
    variants = dict(zip("ϵϑϰϕϱϖ", range(lower + 0x1A, lower + 0x20), strict=True))
    return chr(variants[char]) if char in variants else char


class _Writer:
    """Carries the alphabet that a `Styled` sets for what is inside it."""

    def __init__(self, style: str | None = None) -> None:
        self.style = style

    def write(self, node: n.Node | None) -> str:
        return "<mrow></mrow>" if node is None else _WRITERS[type(node)](self, node)

    def one(self, node: n.Node | None) -> str:
        """As one element, which scripts and fractions count their children by."""
        made = self.write(node)
        single = node is not None and not isinstance(node, n.Row | n.Fence | n.Styled | n.Sizing)
        return made if single else f"<mrow>{made}</mrow>"

    def row(self, node: n.Row) -> str:
        if self.style in ("rm", "sf", "tt", "bf") and (word := n.word(node)):
            return _name("".join(_char(c, self.style) for c in word))
        out = ""
        for index, item in enumerate(node.items):
            if isinstance(item, n.Symbol) and item.role == "bin" and is_sign(node.items[:index]):
                out += f'<mo form="prefix" lspace="0" rspace="0">{item.char}</mo>'
                continue
            before = node.items[index - 1] if index else None
            if before is not None and _thin(before, item):
                out += '<mspace width="0.1667em"></mspace>'
            out += self.write(item)
        return out

    def letter(self, node: n.Letter) -> str:
        char = _char(node.char, self.style)
        # LaTeX sets capital Greek upright, MathML would slant it.
        upright = self.style in ("rm", "bf", "sf", "tt") or ("Α" <= node.char <= "Ω" and self.style != "it")
        plain = char == node.char and upright
        return f'<mi mathvariant="normal">{char}</mi>' if plain else f"<mi>{char}</mi>"

    def number(self, node: n.Number) -> str:
        return f"<mn>{''.join(_char(c, self.style) for c in node.text)}</mn>"

    def styled(self, node: n.Styled) -> str:
        if isinstance(node.body, n.Word):
            weight = {"bf": "font-weight:bold", "it": "font-style:italic", "tt": "font-family:monospace"}
            return f'<mtext style="{weight[node.style]}">{_text(node.body.text)}</mtext>'
        return _Writer(node.style).write(node.body)

    def fraction(self, node: n.Fraction) -> str:
        body = f"<mfrac>{self.one(node.top)}{self.one(node.bottom)}</mfrac>"
        if not node.size:
            return body
        return f'<mstyle displaystyle="{"true" if node.size == "display" else "false"}">{body}</mstyle>'

    def binomial(self, node: n.Binomial) -> str:
        body = f'<mfrac linethickness="0">{self.one(node.top)}{self.one(node.bottom)}</mfrac>'
        return f"<mrow><mo>(</mo>{body}<mo>)</mo></mrow>"

    def root(self, node: n.Root) -> str:
        if node.index is None:
            return f"<msqrt>{self.write(node.body)}</msqrt>"
        return f"<mroot>{self.one(node.body)}{self.one(node.index)}</mroot>"

    def scripts(self, node: n.Scripts) -> str:
        base = self.one(node.base)
        primes = f"<mo>{'′' * node.primes}</mo>" if node.primes else ""
        sup = self.one(node.sup) if node.sup is not None else ""
        if primes:
            sup = f"<mrow>{primes}{sup}</mrow>" if sup else primes
        sub = self.one(node.sub) if node.sub is not None else ""
        if _over(node):
            names = ("munder", "mover", "munderover")
            base = _movable(node, base)
        else:
            names = ("msub", "msup", "msubsup")
        name = names[0] if not sup else names[1] if not sub else names[2]
        return f"<{name}>{base}{sub}{sup}</{name}>"

    def fence(self, node: n.Fence) -> str:
        left, right = (_stretchy(c, form) for c, form in ((node.left, "prefix"), (node.right, "postfix")))
        return f"<mrow>{left}{self.write(node.body)}{right}</mrow>"

    def grid(self, node: n.Grid) -> str:
        rows = []
        for row in node.rows:
            cells = "".join(f"<mtd{_cell_style(node, i)}>{self.write(c)}</mtd>" for i, c in enumerate(row))
            rows.append(f"<mtr>{cells}</mtr>")
        table = f"<mtable>{''.join(rows)}</mtable>"
        if node.kind not in _FENCES:
            return table
        left, right = _FENCES[node.kind]
        return f"<mrow>{_stretchy(left, 'prefix')}{table}{_stretchy(right, 'postfix')}</mrow>"

    def cases(self, node: n.Cases) -> str:
        cell = '<mtd style="text-align:left;text-align:-webkit-left{}">{}</mtd>'
        rows = "".join(
            "<mtr>" + "".join(cell.format(";padding-left:1em" if i else "", self.write(c)) for i, c in enumerate(row))
            + "</mtr>"
            for row in node.rows
        )  # fmt: skip
        return f"<mrow>{_stretchy('{', 'prefix')}<mtable>{rows}</mtable></mrow>"

    def aligned(self, node: n.Aligned) -> str:
        rows = []
        for row in node.rows:
            cells = ""
            for i, c in enumerate(row):
                near = "padding-right:0" if i % 2 == 0 else "padding-left:0"
                cells += f'<mtd style="{_aligned("lr"[i % 2 == 0])};{near}">{self.write(c)}</mtd>'
            rows.append(f"<mtr>{cells}</mtr>")
        return f'<mtable displaystyle="true">{"".join(rows)}</mtable>'

    def brace(self, node: n.Brace) -> str:
        name, char = ("mover", "⏞") if node.over else ("munder", "⏟")
        body = f'<{name}>{self.one(node.body)}<mo stretchy="true">{char}</mo></{name}>'
        return body if node.label is None else f"<{name}>{body}{self.one(node.label)}</{name}>"

    def stack(self, node: n.Stack) -> str:
        base = self.one(node.base)
        above = self.one(node.above) if node.above is not None else ""
        below = self.one(node.below) if node.below is not None else ""
        name = "munderover" if above and below else "mover" if above else "munder"
        return f"<{name}>{base}{below}{above}</{name}>"

    def accent(self, node: n.Accent) -> str:
        stretch = "true" if node.kind in _STRETCHED else "false"
        # Not marked as accents: browsers set those so tight that they touch the letter.
        mark = f'<mo stretchy="{stretch}" style="math-depth:0">{_ACCENTS[node.kind]}</mo>'
        name = "munder" if node.kind == "underline" else "mover"
        return f"<{name}>{self.one(node.body)}{mark}</{name}>"

    def boxed(self, node: n.Boxed) -> str:
        return f'<mrow style="border:1px solid;padding:0.15em">{self.write(node.body)}</mrow>'

    def sizing(self, node: n.Sizing) -> str:
        value = "true" if node.display else "false"
        return f'<mstyle displaystyle="{value}">{self.write(node.body)}</mstyle>'


def is_sign(before: tuple[n.Node, ...]) -> bool:
    """Whether a plus or minus behind these is a sign and no operation."""
    solid = [item for item in before if not isinstance(item, n.Space)]
    last = solid[-1] if solid else None
    return last is None or (isinstance(last, n.Symbol | n.Sized) and last.role in ("bin", "rel", "open", "punct"))


def _thin(before: n.Node, item: n.Node) -> bool:
    """Whether TeX puts a thin space here: around named functions and big operators, except at brackets."""
    spaced = (n.Letter, n.Number, n.Styled, n.Scripts, n.Fraction, n.Root, n.Word, n.Accent, n.Function, n.Grid)
    if _is_operator(before):
        return isinstance(item, spaced)
    if _is_operator(item):
        solid = isinstance(before, n.Symbol | n.Sized) and before.role in ("close", "ord")
        return solid or isinstance(before, (n.Fence, *spaced))
    return False


def _is_operator(node: n.Node) -> bool:
    base = node.base if isinstance(node, n.Scripts) else node
    return isinstance(base, n.Function)


def _name(text: str) -> str:
    return f'<mi mathvariant="normal">{text}</mi>' if len(text) == 1 else f"<mi>{text}</mi>"


def _text(text: str) -> str:
    """Spaces at the edges of an mtext are dropped by browsers unless they do not break."""
    return escape(text.replace(" ", "\N{NO-BREAK SPACE}"))


def _symbol(_: _Writer, node: n.Symbol) -> str:
    char = escape(node.char)
    if node.role == "ord":
        italic = node.char in ("∂", "∞", "∇")
        return (
            f"<mi>{char}</mi>"
            if italic
            else f'<mi mathvariant="normal">{char}</mi>'
            if len(char) == 1
            else f"<mo>{char}</mo>"
        )
    if node.role == "big":
        return f'<mo movablelimits="true">{char}</mo>'
    if node.role == "punct":
        return f'<mo separator="true">{char}</mo>' if node.char != ":" else f'<mo rspace="0.3em" lspace="0">{char}</mo>'
    if node.role in ("open", "close"):
        form = "prefix" if node.role == "open" else "postfix"
        return f'<mo form="{form}" stretchy="false">{char}</mo>'
    if node.char in ("∣", "mod", ":", "⋆", "∗"):
        space = "0.2778em" if node.role == "rel" else "0.2222em"
        return f'<mo lspace="{space}" rspace="{space}" stretchy="false">{char}</mo>'
    return f'<mo stretchy="false">{char}</mo>' if node.role == "rel" else f"<mo>{char}</mo>"


def _function(_: _Writer, node: n.Function) -> str:
    return _name(escape(node.name.replace(" ", "\N{THIN SPACE}")))


def _over(node: n.Scripts) -> bool:
    """Whether scripts go below and above the base in display."""
    if node.limits is not None:
        return node.limits
    base = node.base
    if isinstance(base, n.Symbol):
        return base.role == "big" and base.char != "∫"
    return (isinstance(base, n.Function) and base.limits) or isinstance(base, n.Brace)


def _movable(node: n.Scripts, base: str) -> str:
    """The base of under- and overscripts, which move beside it in running text unless \\limits was said."""
    if isinstance(node.base, n.Function):
        movable = "false" if node.limits else "true"
        return f'<mo movablelimits="{movable}" lspace="0" rspace="0">{escape(node.base.name)}</mo>'
    if node.limits:
        return base.replace('movablelimits="true"', 'movablelimits="false"')
    return base


def _stretchy(char: str, form: str) -> str:
    return f'<mo form="{form}" fence="true" stretchy="true">{escape(char)}</mo>' if char else ""


def _sized(_: _Writer, node: n.Sized) -> str:
    size = _SIZES[node.level - 1]
    form = {"open": "prefix", "close": "postfix"}.get(node.role, "infix")
    room = ' lspace="0" rspace="0"' if node.role == "ord" else ""
    return (
        f'<mo form="{form}" stretchy="true" symmetric="true" minsize="{size}em" maxsize="{size}em"{room}>'
        f"{escape(node.char)}</mo>"
    )


def _aligned(side: str) -> str:
    # Chromium aligns the block inside a cell by the -webkit- value alone; others know the first one.
    name = {"l": "left", "r": "right"}[side]
    return f"text-align:{name};text-align:-webkit-{name}"


def _cell_style(node: n.Grid, column: int) -> str:
    style = []
    if node.align and node.align[column] != "c":
        style.append(_aligned(node.align[column]))
    if column in node.rules:
        style.append("border-left:1px solid")
    if column + 1 == len(node.align) and len(node.align) in node.rules:
        style.append("border-right:1px solid")
    if node.kind == "substack":
        style.append("padding:0")
    return f' style="{";".join(style)}"' if style else ""


_WRITERS: dict[type, Callable[[_Writer, Any], str]] = {
    n.Row: _Writer.row,
    n.Letter: _Writer.letter,
    n.Number: _Writer.number,
    n.Symbol: _symbol,
    n.Word: lambda _, node: f"<mtext>{_text(node.text)}</mtext>",
    n.Function: _function,
    n.Styled: _Writer.styled,
    n.Fraction: _Writer.fraction,
    n.Binomial: _Writer.binomial,
    n.Root: _Writer.root,
    n.Scripts: _Writer.scripts,
    n.Fence: _Writer.fence,
    n.Middle: lambda _, node: (
        f'<mo fence="true" stretchy="true" lspace="0.2em" rspace="0.2em">{escape(node.char)}</mo>'
    ),
    n.Sized: _sized,
    n.Grid: _Writer.grid,
    n.Cases: _Writer.cases,
    n.Aligned: _Writer.aligned,
    n.Brace: _Writer.brace,
    n.Stack: _Writer.stack,
    n.Accent: _Writer.accent,
    n.Space: lambda _, node: f'<mspace width="{node.em:.4g}em"></mspace>',
    n.Boxed: _Writer.boxed,
    n.Sizing: _Writer.sizing,
}


@lru_cache(maxsize=8192)
def math(tree: n.Node, display: bool = False) -> str:
    """The <math> element of a tree, with its spoken form for readers that do not read MathML."""
    kind = ' display="block"' if display else ""
    body = _Writer().write(tree)
    return (
        f'<math xmlns="http://www.w3.org/1998/Math/MathML"{kind} alttext="{escape(speak(tree))}">'
        f"<mrow>{body}</mrow></math>"
    )
